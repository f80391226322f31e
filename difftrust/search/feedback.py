"""Inputs made of what running programs compare: where an operand stood in an input, the other one takes its place.

What a program says of itself is hostile data: it is read as literals, bounded, and decides nothing but what is tried.
"""

import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import cycle, islice
from typing import Any

from difftrust.search.drawing import TypedInputs
from difftrust.search.pattern_texts import texts_of
from difftrust.types.argument_types import arguments_of, with_values
from difftrust.types.base import Draws, NoValue, Part, Path, first_nodes, with_node
from difftrust.types.containers import Entries
from difftrust.types.standard import NO_VALUE, Standard, real
from difftrust_core.base.literals import BadText, Instance, read_literal, write_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.languages.python.fuzz import rebuild

BATCH = 120
"""Inputs that are followed at a time."""
_ROUNDS = 8
_IDLE = 2
"""Rounds without a new comparison, after which there hardly is one."""
_MOST_PARTS = 6
"""Of a text that is split or whose separators are counted."""
_FOLLOWED = 3
"""So many inputs on which the same is compared are followed."""
_MADE_OF_ONE, _OF_A_PAIR, _USES = 60, 8, 6
_MOST_MET, _MOST_TEXT, _MAX_NODES, _MAX_LENGTH, _LARGE = 80, 500, 60, 1_000, 2**64
_SAID = 12
"""So many members of a long collection are said (``check.child.operands``)."""
_UNITS = (1, *(timedelta(**{unit: 1}) for unit in ("seconds", "minutes", "hours", "days")))
_SEQUENCES = (list, tuple, set, frozenset)
_SIZED = (*_SEQUENCES, dict, str, bytes)
_ITEMS = (*_SEQUENCES, str)
_NUMBERS = (int, float)
Noted = Callable[[Sequence[str]], Sequence[Sequence[Outcome]]]
"""Of each input, what each program says that it compares there."""


@dataclass(frozen=True, kw_only=True)
class Met:
    """Two values that met in a program: at which place, how often, and how: "re", "%", "round", or a method's name."""

    place: int
    times: int
    how: str
    values: tuple[Any, Any]


def read_met(outcome: Outcome) -> list[Met]:
    """Return what met by what a program says; what is nothing of the kind is left out."""
    kind, text = outcome
    found = []
    try:
        said = json.loads(text) if kind == Kind.VALUE else []
        for place, times, how, one, other in said[:_MOST_MET]:
            texts = (how, one, other)
            if all(type(text) is str and len(text) < _MOST_TEXT and "lambda" not in text for text in texts):
                values = _value_of(one), _value_of(other)
                found.append(Met(place=int(place), times=int(times), how=how, values=values))
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return found
    return found


@lru_cache(maxsize=4096)
def _value_of(text: str) -> Any:
    """Return what a program says that it compared, which nothing changes in place; an exact number as int or float.

    So it meets the numbers in texts.
    """
    value = read_literal(text)
    if type(value) is not Instance or value.type_name.rpartition(".")[2] != "Decimal" or len(value.args) != 1:
        return value
    number = float(str(value.args[0])[:40])
    return int(number) if math.isfinite(number) and number.is_integer() else number


