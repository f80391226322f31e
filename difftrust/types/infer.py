"""The type of a value that nobody has told the type of, as far as the value shows it."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from difftrust.types.base import Delegate, Draws, Part, Type
from difftrust.types.choices import Either, Functions, Nothing, Truth
from difftrust.types.containers import Entries, Items, Row
from difftrust.types.frames import Array, Frame, is_array, is_frame
from difftrust.types.numbers import Complex, Real, Whole
from difftrust.types.standard import last_name, standard_type
from difftrust.types.texts import Octets, Text
from difftrust_core.base.literals import Code, Instance
from difftrust_core.languages.python.fuzz import children

_LEAVES: dict[type, Type] = {
    type(None): Nothing(),
    bool: Truth(),
    int: Whole(),
    float: Real(),
    complex: Complex(),
    str: Text(),
    bytes: Octets(),
    bytearray: Octets(bytearray),
}
_MERGED = (list, set, frozenset, dict)
"""Kinds whose types are read from all values of them together; they are tried last."""
_DEEPEST = 5
_NAMES = ("a", "b", "c", "x", "y", "id", "name", "size", "", "A")


class Anything(Delegate):
    """Any value. A fresh one is a whole number, a text, or now and then something else; one kind an input, mostly."""

    def fits(self, value: Any) -> bool:
        return True

    def draw(self, draws: Draws) -> Any:
        return draws.once("anything", lambda: _some(draws)).draw(draws)

    def of(self, value: Any) -> Type:
        return type_of(value)


class Tree(Entries):
    """Nested dicts of anything, as configurations are; an input has few names, which occur at every level."""

    def __init__(self) -> None:
        super().__init__(Text(), Branch(self))

    def _key(self, draws: Draws) -> Any:
        if draws.chance(0.3):
            return super()._key(draws)
        return draws.one_of(draws.once("names", lambda: draws.generator.sample(_NAMES, 3)))


class Branch(Anything):
    """What a nested dict has under a name: a dict like it, or anything."""

    def __init__(self, tree: Tree):
        self._tree = tree

    def draw(self, draws: Draws) -> Any:
        is_tree = draws.depth < _DEEPEST and draws.chance(0.4)
        return self._tree.draw(draws) if is_tree else super().draw(draws)

    def change(self, value: Any, draws: Draws) -> Any:
        if type(value) is dict and draws.chance(0.5):
            return self._tree.change(value, draws)
        return self.draw(draws) if draws.chance(0.1) else super().change(value, draws)


def _some(draws: Draws) -> Type:
    way = draws.below(12)
    if way < 6:
        return _LEAVES[int]
    if way < 9:
        return _LEAVES[str]
    return Either([_LEAVES[int], _LEAVES[str], _LEAVES[float], _LEAVES[bool], _LEAVES[type(None)]])


@dataclass(eq=False)
class Call(Type):
    """A value that is written as a call of something unknown: its arguments keep their types."""

    known: list[Any]

    def fits(self, value: Any) -> bool:
        return type(value) is Instance

    def draw(self, draws: Draws) -> Any:
        return draws.one_of(self.known)

    def change(self, value: Any, draws: Draws) -> Any:
        return value

    def parts(self, value: Any) -> list[Part]:
        return [Part(part, type_of(part)) for part in children(value)]


class Tuple(Row):
    """Tuples of the types that one shows; of the same type throughout, they may have any length."""

    def fits(self, value: Any) -> bool:
        return type(value) is tuple

    def change(self, value: Any, draws: Draws) -> Any:
        values = list(value)
        draws.generator.shuffle(values)
        return tuple(values) if len({type(part) for part in values}) == 1 else value

    def parts(self, value: Any) -> list[Part]:
        return [Part(part, type_of(part)) for part in value]

    def all_values(self, most: int) -> list[Any] | None:
        return None


def literal_of(node: ast.expr | None) -> Any:
    """Return the value of an expression of plain literals; None for any other, and for none."""
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def type_of(value: Any, *others: Any) -> Type:
    """Return the type that values of one kind show: of lists their elements', of unknown calls their arguments'."""
    kind, values = type(value), (value, *others)
    if kind in _LEAVES:
        return _LEAVES[kind]
    if kind in (list, set, frozenset):
        return Items((kind,), common_type(part for one in values for part in one))
    if kind is tuple:
        return Tuple([type_of(part) for part in value])
    if kind is dict:
        entries = common_type(entry for one in values for entry in one.values())
        return Entries(common_type(key for one in values for key in one), entries)
    if kind is Instance:
        return _of_calls(values)
    return Functions([one.text for one in values]) if kind is Code else Nothing()


def common_type(values: Iterable[Any]) -> Type:
    """Return a type that all values have; that of anything if there are none."""
    found: dict[str, list[Any]] = {}
    for value in values:
        found.setdefault(type(value).__name__ + (value.type_name if type(value) is Instance else ""), []).append(value)
    kinds = [type_of(*same) for same in sorted(found.values(), key=lambda same: type(same[0]) in _MERGED)]
    return Either(kinds) if len(kinds) > 1 else kinds[0] if kinds else Anything()


def _of_calls(values: Sequence[Instance]) -> Type:
    value = values[0]
    if is_array(value):
        return Array()
    if is_frame(value):
        return Frame(value.type_name)
    name = last_name(value)
    known = standard_type("Pattern" if name == "compile" else name)
    return known if known is not None and known.fits(value) else Call(list(values))
