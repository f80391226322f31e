"""How plain an input is: how many of the conditions that docstrings often state it breaks.

Of the inputs that a sentence may rule out and on which candidates differ, the plainest is shown. It is more often an
allowed one than the smallest is (docs/check_bench.md).
"""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from difftrust_core.base.literals import Instance

_CLEAN = re.compile(r"\w(?:[\w.,:/@#+-]|(?<=\S) (?=\S))*", re.ASCII)
_MANY = 100_000
_YEARS = range(1900, 2101)


def oddity(arguments: Mapping[str, Any]) -> float:
    """Return how many conditions an argument tuple breaks; what is often allowed nonetheless counts by half."""
    return sum(map(_of_value, arguments.values())) + _of_row(tuple(arguments.values()))


def _of_value(value: Any) -> float:
    match value:
        case bool():
            return 0
        case None:
            return 1
        case int() | float():
            return (value < 0) + (value <= 0) + (not abs(value) < _MANY)  # nor is NaN
        case str():
            return 1 - bool(_CLEAN.fullmatch(value)) + (not value)
        case dict():
            return max(_of_items(list(value)), _of_items(list(value.values())))
        case list() | tuple() | set() | frozenset():
            return _of_items(list(value)) + _of_rows(value if isinstance(value, list) else ())
        case Instance():
            return _of_instance(value)
    return 0


def _of_items(items: list[Any]) -> float:
    """Count for a collection: it is not empty, and its worst item."""
    return max(map(_of_value, items), default=2)


def _of_instance(value: Instance) -> float:
    if _is_day(value):
        return not {*value.args[:1]} <= {*_YEARS}
    parts = _parts(value)
    return max(map(_of_value, parts), default=0) + _of_row(parts)


def _of_rows(rows: Iterable[Any]) -> float:
    """Count for a list: items and parts are distinct and ascend, those of a row too, and rows are equally long."""
    rows = list(rows)
    columns = [rows, *map(list, zip(*map(_parts, rows), strict=False))]
    uneven = len({len(row) for row in rows if isinstance(row, list)}) > 1
    return uneven + sum(map(_of_column, columns)) / 2 + max((_of_row(_parts(row)) for row in rows), default=0)


def _of_column(column: list[Any]) -> int:
    twice = any(item in column[:at] for at, item in enumerate(column))
    return twice + any(_is_before(later, one) for one, later in pairwise(column))


def _of_row(row: tuple[Any, ...]) -> float:
    """Count by half for values of a kind side by side: each is less than the next one, and is not greater."""
    alike = [(one, other) for one, other in pairwise(row) if type(one) is type(other)]
    return sum((not _is_before(one, other)) + _is_before(other, one) for one, other in alike) / 2


def _parts(row: Any) -> tuple[Any, ...]:
    if isinstance(row, Instance):
        return (*row.args, *row.fields.values()) if not _is_day(row) else ()
    return row if isinstance(row, tuple) else ()


def _is_day(value: Instance) -> bool:
    return value.type_name.rpartition(".")[2] in ("date", "datetime")


def _is_before(one: Any, other: Any) -> bool:
    if isinstance(one, Instance) and isinstance(other, Instance):
        one, other = one.args, other.args
    try:
        return bool(one < other)
    except TypeError:
        return False
