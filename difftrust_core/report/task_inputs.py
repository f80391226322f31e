"""The inputs of a task that are worth reading: those on which programs disagree, and those on which they are wrong."""

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from difftrust_core.analysis.clusters import Cluster
from difftrust_core.analysis.smallest import SmallestInput
from difftrust_core.report.task_view import REFERENCE_CLUSTER, TaskView

WRONG: Final = "wrong"
DISAGREEING: Final = "disagreeing"
_PLACES: Final = ("domain", None, "types", "outside")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What some clusters do on an input."""

    clusters: tuple[int, ...]
    """Their numbers; REFERENCE_CLUSTER alone for a reference that no cluster agrees with."""
    kind: str | None
    """Of the outcome; None where it was not recorded."""
    text: str
    is_right: bool
    """Whether the reference or the checker says so; False where that is not known."""


@dataclass(frozen=True, kw_only=True)
class ReadInput:
    """An input to read, and who does what on it."""

    key: str
    """Names it within its list, also when others join the list."""
    kind: str
    """WRONG or DISAGREEING."""
    arguments: str
    first: int
    """The cluster it speaks of."""
    second: int
    """The one that it is compared with: a cluster, or REFERENCE_CLUSTER."""
    answers: tuple[Answer, ...]
    """The outcomes that are known here, that of most programs first."""
    place: str | None
    """``domain``, ``types`` (outside the declared types) or ``outside`` (the domain); None: not known."""
    is_smallest: bool | None
    """Whether no smaller input shows the difference; None where nobody sought one."""
    n_inputs: int | None
    """Inputs on which the programs divide in the same way; None for one that was not measured."""

    def answer_of(self, cluster: int) -> Answer | None:
        """Return what a cluster does here, or the reference; None where it is not known."""
        return next((answer for answer in self.answers if cluster in answer.clusters), None)


def read_inputs(task: TaskView, kind: str) -> list[ReadInput]:
    """Return the inputs of one list: inside the domain first, then the smallest found.

    Of these the inputs that concern most programs come first, then the shortest.
    """
    measured = _measured_wrong(task) if kind == WRONG else _measured_disagreeing(task)
    shrunken = _shrunken(task, kind)
    known = {one.arguments for one in shrunken}
    found = [*shrunken, *(one for one in measured if one.arguments not in known)]
    sizes = task.clustering.counts

    def order(one: ReadInput) -> tuple[int, bool, int, int]:
        concerned = int(sizes[one.first - 1]) + (int(sizes[one.second - 1]) if one.second else 0)
        return _PLACES.index(one.place), one.is_smallest is None, -concerned, len(one.arguments)

    return sorted(found, key=order)


def count_inputs(task: TaskView, kind: str) -> int:
    """Return on how many of the n inputs programs that load disagree, or some differ from what is right."""
    clustering = task.clustering
    loading = clustering.on_inputs[[cluster.loads for cluster in clustering.clusters]]
    truth = clustering.reference_labels
    if kind == WRONG:
        expected = loading[:0] if truth is None else truth[clustering.pattern_of_input]
        return 0 if truth is None else int((loading != expected).any(axis=0).sum())
    return int((loading != loading[:1]).any(axis=0).sum()) if len(loading) else 0


def _shrunken(task: TaskView, kind: str) -> list[ReadInput]:
    """Return the smallest inputs found, each once, with the outcomes of the clusters that were run on it."""
    groups: dict[str, list[SmallestInput]] = {}
    for one in task.smallest:
        if one.kind == kind and task.clustering.clusters[one.first - 1].loads:
            groups.setdefault(one.arguments, []).append(one)
    return [_joined(task, group) for group in groups.values()]


def _joined(task: TaskView, group: Sequence[SmallestInput]) -> ReadInput:
    first = group[0]
    said: dict[tuple[bool, str, str], list[int]] = {}
    for one in group:
        sides = [(one.first, one.first_kind, one.first_text)]
        if one.second_kind is not None:
            sides.append((one.second or REFERENCE_CLUSTER, one.second_kind, one.second_text or ""))
        for number, kind, text in sides:
            numbers = said.setdefault((number == REFERENCE_CLUSTER, kind, text), [])  # texts may be cut
            numbers += [] if number in numbers else [number]
    answers = [
        Answer(clusters=tuple(sorted(numbers)), kind=kind, text=text, is_right=is_right)
        for (is_right, kind, text), numbers in said.items()
    ]
    sizes = task.clustering.counts
    return ReadInput(
        key=f"{first.input_index}.{first.first}.{first.second or REFERENCE_CLUSTER}",
        kind=first.kind,
        arguments=first.arguments,
        first=first.first,
        second=first.second or REFERENCE_CLUSTER,
        answers=tuple(
            sorted(answers, key=lambda each: -sum(int(sizes[number - 1]) for number in each.clusters if number))
        ),
        place=first.place,
        is_smallest=first.is_smallest,
        n_inputs=None,
    )


def _measured_disagreeing(task: TaskView) -> list[ReadInput]:
    return [
        _measured(task, one.index, DISAGREEING, one.split.groups[0][0], one.split.groups[1][0], len(one.split.inputs))
        for one in task.telling
    ]


def _measured_wrong(task: TaskView) -> list[ReadInput]:
    clustering, truth = task.clustering, task.clustering.reference_labels
    if truth is None:
        return []
    found = []
    for pattern in np.flatnonzero((clustering.labels != truth).any(axis=0)).tolist():
        wrong = np.flatnonzero(clustering.labels[:, pattern] != truth[pattern]).tolist()
        first = next((i for i in wrong if clustering.clusters[i].loads), None)
        inputs = np.flatnonzero(clustering.pattern_of_input == pattern).tolist()
        known = [index for index in inputs if index in task.arguments]
        if known and first is not None:
            index = min(known, key=lambda i: (len(task.arguments[i]), i))
            found.append(_measured(task, index, WRONG, first + 1, REFERENCE_CLUSTER, len(inputs)))
    return found


def _measured(task: TaskView, index: int, kind: str, first: int, second: int, n_inputs: int) -> ReadInput:
    return ReadInput(
        key=str(index),
        kind=kind,
        arguments=task.arguments[index],
        first=first,
        second=second,
        answers=tuple(_answers(task, index)),
        place="domain" if task.is_inside else None,
        is_smallest=None,
        n_inputs=n_inputs,
    )


def _answers(task: TaskView, index: int) -> Iterable[Answer]:
    """Yield the outcomes on a measured input: the clusters', then the reference's where no cluster has it."""
    clustering, said = task.clustering, _said_on(task, index)
    pattern = clustering.pattern_of_input[index]
    column = clustering.labels[:, pattern].tolist()
    truth = None if clustering.reference_labels is None else int(clustering.reference_labels[pattern])
    groups: dict[int, list[Cluster]] = {}
    for label, cluster in zip(column, clustering.clusters, strict=True):
        groups.setdefault(label, []).append(cluster)
    for label, group in sorted(groups.items(), key=lambda pair: -sum(each.n_candidates for each in pair[1])):
        numbers = tuple(cluster.number for cluster in group)
        kind, text = next((said[number] for number in numbers if number in said), (None, ""))
        yield Answer(clusters=numbers, kind=kind, text=text, is_right=label == truth)
    if truth is not None and truth not in groups and REFERENCE_CLUSTER in said and not task.has_checker:
        kind, text = said[REFERENCE_CLUSTER]
        yield Answer(clusters=(REFERENCE_CLUSTER,), kind=kind, text=text, is_right=True)


def _said_on(task: TaskView, index: int) -> Mapping[int, tuple[str, str]]:
    rows = task.answers.filter(input_index=index)
    return {cluster: (kind, text) for cluster, _, kind, text in rows.iter_rows()}


def as_test(name: str, one: ReadInput) -> str | None:
    """Return a pytest test that holds what the reference answers on an input; None where that cannot be written.

    ``name``: of the function. Texts that were cut, and values without a Python literal, cannot.
    """
    right = next((answer for answer in one.answers if answer.is_right), None)
    call = _call(name, one.arguments)
    if right is None or call is None or not name.isidentifier():
        return None
    outside = {"types": "outside the declared types", "outside": "outside the task's domain"}.get(one.place or "", "")
    head = [*([f"# This input lies {outside}."] if outside else []), f"def test_{name}():"]
    error = right.text.partition(":")[0].strip()
    if right.kind == "exception" and _is_exception(error):
        body = [f"    with pytest.raises({error}):", f"        {call}"]
        return "\n".join(["import pytest", "", *head, *body])
    value = _literal(right.text) if right.kind == "value" else None
    if value is None:
        return None
    if _is_approximate(value[0]):
        return "\n".join(["import pytest", "", *head, f"    assert {call} == pytest.approx({right.text})"])
    return "\n".join([*head, f"    assert {call} {'is' if value[0] is None else '=='} {right.text}"])


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name, None) if name.isidentifier() else None
    return isinstance(found, type) and issubclass(found, Exception)


def _is_approximate(value: Any) -> bool:
    parts = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(part, int | float) for part in parts) and any(isinstance(part, float) for part in parts)


def _literal(text: str) -> tuple[Any] | None:
    """Return the value of a literal of Python, in a tuple of one; None for what is none."""
    try:
        return (ast.literal_eval(text),)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _call(name: str, arguments: str) -> str | None:
    """Return the call of a function with an argument tuple; None for a text that is none."""
    found = _literal(arguments)
    if found is None or not isinstance(found[0], tuple):
        return None
    return f"{name}({arguments[1:-2]})" if arguments.endswith(",)") else f"{name}{arguments}"
