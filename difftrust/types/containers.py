"""Lists, tuples, sets, dicts, iterators, and what the standard library makes of them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from difftrust.types.base import Draws, NoValue, Part, Sized, Type, all_fit, change_somewhere
from difftrust_core.base.literals import Instance, write_literal
from difftrust_core.languages.python.fuzz import children, rebuild

_MAX_LENGTH = 200
_FAR = (10, 1000, 10**5, 10**7, 10**9)
"""So far all numbers of a list move: what is left where sums of them are subtracted shows how a program rounds."""
_WALKS = 0.07
"""How often a changed list ends in a walk."""


def changed_items(items: list[Any], element: Type, draws: Draws) -> list[Any]:
    """Return a list with an element more, less, moved, repeated, of another length or order, or numbers far off."""
    way = draws.below(16) if items else 0
    at, other = draws.below(len(items) + (way < 3)), draws.below(len(items) or 1)
    if way < 3:
        items.insert(at, draws.of(element))
        if way == 0 and draws.chance(0.4):
            items += [draws.of(element) for _ in range(draws.length())]
    elif way < 5:
        items[at], items[other] = items[other], items[at]
    elif way < 7:
        items.insert(other, items[at])
    elif way < 9:
        del items[at]
    elif way == 9:
        items[at] = items[other]
    elif way == 10:
        length = draws.other_length()
        items = (items * (length // len(items) + 1))[:length]
    elif way == 11:
        items = items[::-1] if draws.chance(0.5) else items[:at]
    elif way == 12:
        items = [items[at]] * len(items) if draws.chance(0.5) else items + items
    elif way > 13 and all(type(item) in (int, float) for item in items):
        step = draws.one_of(_FAR) * (1 if draws.chance(0.8) else -1)
        items = [item + step if element.fits(item + step) else item for item in items]
    else:
        items = _sorted(items, draws)
    return items[:_MAX_LENGTH]


def _walk(item: Any, element: Type, n: int, draws: Draws) -> list[Any]:
    """Return items of which each is the one before, or what one and the same change makes of it: runs and series."""
    items, seed = [item], draws.below(2**32)
    while len(items) < n:
        try:
            step = change_somewhere(element, items[-1], replace(draws, generator=random.Random(seed)))
        except NoValue:
            break
        items.append(items[-1] if draws.chance(0.3) or not element.fits(step) else step)
    return items


def _sorted(items: list[Any], draws: Draws) -> list[Any]:
    try:
        return sorted(items, reverse=draws.chance(0.3))
    except TypeError:  # of several types, or of types without an order
        return sorted(items, key=write_literal)


@dataclass(eq=False)
class Items(Sized):
    """Lists, tuples of any length, sets and frozensets of one type of elements; several of these kinds where asked."""

    kinds: tuple[type, ...]
    element: Type

    def fits(self, value: Any) -> bool:
        return type(value) in self.kinds and self.allows(len(value)) and all(map(self.element.fits, value))

    def draw(self, draws: Draws) -> Any:
        try:
            items = [draws.of(self.element) for _ in range(draws.size(self.least, self.most))]
        except NoValue:
            if self.least:
                raise
            items = []
        if len(items) > 1 and draws.chance(0.3):
            items[draws.below(len(items))] = draws.one_of(items)
        if len(items) > 1 and draws.chance(0.15):
            items = _sorted(items, draws)
        return self._made(self.kinds[0], items)

    def _made(self, kind: Callable[[Any], Any], items: list[Any]) -> Any:
        try:
            return kind(items)
        except TypeError:  # what no set can hold
            raise NoValue from None

    def change(self, value: Any, draws: Draws) -> Any:
        items = list(children(value))
        if items and draws.chance(_WALKS):
            at = draws.below(len(items))
            items[at:] = _walk(items[at], self.element, 2 + draws.below(6), draws)
        else:
            items = changed_items(items, self.element, draws)
        items = items[: self.most]
        while len(items) < self.least:
            items.append(draws.of(self.element))
        return self._made(type(value), items)

    def parts(self, value: Any) -> list[Part]:
        return [Part(item, self.element) for item in children(value)]

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        new = rebuild(value, parts)
        return new if len(new) >= self.least else value

    def inside(self) -> Sequence[Type]:
        return (self.element,)


@dataclass(eq=False)
class Row(Type):
    """Tuples of a fixed length."""

    elements: Sequence[Type]

    def fits(self, value: Any) -> bool:
        return type(value) is tuple and len(value) == len(self.elements) and all_fit(self.parts(value))

    def draw(self, draws: Draws) -> Any:
        return tuple([draws.of(element) for element in self.elements])

    def change(self, value: Any, draws: Draws) -> Any:
        if not self.elements:
            return value
        values = list(value)
        at, other = draws.below(len(values)), draws.below(len(values))
        if draws.chance(0.5) and self.elements[at].fits(values[other]):
            values[at] = values[other]
        else:
            values[at] = draws.of(self.elements[at])
        return tuple(values)

    def parts(self, value: Any) -> list[Part]:
        return [Part(part, kind) for part, kind in zip(value, self.elements, strict=True)]

    def all_values(self, most: int) -> list[Any] | None:
        return all_rows([element.all_values(most) for element in self.elements], most)

    def inside(self) -> Sequence[Type]:
        return self.elements


def all_rows(columns: Sequence[list[Any] | None], most: int) -> list[Any] | None:
    """Return all tuples of one value of each column if there are at most so many; None if there are more."""
    known = [column for column in columns if column is not None]
    if len(known) < len(columns) or prod(map(len, known)) > most:
        return None
    return list(product(*known))


@dataclass(eq=False)
class Entries(Sized):
    """Dicts of one type of keys and one of values."""

    key: Type
    value: Type
    keys: tuple[str, ...] = ()
    """Keys that all of them have."""

    def fits(self, value: Any) -> bool:
        is_one = type(value) is dict and self._has_enough(value)
        return is_one and all(map(self.key.fits, value)) and all(map(self.value.fits, value.values()))

    def _has_enough(self, value: dict[Any, Any]) -> bool:
        return self.allows(len(value)) and {*self.keys} <= value.keys()

    def draw(self, draws: Draws) -> Any:
        known = {key: draws.of(self.value, key) for key in self.keys}
        if known and not draws.chance(0.3):
            return known
        size = draws.size(self.least, self.most)
        return known | {self._key(draws): draws.of(self.value) for _ in range(size)}

    def _key(self, draws: Draws) -> Any:
        key = draws.of(self.key)
        if type(key) in (list, dict, set):
            raise NoValue
        return key

    def change(self, value: Any, draws: Draws) -> Any:
        changed, way = dict(value), draws.below(6) if value else 0
        if way < 2:
            changed[self._key(draws)] = draws.of(self.value)
            return changed if self.fits(changed) else value
        keys = list(changed)
        one, other = draws.one_of(keys), draws.one_of(keys)
        if way == 2:
            changed[one], changed[other] = changed[other], changed[one]
        elif way == 3:
            changed[other] = changed[one]
        elif way == 4:
            del changed[one]
        else:
            draws.generator.shuffle(keys)
            changed = {key: changed[key] for key in keys}
        return changed if self._has_enough(changed) else value

    def parts(self, value: Any) -> list[Part]:
        found = []
        for key, entry in value.items():
            found.append(Part(key, self.key))
            found.append(Part(entry, self.value, key if type(key) is str else None))
        return found

    def inside(self) -> Sequence[Type]:
        return (self.key, self.value)


@dataclass(eq=False)
class Wrapped(Type):
    """A value written as a call around another one: ``iter([1])``, ``deque([1])``, ``Counter({'a': 1})``."""

    name: str
    content: Type
    before: tuple[Any, ...] = ()
    """Arguments before the content, as of ``defaultdict(int, {})``."""

    def fits(self, value: Any) -> bool:
        if type(value) is not Instance:
            return False
        if value.type_name.rpartition(".")[2] != self.name.rpartition(".")[2] or value.fields:
            return False
        if not value.args and self.name != "iter":
            return True
        return bool(value.args) and self.content.fits(value.args[-1]) and len(value.args) <= 2

    def draw(self, draws: Draws) -> Any:
        return Instance(self.name, (*self.before, self.content.draw(draws)))

    def change(self, value: Any, draws: Draws) -> Any:
        if not value.args:
            return self.draw(draws)
        return Instance(value.type_name, (*value.args[:-1], self.content.change(value.args[-1], draws)))

    def parts(self, value: Any) -> list[Part]:
        return self.content.parts(value.args[-1]) if value.args else []

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        if not value.args:
            return value
        return Instance(value.type_name, (*value.args[:-1], self.content.rebuilt(value.args[-1], parts)))

    def all_values(self, most: int) -> list[Any] | None:
        values = self.content.all_values(most)
        return None if values is None else [Instance(self.name, (*self.before, value)) for value in values]

    def inside(self) -> Sequence[Type]:
        return (self.content,)
