"""Load APPS (one JSON object a line, plain or gzip; or its folders ``0000/``) as tasks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from difftrust.layouts.contests import (
    PRIVATE,
    PUBLIC,
    REMEDY,
    STDIN,
    Case,
    Stub,
    arguments_in,
    first_program,
    function_task,
    id_in,
    json_of,
    load_release,
    paired,
    stdin_task,
    stub_for,
    stub_in,
)
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import Entry, as_entry, load_bytes
from difftrust_core.datasets.own_tasks import Layout
from difftrust_core.exceptions import BadBenchmark
from difftrust_core.languages.registry import load_language

LAYOUT: Final = "APPS"
_QUESTION = "question.txt"
_FILES = (_QUESTION, "input_output.json", "solutions.json", "starter_code.py", "metadata.json")
"""Files of a task's folder, each a field."""
_WHOLE = re.compile(r"-?\d{1,18}")


def is_apps(fields: Mapping[str, Any]) -> bool:
    """Tell whether an object is a task in the layout of APPS."""
    return {"question", "input_output"} <= fields.keys()


def is_apps_folder(path: Path) -> bool:
    """Tell whether a folder holds tasks of APPS, each in a folder of its own, or is one of these."""
    return path.is_dir() and ((path / _QUESTION).is_file() or any(path.glob(f"*/{_QUESTION}")))


def load_apps(path: Path) -> list[Task]:
    """Return the tasks of a file or folder in its order. Raises BadBenchmark naming file, place and field.

    The reference is the first solution that parses. Tests whose input stands in the question are public. A task without
    tests has none here either.
    """
    return [_task(entry) for entry in (_entries(path) if path.is_dir() else load_release(path))]


def _entries(path: Path) -> Iterator[Entry]:
    folders = [path] if (path / _QUESTION).is_file() else sorted(file.parent for file in path.glob(f"*/{_QUESTION}"))
    for folder in folders:
        name = folder.resolve().name
        fields: dict[str, Any] = {"problem_id": int(name) if _WHOLE.fullmatch(name) else name}
        fields |= {file.stem: _decoded(file) for name in _FILES if (file := folder / name).is_file()}
        if type(fields.get("metadata")) is str:
            entry = as_entry(fields, where=str(folder), remedy=REMEDY)
            own = as_entry(json_of(entry, "metadata") or {}, where=f"{folder}/metadata.json", remedy=REMEDY)
            fields = {**own.fields, **fields}
        yield as_entry(fields, where=str(folder), remedy=REMEDY)


def _decoded(file: Path) -> str:
    try:
        return load_bytes(file, remedy=REMEDY).decode()
    except UnicodeDecodeError as e:
        raise BadBenchmark(f"{file}: expected text in UTF-8, found: {e}; {REMEDY}") from None


def _task(entry: Entry) -> Task:
    tests = as_entry(json_of(entry, "input_output") or {}, where=f"{entry.where}, input_output", remedy=REMEDY)
    question = entry.text("question")
    solutions = _solutions(entry)
    said: dict[str, Any] = {"layout": LAYOUT, "task_id": id_in(entry, "problem_id"), "description": question}
    cases = _cases(entry, tests)
    if tests.fields.get("fn_name") is None:
        scripts = filter(load_language(STDIN).is_program, solutions)
        return stdin_task(entry, _with_public(cases, question), reference=first_program(entry, scripts), **said)
    called = [_called(entry, case) for case in cases]
    stub = _stub(entry, tests.text("fn_name"), solutions, called)
    programs = (text for text in solutions if load_language("python").defines(text, stub.entry_point))
    return function_task(entry, _unwrapped(called, stub), stub=stub, reference=first_program(entry, programs), **said)


def _cases(entry: Entry, tests: Entry) -> list[Case]:
    if not tests.fields.keys() & {"inputs", "outputs"}:
        return []
    columns = {name: tests.fields.get(f"{name}s") for name in ("input", "output")}
    return paired(entry, columns, group=PRIVATE, place="field 'input_output'")


def _with_public(cases: Sequence[Case], question: str) -> list[Case]:
    """Return the tests, those first whose input stands in the question."""
    words = " ".join(question.split())
    found = []
    for case in cases:
        text = "\n".join(map(str, case.input)) if type(case.input) is list else str(case.input)
        stands = len(text) <= len(question) and " ".join(text.split()) in words and bool(text.strip())
        found.append(replace(case, group=PUBLIC) if stands else case)
    return sorted(found, key=lambda case: case.group != PUBLIC)


def _solutions(entry: Entry) -> list[str]:
    given = json_of(entry, "solutions")
    if given is None:
        return []
    if type(given) is not list or any(type(text) is not str for text in given):
        raise entry.refusal("a list of programs in field 'solutions'", type(given).__name__)
    return given


def _stub(entry: Entry, name: str, solutions: Sequence[str], cases: Sequence[Case]) -> Stub:
    starter = entry.text("starter_code", default="")
    found = (stub_in(text, name) for text in (starter, *solutions) if text.strip())
    return next(filter(None, found), None) or stub_for(name, [case.input for case in cases])


def _called(entry: Entry, case: Case) -> Case:
    """Return a test whose input is the list of arguments. JSON knows texts as keys only: whole numbers come back."""
    arguments = [_whole_keys(value) for value in arguments_in(entry, case, "a list of arguments")]
    return replace(case, input=arguments, output=_whole_keys(case.output))


def _unwrapped(cases: list[Case], stub: Stub) -> list[Case]:
    """Return tests whose outputs stood in lists of one without these lists, if all did.

    Of a function that returns a list, an output is wrapped only where a list stands in it.
    """
    if not all(type(case.output) is list and len(case.output) == 1 for case in cases):
        return cases
    if stub.returns_list and any(type(case.output[0]) is not list for case in cases):
        return cases
    return [replace(case, output=_whole_keys(case.output[0])) for case in cases]


def _whole_keys(value: Any) -> Any:
    if type(value) is dict and value and all(type(key) is str and _WHOLE.fullmatch(key) for key in value):
        return {int(key): entry for key, entry in value.items()}
    return value


FILES = Layout(is_layout_of=is_apps, load=load_apps, is_folder_of=is_apps_folder)
