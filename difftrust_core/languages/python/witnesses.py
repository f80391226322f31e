"""Witness inputs of Python programs: seed inputs as they are, then seeds changed to hit rare branches.

A witness is sought, not drawn from the inputs' distribution, so it takes no part in any mean. Every change keeps the
type of the value that it replaces. Programs are parsed for their constants, never executed.
"""

import ast
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, permutations
from typing import Any, Final

from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.base.records import Origin, Witness
from difftrust_core.languages.python.fuzz import CONTAINERS, below, children, rebuild, size_of
from difftrust_core.languages.python.syntax import parsed

MAX_BITS: Final = 64
"""Numbers of more bits are not taken from programs."""
MAX_TEXT: Final = 1_000
"""Characters of a constant; longer ones are not taken from programs."""
MOST: Final = 100
"""Constants of one kind that are taken from one program."""
MAX_ARGUMENTS: Final = 10_000
"""Characters of an input; longer ones are not given, unless they are seeds."""
MAX_LENGTH: Final = 128
"""A number up to this one is also tried as the length of a list or text."""
_LARGE = 100_000
"""Inputs made of larger numbers come last: programs may count that far."""
_MAX_SOURCE = 1 << 20
_ROUNDS = 6
"""So often every change is made, each time to another seed input, every other time to a whole argument if it fits."""
_INTS = (0, 1, -1, 2, 10, 100, -100, 1000)
_FLOATS = (0.0, 1.0, -1.0, 0.5, -0.5, 0.1, 100.0, 1000.0)
_TEXTS = ("", " ", "a", "A", "0", "-1", ".")

Arguments = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What programs compare with: distinct constants of their texts, sorted by how they are written."""

    numbers: tuple[int | float, ...]
    texts: tuple[str | bytes, ...]
    containers: tuple[Any, ...]


def mine_constants(programs: Iterable[str]) -> Constants:
    """Return the constants in the syntax trees of programs, docstrings left out; of what does not parse, none."""
    found = [_constants_of(tree) for tree in map(_parsed, programs) if tree is not None]
    merged: list[dict[str, Any]] = [{}, {}, {}]
    for of_program in found:
        for kind, constants in zip(merged, of_program, strict=True):
            kind.update(islice(constants.items(), MOST))
    numbers, texts, containers = (tuple(kind[key] for key in sorted(kind)) for kind in merged)
    return Constants(numbers=numbers, texts=texts, containers=containers)


def _parsed(program: str) -> ast.Module | None:
    return parsed(program) if len(program) <= _MAX_SOURCE else None


def _constants_of(tree: ast.Module) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the numbers, texts and containers of one program by how they are written, in the order of the tree."""
    numbers: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    containers: dict[str, Any] = {}
    nodes = list(ast.walk(tree))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.Constant(value=int() | float() as number) if _is_usable(number):
                numbers[write_literal(number)] = number
            case ast.Constant(value=str() | bytes() as text) if len(text) <= MAX_TEXT and id(node) not in alone:
                texts[write_literal(text)] = text
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                containers.update(_container(node))
    return numbers, texts, containers


def _is_usable(number: int | float) -> bool:
    if isinstance(number, float):
        return math.isfinite(number) and abs(number) < 2**MAX_BITS
    return type(number) is int and number.bit_length() <= MAX_BITS


def _container(node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> dict[str, Any]:
    parts = node.values if isinstance(node, ast.Dict) else node.elts
    if len(parts) <= MAX_TEXT:
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):  # not of literals alone
            value = ast.literal_eval(node)
            text = write_literal(value)
            return {text: value} if len(text) <= MAX_TEXT else {}
    return {}


@dataclass(frozen=True, kw_only=True)
class _Change:
    """``make`` a new value of a node that ``fits`` (told whether it is a whole argument); both raise nothing."""

    fits: Callable[[Any, bool], bool]
    make: Callable[[Any], Any]
    is_large: bool = False


def _puts(value: Any) -> _Change:
    """Return the change that puts ``value`` in the place of a value of its type."""
    is_large = type(value) in (int, float) and abs(value) > _LARGE
    return _Change(fits=lambda old, whole: type(old) is type(value), make=lambda old: value, is_large=is_large)


