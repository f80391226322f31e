"""What every type of an argument answers: does a value fit, a fresh value, a changed one, its parts.

Values are as ``literals`` reads them: builtins, ``Instance`` and ``Code``. Nothing here builds a user's class.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from difftrust_core.languages.python.fuzz import below
from difftrust_core.languages.python.types.usual import Usual, usual_range

_MANY_PARTS = 120
_ALPHABETS = (
    "ab",
    "aAbB",
    "ab ",
    "a",
    "xyz, ",
    "eéßﬁ ",
    "aeiou bcd",
    "012-:. ",
    "abc, .-",
    "01a",
    "a B1.,-",
    "abcdefgh",
    "The quick brown fox. ",
    "0123456789",
)
"""One for all texts of an input, so that repetitions, overlaps and differences of case alone come up."""
_MAX_NAMED_LENGTH = 128
_LONG = 48
T = TypeVar("T")


class NoValue(Exception):
    """No value of a type is known here."""


def _no_texts(name: str) -> Sequence[str]:
    return ()


@dataclass(kw_only=True)
class Draws:
    """What one input is drawn from, and what is known of its values."""

    generator: random.Random
    texts: Callable[[str], Sequence[str]] = _no_texts
    """Realistic texts for a parameter or field of a name."""
    words: Sequence[str] = ()
    """Texts that programs and descriptions name."""
    numbers: Sequence[int | float] = ()
    """Numbers that programs and descriptions name."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns of frames, by name: ``int``, ``float``, ``str``, ``bool``, ``date``, ``datetime``; else a guess."""
    usual: Mapping[str, Usual] = field(default_factory=dict)
    """What is known of numbers and arrays, by parameter."""
    odd_floats: bool = False
    """NaN and infinity are asked about, so that they come up now and then."""
    is_eager: bool = False
    """Numbers and texts are those that programs name, where they name any."""
    varies: bool = False
    """Known texts are changed, every other time."""
    name: str = ""
    """The parameter or field that a value is drawn for."""
    depth: int = 0
    n_drawn: int = 0
    """So many parts were drawn."""
    bound: dict[str, Any] = field(default_factory=dict)
    """What an input has but one of: the alphabet of its texts, the type behind a type variable, aware times or not."""

    @property
    def is_late(self) -> bool:
        """Tell whether the value has grown so far that what ends soon is to be preferred."""
        return self.depth >= 3 or self.n_drawn > _MANY_PARTS

    def below(self, n: int) -> int:
        """Return an integer in range(n), uniformly."""
        return below(n, self.generator)

    def chance(self, share: float) -> bool:
        """Return True this often."""
        return self.generator.random() < share

    def one_of(self, choices: Sequence[T]) -> T:
        """Return one of the choices, uniformly."""
        return choices[below(len(choices), self.generator)]

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return what ``make`` gave the first time that this input asked for ``key``."""
        if key not in self.bound:
            self.bound[key] = make()
        found: T = self.bound[key]
        return found

    def length(self, low: int = 0, high: int | None = None) -> int:
        """Return the length of a fresh list or text, mostly short, now and then some dozens."""
        high = low + _LONG if high is None else high
        small = self.below(7) if self.chance(0.72) else self.below(21)
        if self.depth < 2 and self.chance(0.04):
            small = 20 + self.below(_LONG - 19)
        if self.n_drawn > _MANY_PARTS:
            small = min(small, 1)
        return max(low, min(small if self.depth < 3 else small // 2, high))

    def other_length(self) -> int:
        """Return the length to give to a list or text that has another one: up to 20, or one that programs name."""
        if self.numbers and self.chance(0.5):
            named = self.one_of(self.numbers)
            if 0 < named <= _MAX_NAMED_LENGTH:
                return max(int(named) + self.below(3) - 1, 0)
        return self.below(20) + 1 if self.depth or self.chance(0.9) else 20 + self.below(_LONG)

    def range_of(self) -> tuple[float, float] | None:
        """Return where numbers of this parameter or field mostly are; None where nothing is known."""
        known = self.usual.get(self.name)
        if known is not None and known.low is not None and known.high is not None:
            return known.low, known.high
        return usual_range(self.name) if self.name else None

    def alphabet(self) -> str:
        """Return the characters of this input's texts."""
        return self.once("alphabet", lambda: self.one_of(_ALPHABETS))

    def of(self, kind: "Type", name: str | None = None) -> Any:
        """Return a fresh value of a part, one level down. Raises NoValue."""
        before = self.name
        self.depth += 1
        self.n_drawn += 1
        try:
            self.name = before if name is None else name
            return kind.draw(self)
        finally:
            self.depth -= 1
            self.name = before


class Part(NamedTuple):
    """A value right below another one: its type, and the field that holds it."""

    value: Any
    type: "Type"
    name: str | None = None


class Type:
    """A type of arguments."""

    exact: frozenset[type] = frozenset()
    """Whatever is exactly of one of these kinds fits; others may, too."""

    def fits(self, value: Any) -> bool:
        """Tell whether a value is of this type, all its parts included."""
        raise NotImplementedError

    def draw(self, draws: Draws) -> Any:
        """Return a fresh value. Raises NoValue."""
        raise NotImplementedError

    def change(self, value: Any, draws: Draws) -> Any:
        """Return ``value``, which fits, changed in one step, its parts kept as they are. Raises NoValue."""
        return self.draw(draws)

    def parts(self, value: Any) -> list[Part]:
        """Return the parts of a value that fits."""
        return []

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        """Return ``value`` with other parts; ``value`` itself where they cannot be so."""
        return value

    def all_values(self, most: int) -> list[Any] | None:
        """Return all values if there are at most so many, simplest first; None if there are more."""
        return None

    def inside(self) -> "Sequence[Type]":
        """Return the types that this one is made of."""
        return ()


def size_of_value(kind: Type, value: Any) -> int:
    """Return the number of nodes: the value, and all parts below it."""
    parts = kind.parts(value)
    below = sum([size_of_value(part.type, part.value) - 1 for part in parts if type(part.type).parts is not Type.parts])
    return 1 + len(parts) + below


def change_somewhere(kind: Type, value: Any, draws: Draws) -> Any:
    """Return ``value`` with one of its nodes changed, each as likely as any other. Raises NoValue."""
    return _change_at(kind, value, draws.below(size_of_value(kind, value)), draws)


def _change_at(kind: Type, value: Any, target: int, draws: Draws) -> Any:
    if target == 0:
        return kind.change(value, draws)
    target -= 1
    parts = kind.parts(value)
    for position, part in enumerate(parts):
        size = size_of_value(part.type, part.value) if type(part.type).parts is not Type.parts else 1
        if target < size:
            before = draws.name
            draws.name = part.name or before
            try:
                changed = _change_at(part.type, part.value, target, draws)
            finally:
                draws.name = before
            values = [other.value for other in parts]
            values[position] = changed
            return kind.rebuilt(value, values)
        target -= size
    raise AssertionError("a node number within the value's size")
