"""One task of one model as a page shows it: clusters, inputs with all outcomes, codes with what differs marked."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from difftrust_core.analysis.clusters import Cluster
from difftrust_core.analysis.smallest import DISAGREEING, WRONG, SmallestInput, read_smallest, smallest_of
from difftrust_core.base.text import cut, marked_difference, visible
from difftrust_core.exceptions import DifftrustError
from difftrust_core.report.names import display_name
from difftrust_core.report.page.numbers import percent
from difftrust_core.report.page.reading import Worth
from difftrust_core.report.page.subject import Subject
from difftrust_core.report.task_view import REFERENCE_CLUSTER, TaskView, view_task
from difftrust_core.store.schemas import REMEDIES

INPUTS: Final = 3
"""Inputs of each kind that are shown of a task."""
_CODES: Final = 3
_CLUSTERS: Final = 6
_OUTCOMES: Final = 5
_LINE: Final = 300
PLACES: Final = {"domain": "in the domain", "types": "outside the declared types", "outside": "outside the domain"}
"""Where an input lies -> words."""
_ORDER: Final = ("domain", None, "types", "outside")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What some programs do on an input."""

    who: str
    text: str
    is_right: bool
    """As the reference."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """One input, and what everybody does on it."""

    arguments: str
    mark: str
    """Where it lies; empty where that is not known."""
    note: str
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, kw_only=True)
class Code:
    """One program: pieces of its text, and whether each differs from the first program."""

    title: str
    pieces: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, kw_only=True)
class Pane:
    """One task as texts that are safe to show: nothing hidden, nothing longer than anybody reads."""

    task_id: str
    model: str
    why: str
    summary: str
    statements: tuple[str, ...]
    signature: str
    description: str
    clusters: tuple[tuple[str, str, str], ...]
    """(name, programs, how many inputs are wrong)."""
    wrong: tuple[Input, ...]
    disagreeing: tuple[Input, ...]
    codes: tuple[Code, ...]
    missing: str
    """What the store lacks, and what to type."""


def make_pane(subject: Subject, worth: Worth) -> Pane:
    """Return the pane of a task. Raises WrongUsage or TooFewCandidates where there is nothing to show."""
    coder = (worth.model, subject.temperature)
    view = view_task(subject.store, subject.pool, worth.task_id, [coder], m=subject.m, n=subject.n)
    rows = read_smallest(subject.store, subject.benchmark, worth.task_id, equality=subject.equality)
    smallest = smallest_of(view.clustering, rows, subject.pool)
    known = _wrong_inputs(view)
    wrong = _smallest_inputs(view, smallest, WRONG) or tuple(known.values())
    disagreeing = _smallest_inputs(view, smallest, DISAGREEING) or _disagreeing_inputs(view, known)
    described = view.description
    signature = "" if described is None or described.language != "python" else f"def {described.entry_point}"
    return Pane(
        task_id=_short(worth.task_id),
        model=_short(display_name(worth.model)),
        why=worth.why,
        summary=_summary(view),
        statements=tuple(_safe(line) for line in view.statements),
        signature=_safe(f"{signature}{described.signature}:") if described and signature else "",
        description=_safe(described.text.strip(), lines=40) if described else "",
        clusters=tuple(_cluster_row(view, cluster) for cluster in view.clustering.clusters[:_CLUSTERS]),
        wrong=wrong,
        disagreeing=disagreeing,
        codes=_codes(view),
        missing=_missing(view),
    )


def refused(worth: Worth, error: DifftrustError) -> Pane:
    """Return the pane of a task that cannot be shown, saying why."""
    return Pane(
        task_id=_short(worth.task_id), model=_short(display_name(worth.model)), why=worth.why,
        summary=_safe(str(error)), statements=(), signature="", description="", clusters=(), wrong=(), disagreeing=(),
        codes=(), missing="",
    )  # fmt: skip


def _safe(text: str, *, lines: int = 60) -> str:
    return visible(cut(text, line=_LINE, lines=lines))


def _short(text: str) -> str:
    return visible(text[:121].replace("\n", "⏎")) if len(text) <= 120 else f"{visible(text[:119])}…"


def _programs(number: int) -> str:
    return f"{number} program{'' if number == 1 else 's'}"


def _summary(view: TaskView) -> str:
    clustering = view.clustering
    clusters, m = clustering.clusters, int(clustering.counts.sum())
    if len(clusters) > 1:
        said = f"{_programs(m)} show {len(clusters)} behaviours"
    else:
        said = f"{_programs(m)}: all behave alike" if m > 1 else _programs(m)
    largest = clusters[0]
    if largest.n_wrong is None:
        return f"{said}; the task has no reference."
    if not largest.n_wrong:
        whose = "the largest group of them is" if len(clusters) > 1 else "they are" if m > 1 else "it is"
        return f"{said}; {whose} right on all {clustering.n:,} inputs."
    whose = "the largest group of them differs" if len(clusters) > 1 else "they differ" if m > 1 else "it differs"
    share = percent(largest.n_wrong / clustering.n)
    return f"{said}; {whose} from the reference on {share} of {clustering.n:,} inputs."


def _cluster_row(view: TaskView, cluster: Cluster) -> tuple[str, str, str]:
    if not cluster.loads:
        wrong = "does not load"
    elif cluster.n_wrong is None:
        wrong = ""
    else:
        wrong = "none" if not cluster.n_wrong else f"{cluster.n_wrong:,} of {view.clustering.n:,} inputs"
    return _letter(cluster.number), _programs(cluster.n_candidates), wrong


def _letter(number: int) -> str:
    return f"cluster {number}"


def _spelled(kind: str | None, text: str | None) -> str:
    if kind is None:
        return "not recorded"
    said = _safe(text or "", lines=12)
    if kind == "value":
        return said
    words = kind.replace("_", " ")
    return f"{words}: {said}" if said else words


def _smallest_inputs(view: TaskView, found: Sequence[SmallestInput], kind: str) -> tuple[Input, ...]:
    """Return the shrunken inputs of one kind, those in the domain first."""
    clusters = view.clustering.clusters
    agree = ["All programs agree here."] if len(clusters) == 1 and clusters[0].loads else []
    own = sorted((one for one in found if one.kind == kind), key=lambda one: _ORDER.index(one.place))
    return tuple(
        Input(
            arguments=_arguments(view, one.arguments),
            mark=PLACES.get(one.place or "", ""),
            note=" ".join([*agree, *(["The smallest input found."] if one.is_smallest else [])]),
            outcomes=(
                Outcome(who=_who(view, one.first), text=_spelled(one.first_kind, one.first_text), is_right=False),
                Outcome(
                    who=_who(view, one.second),
                    text=_spelled(one.second_kind, one.second_text),
                    is_right=one.second is None,
                ),
            ),
        )
        for one in own[:INPUTS]
    )


def _who(view: TaskView, number: int | None) -> str:
    """Return the name of a cluster, or of the reference."""
    if number is None:
        return "the checker accepts" if view.has_checker else "reference"
    return f"{_programs(view.clustering.clusters[number - 1].n_candidates)}, {_letter(number)}"


def _wrong_inputs(view: TaskView) -> dict[int, Input]:
    """Return inputs on which a cluster differs from the reference by their numbers, the largest cluster first."""
    found: dict[int, Input] = {}
    for row in view.wrong.frame.sort("cluster", maintain_order=True).iter_rows(named=True):
        if row["input_index"] in found or len(found) == INPUTS:
            continue
        many = "" if row["n_inputs"] == 1 else f" It stands for {row['n_inputs']:,} inputs."
        agree = "All programs agree here." if row["all_agree"] else ""
        found[row["input_index"]] = Input(
            arguments=_arguments(view, row["arguments"]),
            mark="",
            note=f"{agree}{many}".strip(),
            outcomes=_outcomes(view, row["input_index"]),
        )
    return found


def _disagreeing_inputs(view: TaskView, shown: Collection[int]) -> tuple[Input, ...]:
    """Return inputs on which the clusters differ, the most different outcomes first; those in ``shown`` left out."""
    found = []
    for telling in [one for one in view.telling if one.index not in shown][:INPUTS]:
        number = len(telling.split.inputs)
        note = "" if number == 1 else f"It stands for {number:,} inputs on which the programs divide in this way."
        found.append(
            Input(
                arguments=_arguments(view, telling.arguments),
                mark="",
                note=note,
                outcomes=_outcomes(view, telling.index),
            )
        )
    return tuple(found)


def _arguments(view: TaskView, arguments: str) -> str:
    name = view.description.entry_point if view.description else ""
    is_call = view.language == "python" and arguments.startswith("(")
    return _safe(f"{name}{arguments}" if is_call else arguments, lines=20)


def _outcomes(view: TaskView, index: int) -> tuple[Outcome, ...]:
    """Return what the clusters do on an input, those with the same outcome together; the reference comes last."""
    clustering = view.clustering
    column = clustering.labels[:, clustering.pattern_of_input[index]].tolist()
    truth = (
        None if clustering.reference_labels is None else clustering.reference_labels[clustering.pattern_of_input[index]]
    )
    said = {
        cluster: (kind, text)
        for cluster, kind, text in view.answers.filter(input_index=index).select("cluster", "kind", "text").iter_rows()
    }
    groups: dict[int, list[int]] = {}
    for number, label in enumerate(column, 1):
        groups.setdefault(label, []).append(number)
    outcomes = []
    for label, numbers in list(groups.items())[:_OUTCOMES]:
        kind, text = next((said[number] for number in numbers if number in said), (None, None))
        many = sum(clustering.clusters[number - 1].n_candidates for number in numbers)
        names = ", ".join(map(str, numbers[:8])) + (", …" if len(numbers) > 8 else "")
        who = f"{_programs(many)}, cluster{'' if len(numbers) == 1 else 's'} {names}"
        outcomes.append(Outcome(who=who, text=_spelled(kind, text), is_right=label == truth))
    if len(groups) > _OUTCOMES:
        outcomes.append(Outcome(who=f"{len(groups) - _OUTCOMES} more outcomes", text="…", is_right=False))
    if truth is not None and truth not in list(groups)[:_OUTCOMES]:
        who = "the checker accepts" if view.has_checker else "reference"
        outcomes.append(Outcome(who=who, text=_spelled(*said.get(REFERENCE_CLUSTER, (None, None))), is_right=True))
    return tuple(outcomes)


def _codes(view: TaskView) -> tuple[Code, ...]:
    """Return the shortest program of the largest clusters and the reference, each marked against the first."""
    titled: list[tuple[str, str]] = []
    for cluster in view.clustering.clusters[:_CODES]:
        place = view.texts.smallest(cluster.members)
        code = None if place is None else view.texts.code(*place)
        if code is not None:
            titled.append((f"{_letter(cluster.number)}, {_programs(cluster.n_candidates)}", code))
    if titled and view.description is not None and view.description.reference:
        titled.append(("reference", view.description.reference))
    shown = [(title, _safe(code.strip("\n"))) for title, code in titled]
    return tuple(Code(title=title, pieces=_marked(code, shown[0][1])) for title, code in shown)


def _marked(code: str, first: str) -> tuple[tuple[str, bool], ...]:
    """Return the pieces of a text, those that the first lacks marked; a text that is the same has one piece."""
    pieces: Sequence[tuple[str, bool]] = marked_difference(code, first)
    return tuple(piece for piece in pieces if piece[0]) or ((code, False),)


def _missing(view: TaskView) -> str:
    lacks = [
        what
        for what, is_there in (
            ("the task's description", view.description is not None),
            ("program texts", not view.texts.frame.is_empty()),
        )
        if not is_there
    ]
    if not lacks:
        return ""
    remedy = REMEDIES["programs"].replace("`", "")
    return f"The store does not hold {' and '.join(lacks)}; {remedy}."
