"""The verdict of a check: incoherent, disagreement found, undecided or coherent; and what would decide it."""

import re
import shlex
from collections.abc import Sequence

import numpy as np

from difftrust_core.base.records import Kind, Outcome
from difftrust_core.base.task import Task
from difftrust_core.checks.examples import Contradiction
from difftrust_core.checks.inputs import Drawn
from difftrust_core.checks.matrix import Matrix, Witnesses
from difftrust_core.checks.report import (
    Excluded,
    Interval,
    Undecided,
    Validation,
    Verdict,
    statement,
    witness_statement,
)
from difftrust_core.checks.spelling import spelled_call, spelled_method
from difftrust_core.metrics.estimators import Floats, Labels

MIN_DISTINCT = 30
"""On fewer distinct inputs agreement says too little, unless they are all that there are."""
_NONE = (Kind.VALUE, "None")


def doubts_of(
    task: Task,
    m: int,
    n_loading: int,
    matrix: Matrix,
    witnesses: Witnesses,
    drawn: Drawn,
    validation: Sequence[Validation],
    absent: Sequence[str],
    n_examples: int = 0,
) -> tuple[Undecided, ...]:
    """Return why agreement on what ran would say too little, each reason with what would help."""
    name, left_out = task.entry_point, drawn.left_out.most_common()
    if n_loading < 2:
        remedy = "more programs: at least two that load and return a value"
        return (Undecided(why=f"{n_loading} of {m} candidates load", remedy=remedy),)
    if not matrix.returns_values:
        most = f" ({left_out[0][1]} draws: {left_out[0][0]})" if left_out else ""
        remedy = f'give inputs on which it returns: --example "{name}(...)"'
        return (Undecided(why=f"no candidate returned a plain value{most}", remedy=remedy),)
    found = []
    open_ones = [each for each in validation if not each.stated]
    if open_ones:
        why = "candidates differ, but only on inputs of which the docstring does not say whether they are allowed"
        found.append(Undecided(why=why, remedy=_settle(open_ones[0], name)))
    if absent:
        why = f"{', '.join(absent)}: a package is missing"
        found.append(Undecided(why=why, remedy="allow the package with --allow-import, or leave the candidate out"))
    n_inputs = len({*matrix.inputs, *witnesses.inputs})
    if n_inputs < MIN_DISTINCT and not drawn.exhausted:
        why = f"{n_inputs} distinct inputs ran, {MIN_DISTINCT} are needed"
        found.append(Undecided(why=why, remedy=_more_inputs(name, left_out)))
    elif matrix.n_returning < MIN_DISTINCT and not drawn.exhausted:
        why = f"on {n_inputs} distinct inputs a value came back on {matrix.n_returning}, {MIN_DISTINCT} are needed"
        found.append(Undecided(why=why, remedy=_more_inputs(name, left_out)))
    found += [] if n_examples else _one_object(task, [*matrix.inputs, *witnesses.inputs])
    outcomes = matrix.outcomes | witnesses.outcomes
    return (*found, *_one_outcome(name, n_inputs, outcomes, drawn.exhausted))


def _one_object(task: Task, inputs: Sequence[str]) -> list[Undecided]:
    """Doubt a method that only ran on objects as they are made without arguments, where the class keeps something."""
    owner, _, method = task.entry_point.rpartition(".")
    if not owner or not re.search(r"\bself\.\w+(?:: [^=\n]+)? = ", task.preamble):
        return []
    if not all(re.match(rf"\({re.escape(owner)}\(\)[,)]", text) for text in inputs):
        return []
    remedy = f'give an example in which it was used before: --example ">>> x = {owner}(); ...; x.{method}(...)"'
    return [Undecided(why=f"every object was {owner}(), as it is made: no call before this one", remedy=remedy)]


def doubts_about(excluded: Excluded | None, task: Task, n_inputs: int) -> list[Undecided]:
    """Return why conditions that a model suggests decide nothing: they leave too much out, or hide a disagreement."""
    if excluded is None:
        return []
    said = f"conditions that {excluded.by} suggests"
    if excluded.arguments is not None:
        call = spelled_method(task.entry_point, excluded.arguments)
        why = f"the candidates differ on {excluded.n_differing} of {excluded.n_tried} inputs that only {said} leave out"
        assumed = " ".join(f"--assume {shlex.quote(text)}" for text in excluded.conditions)
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
        kind, text = next(iter(outcomes))
        said = text if kind == Kind.VALUE else f"{kind.name.lower().replace('_', ' ')} {text}".strip()
        why = f"the outcome is {said[:80]} on all {n_inputs} inputs"
        remedy = f'give a call with another result: --example "{entry_point}(...)"'
        return [Undecided(why=why, remedy=remedy)]
    return []


def _more_inputs(entry_point: str, left_out: Sequence[tuple[str, int]]) -> str:
    remedy = f'give realistic calls: --example "{entry_point}(...)", may be repeated; or a larger -n'
    return f"{remedy} (left out: {left_out[0][1]} draws, {left_out[0][0]})" if left_out else remedy


def _settle(shown: Validation, entry_point: str) -> str:
    call = spelled_call(entry_point, shown.arguments)
    raised = next((d.outcome[1] for d in shown.doing if d.outcome[0] == Kind.EXCEPTION), "")
    condition = shown.condition or "CONDITION on the arguments"
    right = f"{call} raises {raised}" if raised else f"{call} == ..."
    return f'say what is right there: --example "{right}"; or leave such inputs out: --assume "{condition}"'


def verdict_of(
    *, contradicted: bool, comparable: bool, disagree: bool, witnessed: bool, doubts: Sequence[Undecided]
) -> Verdict:
    """Return the verdict. ``comparable``: two load and some value came; ``disagree``: on a measured input."""
    if contradicted:
        return "incoherent"
    if not comparable:
        return "undecided"
    if disagree:
        return "incoherent"
    if witnessed:
        return "disagreement found"
    return "undecided" if doubts else "coherent"


def statement_of(
    verdict: Verdict,
    doubts: Sequence[Undecided],
    contradictions: Sequence[Contradiction],
    disagreement: Floats | None,
    interval: Interval | None,
    witnesses: Witnesses,
    subject: str,
) -> str:
    """Return what is certain, in the order of its weight. ``disagreement``: D of each input."""
    said = []
    if contradictions:
        whose = ", ".join(dict.fromkeys(name for each in contradictions for name in each.candidates))
        said.append(f"Wrong by an example that says what is right: {whose}.")
    if verdict == "undecided":
        said.append(f"Could not decide: {'; '.join(doubt.why for doubt in doubts)}.")
    if witnesses.n_differing and disagreement is not None and not disagreement.any():
        said.append(witness_statement(witnesses.n_differing, len(witnesses.inputs)))
    if disagreement is not None and interval is not None and not (verdict == "undecided" and disagreement.any()):
        said.append(statement(disagreement, interval, subject))
    return " ".join(said)


def next_step(verdict: Verdict, doubts: Sequence[Undecided], labels: Labels, m: int, n: int) -> str:
    """Say which would tell more, programs or inputs: inputs while their second half still splits clusters."""
    if verdict == "undecided" and doubts:
        return doubts[0].remedy
    if labels.shape[1] < 2:
        return f"more programs (-m {2 * m})"
    half, whole = (len(np.unique(labels[:, :k], axis=0)) for k in (labels.shape[1] // 2, labels.shape[1]))
    if half < whole:
        return f"more inputs (-n {2 * n}): the second half of them still split behaviours that looked equal"
    return (
        f"more programs (-m {2 * m}), best from another model: twice the inputs would split little, "
        "for the second half of these split nothing"
    )