class Feedback:
    """Follows inputs: what programs compare on them, and which inputs that leads to; always the same for a key."""

    def __init__(self, source: TypedInputs, noted: Noted, *, key: str):
        self._source, self._noted, self._generator = source, noted, random.Random(key)
        self._seen: Counter[object] = Counter()
        self._uses: Counter[str] = Counter()
        self._tried: set[str] = set()
        self.kept: list[str] = []
        """Inputs on which programs compared what was new."""

    def follow(self, texts: Sequence[str]) -> list[str]:
        """Return new inputs that fit the types, made of those of ``texts`` on which programs compare what is new."""
        followed = list(dict.fromkeys(texts))[:BATCH]
        self._tried.update(followed)
        made: dict[str, None] = {}
        for text, row in zip(followed, self._noted(followed) if followed else (), strict=True):
            met = [(p, each) for p, outcome in enumerate(row) for each in read_met(outcome)]
            marks = {(p, m.place, min(m.times, 16) or m.times.bit_length(), _alike(m.values)) for p, m in met}
            arguments = arguments_of(text)
            least = min((self._seen[mark] for mark in marks), default=_FOLLOWED)
            if least >= _FOLLOWED or arguments is None:
                continue
            self._seen.update(marks)
            self.kept += [] if least else [text]
            made |= dict.fromkeys(islice(self._replaced(arguments, [m for _, m in met]), _MADE_OF_ONE))
        fitting = [text for text in made if self._source.accepts(text)]
        return self._generator.sample(fitting, min(len(fitting), 2 * BATCH))

    def search(self, starts: Sequence[str], run: Callable[[list[str]], Sequence[str] | None]) -> bool:
        """Follow inputs in rounds, until nothing new is compared; ``run`` takes the new inputs of a round.

        It returns those of them to follow next, None to end the search; then False is returned.
        """
        front, idle = list(starts), 0
        for _ in range(_ROUNDS):
            made = self.follow(front)
            kept = run(made)
            idle = 0 if made else idle + 1
            if kept is None:
                return False
            if idle == _IDLE:
                break
            front = [*kept, *front[BATCH:]]
            if not front:
                break
        return True

    def _replaced(self, arguments: tuple[Any, ...], met: list[Met]) -> Iterator[str]:
        """Iterate over the inputs in which one node is what it should be where it met another value."""
        parts = self._source.parts(arguments)
        nodes = first_nodes(parts, _MAX_NODES)[:_MAX_NODES]
        twins = _twins(nodes)
        self._generator.shuffle(met)
        draws = Draws(generator=self._generator)
        for pair in met:
            key = f"{pair.place} {pair.values}"
            self._uses[key] += 1
            if self._uses[key] > _USES:
                continue
            aims = [(_whole(one, nodes), _whole(other, nodes)) for one, other in aims_of(pair, self._generator)]
            made: list[list[tuple[tuple[Path, ...], Any]]] = [
                [((path,), new) for new in instead(part, one, other, draws)]
                for one, other in aims
                for path, part in nodes
            ]
            made += [[(twins[paths[0]], new)] for each in made for paths, new in each[:2] if paths[0] in twins]
            exact, more = [new for each in made for new in each[:1]], [new for each in made for new in each[1:]]
            chosen = [self._generator.sample(some, min(len(some), _OF_A_PAIR)) for some in (exact, more)]
            for paths, new in (*chosen[0], *chosen[1]):
                text = _written(arguments, with_nodes(parts, paths, new))
                if text and text not in self._tried:
                    self._tried.add(text)
                    yield text


def _whole(value: Any, nodes: Sequence[tuple[Path, Part]]) -> Any:
    """Return the node that a collection is the beginning of: of a long one programs say no more."""
    if type(value) not in (list, tuple) or len(value) != _SAID:
        return value
    longer = (n.value for _, n in nodes if type(n.value) is type(value) and n.value[:_SAID] == value)
    return next(longer, value)


def _twins(nodes: Sequence[tuple[Path, Part]]) -> dict[Path, tuple[Path, ...]]:
    """Return the places of values that stand at several: an id, and what refers to it; two texts that are the same."""
    places: dict[str, list[Path]] = {}
    for path, part in nodes:
        with suppress(BadText):
            places.setdefault(write_literal(part.value), []).append(path)
    return {path: tuple(same) for same in places.values() if len(same) > 1 for path in same}


def _alike(values: tuple[Any, Any]) -> bool:
    return type(values[0]) is type(values[1]) and values[0] == values[1]


def _written(arguments: tuple[Any, ...], values: Sequence[Any]) -> str:
    try:
        return write_literal(with_values(arguments, values))
    except (BadText, RecursionError, ValueError, TypeError):
        return ""


