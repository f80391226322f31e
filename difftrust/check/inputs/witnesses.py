"""Inputs sought by what running programs compare: a way into the domain, and where candidates that agree differ."""

from collections.abc import Collection, Sequence

from difftrust.check.inputs.in_domain import INSIDE, InDomain
from difftrust.check.inputs.input_filter import InputFilter, Judged
from difftrust.check.outcomes import OutcomeClasses
from difftrust.check.programs import Executor
from difftrust.search.drawing import TypedInputs
from difftrust.search.feedback import BATCH, Feedback
from difftrust.search.inputs import InputSource
from difftrust_core.base.records import Kind, Outcome

_ROUNDS_TO_ENTER, _ROUNDS_TO_PART = 40, 8
_IDLE = 2
"""Rounds without a new comparison, after which there hardly is one."""
_ENOUGH = 40
"""So many inputs inside the domain are a start for drawing."""
_MOST_PROGRAMS = 4
_NO_END = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH, Kind.LOAD_ERROR, Kind.FORGED)


def _feedback(source: TypedInputs, executor: Executor, codes: Sequence[str], entry_point: str, key: str) -> Feedback:
    def noted(texts: Sequence[str]) -> Sequence[Sequence[Outcome]]:
        return executor.run(codes, texts, entry_point=entry_point, is_noted=True).rows

    return Feedback(source, noted, key=f"{executor.task.task_id}/{key}")


def enter_domain(source: InputSource, judge: InputFilter, starts: Sequence[str], *, key: str) -> list[str]:
    """Return inputs that are kept, made of others by what the condition of the domain compares on them."""
    program = InDomain(judge.executor).program
    if not program or not isinstance(source, TypedInputs):
        return []
    feedback = _feedback(source, judge.executor, [program], INSIDE, f"{key}/enter")
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
    feedback = _feedback(source, judge.executor, [judge.programs[p].code for p in some], "", f"{key}/part")
    left, parting, tried, front = set(pairs), list[str](), list[Judged](), [*seeds, *measured.inputs]
    known = measured.outcomes if len(measured.outcomes) == 1 else frozenset()
    idle = 0
    for _ in range(_ROUNDS_TO_PART):
        judged = judge.judge(feedback.follow(front))
        idle = 0 if judged else idle + 1
        tried += judged
        kept = [each for each in judged if not each.why]
        for each in kept:
            parted = {pair for pair in left if _parts(judge, [each.outcomes[p] for p in pair])}
            is_other = bool(known) and known.isdisjoint(each.outcomes)
            parting += [each.text] if parted or is_other else []
            left, known = left - parted, frozenset() if is_other else known
        front = [*[each.text for each in kept], *front[BATCH:]]
        if not front or not (left or known) or idle == _IDLE:
            break
    return parting, tried


def _parts(judge: InputFilter, row: Sequence[Outcome]) -> bool:
    return not any(kind in _NO_END for kind, _ in row) and len(set(judge.answers.classify(row))) > 1
