"""One task of one model as a page shows it: clusters, inputs with all outcomes, codes with what differs marked."""

from dataclasses import dataclass
from typing import Final

from difftrust.explorer.home import marked_programs
from difftrust.page.subject import Subject
from difftrust.page.worth_reading import Worth
from difftrust.tables.names import display_name
from difftrust.tasks.details import DISAGREEING, WRONG
from difftrust.tasks.task_inputs import ReadInput, read_inputs, spelled_answer, whose
from difftrust.tasks.task_sentences import PLACES
from difftrust.tasks.task_view import TaskView, view_task
from difftrust.text import Marked, count_of, cut, visible
from difftrust_core.exceptions import DifftrustError
from difftrust_core.store.schemas import REMEDIES

INPUTS: Final = 3
"""Inputs of each kind that are shown of a task."""
_CLUSTERS: Final = 6
_OUTCOMES: Final = 5
_LINE: Final = 300


@dataclass(frozen=True, kw_only=True)
class Input:
    """One input, and what everybody does on it."""

    arguments: str
    mark: str
    """Where it lies; empty where that is not known."""
    note: str
    outcomes: tuple[tuple[str, str, bool], ...]
    """(who, outcome, whether it is right)."""


@dataclass(frozen=True, kw_only=True)
class Pane:
    """One task as texts that are safe to show: nothing hidden, nothing longer than anybody reads."""

    task_id: str
    model: str
    why: str
    summary: str
    statements: tuple[str, ...] = ()
    signature: str = ""
    description: str = ""
    clusters: tuple[tuple[str, str, str], ...] = ()
    """(name, programs, how many inputs are wrong)."""
    wrong: tuple[Input, ...] = ()
    disagreeing: tuple[Input, ...] = ()
    codes: tuple[tuple[str, Marked], ...] = ()
    """(title, pieces of the text, and whether each differs from the first program)."""
    missing: str = ""
    """What the store lacks, and what to type."""


def make_pane(subject: Subject, worth: Worth) -> Pane:
    """Return the pane of a task. Raises WrongUsage or TooFewCandidates where there is nothing to show."""
    coder = (worth.model, subject.temperature)
    view = view_task(subject.store, subject.pool, worth.task_id, [coder], m=subject.m, n=subject.n)
    wrong = read_inputs(view, WRONG)[:INPUTS]
    shown = {one.arguments for one in wrong}
    disagreeing = [one for one in read_inputs(view, DISAGREEING) if one.arguments not in shown][:INPUTS]
    described = view.task
    lacks = "; the task has no reference" if view.clustering.reference_labels is None else ""
    is_python = described is not None and described.language == "python"
    return Pane(
        task_id=_short(worth.task_id),
        model=_short(display_name(worth.model)),
        why=worth.why,
        summary=_safe(f"{view.headline}{lacks}."),
        statements=tuple(_safe(line) for line in view.statements),
        signature=_safe(f"def {described.entry_point}{described.signature}:") if described and is_python else "",
        description=_safe(described.description.strip(), lines=40) if described else "",
        clusters=_clusters(view),
        wrong=tuple(_input(view, one) for one in wrong),
        disagreeing=tuple(_input(view, one) for one in disagreeing),
        codes=tuple(marked_programs(view)),
        missing=_missing(view),
    )


def refused(worth: Worth, error: DifftrustError) -> Pane:
    """Return the pane of a task that cannot be shown, saying why."""
    name = _short(display_name(worth.model))
    return Pane(task_id=_short(worth.task_id), model=name, why=worth.why, summary=_safe(str(error)))


def _safe(text: str, *, lines: int = 60) -> str:
    return visible(cut(text, line=_LINE, lines=lines))


def _short(text: str) -> str:
    return visible(text[:121].replace("\n", "⏎")) if len(text) <= 120 else f"{visible(text[:119])}…"


def _clusters(view: TaskView) -> tuple[tuple[str, str, str], ...]:
    found, n = [], view.clustering.n
    for one in view.clustering.clusters[:_CLUSTERS]:
        wrong = f"{one.n_wrong:,} of {n:,} inputs" if one.n_wrong else "" if one.n_wrong is None else "none"
        found.append((f"cluster {one.number}", count_of(one.n_candidates), wrong if one.loads else "does not load"))
    return tuple(found)


def _input(view: TaskView, one: ReadInput) -> Input:
    name = view.task.entry_point if view.task else ""
    is_call = view.language == "python" and one.arguments.startswith("(")
    loading = [cluster for cluster in view.clustering.clusters if cluster.loads]
    notes = ["All programs agree here."] if one.kind == WRONG and len(loading) == 1 else []
    notes += ["The smallest input found."] if one.is_smallest else []
    notes += [f"It stands for {one.n_inputs:,} inputs."] if (one.n_inputs or 0) > 1 else []
    outcomes = [
        (", ".join(filter(None, whose(view, each))), _safe(spelled_answer(view, each), lines=12), each.is_right)
        for each in one.answers
    ]
    right = [outcome for outcome in outcomes[_OUTCOMES:] if outcome[2]]
    more = [(f"{len(outcomes) - _OUTCOMES} more outcomes", "…", False)] if len(outcomes) > _OUTCOMES else []
    return Input(
        arguments=_safe(f"{name}{one.arguments}" if is_call else one.arguments, lines=20),
        mark=PLACES.get(one.place or "", ""),
        note=" ".join(notes),
        outcomes=(*outcomes[:_OUTCOMES], *more, *right),
    )


def _missing(view: TaskView) -> str:
    lacks = ["the task's description"] if view.task is None else []
    lacks += ["program texts"] if view.texts.frame.is_empty() else []
    remedy = REMEDIES["programs"].replace("`", "")
    return f"The store does not hold {' and '.join(lacks)}; {remedy}." if lacks else ""
