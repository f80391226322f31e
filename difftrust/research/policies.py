"""Which programs to buy as a check of one program: what a policy finds, how often it is wrong, what it costs.

One *checked program* is drawn at random from those recorded of a model on a task. A *policy* buys further programs, of
that model or of others, compares each with the checked one on all inputs, and raises an alarm if enough of them differ
on some input (they *dissent*). The checked program is *erroneous* if it differs from the reference on some input.
Whatever is bought, it is the same programs that are judged, so all policies have one denominator:

- detection: of the erroneous checked programs, the share with an alarm;
- false alarms: of the others, the share with an alarm.

A checked program that does not load is an alarm for which nothing is bought. So is, where a policy looks at the public
examples, one that does not pass those of its task. All values are exact expectations over
which recorded program is checked and which are bought; nothing is drawn at random.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from difftrust.research.passed_tests import FAILS, UNKNOWN
from difftrust.research.per_candidate import Bools
from difftrust_core.base.records import Coder, Kind
from difftrust_core.estimates.pool import Ints, Members, Pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import Price
from difftrust_core.metrics.estimates import Floats, quotients


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What is bought beside the checked program, in this order: the others, then more of the checked model.

    There is an alarm if ``own_dissents`` of the own or ``dissents`` of the others differ from the checked program.
    """

    own: int = 0
    """Further programs of the checked model."""
    temperature: float | None = None
    """At which these are sampled; None: as the checked one."""
    own_dissents: int = 1
    others: tuple[Coder, ...] = ()
    """Of each, one program."""
    dissents: int = 1
    examples: bool = False
    """Run the checked program on its task's public examples first: an alarm if it does not pass."""
    stop: bool = False
    """Buy one program after the other, and none that can change nothing: what is found stays the same."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Recorded programs of one benchmark, compared with those of the checked coder.

    Arrays have an element a *cell*, which is one behaviour of the checked coder on one task, or an element a task.
    """

    benchmark: str
    checked: Coder
    task_ids: tuple[str, ...]
    task: Ints
    """Of each cell, ascending."""
    share: Floats
    """Of each cell: how likely the checked program is of it; they sum to 1 on each task."""
    wrong: Bools
    """Of each cell: whether it differs from the reference on some input."""
    loads: Bools
    fails: Floats | None
    """Of each cell: the share of its programs that do not pass their task's public examples; None: not known of all."""
    alike: Mapping[Coder, Ints]
    """How many programs of a coder behave as each cell."""
    recorded: Mapping[Coder, Ints]
    """How many programs of a coder there are on each cell's task."""
    usd: Mapping[Coder, Floats]
    """Of each task: what a program of a coder costs on average, in US dollars; NaN where it is not known."""
    at_least: frozenset[Coder] = frozenset()
    """Coders of which the dollars are a lower bound: their reasoning was billed too, and is not recorded."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Score:
    """What a policy does on each task: arrays of expectations, (n_tasks,)."""

    policy: Policy
    erroneous: Floats
    """Chance that the checked program is erroneous."""
    detected: Floats
    """Chance that it is, and that there is an alarm."""
    false_alarm: Floats
    """Chance that it is not, and that there is an alarm."""
    programs: Floats
    """How many programs are bought, the checked one included."""
    usd: Floats
    """For how much; NaN where a price is not known."""
    usd_is_lower_bound: bool = False

    def rates(self, tasks: Bools) -> "Rates[float]":
        """Return the rates over the tasks chosen; NaN where nothing defines one."""
        n_tasks, erroneous = int(tasks.sum()), float(self.erroneous[tasks].sum())
        return Rates(
            detection=share_of(float(self.detected[tasks].sum()), erroneous),
            false_alarms=share_of(float(self.false_alarm[tasks].sum()), n_tasks - erroneous),
            programs=share_of(float(self.programs[tasks].sum()), n_tasks),
            usd_per_1000=share_of(1000 * float(self.usd[tasks].sum()), n_tasks),
        )


T = TypeVar("T", float, Floats)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rates(Generic[T]):
    """What a policy does over many tasks, or several, an element each; NaN where it is undefined."""

    detection: T
    false_alarms: T
    programs: T
    """A task, the checked program included."""
    usd_per_1000: T
    """US dollars per 1,000 tasks."""


def share_of(part: float, whole: float) -> float:
    """Return the quotient; NaN where nothing defines it."""
    return part / whole if whole > 0 else math.nan


def gather(
    pool: Pool,
    checked: Coder,
    least: Mapping[Coder, int],
    *,
    n: int,
    prices: Mapping[Coder, Price | None],
    counts: Callable[[str], bool] = lambda task_id: True,
    verdicts: Ints | None = None,
) -> Evidence:
    """Return what is recorded of ``checked`` and of the coders of ``least``, on the first n inputs.

    ``verdicts``: of the programs of ``checked``, as in ``PublicExamples.verdicts``; None: none is known.
    Left out are tasks without a reference, those that do not count, and those on which a coder has fewer than ``least``
    programs or one that was not executed on n inputs. Raises WrongUsage for an unknown coder.
    """
    flat = pool.flat
    first_row = flat.first_row
    known = np.array([counts(task.task_id) for task in pool.tasks], dtype=bool) & flat.has_reference
    known &= (flat.n_inputs >= n) & (flat.reference_reach >= n)
    classes = flat.classes(flat.weights(np.where(known, n, 0))[1])
    members = {coder: pool.of(coder) for coder in {checked: 1, **least}}
    for coder, own in members.items():
        known &= np.bincount(own.task, minlength=flat.n_tasks) >= max(1, least.get(coder, 1))
        known[own.task[flat.reach[first_row[own.task] + own.row] < n]] = False
    numbers = {c: np.bincount(classes[first_row[o.task] + o.row], minlength=len(classes)) for c, o in members.items()}
    cells = np.flatnonzero((numbers[checked] > 0) & known[flat.task_of_row])
    task = flat.task_of_row[cells]
    recorded = {coder: np.bincount(own.task, minlength=flat.n_tasks)[task] for coder, own in members.items()}
    reference = classes[first_row + np.array([t.reference or 0 for t in pool.tasks], dtype=np.int64)]
    chosen = np.flatnonzero(known)
    return Evidence(
        benchmark=pool.benchmark,
        checked=checked,
        task_ids=tuple(pool.tasks[at].task_id for at in chosen),
        task=np.searchsorted(chosen, task),
        share=numbers[checked][cells] / recorded[checked],
        wrong=cells != reference[task],
        loads=flat.kinds[flat.first_cell[cells]] != Kind.LOAD_ERROR,
        fails=_failing(verdicts, classes[first_row[members[checked].task] + members[checked].row], cells),
        alike={coder: counted[cells] for coder, counted in numbers.items()},
        recorded=recorded,
        usd={coder: _usd(own, prices.get(coder), flat.n_tasks)[chosen] for coder, own in members.items()},
        at_least=frozenset(coder for coder, own in members.items() if is_lower_bound(own, prices.get(coder))),
    )


def is_lower_bound(members: Members, price: Price | None) -> bool:
    """Tell whether what is known of a coder's costs leaves out reasoning."""
    unrecorded = bool((members.cost_nanodollars < 0).any())
    return bool(members.cost_is_lower_bound.any()) or (unrecorded and price is not None and price.reasoning)


