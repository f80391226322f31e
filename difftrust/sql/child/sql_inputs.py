"""A query as the program, small databases as its inputs, in an in-memory DuckDB; runs inside the sandbox.

All databases of a batch lie in one DuckDB, opened in the zygote's fork for the task: one table for each table of the
schema, whose rows say which database they are of, behind a view that shows those of the database at hand. A child
inherits them by fork. DuckDB opens no file, no network and no thread, and its settings are locked; the layers of
``confine`` hold as they do for Python programs. Only a single SELECT becomes callable.
"""

import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import _duckdb as duckdb
from canonical import UnsupportedValue, canonical
from literals import read_literal
from program import Inputs, Loaded, NotLoaded

MAX_ROWS = 10_000
"""A longer result is not a value."""
_CONFIGURATION: Any = {
    "threads": 1,
    "async_threads": 0,
    "memory_limit": "256MB",
    "max_temp_directory_size": "0KB",
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
}
_opened = duckdb.connect(":memory:", config=_CONFIGURATION)  # once, in the zygote; it takes long, and has no thread
_AT_HAND = "difftrust_database"
"""The variable that says which database the views show, and the column that says which one a row is of."""
_ALL = "difftrust_databases"
"""The schema of the tables behind the views."""


class Unordered:
    """The rows of a query that leaves their order open, where the question asks for one; sorted."""

    def __init__(self, rows: list[tuple[Any, ...]]):
        self.rows = rows


class Databases(Inputs):
    """The databases of a batch; each input is a tuple of one dict: table -> list of rows.

    ``shape``: JSON, table -> list of [column, DuckDB type].
    """

    def __init__(self, shape: str, texts: list[str]):
        self._n = len(texts)
        self._connection = _opened
        self._connection.execute(f"CREATE SCHEMA {_ALL}")
        databases = [read_literal(text)[0] for text in texts]
        for table, columns in json.loads(shape).items():
            self._add(table, columns, databases)
        self._connection.execute(f"SET VARIABLE {_AT_HAND} = 0")
        self._connection.execute("SET lock_configuration = true")

    def _add(self, table: str, columns: list[list[str]], databases: list[dict[str, list[tuple[Any, ...]]]]) -> None:
        name, hidden = _quoted(table), f"{_ALL}.{_quoted(table)}"
        fields = [(_quoted(column), kind) for column, kind in columns]
        typed = "".join(f", {column} {kind}" for column, kind in fields)
        self._connection.execute(f"CREATE TABLE {hidden} ({_AT_HAND} INTEGER{typed})")
        rows = [(number, *row) for number, database in enumerate(databases) for row in database.get(table, ())]
        if rows:
            kinds = ["INTEGER", *(kind for _, kind in fields)]
            lists = ", ".join(f"unnest(${place}::{kind}[])" for place, kind in enumerate(kinds, 1))
            values = [list(column) for column in zip(*rows, strict=True)]
            self._connection.execute(f"INSERT INTO {hidden} SELECT {lists}", values)
        shown = ", ".join(column for column, _ in fields)
        where = f"{_AT_HAND} = getvariable('{_AT_HAND}')"
        self._connection.execute(f"CREATE VIEW {name} AS SELECT {shown} FROM {hidden} WHERE {where}")

    def __len__(self) -> int:
        return self._n

    def fresh(self, index: int, namespace: dict[str, Any]) -> Any:
        """Show the database ``index``; a query has no arguments."""
        self._connection.execute(f"SET VARIABLE {_AT_HAND} = {index}")
        return ()

    def load(self, program: dict[str, Any]) -> Loaded:
        """Return what asks the query of ``source``: JSON with its text ``sql`` and how its rows are ``ordered``.

        ``ordered``: "bag" where order does not count, "list" where it does and the query gives one, "open" where it
        does and the query gives none. Raises NotLoaded for anything but one SELECT.
        """
        source = json.loads(program["source"])
        statements = self._connection.extract_statements(source["sql"])
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise NotLoaded("NotAQuery")
        return _asking(self._connection, source["sql"], source["ordered"]), {}


def _asking(connection: Any, sql: str, ordered: str) -> Callable[[], object]:
    def ask() -> object:
        try:
            rows = connection.execute(sql).fetchmany(MAX_ROWS + 1)
        except (duckdb.OutOfMemoryException, duckdb.IOException):  # the latter where it would spill to a file
            raise MemoryError from None
        if len(rows) > MAX_ROWS:
            raise UnsupportedValue("a table of too many rows")
        plain = [tuple([_plain(value) for value in row]) for row in rows]
        if ordered == "list":
            return plain
        plain.sort(key=lambda row: [*map(_rank, row)])
        return Unordered(plain) if ordered == "open" and any(row != plain[0] for row in plain) else plain

    return ask


def _plain(value: Any) -> Any:
    """Return a number as SQLite would give it: truth values and decimals are plain numbers."""
    kind = type(value)
    if kind is bool:
        return int(value)
    if kind is Decimal:
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _rank(value: Any) -> tuple[int, Any]:
    if value is None:
        return (0, 0)
    if isinstance(value, int | float):
        return (1, value) if not math.isnan(value) else (2, 0)
    if isinstance(value, str):
        return (3, value)
    return (4, canonical(value))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
