"""SQL as a language of programs: queries on small databases, in SQLite's dialect, run by DuckDB."""

import functools
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import sqlglot

from difftrust.sql.dialect import for_duckdb
from difftrust.sql.draw_databases import hints_of, sample_database, smaller_databases
from difftrust.sql.parse import NotAQuery, is_ordered, parse_query, tree_id
from difftrust.sql.schema import read_schema
from difftrust_core.base.files import read_packaged
from difftrust_core.base.task import Task
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.language import Around, Draw, Language
from difftrust_core.sandbox.host import Limits
from difftrust_core.sandbox.runner import Runner

_ASKS_FOR_ORDER = re.compile(r"\b(order|sort|ascending|descending|alphabetic|ranked|from the \w+est)", re.IGNORECASE)
_QUERY = re.compile(r"\s*\(*\s*(select|with)\b", re.IGNORECASE)
_PRETTY = 0.3
"""Share of the simulated coders' replies that are laid out over several lines."""


class Sql(Language):
    """Queries; a task's preamble creates the tables."""

    name = grammar = "sql"
    limits = Limits(program_cpu=10.0)  # a query takes about a millisecond on a small database, whatever it asks
    runner = Runner(
        module=Path(__file__).parent / "child" / "sql_inputs.py", inputs="Databases", libraries=("_duckdb",)
    )

    prompt = read_packaged(__package__, "prompt.txt")
    tree_id = staticmethod(tree_id)

    def is_program(self, text: str) -> bool:
        """Tell whether a text opens with SELECT or WITH."""
        return _QUERY.match(text) is not None

    def preamble(self, task: Task) -> str:
        """Return the shape of the databases."""
        return read_schema(task.preamble).shape()

    def source(self, task: Task, code: str) -> str:
        """Return the query for DuckDB and whether its order counts; a text that is none becomes one that fails."""
        sql, is_list = _translated(code, task.preamble)
        ordered = "bag" if not order_counts(task) else "list" if is_list else "open"
        return json.dumps({"sql": sql, "ordered": ordered})

    def fuzz(self, task: Task, seed: int) -> Draw:
        """Return what draws databases of the schema."""
        return lambda position, attempt: sample_database(task, seed=seed, position=position, attempt=attempt)

    def around(self, task: Task) -> Around:
        """Return the databases with fewer rows."""
        return smaller_databases(read_schema(task.preamble), hints_of(task).used)

    def bugs(self, task: Task) -> "SqlBugs":
        """Return the mistakes that simulated coders make in a query."""
        return SqlBugs(task)


@functools.lru_cache(maxsize=1024)
def _translated(code: str, schema: str) -> tuple[str, bool]:
    try:
        return for_duckdb(code, read_schema(schema))
    except (NotAQuery, RecursionError):
        return "", False


@functools.lru_cache(maxsize=64)
def order_counts(task: Task) -> bool:
    """Tell whether the order of rows is part of the answer: the reference orders, or without one the question asks."""
    if task.reference is None:
        return _ASKS_FOR_ORDER.search(task.description) is not None
    try:
        return is_ordered(parse_query(task.reference))
    except NotAQuery:
        return False


class SqlBugs:
    """The mistakes of ``bugs``, on texts."""

    text = staticmethod(str)

    def __init__(self, task: Task):
        self._task = task

    def reference(self) -> str:
        """Return the task's right query."""
        return self._task.reference or ""

    def mistakes(self, program: str) -> dict[str, list[Callable[[], str]]]:
        """Return the mistakes of ``bugs``. Raises WrongUsage where the reference is no query."""
        from difftrust.sql.mutants import mutants

        try:
            offered = mutants(program, read_schema(self._task.preamble))
        except NotAQuery as e:
            name = self._task.task_id
            raise WrongUsage(f"a simulated coder needs a reference that is a query, {name}: {e}") from None
        return {name: [functools.partial(str, query) for query in of_one] for name, of_one in offered.items()}

    def habits(self, draws: random.Random) -> Sequence[tuple[Callable[[str], str], float]]:
        """Return one rewrite: the query over several lines."""
        return [(_laid_out, _PRETTY)]

    def cut(self, text: str, draws: random.Random) -> str:
        """Return a beginning of the query."""
        return text[: max(len("SELECT"), draws.randrange(len(text)))]


def _laid_out(query: str) -> str:
    return str(sqlglot.transpile(query, read="sqlite", write="sqlite", pretty=True)[0])


LANGUAGE: Language = Sql()