def _failing(verdicts: Ints | None, class_of_member: Ints, cells: Ints) -> Floats | None:
    """Return the share of each cell's members that fail, None if it is not known of one of them."""
    place = np.searchsorted(cells, class_of_member).clip(max=max(len(cells) - 1, 0))
    inside = cells[place] == class_of_member if len(cells) else np.zeros(len(class_of_member), dtype=bool)
    if verdicts is None or (verdicts[inside] == UNKNOWN).any():
        return None
    number = np.bincount(place[inside], minlength=len(cells))
    fail = np.bincount(place[inside], verdicts[inside] == FAILS, minlength=len(cells))
    shares: Floats = np.divide(fail, number, out=np.zeros(len(cells)), where=number > 0)
    return shares


def _usd(members: Members, price: Price | None, n_tasks: int) -> Floats:
    """Return the mean dollars of a program of each task: as recorded, else its tokens at the price, else NaN."""
    usd = np.where(members.cost_nanodollars >= 0, members.cost_nanodollars / 1e9, math.nan)
    if price is not None:
        pairs = zip(members.prompt_tokens.tolist(), members.completion_tokens.tolist(), strict=True)
        listed = [price.of(*(tokens if tokens >= 0 else None for tokens in pair)) for pair in pairs]
        usd = np.where(np.isnan(usd), np.array(listed, dtype=np.float64), usd)
    number = np.bincount(members.task, minlength=n_tasks)
    total = np.bincount(members.task, usd, minlength=n_tasks)
    return quotients(total, number, number > 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """Of each cell: the chance of an alarm, and of how many programs, at which price, are bought."""

    alarm: Floats
    programs: Floats
    usd: Floats


def score(evidence: Evidence, policies: Iterable[Policy]) -> list[Score]:
    """Return what each policy does on each task. Raises WrongUsage if it asks for more programs than are recorded."""
    own, others = (cache(partial(votes, evidence)) for votes in (own_votes, other_votes))
    found = []
    for policy in policies:
        of_own = own(replace(policy, others=(), dissents=1, examples=False))
        of_others = others(replace(policy, own=0, temperature=None, own_dissents=1, examples=False))
        found.append(_together(evidence, policy, of_others, of_own))
    return found


def _together(evidence: Evidence, policy: Policy, others: Votes, own: Votes) -> Score:
    if policy.examples and evidence.fails is None:
        raise WrongUsage(
            "expected results on the tests of every checked program, found none of some; run `difftrust execute "
            "--store DIR --inputs tests`"
        )
    n_tasks = len(evidence.task_ids)
    # What it does on the examples depends on which program of its cell is checked, who differs from it on the cell.
    judged = evidence.loads * (1.0 if evidence.fails is None or not policy.examples else 1 - evidence.fails)
    alarm = 1 - judged * (1 - others.alarm) * (1 - own.alarm)
    # One after the other: no own program is bought once the others have raised the alarm.
    goes_on = 1 - others.alarm if policy.stop else 1.0
    programs = judged * (others.programs + goes_on * own.programs)
    usd = judged * (others.usd + goes_on * own.usd)

    def per_task(values: NDArray[Any]) -> Floats:
        return np.bincount(evidence.task, evidence.share * values, minlength=n_tasks).astype(np.float64)

    return Score(
        policy=policy,
        erroneous=per_task(evidence.wrong.astype(np.float64)),
        detected=per_task(evidence.wrong * alarm),
        false_alarm=per_task(~evidence.wrong * alarm),
        programs=1 + per_task(programs),
        usd=evidence.usd[evidence.checked] + per_task(usd),
        usd_is_lower_bound=not evidence.at_least.isdisjoint({evidence.checked, *bought_coders(evidence, policy)}),
    )


def own_coder(evidence: Evidence, policy: Policy) -> Coder:
    """Return the coder of which a policy buys further programs of the checked model."""
    model, temperature = evidence.checked
    return model, temperature if policy.temperature is None else policy.temperature


def bought_coders(evidence: Evidence, policy: Policy) -> set[Coder]:
    """Return the coders of which a policy buys programs beside the checked one."""
    return {*policy.others, *([own_coder(evidence, policy)] if policy.own else [])}


def own_votes(evidence: Evidence, policy: Policy) -> Votes:
    """Return the votes of further programs of the checked model, drawn without replacement."""
    from scipy.special import comb

    coder = own_coder(evidence, policy)
    model = coder[0]
    if coder not in evidence.alike:
        raise WrongUsage(f"expected a temperature that {model} was gathered at, got {policy.temperature}")
    itself = 1 if coder == evidence.checked else 0
    there, alike = evidence.recorded[coder] - itself, evidence.alike[coder] - itself
    if there.min(initial=policy.own) < policy.own:
        raise WrongUsage(f"expected {policy.own} further programs of {model} on each task, got {int(there.min())}")

    def dissents_among(bought: int) -> Floats:
        """Return the chance of 0, 1, ... dissents among so many programs: (bought + 1, n_cells)."""
        ways = [comb(there - alike, j) * comb(alike, bought - j) for j in range(bought + 1)]
        chances: Floats = np.array(ways) / comb(there, bought)
        return chances

    price = evidence.usd[coder][evidence.task]
    bought = [_open(dissents_among(i), policy.own_dissents, policy.own - i, policy.stop) for i in range(policy.own)]
    programs = np.array(bought).reshape(policy.own, len(price)).sum(axis=0)
    alarm = dissents_among(policy.own)[policy.own_dissents :].sum(axis=0)
    return Votes(alarm=alarm, programs=programs, usd=programs * price if policy.own else programs)


def other_votes(evidence: Evidence, policy: Policy) -> Votes:
    """Return the votes of one program of each other coder, bought in their order."""
    n_cells = len(evidence.task)
    dissents = np.ones((1, n_cells))
    programs, usd = np.zeros(n_cells), np.zeros(n_cells)
    for i, coder in enumerate(policy.others):
        bought = _open(dissents, policy.dissents, len(policy.others) - i, policy.stop)
        programs += bought
        usd += bought * evidence.usd[coder][evidence.task]
        differs = 1 - evidence.alike[coder] / evidence.recorded[coder]
        none = np.zeros((1, n_cells))
        dissents = np.concatenate([dissents * (1 - differs), none]) + np.concatenate([none, dissents * differs])
    return Votes(alarm=dissents[policy.dissents :].sum(axis=0), programs=programs, usd=usd)


def _open(dissents: Floats, needed: int, left: int, stop: bool) -> Floats:
    """Return the chance that one more of the ``left`` programs is bought after 0, 1, ... dissents: (n_cells,)."""
    if not stop:
        return np.ones(dissents.shape[1])
    is_open: Floats = dissents[max(0, needed - left) : needed].sum(axis=0)
    return is_open
