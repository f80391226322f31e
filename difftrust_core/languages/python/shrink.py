"""From an input on which two programs disagree to a minimal one.

What is smaller is decided by ``simplicity``, a well-founded order, so shrinking ends. Minimal means: no single
mutation of Table 6 (``fuzz``) makes the input smaller and keeps what it shows. ``neighbours`` lists a superset of
what one such mutation can make of an input and that is smaller. Mutations of floats are the exception, for there are
endlessly many: they are represented by their roundings and by steps of 1 and 10 towards zero.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any

from difftrust_core.base.literals import Code, Instance, read_literal, write_literal
from difftrust_core.languages.language import Around
from difftrust_core.languages.python.fuzz import children, rebuild
from difftrust_core.languages.python.shrink_calls import call_numbers, columns_of, simpler_calls, without_some

Shows = Callable[[Sequence[str]], Sequence[bool | None]]
"""Whether each input still shows what is to be kept; None where that could not be found out."""
Simplicity = tuple[int, int, int, float]
Codes = Mapping[str, Sequence[str]]
"""For each Enum member and function the simpler ones of its type, simplest first (``ArgumentTypes.simpler_codes``)."""


MAX_TRIED = 30_000
_FIRST_BATCH, _BATCH = 50, 1000
"""Inputs tried at once, simplest first: a few, for among them one often does; then many."""
_PLAIN = "".join(map(chr, (*range(97, 123), *range(48, 58), *range(65, 91), 32)))
_RANK = {c: rank for rank, c in enumerate(dict.fromkeys((*_PLAIN, *map(chr, range(33, 127)), *map(chr, range(256)))))}
_RANKED = "".join(_RANK)
_NOT_FINITE = 1000
_DUMMIES: tuple[Any, ...] = (None, False, 0, 0.0, "", [], {}, set())


@dataclass(frozen=True, kw_only=True)
class Shrunk:
    """The smallest input found, an argument tuple in the text form of ``literals``."""

    arguments: str
    minimal: bool
    """Every neighbour was tried, and none shows it; False where the budget ended first or a program gave no answer."""
    n_tried: int


def simplicity(value: Any, codes: Codes = MappingProxyType({})) -> Simplicity:
    """Return what orders values from simple to complex, compared from left to right.

    1. Size: the number of nodes, each character counting as one. 2. Decimal places of the floats. 3. Whole numbers:
    twice the magnitude, one more if negative; True is 1; a character counts by its place in a-z, 0-9, A-Z, space, the
    other printable ones, the rest. 4. The magnitudes of the floats. Dates are the simpler the nearer they are to the
    first of January 2000; Enum members and functions in the order of ``codes``.
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
        return (1, 0, len(codes[value.text]) if value.text in codes else len(value.text), 0.0)
    if kind is complex:
        return _sum_of([simplicity(value.real), simplicity(value.imag)])
    if kind is bytearray:
        return simplicity(bytes(value))
    if kind is Instance:
        numbers = call_numbers(value)
        if numbers is not None:
            return (1 + numbers[0], numbers[1], numbers[2], 0.0)
    return _sum_of([simplicity(child, codes) for child in children(value)])


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


def neighbours(
    arguments: tuple[Any, ...], *, coarse: bool = False, codes: Codes | None = None
) -> Iterator[tuple[Any, ...]]:
    """Iterate over argument tuples that are simpler than ``arguments`` in one argument; some may come twice.

    ``coarse``: only a few large steps, which bring a long input down quickly. ``codes``: given where types are checked,
    so that the last argument may be left out, too.
    """
    if arguments and codes is not None:
        yield arguments[:-1]
    codes = codes or {}
    for position, argument in enumerate(arguments):
        here = simplicity(argument, codes)
        for simpler in _changed(argument, coarse, codes):
            if simplicity(simpler, codes) < here:
                yield (*arguments[:position], simpler, *arguments[position + 1 :])


def shrink(
    arguments: str,
    shows: Shows,
    *,
    accepts: Callable[[str], bool],
    around: Around | None = None,
    codes: Codes | None = None,
    max_tried: int = MAX_TRIED,
) -> Shrunk:
    """Return the smallest input found that still ``shows`` what ``arguments`` does: downhill while any neighbour does.

    Neighbours (``around`` an input; None: ``neighbours``) that ``accepts`` refuses are not tried, none is tried twice,
    and about ``max_tried`` are at most.
    """
    if around is None or around is neighbours:
        around = partial(neighbours, codes=codes)
    return _Search(shows, accepts, around, partial(simplicity, codes=codes or {}), max_tried).down_from(arguments)


class _Search:
    """One walk downhill, and the answers it has met."""

    def __init__(
        self,
        shows: Shows,
        accepts: Callable[[str], bool],
        around: Around,
        order: Callable[[Any], Simplicity],
        max_tried: int,
    ):
        self._shows, self._accepts, self._around, self._max_tried = shows, accepts, around, max_tried
        self._order = order
        self._answers: dict[str, bool | None] = {}

    def down_from(self, arguments: str) -> Shrunk:
        current, coarse = arguments, True
        while True:
            pool = self._pool(current, coarse)
            found = self._first(pool)
            if found is None and not coarse:
                all_refuted = len(pool) < self._max_tried and all(self._answers.get(text) is False for text in pool)
                return Shrunk(arguments=current, minimal=all_refuted, n_tried=len(self._answers))
            coarse = coarse and found is not None
            current = current if found is None else found

    def _pool(self, current: str, coarse: bool) -> list[str]:
        """Return the neighbours, simplest first; at most ``max_tried``."""
        made = self._around(read_literal(current), coarse=coarse)
        by_text = {write_literal(arguments): arguments for arguments in itertools.islice(made, self._max_tried)}
        return sorted(by_text, key=lambda text: self._order(by_text[text]))

    def _first(self, pool: list[str]) -> str | None:
        """Return the first of the pool that shows it, as far as the budget goes."""
        start = 0
        while start < len(pool):
            batch = pool[start : start + (_FIRST_BATCH if start == 0 else _BATCH)]
            start += len(batch)
            self._ask([text for text in batch if text not in self._answers])
            for text in batch:
                if self._answers.get(text):
                    return text
        return None

    def _ask(self, texts: list[str]) -> None:
        left = self._max_tried - len(self._answers)
        fitting = []
        for text in texts[: max(left, 0)]:
            if self._accepts(text):
                fitting.append(text)
            else:
                self._answers[text] = False
        if fitting:
            self._answers.update(zip(fitting, self._shows(fitting), strict=True))


def _changed(value: Any, coarse: bool, codes: Codes) -> Iterator[Any]:
    """Iterate over what one mutation of a node of ``value`` can make of it, where that may be simpler."""
    if type(value) is Code:
        yield from map(Code, codes.get(value.text, ()))
    yield from _itself(value, coarse)
    if type(value) is Instance and call_numbers(value) is not None:
        return  # a date, a Decimal: its parts are no values of their own
    columns = columns_of(value)
    if columns is not None:  # whose names stay
        for name, column in columns.items():
            for simpler in _changed(column, coarse, codes):
                yield Instance(value.type_name, ({**columns, name: simpler},), value.fields)
        for kept in without_some(list(columns)):
            yield Instance(value.type_name, ({name: columns[name] for name in kept},), value.fields)
        return
    parts = list(children(value))
    for position, part in enumerate(parts):
        for simpler in _changed(part, coarse, codes):
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
