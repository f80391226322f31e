"""What the layouts of programming contests share: fields that hold JSON, tests, and tasks that are made of them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from difftrust_core.base.literals import write_literal
from difftrust_core.base.task import Relation, Task, TaskTest
from difftrust_core.datasets import unpacking
from difftrust_core.datasets.entries import MAX_RELEASE, Entry, load_lines, plain_id
from difftrust_core.datasets.layouts.seen_domain import seen_domain
from difftrust_core.datasets.layouts.stubs import IMPORTS, Stub
from difftrust_core.datasets.layouts.tolerances import stated_tolerance
from difftrust_core.datasets.own_fields import checked_name, completed, domain_of
from difftrust_core.datasets.relations import relation_of
from difftrust_core.languages.stdin.outputs import trimmed

REMEDY: Final = "correct the file, or get the release again"
LONGEST_TEST: Final = 100_000
"""Characters of a test's input and output; longer ones, which try speed alone, are left out."""
LONGEST_TESTS: Final = 1_000_000
"""Characters of a task's tests."""
LONGEST_SEED: Final = 2_000
MOST_SEEDS: Final = 30
PUBLIC, PRIVATE, GENERATED = "public", "private", "generated"
STDIN: Final = "stdin"
_MANY_ANSWERS = re.compile(
    r"\b(?:(?:print|output|return|find|report)\s+any\b|any (?:one )?of (?:them|these|those|the)\b"
    r"|(?:multiple|several|many|more than one)\s+(?:possible |valid |correct |optimal |such )*(?:answers?|solutions?)\b"
    r"|answers? in any order)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One test as its file gives it."""

    input: Any
    output: Any
    group: str
    where: str
    """The field and the number of the test."""
    kind: str = ""
    """How a program gets the input, where the test says it."""


def load_release(path: Path) -> Iterator[Entry]:
    """Yield the objects of a released file, line by line."""
    yield from load_lines(path, remedy=REMEDY, most=MAX_RELEASE)


def json_of(entry: Entry, name: str) -> Any:
    """Return the value of a field that holds JSON, or what JSON would give; None where it is missing or empty."""
    value = entry.fields.get(name)
    if type(value) is not str:
        return value
    if not value.strip():
        return None
    return read_json(entry, value, f"field {name!r}")


def read_json(entry: Entry, text: str, place: str) -> Any:
    """Return the value of a JSON text. Raises BadBenchmark, naming the place, for another text."""
    try:
        return unpacking.read_json(text)
    except (ValueError, RecursionError) as e:
        raise entry.refusal(f"JSON in {place}", f"{str(e)[:80]}") from None


def paired(entry: Entry, tests: Any, *, group: str, place: str) -> list[Case]:
    """Return the tests of a list of objects with ``input`` and ``output``, or of an object with a list of each."""
    if tests is None:
        return []
    if type(tests) is dict:
        return listed(entry, tests.get("input"), tests.get("output"), group=group, place=place)
    if type(tests) is not list:
        raise entry.refusal(f"a list of tests in {place}", type(tests).__name__)
    found = []
    for number, test in enumerate(tests, 1):
        where = f"{place}, test {number}"
        if type(test) is not dict or not {"input", "output"} <= test.keys():
            raise entry.refusal(f"input and output in {where}", _kind(test))
        kind = str(test.get("testtype") or "")
        found.append(Case(input=test["input"], output=test["output"], group=group, where=where, kind=kind))
    return found


def listed(entry: Entry, inputs: Any, outputs: Any, *, group: str, place: str) -> list[Case]:
    """Return the tests of a list of inputs and one of outputs."""
    if type(inputs) is not list or type(outputs) is not list:
        raise entry.refusal(
            f"a list of inputs and a list of outputs in {place}", f"{_kind(inputs)} and {_kind(outputs)}"
        )
    if len(inputs) != len(outputs):
        raise entry.refusal(f"as many outputs as inputs in {place}", f"{len(inputs)} inputs and {len(outputs)} outputs")
    pairs = enumerate(zip(inputs, outputs, strict=True), 1)
    return [Case(input=i, output=o, group=group, where=f"{place}, test {number}") for number, (i, o) in pairs]


def stdin_task(
    entry: Entry, cases: Sequence[Case], *, layout: str, task_id: str, description: str, **more: Any
) -> Task:
    """Return the task of a program that reads its standard input."""
    tests = [
        TaskTest(
            arguments=write_literal((_text(entry, case.input, f"input of {case.where}"),)),
            expected=write_literal(trimmed(_text(entry, case.output, f"output of {case.where}"))),
            group=case.group,
        )
        for case in cases
    ]
    return _task(
        entry,
        tests,
        layout=layout,
        task_id=task_id,
        description=description,
        entry_point="main",
        signature="(text: str) -> str",
        preamble=entry.text("preamble", default=""),
        language=STDIN,
        **more,
    )


def function_task(
    entry: Entry, cases: Sequence[Case], *, stub: Stub, layout: str, task_id: str, description: str, **more: Any
) -> Task:
    """Return the task of a program that is called; the inputs of ``cases`` are lists of arguments."""
    tests = [
        TaskTest(arguments=write_literal(tuple(case.input)), expected=write_literal(case.output), group=case.group)
        for case in cases
    ]
    return _task(
        entry,
        tests,
        layout=layout,
        task_id=task_id,
        description=description,
        entry_point=stub.entry_point,
        signature=stub.signature,
        preamble=entry.text("preamble", default=IMPORTS),
        domain=domain_of(entry) or seen_domain(stub.parameters, [case.input for case in cases], description),
        **more,
    )


def id_in(entry: Entry, name: str) -> str:
    """Return the id of the task, from a text or a number in field ``name``."""
    value = entry.fields.get(name)
    if type(value) not in (str, int):
        raise entry.refusal(f"a text or a number in field {name!r}", _kind(value))
    return plain_id(str(value))


def first_program(entry: Entry, programs: Iterable[str] = ()) -> str | None:
    """Return the field ``reference``, or else the first of some programs; None where there is neither."""
    return entry.text("reference") if "reference" in entry.fields else next(iter(programs), None)


def _task(entry: Entry, tests: list[TaskTest], *, layout: str, description: str, **more: Any) -> Task:
    kept = _short_enough(tests)
    own = relation_of(entry)
    is_stdin = more.get("language") == STDIN
    stated = stated_tolerance(description, tokens=is_stdin)
    task = entry.task(
        benchmark=checked_name(entry.text("benchmark", default=layout), entry.where),
        description=description,
        seed_inputs=_seeds(kept),
        public_inputs=tuple(dict.fromkeys(test.arguments for test in kept if test.group == PUBLIC)),
        tests=tuple(kept),
        relation=own or stated or (Relation(tokens=True) if is_stdin else None),
        ambiguous=own is None and bool(_MANY_ANSWERS.search(description)),
        **more,
    )
    if not task.seed_inputs:
        return completed(task, entry)
    # No further inputs drawn from the types: a list that must not be empty has the same type as one that may.
    return completed(task, replace(entry, fields={**entry.fields, "seed_inputs": list(task.seed_inputs)}))


def _short_enough(tests: list[TaskTest]) -> list[TaskTest]:
    """Return the tests, each once, that are short enough."""
    kept, length = [], 0
    for test in _distinct(tests):
        size = len(test.arguments) + len(test.expected or "")
        if size <= LONGEST_TEST and length + size <= LONGEST_TESTS:
            kept.append(test)
            length += size
    return kept


def _distinct(tests: list[TaskTest]) -> Iterator[TaskTest]:
    seen = set()
    for test in tests:
        if (test.arguments, test.expected) not in seen:
            seen.add((test.arguments, test.expected))
            yield test


def _seeds(tests: list[TaskTest]) -> tuple[str, ...]:
    """Return the inputs of public tests, then the shortest other ones."""
    public = [test.arguments for test in tests if test.group == PUBLIC]
    others = sorted((test.arguments for test in tests if len(test.arguments) <= LONGEST_SEED), key=len)
    return tuple(dict.fromkeys([*public, *others]))[: max(MOST_SEEDS, len(set(public)))]


def _text(entry: Entry, value: Any, place: str) -> str:
    """Return the text of a test, which may be given as a list of lines."""
    lines = value if type(value) is list else [value]
    if any(type(line) is not str for line in lines):
        raise entry.refusal(f"a text as {place}", _kind(next(line for line in lines if type(line) is not str)))
    text = "\n".join(lines)
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise entry.refusal(f"text in UTF-8 as {place}", "lone surrogates")
    return text


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
