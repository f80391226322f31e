"""The type of a value that nobody has told the type of, as far as the value shows it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from difftrust_core.base.literals import Code, Instance
from difftrust_core.languages.python.types.base import Draws, Part, Type
from difftrust_core.languages.python.types.choices import Either, Functions, Nothing, Truth
from difftrust_core.languages.python.types.containers import Entries, Items
from difftrust_core.languages.python.types.numbers import Complex, Real, Whole
from difftrust_core.languages.python.types.standard import last_name, standard_type
from difftrust_core.languages.python.types.tables import Array, Frame, is_array, is_frame
from difftrust_core.languages.python.types.text import Octets, Text

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


class Anything(Type):
    """Any value. A fresh one is a whole number, a text, or now and then something else; one kind an input, mostly."""

    def fits(self, value: Any) -> bool:
        return True

    def draw(self, draws: Draws) -> Any:
        return draws.once("anything", lambda: _some(draws)).draw(draws)

    def change(self, value: Any, draws: Draws) -> Any:
        return type_of(value).change(value, draws)

    def parts(self, value: Any) -> list[Part]:
        return type_of(value).parts(value)

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        return type_of(value).rebuilt(value, parts)


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
        return [Part(value=part, type=type_of(part)) for part in (*value.args, *value.fields.values())]

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        args, named = parts[: len(value.args)], parts[len(value.args) :]
        return Instance(value.type_name, tuple(args), dict(zip(value.fields, named, strict=True)))


@dataclass(eq=False)
class Tuple(Type):
    """Tuples of the types that one shows; of the same type throughout, they may have any length."""

    elements: Sequence[Type]

    def fits(self, value: Any) -> bool:
        return type(value) is tuple

    def draw(self, draws: Draws) -> Any:
        return tuple([draws.of(element) for element in self.elements])

    def change(self, value: Any, draws: Draws) -> Any:
        values = list(value)
        if values:
            draws.generator.shuffle(values)
        return tuple(values) if len({type(part) for part in values}) == 1 else value

    def parts(self, value: Any) -> list[Part]:
        return [Part(value=part, type=type_of(part)) for part in value]

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        return tuple(parts)


def type_of(value: Any) -> Type:
    """Return the type that a value shows: of a list its elements', of an unknown call its arguments'."""
    kind = type(value)
    if kind in _LEAVES:
        return _LEAVES[kind]
    if kind in (list, set, frozenset):
        return Items((kind,), common_type(value))
    if kind is tuple:
        return Tuple([type_of(part) for part in value])
    if kind is dict:
        return Entries(common_type(value), common_type(value.values()))
    if kind is Instance:
        return _of_call(value)
    return Functions([value.text]) if kind is Code else Nothing()


def common_type(values: Iterable[Any]) -> Type:
    """Return a type that all values have; that of anything if there are none."""
    found: dict[str, Type] = {}
    merged: dict[str, list[Any]] = {}
    for value in values:
        key = type(value).__name__ + (value.type_name if type(value) is Instance else "")
        if type(value) in (list, set, frozenset, dict):
            merged.setdefault(key, []).append(value)
        elif isinstance(found.get(key), Functions | Call):
            found[key].known.append(value.text if type(value) is Code else value)  # type: ignore[attr-defined]
        else:
            found.setdefault(key, type_of(value))
    for key, same in merged.items():
        found[key] = _merged(same)
    return Either(list(found.values())) if len(found) > 1 else next(iter(found.values()), Anything())


def _merged(same: list[Any]) -> Type:
    """Return the type of several lists, sets or dicts, by the elements of all of them."""
    kind = type(same[0])
    if kind is dict:
        return Entries(
            common_type(key for one in same for key in one), common_type(v for one in same for v in one.values())
        )
    return Items((kind,), common_type(part for one in same for part in one))


def _of_call(value: Instance) -> Type:
    if is_array(value):
        return Array()
    if is_frame(value):
        return Frame(*value.type_name.split("."))
    name = last_name(value)
    known = standard_type("Pattern" if name == "compile" else name)
    return known if known is not None and known.fits(value) else Call([value])
