"""Load CodeContests (one JSON object a line, plain or gzip) as tasks whose programs read their standard input."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from difftrust.layouts.contests import (
    GENERATED,
    PRIVATE,
    PUBLIC,
    STDIN,
    first_program,
    id_in,
    json_of,
    load_release,
    paired,
    stdin_task,
)
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import Entry
from difftrust_core.datasets.own_tasks import Layout
from difftrust_core.languages.registry import load_language

LAYOUT: Final = "CodeContests"
_GROUPS = (PUBLIC, PRIVATE, GENERATED)
_PYTHON_3 = (3, "3", "PYTHON3", "Python3", "python3")
"""How a solution says that it is in Python 3; 1 is Python 2."""


def is_codecontests(fields: Mapping[str, Any]) -> bool:
    """Tell whether an object is a task in the layout of CodeContests."""
    return {"name", "description", "public_tests"} <= fields.keys()


def load_codecontests(path: Path) -> list[Task]:
    """Return the tasks of ``path`` in its order. Raises BadBenchmark naming file, line and field.

    The reference is the first solution in Python 3 that parses. Of a task whose programs read a file instead of their
    standard input no test is kept: it cannot be executed here.
    """
    return [_task(entry) for entry in load_release(path)]


def _task(entry: Entry) -> Task:
    cases = [
        case
        for group in _GROUPS
        for case in paired(entry, json_of(entry, f"{group}_tests"), group=group, place=f"field '{group}_tests'")
    ]
    reads_a_file = any(entry.text(name, default="") for name in ("input_file", "output_file"))
    return stdin_task(
        entry,
        [] if reads_a_file else cases,
        layout=LAYOUT,
        task_id=id_in(entry, "name"),
        description=entry.text("description"),
        reference=first_program(entry, filter(load_language(STDIN).is_program, _solutions(entry))),
    )


def _solutions(entry: Entry) -> list[str]:
    """Return the texts of the right solutions in Python 3."""
    given = json_of(entry, "solutions")
    if given is None:
        return []
    if type(given) is dict:
        languages, texts = given.get("language"), given.get("solution")
        if type(languages) is not list or type(texts) is not list or len(languages) != len(texts):
            raise entry.refusal("as many languages as solutions in field 'solutions'", "other lists")
        pairs = list(zip(languages, texts, strict=True))
    elif type(given) is list and all(type(one) is dict for one in given):
        pairs = [(one.get("language"), one.get("solution")) for one in given]
    else:
        raise entry.refusal("languages and solutions in field 'solutions'", type(given).__name__)
    return [text for language, text in pairs if language in _PYTHON_3 and type(text) is str]


FILES = Layout(is_layout_of=is_codecontests, load=load_codecontests)
