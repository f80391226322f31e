"""What Python tasks and SQL tasks do differently on their way into the sandbox, and nothing else.

What reads SQL is loaded where the first query is met: it takes half a second, and most tasks are in Python.
"""

import functools
import json
import re

from difftrust_core.inputs import sample_input
from difftrust_core.sandbox import Limits
from difftrust_core.shrinking import Around
from difftrust_core.tasks import Task

LIMITS = {"python": Limits(), "sql": Limits(program_cpu=10.0)}
"""A query takes about a millisecond on a small database, whatever it asks."""
_ASKS_FOR_ORDER = re.compile(r"\b(order|sort|ascending|descending|alphabetic|ranked|from the \w+est)", re.IGNORECASE)


class InputSource:
    """The inputs of a task: a function of (task, seed, position, attempt)."""

    def __init__(self, task: Task, seed: int):
        self._task, self._seed = task, seed
        self._seeds = task.arguments() if task.language == "python" else []

    def draw(self, position: int, attempt: int) -> str:
        """Return the input of one position and attempt."""
        if self._task.language == "sql":
            from difftrust_core.sqltasks.fuzz import sample_database

            return sample_database(self._task, seed=self._seed, position=position, attempt=attempt)
        return sample_input(self._task.task_id, self._seeds, seed=self._seed, position=position, attempt=attempt)


def preamble_of(task: Task) -> str:
    """Return what the sandbox is told of a task before its inputs: its preamble, or the shape of its databases."""
    if task.language == "python":
        return task.preamble
    from difftrust_core.sqltasks.schema import read_schema

    return read_schema(task.preamble).shape()


def source_of(task: Task, code: str) -> str:
    """Return what the sandbox runs for a candidate's text; a text that is no query becomes one that does not load."""
    if task.language == "python":
        return code
    sql, is_list = _translated(code, task.preamble)
    ordered = "bag" if not order_counts(task) else "list" if is_list else "open"
    return json.dumps({"sql": sql, "ordered": ordered})


@functools.lru_cache(maxsize=1024)
def _translated(code: str, schema: str) -> tuple[str, bool]:
    from difftrust_core.sqltasks.dialect import for_duckdb
    from difftrust_core.sqltasks.parsing import NotAQuery
    from difftrust_core.sqltasks.schema import read_schema

    try:
        return for_duckdb(code, read_schema(schema))
    except (NotAQuery, RecursionError):
        return "", False


def around_of(task: Task) -> Around | None:
    """Return what smaller inputs a shrinking walks along; None: those of ``shrinking`` itself."""
    if task.language == "python":
        return None
    from difftrust_core.sqltasks.hints import hints_of
    from difftrust_core.sqltasks.schema import read_schema
    from difftrust_core.sqltasks.smaller import smaller_databases

    return smaller_databases(read_schema(task.preamble), hints_of(task).used)


@functools.lru_cache(maxsize=64)
def order_counts(task: Task) -> bool:
    """Tell whether the order of rows is part of the answer: the reference orders, or without one the question asks."""
    if task.reference is None:
        return _ASKS_FOR_ORDER.search(task.description) is not None
    from difftrust_core.sqltasks.parsing import NotAQuery, is_ordered, parse_query

    try:
        return is_ordered(parse_query(task.reference))
    except NotAQuery:
        return False
