"""The inputs of a task that are worth reading: those on which programs disagree, and those on which they are wrong."""

import ast
import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from difftrust.tasks.details import DISAGREEING, WRONG, SmallestInput
from difftrust.tasks.task_sentences import answer_in_words
from difftrust.tasks.task_view import REFERENCE_CLUSTER, TaskView
from difftrust.text import count_of

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


def _shrunken(task: TaskView, kind: str) -> list[ReadInput]:
    """Return the smallest inputs found, each once, with the outcomes of the clusters that were run on it."""
    groups: dict[str, list[SmallestInput]] = {}
    for one in task.smallest:
        if one.kind == kind and task.clustering.clusters[one.first - 1].loads:
            groups.setdefault(one.arguments, []).append(one)
    return [_joined(task, group) for group in groups.values()]


def _joined(task: TaskView, group: Sequence[SmallestInput]) -> ReadInput:
    first, sizes = group[0], task.clustering.counts
    said: dict[tuple[bool, str, str], set[int]] = {}
    for number, kind, text in (side for one in group for side in one.outcomes):
        said.setdefault((number == REFERENCE_CLUSTER, kind, text), set()).add(number)  # texts may be cut
    answers = [
        Answer(clusters=tuple(sorted(numbers)), kind=kind, text=text, is_right=is_right)
        for (is_right, kind, text), numbers in said.items()
    ]
    answers.sort(key=lambda each: -sum(int(sizes[number - 1]) for number in each.clusters if number))
    return ReadInput(
        key=f"{first.input_index}.{first.first}.{first.second}",
        kind=first.kind,
        arguments=first.arguments,
        first=first.first,
        second=first.second,
        answers=tuple(answers),
        place=first.place,
        is_smallest=first.is_smallest,
        n_inputs=None,
    )


def _measured_disagreeing(task: TaskView) -> list[ReadInput]:
    return [
        _measured(task, index, DISAGREEING, split.groups[0][0], split.groups[1][0])
        for index, split in task.telling.items()
    ]


def _measured_wrong(task: TaskView) -> list[ReadInput]:
    found = []
    for pattern in task.clustering.wrong_patterns():
        loading = [n for n in task.clustering.wrong_on(pattern) if task.clustering.clusters[n - 1].loads]
        index = task.shortest_of(pattern)
        if loading and index is not None:
            found.append(_measured(task, index, WRONG, loading[0], REFERENCE_CLUSTER))
    return found


def _measured(task: TaskView, index: int, kind: str, first: int, second: int) -> ReadInput:
    return ReadInput(
        key=str(index),
        kind=kind,
        arguments=task.arguments[index],
        first=first,
        second=second,
        answers=tuple(_answers(task, index)),
        place="domain" if task.is_inside else None,
        is_smallest=None,
        n_inputs=len(task.clustering.inputs_of(int(task.clustering.pattern_of_input[index]))),
    )


def _answers(task: TaskView, index: int) -> Iterable[Answer]:
    """Yield the outcomes on a measured input: the clusters', then the reference's where no cluster has it."""
    clustering, sizes = task.clustering, task.clustering.counts
    said = {cluster: (kind, text) for cluster, _, kind, text in task.answers.filter(input_index=index).iter_rows()}
    pattern = clustering.pattern_of_input[index]
    truth = None if clustering.reference_labels is None else int(clustering.reference_labels[pattern])
    groups: dict[int, list[int]] = {}
    for number, label in enumerate(clustering.labels[:, pattern].tolist(), 1):
        groups.setdefault(label, []).append(number)
    for label, numbers in sorted(groups.items(), key=lambda pair: -sum(int(sizes[n - 1]) for n in pair[1])):
        kind, text = next((said[number] for number in numbers if number in said), (None, ""))
        yield Answer(clusters=tuple(numbers), kind=kind, text=text, is_right=label == truth)
    if truth is not None and truth not in groups and REFERENCE_CLUSTER in said and not task.has_checker:
        kind, text = said[REFERENCE_CLUSTER]
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
