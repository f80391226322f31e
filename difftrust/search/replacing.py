"""Inputs made of what met in the programs: a value put where the other operand stood, and what lies next to it."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from difftrust.search.patterns import formatted_texts, matching_texts, number_texts
from difftrust.search.traces import Operands
from difftrust.types.base import Draws, NoValue, Part
from difftrust_core.base.literals import Code, Instance
from difftrust_core.languages.python.fuzz import rebuild

_MAX_NODES, _OF_A_PAIR = 60, 14
_MAX_LENGTH, _LARGE = 1_000, 10**30
_SIZED = (list, tuple, set, frozenset, dict, str, bytes)
_COLLECTIONS = (list, tuple, set, frozenset)
_NUMBERS = (int, float)
_EXACT = ("Decimal", "Fraction")
_TEXT_METHODS = frozenset((
    "startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex", "count",
    "replace", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix",
))  # fmt: skip
Path = tuple[int, ...]
Values = list[Any]
Node = tuple[Path, Part]


def nodes_of(parts: Sequence[Part]) -> list[Node]:
    """Return the nodes of an argument list, the arguments first, then what is below them; each with its place."""
    found: list[Node] = [((at,), part) for at, part in enumerate(parts)]
    for path, part in found:  # it grows
        if len(found) > _MAX_NODES:
            break
        found += [((*path, at), below) for at, below in enumerate(part.type.parts(part.value)[:_MAX_NODES])]
    return found[:_MAX_NODES]


def with_node(parts: Sequence[Part], path: Path, new: Any) -> Values:
    """Return the values of an argument list with another node at a place."""
    values = [part.value for part in parts]
    at, *below = path
    if not below:
        values[at] = new
        return values
    inner = parts[at].type.parts(parts[at].value)
    values[at] = parts[at].type.rebuilt(parts[at].value, with_node(inner, tuple(below), new))
    return values


def replacements(parts: Sequence[Part], operands: Iterable[Operands], draws: Draws) -> list[Values]:
    """Return argument lists in which one node is what stood, or should stand, where it met another value.

    Those come first in which the node is an operand itself, then those in which it may have become one.
    """
    nodes, sure, likely = nodes_of(parts), list[Values](), list[Values]()
    for pair in operands:
        if pair.values is None:
            continue
        for path, part in nodes:
            made, is_sure = _of_pair(part, pair.how, pair.values, draws)
            into = sure if is_sure else likely
            into += [with_node(parts, path, new) for new in islice(_fitting(part, made), _OF_A_PAIR)]
    draws.generator.shuffle(sure)
    draws.generator.shuffle(likely)
    return [*sure, *likely]


def _fitting(part: Part, values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if value is not part.value and part.type.fits(value):
            yield value


def _of_pair(part: Part, how: str, pair: tuple[Any, Any], draws: Draws) -> tuple[Values, bool]:
    """Return what may stand in the place of a node, by two values that met; and whether the node is one of them."""
    value = part.value
    sure: Values = []
    for one, others in _aims(how, pair, draws):
        for other in others:
            sure += _instead(part, one, other, draws)
    if sure:
        return sure, True
    likely = [made for _, others in _aims(how, pair, draws) for other in others[:4] for made in near(other, value)[:3]]
    if how in _TEXT_METHODS and type(value) is str:
        likely += [made for other in pair if type(other) is str for made in _with_text(value, other)]
    return draws.generator.sample(likely, min(len(likely), 4)), False


def _aims(how: str, pair: tuple[Any, Any], draws: Draws) -> list[tuple[Any, Values]]:
    """Return which of two values that met is to become what: the other one, or what decides how they meet."""
    one, other = pair
    special = _AIMS.get(how)
    if special is not None:
        return special(one, other, draws)
    members = list(other) if how in ("in", "not in") and type(other) in (*_COLLECTIONS, dict) else []
    return [(one, members)] if members else [(one, [other]), (other, [one])]


def _of_pattern(pattern: Any, subject: Any, draws: Draws) -> list[tuple[Any, Values]]:
    if type(pattern) is not str:
        return []
    made = matching_texts(pattern, 8, draws.generator)
    return [(subject, [*made, *(f"{text}a" for text in made[:2]), *(text[:-1] for text in made[:2])])]


def _of_remainder(number: Any, by: Any, draws: Draws) -> list[tuple[Any, Values]]:
    if not by or not math.isfinite(number) or abs(number) > _LARGE:
        return []
    least = number - number % by
    return [(number, [least, least + by, least - 1, least + 1, least + by - 1, by * by, least + by / 2])]


def _of_rounding(number: Any, digits: Any, draws: Draws) -> list[tuple[Any, Values]]:
    if type(number) not in _NUMBERS or type(digits) is not int or abs(digits) > 12 or not abs(number) < _LARGE:
        return []
    step = 10.0**-digits
    whole = math.floor(number / step)
    return [(number, [round((whole + k + 0.5) * step, max(digits + 1, 0)) for k in (0, 1, 2)])]


def _of_quantum(number: Any, quantum: Any, draws: Draws) -> list[tuple[Any, Values]]:
    text = str(quantum.args[0]) if type(quantum) is Instance and quantum.args else ""
    digits = len(text.partition(".")[2])
    whole = draws.below(100)
    return [
        (
            number,
            [Instance("Decimal", (f"{whole + k}" + ("." + "0" * digits + "5" if digits else ".5"),)) for k in (0, 1)],
        )
    ]


def _of_key(keys: Any, key: Any, draws: Draws) -> list[tuple[Any, Values]]:
    if type(keys) is int:
        return [(key, [keys, keys - 1, keys + 1, -keys, -keys - 1, 0]), (keys, [key])]
    return [(key, list(keys))] if type(keys) in _COLLECTIONS else []


_AIMS: Mapping[str, Callable[[Any, Any, Draws], list[tuple[Any, Values]]]] = {
    "re": _of_pattern,
    "%": _of_remainder,
    "round": _of_rounding,
    "quantize": _of_quantum,
    **dict.fromkeys(("get", "item", "pop", "setdefault"), _of_key),
    "strptime": lambda text, form, draws: [
        (text, formatted_texts(form, 6, draws.generator) if type(form) is str else [])
    ],
    "fromisoformat": lambda text, _, draws: [
        (
            text,
            [
                *formatted_texts("%Y-%m-%d", 3, draws.generator),
                *formatted_texts("%Y-%m-%dT%H:%M:%S", 2, draws.generator),
            ],
        )
    ],
    **dict.fromkeys(
        ("int", "float", "Decimal", "Fraction"),
        lambda text, _, draws: [(text, number_texts(5, draws.generator) if type(text) is str else [])],
    ),
}


def _instead(part: Part, one: Any, other: Any, draws: Draws) -> Values:
    """Return what a node becomes where ``other`` is to stand in the place of ``one``; nothing where it is not that."""
    value = part.value
    kinds = type(value), type(one)
    found: Values = []
    if kinds[0] is kinds[1] and value == one:
        found += near(other, value)
        if type(value) is Instance:
            found += _moved(part, other, draws)
    elif kinds == (str, str):
        found += _text_instead(value, one, other)
    if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS and type(other) in _NUMBERS:
        found += _shifted(value, one, other)
    if kinds[0] in _SIZED and type(one) is int and type(other) is int and one == len(value):
        found += [resized(value, length) for length in near(other, one) if 0 <= length <= _MAX_LENGTH]
    if kinds[0] is str and kinds[1] in _NUMBERS and type(other) in _NUMBERS:
        found += [*_number_within(value, one, other), *_of_other_pieces(value, one, other, draws.words)]
    if kinds[0] in _COLLECTIONS and kinds[1] in _NUMBERS and type(other) in _NUMBERS and value:
        found += _summing(value, one, other)
    if kinds[0] is dict and kinds[1] in _COLLECTIONS and list(value)[: len(one)] == list(one):
        found += _with_key(value, other)
    return found


def _text_instead(value: str, one: str, other: Any) -> Values:
    """Return a text in which ``other`` stands for ``one``, which is a piece of it or the text in other letters."""
    found: Values = []
    if not one and value and type(other) is str:  # an empty piece: between what stands twice, or at an end
        places = [at for at in range(1, len(value)) if value[at] == value[at - 1]][:3]
        found += [value[:at] + other + value[at:] for at in (*places, len(value), 0)]
    elif one and one in value and value != one:
        found += [value.replace(one, made, 1)[:_MAX_LENGTH] for made in near(other, one) if type(made) is str]
    elif one.lower() == value.lower() or one.strip() == value.strip():
        found += near(other, value)
    elif value and value in one and type(other) is str:  # it is a piece of what was compared
        found += near(other, value)[:4]
    return found


def _shifted(value: Any, one: Any, other: Any) -> Values:
    """Return a number by which ``one``, made of it by a sum or a product, becomes ``other``, and what lies around."""
    if value == one or not all(math.isfinite(n) and abs(n) < _LARGE for n in (value, one, other)):
        return []
    moved = value + (other - one)
    found: Values = near(moved, value)[:3] + near(value - (other - one), value)[:1]
    for factor, by in ((one, value), (value, one)):
        if by and factor and abs(factor / by) <= 10**6 and float(factor / by).is_integer():
            ratio = factor // by
            found += near(other / ratio if factor is one else other * ratio, value)[:3]
    return found


def _number_within(value: str, one: Any, other: Any) -> Values:
    """Return a text in which a number stands for another one, as wide as it was."""
    written = str(one)
    match = re.search(rf"(?<!\d)0*{re.escape(written)}(?!\d)", value) if len(written) < 30 else None
    if match is None:
        return []
    width = len(match[0])
    texts = [str(made).zfill(width) for made in near(other, one) if type(made) in _NUMBERS]
    return [value[: match.start()] + text + value[match.end() :] for text in texts]


def _of_other_pieces(value: str, one: Any, other: Any, separators: Sequence[str]) -> list[str]:
    """Return a text with ``other`` pieces, or separators, where it has ``one`` of them by some separator."""
    found: list[str] = []
    for separator in separators if type(other) is int and 0 < other < 100 else ():
        n = value.count(separator) if len(separator) <= 2 else -9
        if one - n in (0, 1):
            pieces = value.split(separator)
            wanted = other + (one == n)
            found.append(separator.join((pieces * (wanted // len(pieces) + 1))[:wanted])[:_MAX_LENGTH])
    return found[:4]


def _summing(value: Any, one: Any, other: Any) -> Values:
    """Return numbers that add up to ``other``, if they add up to ``one``."""
    items = list(value)
    if type(value) not in (list, tuple) or not all(type(item) in _NUMBERS for item in items):
        return []
    if not math.isclose(math.fsum(map(float, items)), float(one)):
        return []
    return [type(value)([*items[:-1], last]) for last in near(items[-1] + (other - one), items[-1])[:3]]


def _with_key(value: dict[Any, Any], key: Any) -> Values:
    try:
        entry = next(iter(value.values()), 0)
        return [{**value, key: entry}, {key: entry}, {k: v for k, v in value.items() if k != key}]
    except TypeError:
        return []


def _moved(part: Part, other: Any, draws: Draws) -> Values:
    """Return values one step from ``other``, by the type of a node."""
    found: Values = []
    for _ in range(4 if part.type.fits(other) else 0):
        try:
            found.append(part.type.change(other, draws))
        except NoValue:
            break
    return found


def resized(value: Any, length: int) -> Any:
    """Return a text or collection of another length: cut, or repeated."""
    kind, size = type(value), len(value)
    if length <= size:
        return (
            dict(islice(value.items(), length))
            if kind is dict
            else kind(islice(value, length))
            if kind in _COLLECTIONS
            else value[:length]
        )
    if kind in (str, bytes):
        filled = value or (b"a" if kind is bytes else "a")
        return (filled * (length // len(filled) + 1))[:length]
    if kind in (list, tuple) and value:
        return (value * (length // size + 1))[:length]
    return value


def near(value: Any, like: Any) -> Values:
    """Return a value as one of the kind of ``like``, and what lies next to it: a step, half, double, square, casts."""
    kind = type(like)
    if kind is bool:
        return [not like]
    if kind is int:
        return _whole(value)
    if kind is float:
        return _real(value)
    if kind is str:
        return _texts(value)
    if kind is bytes:
        return [text.encode("utf-8", "replace") for text in _texts(value)]
    if kind is Instance:
        return _instances(value, like)
    if kind in _COLLECTIONS and type(value) in _COLLECTIONS:
        return [rebuild(like, list(value))]
    return [value] if type(value) is kind or kind in (Code, type(None)) else []


def _number_of(value: Any) -> Any:
    if type(value) in _NUMBERS:
        return value
    if type(value) is Instance and value.type_name.rpartition(".")[2] in _EXACT and value.args:
        value = str(value.args[0])
    if type(value) is str:
        try:
            return float(value) if "." in value or "e" in value else int(value[:40])
        except ValueError:
            return None
    return None


def _whole(value: Any) -> Values:
    number = _number_of(value)
    if number is None:
        length = len(value) if type(value) in _SIZED else None
        return [] if length is None else [length, length - 1, length + 1]
    if not math.isfinite(number) or abs(number) > _LARGE:
        return []
    whole = math.floor(number)
    return [whole, whole + 1, whole - 1, -whole, whole * 2, whole // 2, whole * whole]


def _real(value: Any) -> Values:
    number = _number_of(value)
    if number is None or not abs(number) < _LARGE:
        return []
    real = float(number)
    sides = [math.nextafter(real, end) for end in (math.inf, -math.inf)]
    return [real, real + 1, real - 1, real + 0.5, real - 0.01, *sides, -real, real * 2, real / 2, real * real]


def _texts(value: Any) -> list[str]:
    if type(value) is bytes:
        value = value.decode("latin-1")
    if type(value) is not str:
        return [str(number) for number in (_whole(value) if type(value) is int else _real(value))[:4]]
    cases = (value.upper(), value.lower(), value.title())
    made = (value, *cases, f"{value} ", f" {value}", value[:-1], value[1:], value + value[-1:], value + value)
    return list(dict.fromkeys(text[:_MAX_LENGTH] for text in made))


def _with_text(value: str, piece: str) -> list[str]:
    """Return a text with a piece at its ends and within it, once and twice."""
    half = len(value) // 2
    within = value[:half] + piece + value[half:]
    made = (piece + value, value + piece, within, piece + value + piece, within + piece + piece, value + piece + value)
    return [text[:_MAX_LENGTH] for text in made]


def _instances(value: Any, like: Instance) -> Values:
    name = like.type_name.rpartition(".")[2]
    if type(value) is Instance and value.type_name.rpartition(".")[2] == name:
        return [Instance(like.type_name, value.args, value.fields)]
    number = _number_of(value)
    if name in _EXACT and number is not None and abs(number) < _LARGE:
        return [Instance(like.type_name, (str(n),)) for n in (number, number + 1, number - 1)]
    return []
