"""Values made of what met in the programs: the other operand, or what lies next to it, where one operand stood."""

import math
import random
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from difftrust.search.patterns import formatted_texts, matching_texts, number_texts
from difftrust.search.traces import Operands
from difftrust.types.base import Draws, NoValue, Part
from difftrust_core.base.literals import Instance
from difftrust_core.languages.python.fuzz import rebuild

_MAX_NODES, _MAX_LENGTH, _LARGE = 60, 1_000, 10**30
_COLLECTIONS = (list, tuple, set, frozenset)
_SIZED = (*_COLLECTIONS, dict, str, bytes)
_NUMBERS = (int, float)
_EXACT = ("Decimal", "Fraction")
_MANY = 4
Path = tuple[int, ...]


def nodes_of(parts: Sequence[Part]) -> list[tuple[Path, Part]]:
    """Return the nodes of an argument list, the arguments first, then what is below them; each with its place."""
    found: list[tuple[Path, Part]] = [((at,), part) for at, part in enumerate(parts)]
    for path, part in found:  # it grows
        if len(found) > _MAX_NODES:
            break
        found += [((*path, at), below) for at, below in enumerate(part.type.parts(part.value)[:_MAX_NODES])]
    return found[:_MAX_NODES]


def with_node(parts: Sequence[Part], path: Path, new: Any) -> list[Any]:
    """Return the values of an argument list with another node at a place."""
    values = [part.value for part in parts]
    at, *below = path
    if below:
        part = parts[at]
        new = part.type.rebuilt(part.value, with_node(part.type.parts(part.value), tuple(below), new))
    values[at] = new
    return values


def substitutes(part: Part, met: Operands, draws: Draws) -> list[Any]:
    """Return what a node becomes where it is one of two values that met, and is to be as the other would have it."""
    found: list[Any] = []
    for one, other in _aims(met, draws.generator):
        found += _instead(part, one, other, draws)
    return [value for value in found if part.type.fits(value)]


def guesses(part: Part, met: Operands, draws: Draws) -> list[Any]:
    """Return what a node may become where none is one of the values that met, but a step may have made one of it."""
    found: list[Any] = []
    for _, other in _aims(met, draws.generator):
        found += near(other, part.value)[:3]
        if type(other) is type(part.value) is str:
            half = len(part.value) // 2
            found += [other + part.value, part.value + other, part.value[:half] + other + part.value[half:]]
    fitting = [value for value in found if part.type.fits(value)]
    return draws.generator.sample(fitting, min(len(fitting), _MANY))


def _aims(met: Operands, generator: random.Random) -> list[tuple[Any, Any]]:
    """Return which of two values that met is to become what: the other one, or what decides how they meet."""
    one, other = met.values
    kinds = type(one), type(other)
    made: Sequence[Any]
    match met.how:
        case "re":
            made = matching_texts(one, 8, generator) if kinds[0] is str else []
            return [(other, text) for text in (*made, *(f"{text}a" for text in made[:2]), *(t[:-1] for t in made[:2]))]
        case "strptime" | "fromisoformat":
            form = other if met.how == "strptime" and kinds[1] is str else "%Y-%m-%d"
            return [(one, text) for text in formatted_texts(form, 6, generator)]
        case "int" | "float" | "Decimal" | "Fraction":
            return [(one, text) for text in number_texts(5, generator)] if kinds[0] is str else []
        case "%" | "//" if _are_numbers(one, other) and other:
            least = one - one % other
            return [(one, least + step) for step in (0, other, -1, 1, other - 1, other * other - least, other / 2)]
        case "round" if _are_numbers(one):
            digits = other if kinds[1] is int and abs(other) < 12 else 0
            whole = math.floor(one * 10.0**digits)
            return [(one, round((whole + k + 0.5) / 10.0**digits, max(digits + 1, 0))) for k in range(3)]
        case "item" if kinds == (int, int):
            return [(other, one + step) for step in (0, -1, 1, -2 * one, -2 * one - 1)]
        case "in" | "not in" | "item" | "get" | "pop" | "setdefault" if kinds[0] in _COLLECTIONS:
            return [(other, member) for member in one]
    return [(one, other), (other, one)]


def _are_numbers(*values: Any) -> bool:
    return all(type(value) in _NUMBERS and abs(value) < _LARGE for value in values)  # not a NaN


