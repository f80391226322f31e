"""Simpler values of those that are written as calls: dates, exact numbers, UUIDs, arrays, frames, own classes.

What is made here need not be valid: shrinking asks the types before it tries anything.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from difftrust_core.base.literals import Instance
from difftrust_core.languages.python.fuzz import children

_ORIGIN: Mapping[str, tuple[int, ...]] = {
    "date": (2000, 1, 1),
    "datetime": (2000, 1, 1, 0, 0, 0, 0),
    "time": (0, 0, 0, 0),
}
_N_REQUIRED = {"date": 3, "datetime": 5, "time": 2}
_NO_UUID = "00000000-0000-0000-0000-000000000000"
_STEPS = (-10, -1, 1, 10)


def without_some(parts: list[Any]) -> Iterator[list[Any]]:
    """Leave out one; and as leaps everything, each half, each quarter, and so on."""
    size = len(parts)
    while size:
        for start in range(0, len(parts), size):
            yield parts[:start] + parts[start + size :]
        size //= 2


def call_numbers(value: Instance) -> tuple[int, int, int] | None:
    """Return size, decimal places and magnitude of a date, Decimal or UUID; None for what is as simple as its parts."""
    kind = _kind(value)
    if kind in _ORIGIN and all(type(part) is int for part in value.args):
        far = [abs(part - origin) for part, origin in zip(value.args, _ORIGIN[kind], strict=False)]
        return len(value.args) + 3 * len(value.fields), 0, sum(far)
    if kind == "Decimal" and len(value.args) == 1 and not value.fields:
        number = _decimal(value)
        if number is None or not number.is_finite():
            return 2, 1000, 0
        size = int(2 * abs(number)) if number.adjusted() < 30 else 10**31
        return 1, max(0, -int(number.as_tuple().exponent)), size + (number < 0)
    if kind == "UUID" and len(value.args) == 1 and type(value.args[0]) is str:
        return 1, 0, sum(character not in "0-" for character in value.args[0])
    return None


def _kind(value: Instance) -> str:
    return value.type_name.rpartition(".")[2]


def simpler_calls(value: Instance) -> Iterator[Any]:
    """Iterate over values that may be simpler: without an argument, a value within it, and what its kind knows."""
    kind = _kind(value)
    yield None
    if kind in _ORIGIN:
        yield from _dates(value, kind)
    elif kind == "Decimal":
        yield from _decimals(value)
    elif kind == "UUID":
        yield Instance(value.type_name, (_NO_UUID,))
        yield Instance(value.type_name, (_NO_UUID[:-1] + "1",))
    elif value.args and type(value.args[-1]) in (dict, list):
        yield from _tables(value)
    if value.args:
        yield Instance(value.type_name, value.args[:-1], value.fields)
    for name in value.fields:
        yield Instance(value.type_name, value.args, {k: v for k, v in value.fields.items() if k != name})
    yield from _within(value, value.type_name)


def _within(value: Any, type_name: str) -> Iterator[Instance]:
    """Iterate over the values of a class that stand within another one, as the branches of a tree."""
    for child in children(value):
        if type(child) is Instance and child.type_name == type_name:
            yield child
        if type(child) in (Instance, list, tuple, dict):
            yield from _within(child, type_name)


def _dates(value: Instance, kind: str) -> Iterator[Instance]:
    origin = _ORIGIN[kind]
    if value.fields:
        yield Instance(value.type_name, value.args)
    yield Instance(value.type_name, origin[: len(value.args)], value.fields)
    for length in range(_N_REQUIRED[kind], len(value.args)):
        yield Instance(value.type_name, value.args[:length], value.fields)
    for at, (part, start) in enumerate(zip(value.args, origin, strict=False)):
        if type(part) is int:
            for new in (start, start + (part - start) // 2, *(part + step for step in _STEPS)):
                yield Instance(value.type_name, (*value.args[:at], new, *value.args[at + 1 :]), value.fields)


def _decimal(value: Instance) -> Decimal | None:
    try:
        return Decimal(str(value.args[0]))
    except (InvalidOperation, IndexError):
        return None


def _decimals(value: Instance) -> Iterator[Instance]:
    number = _decimal(value)
    if number is None or not number.is_finite() or abs(number) > 10**30:
        yield from (Instance(value.type_name, (text,)) for text in ("0", "1"))
        return
    places = min(max(0, -int(number.as_tuple().exponent)), 20)
    whole = Decimal(int(number))
    fewer = [round(number, k) for k in range(places)]
    steps = [number + step for step in _STEPS]
    for made in (
        Decimal(0),
        Decimal(1),
        whole,
        Decimal(int(whole / 2)),
        abs(number),
        *fewer,
        *steps,
        round(number / 2, places),
    ):
        yield Instance(value.type_name, (str(made + 0),))  # and no -0


def columns_of(value: Any) -> dict[Any, Any] | None:
    """Return the columns of a frame; None of all else."""
    if type(value) is Instance and _kind(value) == "DataFrame" and value.args and type(value.args[-1]) is dict:
        return value.args[-1]
    return None


def _tables(value: Instance) -> Iterator[Instance]:
    """Iterate over frames without some rows, and arrays without some columns."""
    before, content = value.args[:-1], value.args[-1]
    if type(content) is dict and content and all(type(column) is list for column in content.values()):
        rows = max(map(len, content.values()))
        for kept in without_some(list(range(rows))):
            columns = {name: [column[i] for i in kept if i < len(column)] for name, column in content.items()}
            yield Instance(value.type_name, (*before, columns), value.fields)
    elif type(content) is list and content and all(type(row) is list for row in content):
        for kept in without_some(list(range(max(map(len, content))))):
            narrow = [[row[i] for i in kept if i < len(row)] for row in content]
            yield Instance(value.type_name, (*before, narrow), value.fields)
