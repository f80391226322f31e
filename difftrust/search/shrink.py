"""Shrink inputs: from one that shows something downhill to one of which no simpler neighbour does.

What is simpler is decided by ``simplicity``, a well-founded order, so shrinking ends; which neighbours an input has is
the language's (``Language.around``). Minimal means that every neighbour was tried and none shows what is to be kept.
"""

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice
from typing import Any, Generic, Protocol, TypeVar

from difftrust_core.base.literals import Instance, read_literal, write_literal
from difftrust_core.base.standard_types import STANDARD_TYPES
from difftrust_core.languages.language import Around
from difftrust_core.languages.python.fuzz import CONTAINERS, children, rebuild
from difftrust_core.languages.python.simpler import Simplicity, call_numbers, neighbours, simplicity

Goal = TypeVar("Goal", bound=Hashable)
_Goal = TypeVar("_Goal", bound=Hashable, contravariant=True)
Shows = Callable[[Sequence[str]], Sequence[bool | None]]
"""Whether each input still shows what is to be kept; None where that could not be found out."""
_Pool = dict[str, Simplicity]
"""The neighbours of an input that are simpler than it, simplest first."""
MAX_TRIED = 30_000
_RECURS, _MOST_PAIRS = (int, float, str, bytes), 20


@dataclass(frozen=True, kw_only=True)
class Shrunk:
    """The smallest input found, an argument tuple in the text form of ``literals``."""

    arguments: str
    minimal: bool
    """Every neighbour was tried, and none shows it; False where the budget ended first or a program gave no answer."""


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How many neighbours of an input are tried."""

    first: int = 50
    """In its first round, the simplest: among them one often does."""
    more: int = 1000
    """In each further round."""
    most: int = MAX_TRIED
    """In all; an input that has as many is not called minimal."""


class Trial(Protocol[_Goal]):
    """What inputs show of several goals, each of which is shrunk on its own."""

    def run(self, texts: Sequence[str], goals: Sequence[_Goal]) -> Collection[object]:
        """Try inputs that are new, for these goals; return the goals that cannot go on."""
        ...

    def shows(self, goal: _Goal, text: str) -> bool | None:
        """Tell whether an input that was tried shows a goal; None where that could not be found out."""
        ...


@dataclass(kw_only=True)
class _Walk(Generic[Goal]):
    """A goal on its way down. ``tried``: so many neighbours of ``current``."""

    goal: Goal
    current: str
    coarse: bool = True
    tried: int = 0
    done: bool = False
    minimal: bool = False


def shrink_together(
    starts: Mapping[Goal, str], trial: Trial[Goal], around: Around, effort: Effort
) -> dict[Goal, Shrunk]:
    """Return the smallest input found for each goal, from an input that shows it.

    In each round every goal tries some neighbours of its input, and goes to the simplest input tried in this round, by
    whomever, that shows it: what is found for one serves the others.
    """
    walks = [_Walk(goal=goal, current=start) for goal, start in starts.items()]
    tried, pools = set(starts.values()), dict[tuple[str, bool], _Pool]()
    while active := [walk for walk in walks if not walk.done]:
        places = {(walk.current, walk.coarse) for walk in active}
        pools = {at: pools[at] if at in pools else _pool(*at, around, effort.most) for at in places}
        wanted: _Pool = {}
        for walk in active:
            pool = pools[walk.current, walk.coarse]
            stop = walk.tried + (effort.more if walk.tried else effort.first)
            wanted |= islice(pool.items(), walk.tried, stop)
            walk.tried = min(stop, len(pool))
        ended = trial.run([text for text in wanted if text not in tried], [walk.goal for walk in active])
        tried |= wanted.keys()
        simplest_first = sorted(wanted.items(), key=lambda item: item[1])
        for walk in active:
            _move(walk, simplest_first, pools[walk.current, walk.coarse], trial, effort)
            walk.done |= walk.goal in ended
    return {walk.goal: Shrunk(arguments=walk.current, minimal=walk.minimal) for walk in walks}


def _pool(current: str, coarse: bool, around: Around, most: int) -> _Pool:
    arguments = read_literal(current)
    here, made = simplicity(arguments), _Pool()
    for each in around(arguments, coarse=coarse):
        if len(made) == most:
            break
        if (order := simplicity(each)) < here:
            made[write_literal(each)] = order
    return dict(sorted(made.items(), key=lambda item: item[1]))


def _move(
    walk: _Walk[Goal], simplest_first: Sequence[tuple[str, Simplicity]], pool: _Pool, trial: Trial[Goal], effort: Effort
) -> None:
    here = simplicity(read_literal(walk.current))
    for text, order in simplest_first:
        if order < here and trial.shows(walk.goal, text):
            walk.current, walk.tried = text, 0
            return
    if walk.tried < len(pool):
        return
    if walk.coarse:
        walk.coarse, walk.tried = False, 0
    else:
        walk.done = True
        walk.minimal = len(pool) < effort.most and all(trial.shows(walk.goal, text) is False for text in pool)


def shrink(
    arguments: str, shows: Shows, around: Around, *, accepts: Callable[[str], bool], max_tried: int = MAX_TRIED
) -> Shrunk:
    """Return the smallest input found that still ``shows`` what ``arguments`` does.

    Neighbours that ``accepts`` refuses are not tried, none is tried twice, and ``max_tried`` are at most.
    """
    trial = _OneGoal(shows, accepts, max_tried)
    return shrink_together({"": arguments}, trial, around, Effort(most=max_tried))[""]


def moved_together(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Iterate over arguments with two numbers or dates moved alike, for a condition may tie them.

    Then those in which a value that stands at several places is simpler at all of them.
    """
    for i, j in combinations(range(len(arguments)), 2):
        for one, other in _moved_alike(arguments[i], arguments[j]):
            yield (*arguments[:i], one, *arguments[i + 1 : j], other, *arguments[j + 1 :])
    for places, value in _recurring(arguments):
        for (new,) in neighbours((value,), coarse=True):
            yield _with_new(arguments, places, new, count())


