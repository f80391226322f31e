"""The verdict of a check, what it says of incoherence and error in numbers and words, and what would decide it."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from difftrust.check.examples import ExamplesRun
from difftrust.check.inputs.input_filter import NO_TIME_LEFT, Drawn
from difftrust.check.outcomes import Measured, OutcomeClasses
from difftrust.check.report import (
    Excluded,
    Interval,
    Undecided,
    Validation,
    Verdict,
)
from difftrust.check.spelling import spell_kind, spelled_in
from difftrust.conditions.reading import LEFT_OPEN
from difftrust.task_intervals import (
    at_most_after_no_disagreement,
    error_lower_bound_over_programs,
    hoeffding,
    incoherence_interval_over_programs,
    proportion_interval,
)
from difftrust.text import quote_word
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.base.task import Task
from difftrust_core.metrics.estimates import Counts, Floats, Labels, disagreement_per_input, incoherence

LEVEL = 0.95
COVERS = "the choice of inputs, given these programs"
MIN_DISTINCT = 30
"""On fewer distinct inputs agreement says too little, unless they are all that there are."""
_NONE = (Kind.VALUE, "None")


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """All that a check found, before its verdict."""

    task: Task
    subject: str
    """Whose error the statements are about."""
    names: Sequence[tuple[str, ...]]
    """Of each program, its candidates."""
    examples: ExamplesRun
    drawn: Drawn
    measured: Measured
    seeds: OutcomeClasses
    """The programs that work on the witnesses, seed inputs and inputs sought: nothing measured counts them."""
    validation: tuple[Validation, ...]
    excluded: Excluded | None

    @cached_property
    def counts(self) -> Counts:
        """How many candidates each program stands for."""
        return np.array([len(names) for names in self.names])

    @cached_property
    def weights(self) -> Counts:
        """The counts, 0 for programs that the check knows nothing of: they lack a package that is not allowed."""
        return self.counts * ~self.measured.lacks_package

    @cached_property
    def labels(self) -> Labels:
        """(n_programs, n): the classes of outcomes on the measured inputs."""
        return self.measured.labels

    @cached_property
    def loading(self) -> Counts:
        """How many candidates that load each program stands for."""
        return self.counts * self.measured.loads

    @property
    def is_comparable(self) -> bool:
        """Whether two candidates load and some value came back."""
        return bool(self.loading.sum() >= 2 and self.measured.n_returning)

    @cached_property
    def disagreement(self) -> Floats | None:
        """(n,): D of each input; None where nothing can be compared."""
        if self.weights.sum() < 2 or not self.loading.any() or not self.labels.shape[1]:
            return None
        return disagreement_per_input(self.labels, self.weights)

    @cached_property
    def incoherence(self) -> float | None:
        """I over two distinct candidates, Eq. 8."""
        return None if self.disagreement is None else incoherence(self.labels, self.weights)

    @cached_property
    def interval(self) -> Interval | None:
        """What is known of I."""
        if self.disagreement is None or self.incoherence is None:
            return None
        if self.drawn.exhausted:
            return exact_interval(self.incoherence)
        return input_interval(self.disagreement, int(self.weights.sum()), len(self.measured.distinct.inputs))


def doubts_of(found: Evidence) -> tuple[Undecided, ...]:
    """Return why agreement on what ran would say too little, each reason with what would help."""
    measured, drawn, task = found.measured, found.drawn, found.task
    name, left_out = task.entry_point, drawn.left_out.most_common()
    if found.loading.sum() < 2:
        remedy = "more programs: at least two that load and return a value"
        failed = [(name, said) for (name, *_), said in zip(found.names, measured.load_errors, strict=True) if said]
        first = "".join(f"; {name}: {said}" for name, said in failed[:1])
        why = f"{found.loading.sum()} of {found.counts.sum()} candidates load{first}"
        return (Undecided(why=why, remedy=remedy),)
    doubts = _doubts_about(found.excluded, task, len(measured.distinct.inputs))
    if not measured.n_returning:
        most = f" ({left_out[0][1]} draws: {left_out[0][0]})" if left_out else ""
        remedy = f'give inputs on which it returns: --example "{name}(...)"'
        return (*doubts, Undecided(why=f"no candidate returned a plain value{most}", remedy=remedy))
    open_ones = [each for each in found.validation if not each.stated]
    if open_ones:
        why = "candidates differ, but only on inputs of which the docstring does not say whether they are allowed"
        if all(each.doubt.startswith(LEFT_OPEN) for each in open_ones):
            why = "candidates differ, but only where the docstring may leave open what comes back"
        why += next((f" ({each.doubt})" for each in open_ones if each.doubt.endswith('"')), "")
        doubts.append(Undecided(why=why, remedy=_settle(open_ones[0], task)))
    if measured.lacks_package.any():
        absent = [n for p in np.flatnonzero(measured.lacks_package).tolist() for n in found.names[p]]
        why = f"{', '.join(absent)}: a package is missing"
        doubts.append(Undecided(why=why, remedy="allow the package with --allow-import, or leave the candidate out"))
    if (late := drawn.left_out[NO_TIME_LEFT]) > len(drawn.inputs):
        why = f"a candidate used up its processor time before {late} of {late + len(drawn.inputs)} inputs"
        doubts.append(Undecided(why=why, remedy="ask for fewer inputs with -n, or leave the slow candidate out"))
    inputs = {*measured.distinct.inputs, *found.seeds.inputs}
    n_inputs = len(inputs)
    if min(n_inputs, measured.n_returning) < MIN_DISTINCT and not drawn.exhausted:
        why = f"{n_inputs} distinct inputs ran, {MIN_DISTINCT} are needed"
        if n_inputs >= MIN_DISTINCT:
            came = f"a value came back on {measured.n_returning}"
            why = f"on {n_inputs} distinct inputs {came}, {MIN_DISTINCT} are needed"
        doubts.append(Undecided(why=why, remedy=_more_inputs(name, left_out)))
    doubts += [] if found.examples.n else one_object(name, task.preamble, inputs)
    outcomes = measured.distinct.outcomes | found.seeds.outcomes
    return (*doubts, *_one_outcome(name, n_inputs, outcomes, drawn.exhausted))


def one_object(entry_point: str, code: str, inputs: Collection[str]) -> list[Undecided]:
    """Doubt a method that only ran on objects as they are made without arguments, where the class keeps something.

    ``code``: holds the class. ``inputs``: argument tuples.
    """
    owner, _, method = entry_point.rpartition(".")
    if not owner or not re.search(r"\bself\.\w+(?:: [^=\n]+)? = ", code):
        return []
    if not all(re.match(rf"\({re.escape(owner)}\(\)[,)]", text) for text in inputs):
        return []
    remedy = f'give an example in which it was used before: --example ">>> x = {owner}(); ...; x.{method}(...)"'
    return [Undecided(why=f"every object was {owner}(), as it is made: no call before this one", remedy=remedy)]


def _doubts_about(excluded: Excluded | None, task: Task, n_inputs: int) -> list[Undecided]:
    """Return why conditions that a model suggests decide nothing: they leave too much out, or hide a disagreement."""
    if excluded is None:
        return []
    said = f"conditions that {excluded.by} suggests"
    if excluded.arguments is not None:
        call = spelled_in(task.preamble, task.entry_point, excluded.arguments)
        why = f"the candidates differ on {excluded.n_differing} of {excluded.n_tried} inputs that only {said} leave out"
        assumed = " ".join(f"--assume {quote_word(text)}" for text in excluded.conditions)
        remedy = f"if the conditions are right, say so: {assumed}; if not, take them out of {excluded.where}"
        return [Undecided(why=f"{why}, {call} for one", remedy=remedy)]
    if excluded.n_tried and n_inputs < MIN_DISTINCT:
        return [Undecided(why=f"{said} leave almost all out", remedy=f"mend or delete them in {excluded.where}")]
    return []


def _one_outcome(entry_point: str, n_inputs: int, outcomes: frozenset[Outcome], exhausted: bool) -> list[Undecided]:
    if outcomes == {_NONE}:
        why = f"all candidates return None on all {n_inputs} inputs, change no argument and print nothing"
        remedy = f'give a call on which it does something that can be seen: --example "{entry_point}(...)"'
        return [Undecided(why=why, remedy=remedy)]
    if len(outcomes) == 1 and not exhausted:
        said = spell_kind(*next(iter(outcomes)))
        why = f"the outcome is {said[:80]} on all {n_inputs} inputs"
        remedy = f'give a call with another result: --example "{entry_point}(...)"'
        return [Undecided(why=why, remedy=remedy)]
    return []


def _more_inputs(entry_point: str, left_out: Sequence[tuple[str, int]]) -> str:
    remedy = f'give realistic calls: --example "{entry_point}(...)", may be repeated; or a larger -n'
    return f"{remedy} (left out: {left_out[0][1]} draws, {left_out[0][0]})" if left_out else remedy


def _settle(shown: Validation, task: Task) -> str:
    call = spelled_in(task.preamble, task.entry_point, shown.arguments)
    most = max(shown.doing, key=lambda doing: (len(doing.candidates), doing.outcome[0] == Kind.EXCEPTION))
    kind, said = most.outcome
    condition = shown.condition or "CONDITION on the arguments"
    right = quote_word(f"{call} raises {said}" if kind == Kind.EXCEPTION else f"{call} == ...")
    return f"say what is right there: --example {right}; or leave such inputs out: --assume {quote_word(condition)}"


def verdict_of(found: Evidence, doubts: Sequence[Undecided]) -> Verdict:
    """Return the verdict."""
    if found.examples.contradictions:
        return "incoherent"
    if not found.is_comparable:
        return "undecided"
    if len(np.unique(found.labels[found.weights > 0], axis=0)) > 1:
        return "incoherent"
    if found.seeds.splitting:
        return "disagreement found"
    return "undecided" if doubts else "coherent"


def statement_of(verdict: Verdict, doubts: Sequence[Undecided], found: Evidence) -> str:
    """Return what is certain, in the order of its weight."""
    said, disagreement = [], found.disagreement
    if found.examples.contradictions:
        whose = ", ".join(dict.fromkeys(name for each in found.examples.contradictions for name in each.candidates))
        said.append(f"Wrong by an example that says what is right: {whose}.")
    if verdict == "undecided":
        said.append(f"Could not decide: {'; '.join(doubt.why for doubt in doubts)}.")
    if disagreement is None or found.interval is None:
        return " ".join(said)
    if found.seeds.splitting and not disagreement.any():
        said.append(witness_statement(len(found.seeds.splitting), len(found.seeds.inputs)))
    if not (verdict == "undecided" and disagreement.any()):
        said.append(statement(disagreement, found.interval, found.subject))
    return " ".join(said)


def next_step(verdict: Verdict, doubts: Sequence[Undecided], found: Evidence, n: int) -> str:
    """Say which would tell more, programs or inputs: inputs while their second half still splits clusters."""
    labels, m = found.labels, found.counts.sum()
    if verdict == "undecided" and doubts:
        return doubts[0].remedy
    if labels.shape[1] < 2:
        return f"more programs (-m {2 * m})"
    half, whole = (len(np.unique(labels[:, :k], axis=0)) for k in (labels.shape[1] // 2, labels.shape[1]))
    if half < whole:
        return f"more inputs (-n {2 * n}): the second half of them still split behaviours that looked equal"
    return (
        f"more programs (-m {2 * m}), best from another model: the second half of the inputs split nothing, "
        "so more inputs would add little"
    )


def input_interval(disagreement: Floats, m: int, n_distinct: int | None = None) -> Interval:
    """Return an interval for I, over the draw of inputs, given these m programs.

    ``disagreement``: (n,), D_i of each input. ``n_distinct``: how many of these inputs differ, which is what the width
    goes by: draws that repeat each other are not independent, for what few are kept is changed in its turn.
    Without any disagreement: Theorem 4.3, I <= 1 - delta^(1/n). Else the better of two, each at half the risk:
    Hoeffding's (Theorem 4.2), and the exact binomial one for the share p of inputs with a disagreement, since
    2/m <= D_i <= 1 on these, so that 2p/m <= I <= p.
    """
    draws, delta = len(disagreement), 1 - LEVEL
    n = min(n_distinct or draws, draws)
    hits = int(np.count_nonzero(disagreement))
    if not hits:
        return Interval(low=0.0, high=at_most_after_no_disagreement(n, delta), level=LEVEL, covers=COVERS)
    low, high = hoeffding(float(disagreement.mean()), n, alpha=delta / 4)
    fewest, most = hits * n // draws, -(-hits * n // draws)
    low = max(low, 2 / m * proportion_interval(fewest, n, confidence=1 - delta / 2).low)
    high = min(high, proportion_interval(most, n, confidence=1 - delta / 2).high)
    return Interval(low=low, high=high, level=LEVEL, covers=COVERS)


def exact_interval(incoherence: float) -> Interval:
    """Return what is known of I where all inputs were run: itself."""
    return Interval(low=incoherence, high=incoherence, level=LEVEL, covers="all inputs that are allowed")


def statement(disagreement: Floats, interval: Interval, subject: str) -> str:
    """Return what is certain, and what is certain at the interval's level."""
    n, hits = len(disagreement), int(np.count_nonzero(disagreement))
    if not hits and interval.high == 0:
        return (
            f"No disagreement on any of the {n} inputs that the types and the domain allow. "
            "This does not show that the programs are right: all may make the same mistake."
        )
    if hits:
        return (
            f"The programs disagree on {hits} of {n} inputs: on each of these that has one answer, a program is wrong. "
            f"{at_least(interval)} of the results of {subject} are wrong if all of them have one "
            f"({interval.level:.0%} confidence, over {interval.covers}; E >= I/2)."
        )
    return (
        f"No disagreement in {n} inputs: the incoherence of {subject} is at most {interval.high:.4f} "
        f"({interval.level:.0%} confidence, over {interval.covers}). "
        "This does not show that the programs are right: all may make the same mistake."
    )


def at_least(interval: Interval) -> str:
    """Return the least share of wrong results, half the incoherence, as ``At least 14.8 %``."""
    return f"At least {50 * interval.low:.3g} %"


def witness_statement(n_differing: int, n_witnesses: int) -> str:
    """Return what a disagreement that only witnesses show is worth."""
    return (
        f"The programs disagree on {n_differing} of {n_witnesses} witnesses, inputs given or sought: if the function "
        "allows these, at least one program is wrong. They are not drawn at random, so the incoherence does not count "
        "them."
    )


def of_the_coder(labels: Labels, counts: Counts, source: str) -> str:
    """Return what these programs say of new ones from the same ``source``: another question, and a wider interval."""
    least = error_lower_bound_over_programs(labels, counts, confidence=LEVEL)
    between = incoherence_interval_over_programs(labels, counts, confidence=LEVEL)
    return (
        f"new programs {source}: incoherence {between}, error at least {least.low:.4f} "
        f"({LEVEL:.0%} confidence, over the choice of programs)"
    )
