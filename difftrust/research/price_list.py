"""The price list: policies of buying programs, chosen on one half of the tasks and scored on the other.

What a policy finds says little of other tasks if the policy was picked because it does well on these. So the tasks are
split in two by a hash of their ids: models and thresholds are chosen on the first half, and what is shown is measured
on the second.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
import polars as pl

from difftrust.research.passed_tests import PublicExamples
from difftrust.research.per_candidate import Bools
from difftrust.research.policies import Evidence, Policy, Score, gather, is_lower_bound, score
from difftrust_core.base.records import Coder
from difftrust_core.estimates.pool import Pool
from difftrust_core.generation.prices import list_price
from difftrust_core.metrics.estimates import Floats, Limits, quotients
from difftrust_core.metrics.intervals import RESAMPLES, bootstrap_tasks, clopper_pearson

OWN_SIZES: Final = (2, 5, 10)
"""How many programs of the checked model the price list buys, the checked one included."""
N_CHEAP: Final = 6
"""From so many cheap models the others are chosen."""
N_OTHERS: Final = 3
CLOSE: Final = 0.02
"""A detection that is smaller by this is as good, if it costs less: on half a benchmark it is a task or two."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Market:
    """What can be bought to check programs of one coder on one benchmark, and which tasks choices are fitted on."""

    evidence: Evidence
    m: int
    """Most programs of the checked model that are bought on a task."""
    n: int
    """Inputs on which programs are compared."""
    hot: float | None
    """A higher temperature at which the checked model was recorded too."""
    cheap: tuple[Coder, ...]
    """The cheapest other models at the checked one's temperature, cheapest first."""
    unpriced: tuple[str, ...]
    """Models without a known price."""
    at_least: tuple[str, ...]
    """Models of whose price only a lower bound is known: how cheap they are is not known, so they are not bought."""
    first_half: Bools
    """(n_tasks,): those that choices are fitted on."""
    left_out: int
    """Tasks that the checked model has, and that are not compared: some model lacks programs on them."""
    n_examples: int = 0
    """Tasks compared that have a public example."""
    by_price: bool = True
    """Whether dollars are counted; else programs, and ``cheap`` are the models that help most on the first half."""


def open_market(
    pool: Pool,
    checked: Coder,
    *,
    n: int,
    m: int = max(OWN_SIZES),
    seed: int = 0,
    counts: Callable[[str], bool] = lambda task_id: True,
    examples: PublicExamples | None = None,
    by_price: bool = True,
) -> Market:
    """Return what the recorded programs can be used for as a check of ``checked``, on the first n inputs.

    ``m``: the most programs of its own; ``seed``: of the split; ``counts``: which tasks count; ``examples``: who passes
    the public examples; ``by_price=False``: prices are not looked at. Raises WrongUsage for an unknown coder.
    """
    own = pool.of(checked)
    model, temperature = checked
    reaching = [coder for coder in sorted(pool.members) if pool.reach(coder) >= n]
    m = min(m, int(own.sample_index.max()) + 1)
    hotter = [t for name, t in reaching if name == model and t > temperature]
    others = [coder for coder in reaching if coder[1] == temperature and coder[0] != model]
    known = [coder for coder in others if not by_price or _has_price(pool, coder)]
    at_least = [coder for coder in known if by_price and is_lower_bound(pool.of(coder), list_price(coder[0]))]
    priced = [coder for coder in known if coder not in at_least]
    least = {checked: m, **({(model, max(hotter)): m - 1} if hotter else {}), **dict.fromkeys(priced, 1)}
    prices = {coder: list_price(coder[0]) for coder in least}
    verdicts = examples.verdicts(pool, checked) if examples else None
    evidence = gather(pool, checked, least, n=n, prices=prices, counts=counts, verdicts=verdicts)
    first_half = in_first_half(evidence.task_ids, seed=seed)
    cheap = sorted(priced, key=lambda coder: float(evidence.usd[coder].sum())) if by_price else priced
    unpriced = [coder[0] for coder in others if coder not in known]
    return Market(
        evidence=evidence,
        m=m,
        n=n,
        hot=max(hotter, default=None),
        cheap=tuple(cheap if by_price else _most_useful(evidence, priced, first_half))[:N_CHEAP],
        unpriced=tuple(unpriced if _has_price(pool, checked) else [model, *unpriced]),
        at_least=tuple(coder[0] for coder in [*({checked} & evidence.at_least), *at_least]),
        first_half=first_half,
        left_out=sum(map(counts, pool.tasks_of(checked))) - len(evidence.task_ids),
        n_examples=sum(task_id in examples.positions for task_id in evidence.task_ids) if examples else 0,
        by_price=by_price,
    )


