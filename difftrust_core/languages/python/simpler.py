"""Simpler values than a given one: the order in which shrinking goes down, and the neighbours that it tries.

``neighbours`` lists a superset of what one mutation of Table 6 (``fuzz``) can make of an input and that is simpler.
Mutations of floats are the exception, for there are endlessly many: they are represented by their roundings and by
steps of 1 and 10 towards zero. Of values that are written as calls (dates, exact numbers, UUIDs, arrays, frames, own
classes) what is made need not be valid: shrinking asks the types before it tries anything.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from difftrust_core.base.literals import Code, Instance
from difftrust_core.base.standard_types import STANDARD_TYPES
from difftrust_core.languages.python.fuzz import children, rebuild

Simplicity = tuple[int, int, int, float]
_PLAIN = "".join(map(chr, (*range(97, 123), *range(48, 58), *range(65, 91), 32)))
_RANK = {c: rank for rank, c in enumerate(dict.fromkeys((*_PLAIN, *map(chr, range(33, 127)), *map(chr, range(256)))))}
_RANKED = "".join(_RANK)
_NOT_FINITE = 1000
_DUMMIES: tuple[Any, ...] = (None, False, 0, 0.0, "", [], {}, set())
_ORIGIN = {name: row.origin for name, row in STANDARD_TYPES.items() if row.origin}
_NO_UUID = "00000000-0000-0000-0000-000000000000"
_STEPS = (-10, -1, 1, 10)


def simplicity(value: Any) -> Simplicity:
    """Return what orders values from simple to complex, compared from left to right.

    1. Size: the number of nodes, each character counting as one. 2. Decimal places of the floats. 3. Whole numbers:
    twice the magnitude, one more if negative; True is 1; a character counts by its place in a-z, 0-9, A-Z, space, the
    other printable ones, the rest. 4. The magnitudes of the floats. Dates are the simpler the nearer they are to the
    first of January 2000.
    """
    kind = type(value)
    if kind is int:
        return (1, 0, 2 * abs(value) + (value < 0), 0.0)
    if kind is float:
        return (1, _places(value), 0, 2 * abs(value) + (value < 0) if math.isfinite(value) else 0.0)
    if kind in (str, bytes):
        text = value if kind is str else value.decode("latin-1")
        return (1 + len(text), 0, sum([_rank(c) for c in text]), 0.0)
    if kind is bool:
        return (1, 0, int(value), 0.0)
    if kind is Code:
        return (1, 0, len(value.text), 0.0)
    if kind is complex:
        return _sum_of([simplicity(value.real), simplicity(value.imag)])
    if kind is bytearray:
        return simplicity(bytes(value))
    if kind is Instance:
        numbers = call_numbers(value)
        if numbers is not None:
            return (1 + numbers[0], numbers[1], numbers[2], 0.0)
    return _sum_of([simplicity(child) for child in children(value)])


def _sum_of(parts: Sequence[Simplicity]) -> Simplicity:
    sizes, places, wholes, floats = zip(*parts, strict=True) if parts else ((), (), (), ())
    return (1 + sum(sizes), sum(places), sum(wholes), math.fsum(floats))


def _rank(character: str) -> int:
    return _RANK.get(character, ord(character) + len(_RANK))


def _places(value: float) -> int:
    if not math.isfinite(value):
        return _NOT_FINITE
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def neighbours(arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
    """Iterate over argument tuples that are simpler than ``arguments`` in one argument; some may come twice.

    ``coarse``: only a few large steps, which bring a long input down quickly.
    """
    for position, argument in enumerate(arguments):
        here = simplicity(argument)
        for simpler in _changed(argument, coarse):
            if simplicity(simpler) < here:
                yield (*arguments[:position], simpler, *arguments[position + 1 :])


def _changed(value: Any, coarse: bool) -> Iterator[Any]:
    """Iterate over what one mutation of a node of ``value`` can make of it, where that may be simpler."""
    yield from _itself(value, coarse)
    if type(value) is Instance and call_numbers(value) is not None:
        return  # a date, a Decimal: its parts are no values of their own
    columns = columns_of(value)
    if columns is not None:  # whose names stay
        for name, column in columns.items():
            for simpler in _changed(column, coarse):
                yield Instance(value.type_name, ({**columns, name: simpler},), value.fields)
        for kept in without_some(list(columns)):
            yield Instance(value.type_name, ({name: columns[name] for name in kept},), value.fields)
        return
    parts = list(children(value))
    for position, part in enumerate(parts):
        for simpler in _changed(part, coarse):
            yield rebuild(value, [*parts[:position], simpler, *parts[position + 1 :]])


def _itself(value: Any, coarse: bool) -> Iterable[Any]:
    kind = type(value)
    if kind is bool:
        return (False,)
    if kind is int:
        return _ints(value)
    if kind is float:
        return _floats(value)
    if kind is str:
        return _texts(value, coarse)
    if kind is bytes:
        return (text.encode("latin-1") for text in _texts(value.decode("latin-1"), coarse))
    if kind is bytearray:
        return map(bytearray, _itself(bytes(value), coarse))
    if kind is complex:
        return _complex(value)
    if kind is Instance:
        return simpler_calls(value)
    if kind is dict:
        return map(dict, without_some(list(value.items()))) if coarse else _dicts(value)
    if kind in (list, tuple, set, frozenset):
        return (kind(left) for left in without_some(list(children(value))))
    return ()


def _ints(value: int) -> Iterator[int]:
    yield from (0, abs(value), value // 2, -(-value // 2))  # leaps, so that large numbers come down quickly
    yield from (value + step for step in (-10, -1, 1, 10))


def _floats(value: float) -> Iterator[float]:
    yield from (0.0, abs(value))
    if math.isfinite(value):
        yield float(math.trunc(value))
        places = min(_places(value), 20)
        yield round(value / 2, places)
        yield from (round(value, k) for k in range(places))
        yield from (round(value + step, places) for step in (-10, -1, 1, 10))


def _complex(value: complex) -> Iterator[complex]:
    for real in _floats(value.real):
        yield complex(real, value.imag)
    for imaginary in _floats(value.imag):
        yield complex(value.real, imaginary)


def _texts(value: str, coarse: bool) -> Iterator[str]:
    """Cut every substring (which includes deleting a character and dropping the end); make a character plainer."""
    if coarse:
        yield from map("".join, without_some(list(value)))
        return
    for start in range(len(value)):
        for end in range(start + 1, len(value) + 1):
            yield value[:start] + value[end:]
    for at, old in enumerate(value):
        for new in _RANKED[: _rank(old)]:
            yield value[:at] + new + value[at + 1 :]


def _dicts(value: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    """Leave out entries; give an entry another one's value, a dummy, or another one's key (which then has one less)."""
    entries = list(value.items())
    yield from map(dict, without_some(entries))
    for at, (key, old) in enumerate(entries):
        for new in (*_DUMMIES, *[v for _, v in entries]):
            if new is not old:
                yield {**value, key: new}
        for other in value:
            if other is not key:
                yield dict([*entries[:at], (other, old), *entries[at + 1 :]])


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
    for length in range(STANDARD_TYPES[kind].n_required, len(value.args)):
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