def with_nodes(parts: Sequence[Part], paths: Sequence[Path], new: Any) -> list[Any]:
    """Return the values of an argument list with another node at several places, as far as keys still are apart."""
    values = [part.value for part in parts]
    for path in paths:
        with suppress(LookupError):
            values[path[0]] = with_node(Part(values[path[0]], parts[path[0]].type), path[1:], new)
    return values


def aims_of(met: Met, generator: random.Random) -> list[tuple[Any, Any]]:
    """Return which of two values that met is to become what: the other one, or what decides how they meet."""
    one, other = met.values
    if met.how == "re" and type(one) is str:
        made = texts_of(one, 6, generator)
        return [(other, text) for text in (*made, *(text + "\n" for text in made[:2]))]
    if met.how == "%" and _are_numbers(one, other) and other:
        least = one - one % other
        return [(one, least + step) for step in (0, other, -1, 1, other - 1, other / 2)]
    if met.how in ("quantize", "round") and _are_numbers(one, other) and 0 < (step := _step(met)) < _LARGE:
        halves = math.floor(one / step) + 0.5  # halfway between two steps, where roundings differ
        return [(one, round((halves + more) * step, 9)) for more in (0, 1)]
    aims = []
    if met.how in ("count", "split", "rsplit") and type(one) is type(other) is str and other:
        parts = [one, *islice(cycle("1a"), _MOST_PARTS)]
        aims += [(one, other.join(parts[:n])) for n in range(2, len(parts) + 1)]
    for first, second in ((one, other), (other, one)):
        if type(first) in (*_SEQUENCES, dict) and type(second) not in (*_SEQUENCES, dict):
            aims += [(second, member) for member in islice(first, 12)]
            aims += [(member, second) for member in islice(first, 4 if type(first) is dict else 0)]
        aims.append((first, second))
    return aims


def _step(met: Met) -> float:
    """Return the step between the numbers that a rounding gives, 0 where there is none."""
    to = met.values[1]
    return to if met.how == "quantize" else 10.0**-to if abs(to) < 10 else 0


def _are_numbers(*values: Any) -> bool:
    return all(type(value) in _NUMBERS and abs(value) < _LARGE for value in values)  # not a NaN


def instead(part: Part, one: Any, other: Any, draws: Draws) -> list[Any]:
    """Return what a node becomes where ``other`` is to stand in the place of ``one``; nothing where it is not that."""
    value, kind = part.value, type(part.value)
    found: list[Any] = []
    if kind is type(one) and value == one:
        found += [other, ""] if value is None else near(other, value)
        found += _with_member(part, other, draws)
        if kind is str and type(other) is str and 0 < len(other) < len(value):  # an end of a text of this length
            found += [other + value[len(other) :], value[: -len(other)] + other]
    elif kind is str and type(one) is str:
        found += _text_instead(value, one, other)
    elif _are_numbers(value, one, other):
        found += [made for made in near(value + other - one, value)[:3] if made != value]
    elif kind is bytes and type(one) is type(other) is int and 0 <= min(one, other) <= max(one, other) < 256:
        places = dict.fromkeys((value.find(bytes([one])), value.rfind(bytes([one]))))
        found += [value[:at] + bytes([other]) + value[at + 1 :] for at in places if at >= 0]
    are_items = kind in _ITEMS and type(one) is type(other) and type(one) in _ITEMS
    if are_items and len(value) == len(one) and _items_of(value) == _items_of(one):
        found += _arranged(value, other)
    if kind is Instance and isinstance(part.type, Standard):
        found += _moved(part.type, value, one, other)
    if kind in _SIZED and type(one) is type(other) is int and one == len(value):
        found += [_resized(value, length) for length in (other, other + 1, other - 1) if 0 <= length <= _MAX_LENGTH]
    if kind is str and type(one) in _NUMBERS and type(other) in _NUMBERS:
        spelled = re.escape(str(one).removeprefix("0" * (0 < one < 1)))
        match = re.search(rf"(?<!\d)0*{spelled}{'0*' * ('.' in spelled)}(?!\d)", value)
        start, end = match.span() if match else (0, 0)
        numbers = dict.fromkeys((*near(other, one)[:3], *near(other, other)[:1])) if match else ()
        found += [value[:start] + str(n).zfill(end - start) + value[end:] for n in numbers]
    return [new for new in found if part.type.fits(new)]


