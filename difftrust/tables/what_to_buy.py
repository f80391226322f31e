"""Which programs there are to buy: the price list of policies, and mixtures of several models."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from difftrust.research.coders import with_ends
from difftrust.research.mixtures import mixture_summary, mixtures, same_price
from difftrust.research.passed_tests import PublicExamples, open_examples
from difftrust.research.per_candidate import Schema, counted_ids
from difftrust.research.policies import Policy, Score
from difftrust.research.price_list import Market, intervals, open_market, price_list
from difftrust.results import Table
from difftrust.shipped import PAPER_SETTING, usual_temperature
from difftrust.tables.names import display_name
from difftrust.tables.request import TableRequest, settle
from difftrust_core.base.records import Coder
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import NoStore, WrongUsage
from difftrust_core.generation.prices import list_price

RATES: Final = ("detection", "false_alarms")
POLICY_SCHEMA: Final[Schema] = {
    "benchmark": pl.String,
    "model": pl.String,
    **{"temperature": pl.Float64, "m": pl.Int64, "n": pl.Int64},
    "policy": pl.String,
    "models": pl.String,
    "programs": pl.Float64,
    "usd_per_1000": pl.Float64,
    "usd_per_1000_is_lower_bound": pl.Boolean,
    **dict.fromkeys(with_ends(*RATES), pl.Float64),
    "fitted_detection": pl.Float64,
    "fitted_false_alarms": pl.Float64,
    "n_tasks": pl.Int64,
    "family": pl.String,
}
"""Columns of the price list: ``fitted_`` ones speak of the first half of the tasks, the others of the second."""


def make_policies(request: TableRequest) -> Table:
    """Return the price list of one model: what ways to check a program find, raise in vain, and cost.

    A row a benchmark and policy, null where something is undefined. Raises NoStore if too little is recorded of the
    model.
    """
    pools, examples = open_asked(request)
    rows, notes = [], [*rates_in_words(request, _LISTED), *([_EXAMPLES] if examples else [])]
    for market in markets(request, pools, examples):
        rows += listed_rows(market, resamples=request.resamples, seed=request.seed)
        notes.append(compared_in_words(market))
    return Table(pl.DataFrame(rows, schema=POLICY_SCHEMA), notes=tuple(notes))


Pools = Mapping[str, Pool]
"""Of each benchmark."""
Examples = Mapping[str, PublicExamples]
"""Of each benchmark whose tests were executed."""


def open_asked(request: TableRequest) -> tuple[Pools, Examples]:
    """Return the benchmarks asked for, and the public examples of each."""
    pools = request.pools()
    if not pools:
        raise NoStore(f"the store {request.store} holds no results of these inputs; run {request.execution()}")
    if request.m or request.n:
        settle(request)  # refuses what nobody has
    chosen = {name: pool for name, pool in pools.items() if request.benchmark in (None, name)}
    return chosen, open_examples(request.open(), equality=request.equality, n_jobs=request.n_jobs)


def markets(request: TableRequest, pools: Pools, examples: Examples) -> Iterator[Market]:
    """Yield what can be bought on each benchmark. Raises NoStore if too little is recorded of the request's model."""
    found = {n: p for n, p in sorted(pools.items()) if any(model == request.model for model, _ in p.members)}
    if not found:
        raise NoStore(f"the store holds no behaviours of {request.model} there; name another --model or --benchmark")
    for name, pool in found.items():
        there = [t for model, t in pool.members if model == request.model]
        wanted = request.wanted_temperature
        checked = request.model, usual_temperature(there) if wanted is None else wanted
        market = open_market(
            pool,
            checked,
            n=request.n or min(PAPER_SETTING.n, pool.reach(checked)),
            m=request.m or PAPER_SETTING.m,
            seed=request.seed,
            counts=counted_ids(pool, request.counted).__contains__,
            examples=examples.get(name),
        )
        if not market.evidence.task_ids:
            raise NoStore(f"no task of {name} has a reference and {market.m} programs of {request.model}; try -m 2")
        yield market


def listed_rows(market: Market, *, resamples: int, seed: int) -> list[dict[str, Any]]:
    """Return the price list of one market: rows of ``POLICY_SCHEMA``."""
    return [
        policy_row(market, line.score, resamples=resamples, seed=seed) | {"family": line.family}
        for line in price_list(market)
    ]


def policy_row(market: Market, one: Score, *, resamples: int, seed: int) -> dict[str, Any]:
    """Return what a policy does as a row of ``POLICY_SCHEMA`` without its family; null where it is undefined."""
    second, policy, evidence = ~market.first_half, one.policy, market.evidence
    rates, fitted = one.rates(second), one.rates(market.first_half)
    row: dict[str, Any] = {
        "benchmark": evidence.benchmark,
        "model": evidence.checked[0],
        "temperature": evidence.checked[1],
        "m": market.m,
        "n": market.n,
        "policy": label_of(policy),
        "models": "+".join(model for model, _ in policy.others) or None,
        "usd_per_1000_is_lower_bound": one.usd_is_lower_bound,
        **vars(rates),
        "fitted_detection": fitted.detection,
        "fitted_false_alarms": fitted.false_alarms,
        "n_tasks": int(second.sum()),
    }
    for rate, ends in intervals(one, second, resamples=resamples, seed=seed).items():
        row |= dict(zip((f"{rate}_low", f"{rate}_high"), ends, strict=True))
    return {name: None if value != value else value for name, value in row.items()}  # NaN is undefined


