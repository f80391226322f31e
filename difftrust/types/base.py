"""What every type of an argument answers: does a value fit, a fresh value, a changed one, its parts.

Values are as ``literals`` reads them: builtins, ``Instance`` and ``Code``. Nothing here builds a user's class.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from difftrust_core.languages.python.fuzz import below, rebuild

_BY_LEVEL = 0.5
"""How often a level is picked before one of its nodes: lists of dates are mostly parts of dates."""
_MOST_TYPES = 200
"""So many types of a value are looked at: a class that nests its own type parameter has no end of them."""
_MANY_PARTS = 120
_HIGHEST = 6
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
Path = tuple[int, ...]
"""The place of a node: that of the part it is in, of the part of that part, and so on."""


class NoValue(Exception):
    """No value of a type is known here."""


class NotResolved(ValueError):
    """The annotation names what is not known here; the message says which."""


@dataclass(kw_only=True)
class Draws:
    """What one input is drawn from, and what is known of its values."""

    generator: random.Random
    texts: Callable[[str], Sequence[str]] = lambda name: ()
    """Realistic texts for a parameter or field of a name."""
    words: Sequence[str] = ()
    """Texts that programs and descriptions name."""
    numbers: Sequence[int | float] = ()
    """Numbers that programs and descriptions name."""
    special: Sequence[float] = ()
    """NaN and the infinities, as far as programs and descriptions ask for them."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns of frames, by name: ``int``, ``float``, ``str``, ``bool``, ``date``, ``datetime``; else a guess."""
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

    def size(self, low: int, high: int | None) -> int:
        """Return the number of elements of a fresh container, none or one deep within others."""
        size = self.length(low, high)
        if self.depth < 5 or low:
            return size
        return min(size, 1) if self.depth < 7 else 0

    def other_length(self) -> int:
        """Return the length to give to a list or text that has another one: up to 20, or one that programs name."""
        if self.numbers and self.chance(0.5):
            named = self.one_of(self.numbers)
            if 0 < named <= _MAX_NAMED_LENGTH:
                return max(int(named) + self.below(3) - 1, 0)
        return self.below(20) + 1 if self.depth or self.chance(0.9) else 20 + self.below(_LONG)

    def alphabet(self) -> str:
        """Return the characters of this input's texts."""
        return self.once("alphabet", lambda: self.one_of(_ALPHABETS))

    def of(self, kind: "Type", name: str | None = None) -> Any:
        """Return a fresh value of a part, one level down. Raises NoValue."""
        self.depth += 1
        self.n_drawn += 1
        try:
            with self.named(self.name if name is None else name):
                return kind.draw(self)
        finally:
            self.depth -= 1

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Draw for the parameter or field of this name."""
        before, self.name = self.name, name
        try:
            yield
        finally:
            self.name = before


class Part(NamedTuple):
    """A value right below another one: its type, and the field that holds it."""

    value: Any
    type: "Type"
    name: str | None = None


class Type:
    """A type of arguments."""

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
        return rebuild(value, parts)

    def all_values(self, most: int) -> list[Any] | None:
        """Return all values if there are at most so many, simplest first; None if there are more."""
        return None

    def inside(self) -> "Sequence[Type]":
        """Return the types that this one is made of."""
        return ()

    @cached_property
    def height(self) -> int:
        """How many levels a value has at least, up to _HIGHEST: that of a type that names itself may have no end."""
        return next((levels for levels in range(_HIGHEST) if self.ends_within(levels)), _HIGHEST)

    def ends_within(self, levels: int) -> bool:
        """Tell whether a value may end so many levels down."""
        parts = () if getattr(self, "least", 1) == 0 else self.inside()
        return all(levels > 0 and part.ends_within(levels - 1) for part in parts)


@dataclass(eq=False, kw_only=True)
class Sized(Type):
    """A type whose values have a number of elements, between two bounds."""

    least: int = 0
    most: int | None = None

    def allows(self, length: int) -> bool:
        """Tell whether a value may be so long."""
        return self.least <= length and (self.most is None or length <= self.most)


def all_fit(parts: Sequence[Part] | None) -> bool:
    """Tell whether there are parts, or none are needed, and each is of its type."""
    return parts is not None and all(part.type.fits(part.value) for part in parts)


class Delegate(Type):
    """A type whose values are each of another type, which changes them and knows their parts."""

    def of(self, value: Any) -> Type | None:
        """Return the type that a value is of; None where it is of none."""
        raise NotImplementedError

    def change(self, value: Any, draws: Draws) -> Any:
        kind = self.of(value)
        return value if kind is None else kind.change(value, draws)

    def parts(self, value: Any) -> list[Part]:
        kind = self.of(value)
        return [] if kind is None else kind.parts(value)

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        kind = self.of(value)
        return value if kind is None else kind.rebuilt(value, parts)


def first_that_fits(options: Sequence[Type], value: Any) -> Type | None:
    """Return the first type that the value is of."""
    return next((option for option in options if option.fits(value)), None)


def types_within(kinds: Iterable[Type], below: Callable[[Type], Sequence[Type]]) -> Iterator[Type]:
    """Iterate over types and what is ``below`` them, and below that, each once."""
    waiting, seen = list(kinds), set[int]()
    while waiting and len(seen) < _MOST_TYPES:
        kind = waiting.pop()
        if id(kind) not in seen:
            seen.add(id(kind))
            yield kind
            waiting += below(kind)


def nodes_of(whole: Part) -> list[tuple[Path, Part]]:
    """Return the nodes of a value, itself first, each with its place and the nearest name at or above it."""
    found: list[tuple[Path, Part]] = [((), whole)]
    for at, part in enumerate(whole.type.parts(whole.value)):
        named = Part(part.value, part.type, part.name or whole.name)
        found += [((at, *path), node) for path, node in nodes_of(named)]
    return found


def first_nodes(parts: Sequence[Part], most: int) -> list[tuple[Path, Part]]:
    """Return the nodes of some values level by level, the values first, until there are more than ``most``."""
    found: list[tuple[Path, Part]] = [((at,), part) for at, part in enumerate(parts)]
    for path, part in found:  # it grows
        if len(found) > most:
            break
        found += [((*path, at), below) for at, below in enumerate(part.type.parts(part.value)[:most])]
    return found


def with_node(whole: Part, path: Path, new: Any) -> Any:
    """Return a value with another node at a place; the other nodes stay."""
    if not path:
        return new
    parts = whole.type.parts(whole.value)
    values = [part.value for part in parts]
    values[path[0]] = with_node(parts[path[0]], path[1:], new)
    return whole.type.rebuilt(whole.value, values)


def change_somewhere(kind: Type, value: Any, draws: Draws) -> Any:
    """Return ``value`` with one of its nodes changed: any of them, or any of one of its levels. Raises NoValue."""
    whole = Part(value, kind, draws.name)
    nodes = nodes_of(whole)
    if draws.chance(_BY_LEVEL):
        level = draws.below(max(len(path) for path, _ in nodes) + 1)
        nodes = [(path, node) for path, node in nodes if len(path) == level]
    path, node = draws.one_of(nodes)
    with draws.named(node.name or draws.name):
        return with_node(whole, path, node.type.change(node.value, draws))
