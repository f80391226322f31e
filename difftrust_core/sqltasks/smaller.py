"""Databases with fewer rows than a given one, keys and foreign keys kept; what ``shrinking`` walks down along."""

from collections.abc import Callable, Iterator
from typing import Any

from difftrust_core.sqltasks.fuzz import Database, Row
from difftrust_core.sqltasks.schema import Schema


def smaller_databases(schema: Schema, used: frozenset[str]) -> Callable[..., Iterator[tuple[Any, ...]]]:
    """Return ``around(arguments, *, coarse)`` for ``shrinking.shrink``: databases without some of the rows.

    Rows that point at one that is left out go with it. ``coarse``: all tables but ``used`` ones (names in lower case),
    whole tables, halves, quarters; else single rows.
    """

    def around(arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
        database: Database = arguments[0]
        if coarse and any(rows and name.lower() not in used for name, rows in database.items()):
            yield (_consistent({t: rows if t.lower() in used else [] for t, rows in database.items()}, schema),)
        for name, rows in database.items():
            size = len(rows) if coarse else min(len(rows), 1)
            while size:
                for start in range(0, len(rows), size):
                    left = {**database, name: rows[:start] + rows[start + size :]}
                    yield (_consistent(left, schema),)
                size = size // 2 if coarse else 0

    return around


def _consistent(database: Database, schema: Schema) -> Database:
    """Return the database without the rows whose foreign keys point at nothing."""
    found = dict(database)
    for _ in schema.tables:  # what goes may take others with it, at most once through all tables
        before = sum(map(len, found.values()))
        for table in schema.parents_first():
            for key in table.foreign:
                parent = schema.table(key.table)
                if parent is not None:
                    place, to = table.position(key.column), parent.position(key.to)
                    there = {row[to] for row in found.get(parent.name, ())}
                    found[table.name] = [row for row in found.get(table.name, ()) if _points(row, place, there)]
        if sum(map(len, found.values())) == before:
            break
    return found


def _points(row: Row, place: int, there: set[Any]) -> bool:
    return row[place] is None or row[place] in there


def most_rows(database: Database) -> int:
    """Return how many rows the longest table has."""
    return max((len(rows) for rows in database.values()), default=0)