def _resized(length: int) -> _Change:
    """Return the change of a list or text to a length: what it holds is repeated or cut."""
    return _Change(
        fits=lambda old, whole: _may_grow(old, whole) and len(old) > 0,
        make=lambda old: (old * (length // len(old) + 1))[:length],
    )


def _may_grow(value: Any, whole: bool) -> bool:
    """Tell whether another length keeps the type; a tuple within another value stands for a record."""
    return type(value) in (list, str, bytes) or (whole and _is_even_tuple(value))


def _is_even_tuple(value: Any) -> bool:
    return type(value) is tuple and len({type(part) for part in value}) < 2


def _is_sequence(value: Any, whole: bool) -> bool:
    return type(value) in (list, str, bytes) or _is_even_tuple(value)


def _is_collection(value: Any, whole: bool) -> bool:
    return type(value) in (dict, set, frozenset)


def _like(old: Any, parts: Sequence[Any]) -> Any:
    return "".join(parts) if type(old) is str else type(old)(parts)


def _in_order(old: Any, *, descending: bool = False) -> Any:
    try:
        return _like(old, sorted(old, reverse=descending))
    except TypeError:  # of several types
        return old


_SHAPES: Final = (
    _Change(fits=_may_grow, make=lambda old: old[:0]),
    _Change(fits=_may_grow, make=lambda old: old[:1]),
    _Change(fits=_may_grow, make=lambda old: old[-1:]),
    _Change(fits=_may_grow, make=lambda old: old + old),
    _Change(fits=_is_sequence, make=lambda old: old[:1] * len(old)),
    _Change(fits=_is_sequence, make=_in_order),
    _Change(fits=_is_sequence, make=lambda old: _in_order(old, descending=True)),
    _Change(fits=_is_sequence, make=lambda old: old[::-1]),
    _Change(fits=_is_collection, make=lambda old: type(old)()),
    _Change(fits=_is_collection, make=lambda old: rebuild(old, list(children(old))[: 2 if type(old) is dict else 1])),
    _Change(fits=_is_collection, make=lambda old: _of_one_value(old)),
)


def _of_one_value(old: Any) -> Any:
    return dict.fromkeys(old, next(iter(old.values()))) if type(old) is dict and old else old


def _constant_changes(constants: Constants, generator: random.Random) -> list[_Change]:
    """Return what puts constants in the place of values of their type, the constants themselves before others."""
    wholes, floats = {math.floor(c) for c in constants.numbers}, {float(c) for c in constants.numbers}
    exact = [*map(_puts, sorted(wholes)), *map(_puts, sorted(floats))]
    for text in constants.texts:
        exact += [_puts(text), _inserts(text, generator)]
    near = [_puts(c) for c in sorted({new for c in wholes for new in (c + 1, c - 1, -c)} - wholes)]
    near += [_puts(c) for c in sorted({new for c in floats for new in (c + 1, c - 1, -c)} - floats)]
    lengths = {c + step for c in wholes for step in (-1, 0, 1)}
    near += [_resized(length) for length in sorted(lengths) if 1 < length <= MAX_LENGTH]
    generator.shuffle(exact)
    generator.shuffle(near)
    return exact + near


def _inserts(text: str | bytes, generator: random.Random) -> _Change:
    def make(old: Any) -> Any:
        at = below(len(old) + 1, generator)
        return old[:at] + text + old[at:]

    return _Change(fits=lambda old, whole: type(old) is type(text), make=make)


@dataclass(kw_only=True)
class _Seeker:
    """Makes witnesses from seed inputs that all fit the task's types."""

    seeds: Sequence[Arguments]
    generator: random.Random
    later: list[tuple[Origin, Arguments]] = field(default_factory=list)
    """Inputs made of large numbers."""

    def __post_init__(self) -> None:
        self._positions = range(max(map(len, self.seeds)))
        self._order = self.generator.sample(range(len(self.seeds)), len(self.seeds))
        self._nodes = [[list(_nodes(argument)) for argument in seed] for seed in self.seeds]

    def changed(self, origin: Origin, changes: Sequence[_Change]) -> Iterator[Arguments]:
        """Yield seeds with one node changed, each change once an argument before any comes again."""
        for turn in range(_ROUNDS):
            for number, change in enumerate(changes):
                for position in self._positions:
                    made = self._make(change, position, first=number + turn, prefers_whole=turn % 2 == 0)
                    if made is not None and change.is_large:
                        self.later.append((origin, made))
                    elif made is not None:
                        yield made

    def _make(self, change: _Change, position: int, *, first: int, prefers_whole: bool) -> Arguments | None:
        """Return the first seed, from one on, of which a node of the argument changes; None if none does."""
        for step in range(len(self.seeds)):
            number = self._order[(first + step) % len(self.seeds)]
            seed = self.seeds[number]
            nodes = self._nodes[number][position] if position < len(seed) else []
            places = [at for at, node in enumerate(nodes) if change.fits(node, at == 0)]
            if places:
                at = 0 if prefers_whole and places[0] == 0 else places[below(len(places), self.generator)]
                new = change.make(nodes[at])
                if new != nodes[at]:
                    return (*seed[:position], _replaced(seed[position], at, new), *seed[position + 1 :])
        return None

    def whole(self, containers: Sequence[Any]) -> Iterator[Arguments]:
        """Yield seeds with a list, set or dict of a program as an argument of the same type."""
        for position in self._positions:
            here = [seed for seed in self.seeds if position < len(seed)]
            examples = [seed[position] for seed in here]
            kinds = sorted({type(example) for example in examples} & CONTAINERS, key=lambda kind: kind.__name__)
            for constant in containers:
                for kind in kinds:
                    value = _converted(constant, kind)
                    if value is not None and _is_alike(value, examples):
                        seed = here[below(len(here), self.generator)]
                        yield (*seed[:position], value, *seed[position + 1 :])

    def equal(self) -> Iterator[Arguments]:
        """Yield seeds with one argument in the place of another one of its type."""
        for seed in self.seeds:
            for one, other in permutations(range(len(seed)), 2):
                if _is_alike(seed[one], [seed[other]]):
                    yield (*seed[:other], seed[one], *seed[other + 1 :])


def _nodes(value: Any) -> Iterator[Any]:
    yield value
    if type(value) in CONTAINERS:
        for child in children(value):
            yield from _nodes(child)


def _replaced(value: Any, at: int, new: Any) -> Any:
    """Return ``value`` with ``new`` in the place of its node number ``at``, in preorder."""
    if at == 0:
        return new
    at -= 1
    parts = list(children(value))
    for position, part in enumerate(parts):
        size = size_of(part)
        if at < size:
            parts[position] = _replaced(part, at, new)
            return rebuild(value, parts)
        at -= size
    raise AssertionError("a node number within the value's size")


def _converted(constant: Any, kind: type) -> Any:
    if type(constant) is kind:
        return constant
    if dict in (type(constant), kind) or kind not in (list, tuple, set, frozenset):
        return None
    try:
        return kind(children(constant))
    except TypeError:  # what no set can hold
        return None


def _is_alike(value: Any, examples: Iterable[Any]) -> bool:
    """Tell whether a value has the type of an example, and each of its parts that of a part of such examples."""
    same = [example for example in examples if type(example) is type(value)]
    if not same or type(value) not in CONTAINERS:
        return bool(same)
    parts = [part for example in same for part in children(example)]
    kinds = {type(part): part for part in parts if type(part) not in CONTAINERS}
    known = [*kinds.values(), *(part for part in parts if type(part) in CONTAINERS)]
    return all(_is_alike(part, known) for part in children(value))


def seek_witnesses(seeds: Sequence[Arguments], programs: Iterable[str], *, key: int) -> Iterator[Witness]:
    """Yield distinct inputs that may make programs differ, none of them judged; ``key`` fixes their order.

    First the seeds as they are. Then in turn: constants of the programs (c, c + 1, c - 1, -c; texts alone and within
    others; lengths; whole containers), boundary values, and shapes of seeds (empty, one element, repeated, all equal,
    sorted, reversed; two equal arguments). Inputs made of large numbers come last.
    """
    if not seeds:
        return
    seen: set[str] = set()
    for seed in seeds:
        yield from _new(Origin.SEED, seed, seen)
    for origin, arguments in _in_turn(_Seeker(seeds=seeds, generator=random.Random(key)), mine_constants(programs)):
        yield from _new(origin, arguments, seen)


def _in_turn(seeker: _Seeker, constants: Constants) -> Iterator[tuple[Origin, Arguments]]:
    boundaries, shapes = [_puts(value) for value in (*_INTS, *_FLOATS, *_TEXTS, False, True)], list(_SHAPES)
    mined = _constant_changes(constants, seeker.generator)
    seeker.generator.shuffle(boundaries)
    streams = [
        (Origin.CONSTANT, seeker.changed(Origin.CONSTANT, mined)),
        (Origin.SHAPE, seeker.changed(Origin.SHAPE, shapes)),
        (Origin.CONSTANT, seeker.whole(constants.containers)),
        (Origin.BOUNDARY, seeker.changed(Origin.BOUNDARY, boundaries)),
        (Origin.SHAPE, seeker.equal()),
    ]
    while streams:
        for stream in tuple(streams):
            made = next(stream[1], None)
            if made is None:
                streams.remove(stream)
            else:
                yield stream[0], made
    yield from seeker.later


def _new(origin: Origin, arguments: Arguments, seen: set[str]) -> Iterator[Witness]:
    try:
        text = write_literal(arguments)
    except BadText:
        return
    if text not in seen and (origin is Origin.SEED or len(text) <= MAX_ARGUMENTS):
        seen.add(text)
        yield Witness(origin=origin, arguments=text)