def _instead(part: Part, one: Any, other: Any, draws: Draws) -> list[Any]:
    """Return what a node becomes where ``other`` is to stand in the place of ``one``; nothing where it is not that."""
    value = part.value
    kinds = type(value), type(one), type(other)
    found: list[Any] = []
    if kinds[0] is kinds[1] and value == one:
        found += near(other, value)
        if kinds[0] is Instance and part.type.fits(other):
            found += _moved(part, other, draws)
    elif kinds[:2] == (str, str):
        found += _text_instead(value, one, other)
    elif _are_numbers(value, one, other):
        found += [made for step in (other - one, one - other) for made in near(value + step, value)[:3]]
        if value and one and other and float(one / value).is_integer():
            found += near(other * value / one, value)[:3]
    if kinds[0] in _SIZED and kinds[1:] == (int, int) and one == len(value):
        found += [_resized(value, length) for length in near(other, one) if 0 <= length <= _MAX_LENGTH]
    if kinds[0] is str and _are_numbers(one, other):
        found += _number_within(value, one, other)
    return found


def _text_instead(value: str, one: str, other: Any) -> list[Any]:
    """Return a text in which ``other`` stands for ``one``, which is a piece of it or the text in other letters."""
    if one and one in value:
        return [value.replace(one, made, 1)[:_MAX_LENGTH] for made in near(other, one) if type(made) is str]
    if one.lower() == value.lower() or one.strip() == value.strip() or (value and value in one):
        return near(other, value)
    return []


def _number_within(value: str, one: Any, other: Any) -> list[Any]:
    """Return a text in which a number stands for another one, as wide as it was."""
    match = re.search(rf"(?<!\d)0*{re.escape(str(one))}(?!\d)", value)
    if match is None:
        return []
    start, end = match.span()
    return [value[:start] + str(made).zfill(end - start) + value[end:] for made in near(other, one)]


def _moved(part: Part, other: Any, draws: Draws) -> list[Any]:
    """Return values one step from ``other``, by the type of a node."""
    try:
        return [part.type.change(other, draws) for _ in range(_MANY)]
    except NoValue:
        return []


def _resized(value: Any, length: int) -> Any:
    """Return a text or collection of another length: cut, or repeated."""
    kind, size = type(value), len(value)
    if kind is dict:
        return dict(islice(value.items(), length))
    if length <= size or not size or kind in (set, frozenset):
        return kind(islice(value, length)) if kind in _COLLECTIONS else value[:length]
    return (value * (length // size + 1))[:length]


def near(value: Any, like: Any) -> list[Any]:
    """Return a value as one of the kind of ``like``, and what lies next to it: a step, half, double, square, casts."""
    kind = type(like)
    if kind in _NUMBERS:
        return _numbers(value, kind)
    if kind is str:
        return _texts(value)
    if kind is bytes:
        return [text.encode("utf-8", "replace") for text in _texts(value)]
    if kind is Instance and like.type_name.rpartition(".")[2] in _EXACT:
        return [Instance(like.type_name, (str(number),)) for number in _numbers(value, int)[:3]] + _alike(value, like)
    if kind in _COLLECTIONS and type(value) in _COLLECTIONS:
        return [rebuild(like, list(value))]
    return _alike(value, like)


def _alike(value: Any, like: Any) -> list[Any]:
    return [value] if type(value) is type(like) else []


def _numbers(value: Any, kind: type) -> list[Any]:
    if type(value) is Instance and value.args:
        value = str(value.args[0])
    if type(value) is str:
        with suppress(ValueError):
            value = float(value[:40])
    if type(value) in _SIZED:
        value = len(value)
    if not _are_numbers(value):
        return []
    if kind is int:
        whole = math.floor(value)
        return [whole, whole + 1, whole - 1, -whole, whole * 2, whole // 2, whole * whole]
    real = float(value)
    sides = [math.nextafter(real, end) for end in (math.inf, -math.inf)]
    return [real, real + 1, real - 1, real + 0.5, real - 0.01, *sides, -real, real * 2, real / 2, real * real]


def _texts(value: Any) -> list[str]:
    if type(value) is bytes:
        value = value.decode("latin-1")
    if type(value) is not str:
        return [str(number) for number in _numbers(value, type(value))[:_MANY]]
    cases = (value.upper(), value.lower(), value.title())
    made = (value, *cases, f"{value} ", f" {value}", value[:-1], value[1:], value + value[-1:], value + value)
    return list(dict.fromkeys(text[:_MAX_LENGTH] for text in made))