def has_price(pool: Pool, coder: Coder) -> bool:
    """Tell whether programs of a coder cost something, and it is known how much."""
    price, recorded = list_price(coder[0]), pool.of(coder).cost_nanodollars
    is_free = price is not None and price.prompt == price.completion == 0
    return _has_price(pool, coder) and not is_free and bool((recorded != 0).any())


def _most_useful(evidence: Evidence, others: Sequence[Coder], tasks: Bools) -> list[Coder]:
    """Return the coders whose dissent alone says most over these tasks; of equals in their order."""
    scores = score(evidence, [Policy(others=(coder,)) for coder in others])
    gains = {coder: _gain(one, tasks) for coder, one in zip(others, scores, strict=True)}
    return sorted(others, key=lambda coder: -gains[coder])


def _has_price(pool: Pool, coder: Coder) -> bool:
    return list_price(coder[0]) is not None or bool((pool.of(coder).cost_nanodollars >= 0).all())


def in_first_half(task_ids: Sequence[str], *, seed: int = 0) -> Bools:
    """Tell of each task whether choices are fitted on it: an even hash of the seed and its id."""
    digests = [hashlib.blake2b(f"{seed}/{task_id}".encode(), digest_size=1).digest()[0] for task_id in task_ids]
    halves: Bools = np.array(digests, dtype=np.int64) % 2 == 0
    return halves


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """One line of the price list."""

    family: str
    """What the policies of one line of the figure have in common."""
    score: Score


OWN: Final = "own programs"
MAJORITY: Final = "own programs, alarm if most differ"
HOT: Final = "own programs, higher temperature"
CHEAPEST: Final = "cheapest others"
ALL_CHEAP: Final = "all cheap others"
CHOSEN: Final = "chosen others"
BOTH: Final = "own programs and chosen others"
EXAMPLE: Final = "public example"
EXAMPLE_AND_OWN: Final = "public example and own programs"
EXAMPLE_AND_CHEAP: Final = "public example and all cheap others"