def label_of(policy: Policy) -> str:
    """Return a policy in a few words: what is bought in all, and when there is an alarm."""
    if policy.examples and not (policy.own or policy.others):
        return "1 own: its public example fails"
    own = f"{1 + policy.own} own"
    if policy.own and policy.temperature is not None:
        own = f"1 own, {policy.own} at t = {policy.temperature:g}"
    bought = f"{own} + {len(policy.others)} others" if policy.others else own
    example = "its public example fails or " if policy.examples else ""
    return f"{bought}: {example}{alarm_in_words(policy)}{', stopping' if policy.stop else ''}"


def alarm_in_words(policy: Policy) -> str:
    """Say how many programs that differ from the checked one raise the alarm."""
    own = _at_least(policy.own_dissents, policy.own)
    others = _at_least(policy.dissents, len(policy.others))
    if policy.own and policy.others:
        return f"{own} own or {others} others differ"
    said = own if policy.own else others
    return f"{said} differs" if policy.own + len(policy.others) == 1 else f"{said} differ"


def _at_least(needed: int, there: int) -> str:
    if there == 1:
        return "that one"
    return "any" if needed == 1 else "all" if needed == there else f"at least {needed} of {there}"


def bought_in_words(model: str, policy: Policy) -> str:
    """Say what a policy buys beside the program to check, which is of ``model``."""
    parts = []
    if policy.others:
        *first, last = [display_name(other) for other, _ in policy.others]
        parts.append(f"one program each of {', '.join(first)} and {last}" if first else f"one program of {last}")
    if policy.own:
        at = "" if policy.temperature is None else f" at t = {policy.temperature:g}"
        parts.append(f"{policy.own} more of {display_name(model)}{at}")
    return ", then ".join(parts)


_LISTED: Final = "which three others are chosen is fitted on the first half (largest detection minus false alarms)"
_EXAMPLES: Final = (
    "public example: test inputs that stand in the description (HumanEval), the first test (MBPP; the models were "
    "not shown it); a checked program that differs from the reference on one is an alarm, and nothing is bought"
)


def rates_in_words(request: TableRequest, chosen: str) -> list[str]:
    """Say what the rates of policies are; ``chosen``: by what."""
    return [
        "checked: a program of the model, drawn from those recorded; what is bought is compared with it on all inputs",
        "detection: of the checked programs that differ from the reference, the share with an alarm; false_alarms: of "
        "the others; exact expectations over the recorded programs",
        f"tasks are split by a hash of their ids (seed {request.seed}); {chosen}; columns without fitted_ are measured "
        f"on the second half; in brackets: 95 % intervals over its tasks (BCa, {request.resamples} resamples)",
        "usd_per_1000: US dollars per 1,000 tasks at list prices, the checked program included; tokens are those of "
        "the task's text and of the program alone",
    ]


def compared_in_words(market: Market) -> str:
    """Say on how many tasks policies are compared, and which models are bought from or left out."""
    evidence = market.evidence
    said = [f"{evidence.benchmark}: {len(evidence.task_ids)} tasks, m = {market.m}, t = {evidence.checked[1]:g}"]
    if market.cheap:
        said.append(f"cheap models, by price: {', '.join(display_name(model) for model, _ in market.cheap)}")
    if market.unpriced:
        said.append(f"without a known price: {', '.join(map(display_name, market.unpriced))}")
    if market.at_least:
        said.append(
            "with a lower bound as price (their reasoning was not recorded), so never taken for cheaper: "
            f"{', '.join(map(display_name, market.at_least))}"
        )
    if market.n_examples:
        unknown = "; not looked at, for not all programs of the model were executed on the tests"
        said.append(f"tasks with a public example: {market.n_examples}{unknown if evidence.fails is None else ''}")
    if market.left_out:
        said.append(f"left out, with too few programs of some model: {market.left_out} tasks")
    return "; ".join(said)


Tasks = Callable[[pl.DataFrame], pl.DataFrame]
"""Which rows count, by their task."""


def mixture_table(
    pools: Sequence[Pool], n_models: Sequence[int], *, m: int, n: int | None, temperature: float, tasks: Tasks
) -> Table:
    """Return what m programs of so many models find: a row a benchmark and number of models."""
    rows = []
    for pool in pools:
        coders = [coder for coder in pool.members if coder[1] == temperature]
        for k in n_models:
            found = mixture_summary(tasks(mixtures(pool, coders, n_models=k, each=m // k, m=m, n=n)))
            rows.append({"benchmark": pool.benchmark, "n_models": k, "programs_of_each": m // k, **found})
    return Table(pl.DataFrame(rows).fill_nan(None).with_columns(pl.col("n_tasks").cast(pl.Int64)))


def same_price_table(
    pools: Sequence[Pool], checked: Coder, listed: Mapping[str, str], *, m: int, n: int | None, tasks: Tasks
) -> Table:
    """Return what other choices of models find for the price of m programs of ``checked``.

    ``listed``: model -> the name of its list price. Raises WrongUsage for a model without a known price.
    """
    prices = {}
    for model, name in listed.items():
        price = list_price(name) if isinstance(name, str) else None
        if price is None:
            raise WrongUsage(f"expected a model with a known list price, got {name!r}; leave {model} out")
        prices[model, checked[1]] = price
    return Table(pl.concat(same_price(pool, checked, prices, m=m, n=n, tasks=tasks) for pool in pools))
