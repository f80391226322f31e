"""The inputs of a task that are worth reading: those on which programs disagree, and those on which they are wrong."""

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from difftrust.tasks.details import DISAGREEING, SmallestInput
from difftrust.tasks.task_sentences import answer_in_words
from difftrust.tasks.task_view import REFERENCE_CLUSTER, TaskView
from difftrust.text import count_of
from difftrust_core.estimates.pool import Ints

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


def read_inputs(task: TaskView, kind: str) -> list[ReadInput]:
    """Return the inputs of one list: inside the domain first, then the smallest found.

    Of these the inputs that concern most programs come first, then the shortest.
    """
    groups: dict[str, list[SmallestInput]] = {}
    for one in task.smallest:
        if one.kind == kind and task.clustering.clusters[one.first - 1].loads:
            groups.setdefault(one.arguments, []).append(one)
    measured = (_measured(task, kind, *where) for where in _measured_pairs(task, kind))
    shrunken = [_joined(group, task.clustering.counts) for group in groups.values()]
    found = [*shrunken, *(one for one in measured if one.arguments not in groups)]
    sizes = task.clustering.counts

    def order(one: ReadInput) -> tuple[int, bool, int, int]:
        concerned = int(sizes[one.first - 1]) + (int(sizes[one.second - 1]) if one.second else 0)
        return _PLACES.index(one.place), one.is_smallest is None, -concerned, len(one.arguments)

    return sorted(found, key=order)


def whose(task: TaskView, answer: Answer) -> tuple[str, str]:
    """Return in words how many programs give an answer, and their clusters; or that it is the reference's."""
    if answer.clusters == (REFERENCE_CLUSTER,):
        return "the checker accepts" if task.has_checker else "reference", ""
    n_programs = sum(task.clustering.clusters[number - 1].n_candidates for number in answer.clusters)
    shown = ", ".join(map(str, answer.clusters[:8])) + (", …" if len(answer.clusters) > 8 else "")
    return count_of(n_programs), f"cluster {shown}"


def spelled_answer(task: TaskView, answer: Answer) -> str:
    """Return an answer as people read it."""
    return "not recorded" if answer.kind is None else answer_in_words(answer.kind, answer.text, language=task.language)


def _joined(group: Sequence[SmallestInput], sizes: Ints) -> ReadInput:
    """Return one of the smallest inputs found, with the outcomes of all clusters that were run on it."""
    first = group[0]
    said: dict[tuple[bool, str, str], set[int]] = {}
    for number, kind, text in (side for one in group for side in one.outcomes):
        said.setdefault((number == REFERENCE_CLUSTER, kind, text), set()).add(number)  # texts may be cut
    answers = [
        Answer(clusters=tuple(sorted(numbers)), kind=kind, text=text, is_right=is_right)
        for (is_right, kind, text), numbers in said.items()
    ]
    answers.sort(key=lambda each: -sum(int(sizes[number - 1]) for number in each.clusters if number))
    return ReadInput(
        kind=first.kind,
        arguments=first.arguments,
        first=first.first,
        second=first.second,
        answers=tuple(answers),
        place=first.place,
        is_smallest=first.is_smallest,
        n_inputs=None,
    )


def _measured_pairs(task: TaskView, kind: str) -> Iterator[tuple[int, int, int]]:
    """Yield the index of each measured input to read, and the two clusters that it speaks of."""
    if kind == DISAGREEING:
        yield from ((index, split.groups[0][0], split.groups[1][0]) for index, split in task.telling.items())
        return
    for pattern in task.clustering.wrong_patterns():
        loading = [n for n in task.clustering.wrong_on(pattern) if task.clustering.clusters[n - 1].loads]
        index = task.shortest_of(pattern)
        if loading and index is not None:
            yield index, loading[0], REFERENCE_CLUSTER


def _measured(task: TaskView, kind: str, index: int, first: int, second: int) -> ReadInput:
    return ReadInput(
        kind=kind,
        arguments=task.arguments[index],
        first=first,
        second=second,
        answers=tuple(_answers(task, index)),
        place="domain" if task.is_inside else None,
        is_smallest=None,
        n_inputs=len(task.clustering.inputs_of(int(task.clustering.pattern_of_input[index]))),
    )


def _answers(task: TaskView, index: int) -> Iterator[Answer]:
    """Yield the outcomes on a measured input: the clusters', then the reference's where no cluster has it."""
    clustering, sizes = task.clustering, task.clustering.counts
    pattern = clustering.pattern_of_input[index]
    truth = None if clustering.reference_labels is None else int(clustering.reference_labels[pattern])
    groups: dict[int, list[int]] = {}
    for number, label in enumerate(clustering.labels[:, pattern].tolist(), 1):
        groups.setdefault(label, []).append(number)
    for label, numbers in sorted(groups.items(), key=lambda pair: -sum(int(sizes[n - 1]) for n in pair[1])):
        kind, text = next((said for number in numbers if (said := task.outcomes.get((number, index)))), (None, ""))
        yield Answer(clusters=tuple(numbers), kind=kind, text=text, is_right=label == truth)
    right = task.outcomes.get((REFERENCE_CLUSTER, index))
    if truth is not None and truth not in groups and right and not task.has_checker:
        kind, text = right
        yield Answer(clusters=(REFERENCE_CLUSTER,), kind=kind, text=text, is_right=True)


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