def _items_of(value: Any) -> list[str]:
    """Return what a text or collection holds, in an order that does not depend on its own."""
    return sorted(map(repr, value))


def _arranged(value: Any, items: Any) -> list[Any]:
    """Return texts or collections of the kind of ``value`` that hold these items, in either direction."""
    both = [list(items), list(items)[::-1]]
    if type(value) is not str:
        return [rebuild(value, each) for each in both]
    return ["".join(each) for each in both if all(type(item) is str for item in each)]


def _moved(kind: Standard, value: Instance, one: Any, other: Any) -> list[Instance]:
    """Return a date, time or exact number as far from ``value`` as one operand was from the other, and a step more.

    Where these were whole numbers, they may have been its seconds, minutes, hours or days.
    """
    found = []
    for unit in _UNITS:
        with suppress(*NO_VALUE):
            step = (_on_a_day(other) - _on_a_day(one)) * unit
            found += [kind.moved(value, each) for each in (step, *(step + more for more in kind.steps[-6:-4]))]
    return found


def _on_a_day(value: Any) -> Any:
    """Return the value behind a literal, a time of day as one of the first day: two of them have a difference."""
    made = real(value)
    return datetime.combine(date.min, made.replace(tzinfo=None)) if type(made) is time else made


def _with_member(part: Part, other: Any, draws: Draws) -> list[Any]:
    """Return a collection with what was looked for in it."""
    value, kind = part.value, part.type
    try:
        if isinstance(kind, Entries):
            return [{**value, other: draws.of(kind.value)}]
        return [rebuild(value, [*value, other])] if type(value) in _SEQUENCES else []
    except (NoValue, TypeError):
        return []


def _text_instead(value: str, one: str, other: Any) -> list[str]:
    """Return a text in which ``other`` stands for ``one``, which is a piece of it or the text in other letters."""
    others = [made for made in near(other, one) if type(made) is str]
    if one and one in value:
        return [value.replace(one, made, 1)[:_MAX_LENGTH] for made in others]
    is_made_of_it = one.lower() == value.lower() or one.strip() == value.strip() or bool(value and value in one)
    return others if is_made_of_it else []


def _resized(value: Any, length: int) -> Any:
    """Return a text or collection of another length: cut, or repeated."""
    kind, size = type(value), len(value)
    if kind is dict:
        return dict(islice(value.items(), length))
    if kind in (set, frozenset):
        return kind(islice(value, length))
    return (value * (length // size + 1))[:length] if size else value


def near(value: Any, like: Any) -> list[Any]:
    """Return a value as one of the kind of ``like``, and what lies next to it."""
    kind = type(like)
    if kind in _NUMBERS:
        number = len(value) if type(value) in _SIZED and kind is int else value
        if not _are_numbers(number):
            return []
        whole = math.floor(number)
        real = float(number)
        return [whole, whole + 1, whole - 1] if kind is int else [real, real + 1, real - 1, real + 0.5, real - 0.01]
    if kind is str:
        text = value if type(value) is str else str(value) if _are_numbers(value) else ""
        cases = (text, text.upper(), text.lower(), text.title())
        made = (*cases, f"{text} ", f" {text}", f"{text}\n", text[:-1], text[1:], text + text[-1:])
        return list(dict.fromkeys(each[:_MAX_LENGTH] for each in made))
    if kind in _SEQUENCES and type(value) in _SEQUENCES:
        items = list(value)
        return [rebuild(like, each) for each in (items, items[:-1], items + items[:1])]
    return [value] if type(value) is kind else []