def price_list(market: Market) -> list[Line]:
    """Return the policies that are offered, with what each does on every task."""
    evidence, m = market.evidence, market.m
    sizes = sorted({size for size in OWN_SIZES if size <= m} | {m}) if m >= 2 else []
    fixed = [(OWN, Policy(own=size - 1)) for size in sizes]
    if m >= 2:
        fixed.append((OWN, Policy(own=m - 1, stop=True)))
    if m >= 4:
        fixed.append((MAJORITY, Policy(own=m - 1, own_dissents=m // 2)))
    if market.hot is not None:
        fixed += [(HOT, Policy(own=size - 1, temperature=market.hot)) for size in sizes]
    cheap, three = market.cheap, market.cheap[:N_OTHERS]
    fixed += [(CHEAPEST, Policy(others=three, dissents=d)) for d in range(1, len(three) + 1)]
    if len(cheap) > N_OTHERS:
        fixed += [(ALL_CHEAP, Policy(others=cheap, dissents=d)) for d in range(len(cheap) // 2, len(cheap))]
    found = _lines(evidence, fixed)
    if len(cheap) > N_OTHERS:
        found += [_chosen(market, CHOSEN, Policy(dissents=d)) for d in range(1, N_OTHERS + 1)]
        found += [_chosen(market, BOTH, Policy(own=size - 1, dissents=2)) for size in sorted({min(3, m), m} - {1})]
    return found if evidence.fails is None else [*found, *_lines(evidence, _with_example(fixed))]


def _lines(evidence: Evidence, policies: Sequence[tuple[str, Policy]]) -> list[Line]:
    scores = score(evidence, [policy for _, policy in policies])
    return [Line(family=family, score=made) for (family, _), made in zip(policies, scores, strict=True)]


def _with_example(others: Sequence[tuple[str, Policy]]) -> list[tuple[str, Policy]]:
    """Return the policies that look at the public examples: alone, and beside what others buy."""
    pairs = ((EXAMPLE_AND_OWN, OWN), (EXAMPLE_AND_CHEAP, ALL_CHEAP))
    both = [
        (name, replace(policy, examples=True))
        for name, base in pairs
        for family, policy in others
        if family == base and not policy.stop
    ]
    return [(EXAMPLE, Policy(examples=True)), *both]


def _chosen(market: Market, family: str, policy: Policy) -> Line:
    """Return the policy with those three of the cheap models that do best on the first half."""
    choices = [replace(policy, others=three) for three in combinations(market.cheap, N_OTHERS)]
    best = fit(score(market.evidence, choices), market.first_half)
    return Line(family=family, score=best)


def fit(scores: Sequence[Score], tasks: Bools) -> Score:
    """Return the score with the largest detection minus false alarms over these tasks, the first of equal ones.

    The difference is Youden's J; one that is undefined comes last.
    """
    return max(scores, key=lambda one: _gain(one, tasks))


def _gain(one: Score, tasks: Bools) -> float:
    rates = one.rates(tasks)
    difference = rates.detection - rates.false_alarms
    return -math.inf if math.isnan(difference) else round(difference, 12)


def wide_parts(market: Market) -> tuple[list[Policy], list[Policy]]:
    """Return what a recommendation buys of the checked model, and what of others; each one after the other.

    Own programs: none, 1, 2, 4 or 9 more at either temperature, an alarm if one or half of them differ. Others: every
    choice of the cheap models, an alarm at every number of dissents. The first of either buys nothing.
    """
    sizes = [k for k in (1, 2, 4, 9) if k < market.m]
    temperatures = [None] if market.hot is None else [None, market.hot]
    own = [Policy(stop=True)]
    for k in sizes:
        own += [
            Policy(own=k, temperature=t, own_dissents=d, stop=True) for t in temperatures for d in {1, (k + 1) // 2}
        ]
    others = [
        Policy(others=chosen, dissents=d, stop=True)
        for k in range(len(market.cheap) + 1)
        for chosen in combinations(market.cheap, k)
        for d in range(1, max(k, 1) + 1)
    ]
    return own, others


def intervals(one: Score, tasks: Bools, *, resamples: int = RESAMPLES, seed: int) -> dict[str, Limits]:
    """Return 95 % intervals of detection and false alarms over tasks like these: BCa bootstrap.

    Where all are 0 or all are 1, which no resample can change, Clopper and Pearson's of as many programs as there are
    tasks with one. NaN where undefined.
    """
    parts = {
        "detection": (one.detected[tasks], one.erroneous[tasks]),
        "false_alarms": (one.false_alarm[tasks], 1 - one.erroneous[tasks]),
    }
    return {name: _interval(part, whole, resamples, seed) for name, (part, whole) in parts.items()}


def _interval(part: Floats, whole: Floats, resamples: int, seed: int) -> Limits:
    total, found = float(whole.sum()), float(part.sum())
    if total < 1e-9:
        return math.nan, math.nan
    if min(found, total - found) < 1e-9:
        trials = max(1, math.floor(total + 1e-9))
        return clopper_pearson(0 if found < 1e-9 else trials, trials, alpha=0.025)

    def ratio(frame: pl.DataFrame, weights: Floats) -> Floats:
        below = weights @ whole
        return quotients(weights @ part, below, below > 1e-9)

    made = bootstrap_tasks(pl.DataFrame({"part": part}), ratio, resamples=resamples, seed=seed)
    return made.low, made.high