def _in_step(arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
    yield from neighbours(arguments, coarse=coarse)
    yield from moved_together(arguments) if coarse else ()


def _recurring(arguments: tuple[Any, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Iterate over the places of values that stand at several: all of them, and two each."""
    found: dict[tuple[type, Any], list[int]] = {}
    for place, leaf in enumerate(_leaves(arguments)):
        if type(leaf) in _RECURS:
            found.setdefault((type(leaf), leaf), []).append(place)
    for (_, leaf), places in found.items():
        pairs = combinations(places, 2) if len(places) > 2 else ()
        yield from ((some, leaf) for some in (tuple(places), *islice(pairs, _MOST_PAIRS)) if len(places) > 1)


def _leaves(value: Any) -> Iterator[Any]:
    if _is_leaf(value):
        yield value
    else:
        for child in children(value):
            yield from _leaves(child)


def _is_leaf(value: Any) -> bool:
    """Tell whether a value has no parts of its own: a date has none."""
    return type(value) not in CONTAINERS or (type(value) is Instance and call_numbers(value) is not None)


def _with_new(value: Any, places: Collection[int], new: Any, place: Iterator[int]) -> Any:
    """Return a value with another leaf at these places, counted as ``_leaves`` does."""
    if _is_leaf(value):
        return new if next(place) in places else value
    return rebuild(value, [_with_new(child, places, new, place) for child in children(value)])


def _moved_alike(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over two values of one kind, both nearer to the simplest by what one or the other has to go."""
    if type(one) is type(other) and type(one) in (int, float):
        yield from ((one - step, other - step) for step in (one, other) if math.isfinite(step))
    if type(one) is type(other) is Instance and one.type_name == other.type_name:
        origin = getattr(STANDARD_TYPES.get(one.type_name.rpartition(".")[2]), "origin", None) or ()
        for at, (a, b, start) in enumerate(zip(one.args, other.args, origin, strict=False)):
            for step in (a - start, b - start) if type(a) is type(b) is int else ():
                yield _with_part(one, at, a - step), _with_part(other, at, b - step)


def _with_part(value: Instance, at: int, part: int) -> Instance:
    return Instance(value.type_name, (*value.args[:at], part, *value.args[at + 1 :]), value.fields)


def shrink_shown(
    starts: Sequence[str], shows: Shows, around: Around, *, accepts: Callable[[str], bool]
) -> Shrunk | None:
    """Shrink the first of some inputs that ``shows`` it when they are tried; None if none does."""
    for start, shown in zip(starts, shows(starts), strict=True):
        if shown:
            return shrink(start, shows, _in_step if around is neighbours else around, accepts=accepts)
    return None


class _OneGoal:
    """The answers to one question, until there were enough."""

    def __init__(self, shows: Shows, accepts: Callable[[str], bool], left: int):
        self._shows, self._accepts, self._left = shows, accepts, left
        self._answers: dict[str, bool | None] = {}

    def run(self, texts: Sequence[str], goals: Sequence[str]) -> Collection[str]:
        asked = texts[: self._left]
        self._left -= len(asked)
        fitting = [text for text in asked if self._accepts(text)]
        self._answers |= dict.fromkeys(asked, False)
        if fitting:
            self._answers |= zip(fitting, self._shows(fitting), strict=True)
        return goals if len(asked) < len(texts) else ()

    def shows(self, goal: str, text: str) -> bool | None:
        return self._answers.get(text)
