"""Inputs sought by what running programs compare: a way into the domain, and where candidates that agree differ."""

from collections.abc import Collection, Sequence

from difftrust.check.inputs.in_domain import INSIDE, InDomain
from difftrust.check.inputs.input_filter import InputFilter, Judged
from difftrust.check.outcomes import OutcomeClasses
from difftrust.check.programs import Executor
from difftrust.search.drawing import TypedInputs
from difftrust.search.feedback import Feedback
from difftrust.search.inputs import InputSource
from difftrust_core.base.records import Kind, Outcome

_ROUNDS_TO_ENTER = 40
_ENOUGH = 40
"""So many inputs inside the domain are a start for drawing."""
_MOST_PROGRAMS = 4
_NO_END = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH, Kind.LOAD_ERROR, Kind.FORGED)


def feedback_of(
    source: TypedInputs, executor: Executor, codes: Sequence[str], *, entry_point: str = "", key: str
) -> Feedback:
    """Return what follows inputs through programs that say what they compare."""

    def noted(texts: Sequence[str]) -> Sequence[Sequence[Outcome]]:
        return executor.run(codes, texts, entry_point=entry_point, is_noted=True).rows

    return Feedback(source, noted, key=f"{executor.task.task_id}/{key}")


def enter_domain(source: InputSource, judge: InputFilter, starts: Sequence[str], *, key: str) -> list[str]:
    """Return inputs that are kept, made of others by what the condition of the domain compares on them."""
    program = InDomain(judge.executor).program
    if not program or not isinstance(source, TypedInputs):
        return []
    feedback = feedback_of(source, judge.executor, [program], entry_point=INSIDE, key=f"{key}/enter")
    kept, made = list[str](), list(starts)
    for _ in range(_ROUNDS_TO_ENTER):
        made = feedback.follow(made)
        kept += [judged.text for judged in judge.judge(made) if not judged.why]
        if not made or len(kept) >= _ENOUGH:
            break
    return kept


def seek_witnesses(
    source: InputSource,
    judge: InputFilter,
    pairs: Collection[tuple[int, int]],
    measured: OutcomeClasses,
    seeds: Sequence[str],
    *,
    key: str,
) -> tuple[list[str], list[Judged]]:
    """Return inputs on which pairs of programs differ that agree on what is ``measured``, and all that were tried.

    They are made of ``seeds`` and of what is measured: of inputs inside the domain, for what is met outside it would
    count as met. Where programs did but one thing there, also the first on which they do another.
    """
    if not isinstance(source, TypedInputs):
        return [], []
    some = sorted({p for pair in pairs for p in pair})[:_MOST_PROGRAMS]
    feedback = feedback_of(source, judge.executor, [judge.programs[p].code for p in some], key=f"{key}/part")
    left, parting, tried = set(pairs), list[str](), list[Judged]()
    known = measured.outcomes if len(measured.outcomes) == 1 else frozenset()

    def run(made: list[str]) -> list[str] | None:
        nonlocal left, known
        judged = judge.judge(made)
        tried.extend(judged)
        kept = [each for each in judged if not each.why]
        for each in kept:
            parted = {pair for pair in left if _parts(judge, [each.outcomes[p] for p in pair])}
            is_other = bool(known) and known.isdisjoint(each.outcomes)
            parting.extend([each.text] if parted or is_other else [])
            left, known = left - parted, frozenset() if is_other else known
        return [each.text for each in kept] if left or known else None

    feedback.search([*seeds, *measured.inputs], run)
    return parting, tried


def _parts(judge: InputFilter, row: Sequence[Outcome]) -> bool:
    return not any(kind in _NO_END for kind, _ in row) and len(set(judge.answers.classify(row))) > 1
