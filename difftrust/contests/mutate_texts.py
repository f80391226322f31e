"""Mutate the texts that a task gives as inputs: numbers within the seen range, counts kept true, words of seen letters.

A text is read as lines of fields, and as lists and blocks of lines whose length a number before them tells; of all ways
to read the given texts the simplest one is taken. What a mutation changed is made true again: lists and blocks get as
many elements as the numbers say. What all given texts have in common beyond chance (a sorted list, distinct rows, a
first number below a second one, the edges of a tree) is kept.
"""

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Final

from difftrust_core.languages.python.simpler import simplicity, without_some

MAX_TEXT: Final = 2_000
"""Characters of a text that is drawn, unless every given one is longer."""
_MOST_EXAMPLES, _MOST_ELEMENTS = 12, 400
_TRIES = 20
"""So often another mutation is tried where one does not fit."""
_MAX_COST, _MAX_STEPS = 20, 60_000
"""Of the search for a structure: the cost of the dearest one, and the lines that are read."""
_MAX_DEPTH, _MAX_FIELDS = 2, 10
_MARK = re.compile(r"(?:0|-1)(?: (?:0|-1))*")
"""The last line of all texts, where it is one of these, ends them."""
_INT = re.compile(r"-?(?:0|[1-9]\d{0,30})")

Name = tuple[int, int]
"""A field: the number of its line, and its place there; all elements of a list are one field."""
Env = dict[Name, int]
"""The whole numbers in sight."""
Tree = list[Any]
"""A part for each item: of a line its words, of a block its rounds, each of them a tree."""
Pick = Callable[[int], int]
"""Chooses one of n, from 0 on."""
State = tuple[list[str], int, Env]
"""The lines of a text, where reading stands in it, and the numbers in sight."""


@dataclass(frozen=True)
class Count:
    """How many there are: the value of a field, and an offset."""

    field: Name
    offset: int = 0

    def of(self, env: Env) -> int:
        """Return the number, below 0 where the field is not in sight."""
        return env.get(self.field, -2) + self.offset


@dataclass(frozen=True)
class Line:
    """Some fields, and a list of so many words; ``is_list`` without a count: of any number."""

    number: int
    start: int
    """The number of fields."""
    count: Count | None = None
    is_list: bool = False
    is_whole: bool = False
    """The line is one word, with its blanks."""

    def read(self, line: str, env: Env) -> Tree | None:
        """Return the words of a line, noting its numbers in ``env``; None where they are not as many as they should."""
        words = [line] if self.is_whole else [int(w) if _INT.fullmatch(w) else w for w in line.split()]
        self.note(words, env)
        listed = len(words) - self.start
        fits = listed >= 0 if self.is_list else listed == 0
        return words if (listed == self.count.of(env) if self.count else fits) else None

    def note(self, words: Tree, env: Env) -> None:
        """Bring the numbers of the fields in sight."""
        env.update({(self.number, at): word for at, word in enumerate(words[: self.start]) if isinstance(word, int)})


@dataclass(frozen=True)
class Block:
    """Rounds of ``body``; without a count up to the end of the text."""

    number: int
    count: Count | None
    body: "tuple[Item, ...]" = ()
    start = 0
    is_list = True


Item = Line | Block


def _read(items: Sequence[Item], lines: list[str], at: int, env: Env) -> tuple[Tree, int] | None:
    """Return what the items are from line ``at`` on, and the line after it; None where they do not fit."""
    tree: Tree = []
    for item in items:
        if isinstance(item, Line):
            part = item.read(lines[at] if at < len(lines) else "", env) if at < len(lines) or item.count else None
            if part is None:
                return None
            at += 1
        else:
            part, size = [], item.count.of(env) if item.count else len(lines)
            if not 0 <= size <= len(lines):
                return None
            while len(part) < size and (item.count or at < len(lines)):
                found = _read(item.body, lines, at, dict(env))
                if found is None:
                    return None
                part.append(found[0])
                at = found[1]
        tree.append(part)
    return tree, at


def _walk(items: Sequence[Item], tree: Tree, env: Env) -> Iterator[tuple[Item, Tree, Env]]:
    """Iterate over the lines and blocks of a tree with the numbers in sight."""
    for item, part in zip(items, tree, strict=True):
        if isinstance(item, Line):
            item.note(part, env)
        yield item, part, env
        if isinstance(item, Block):
            for one in part:
                yield from _walk(item.body, one, dict(env))


class _Search:
    """Backtracking at ever higher cost: a line costs 1, each field or list of it and each block 1 more."""

    def __init__(self) -> None:
        self._numbers, self._steps = itertools.count(), 0

    def simplest(self, texts: Sequence[list[str]]) -> tuple[Item, ...] | None:
        """Return the items of the lowest cost that read every text to its end."""
        start: list[State] = [(lines, 0, {}) for lines in texts]
        for cost in range(2, _MAX_COST):
            for items, states, _, _ in self._sequences(start, cost, 0, ()):
                if all(at >= len(lines) for lines, at, _ in states):
                    return tuple(items)
        return None

    def _sequences(self, states: list[State], left: float, depth: int, used: tuple[Name, ...]) -> Iterator[Any]:
        """Iterate over items that come next, the states after them, the cost left, and the fields that count."""
        if left < 2 or self._steps > _MAX_STEPS or all(at >= len(lines) for lines, at, _ in states):
            return
        starts = [at for _, at, _ in states]
        for item, cost, now in self._items(states, left, depth, used):
            if self._steps > _MAX_STEPS:
                return
            if cost > left:
                continue
            after = [(lines, _read((item,), lines, at, seen := dict(env)), seen) for lines, at, env in states]
            ends = [found[1] if found else at for at, (_, found, _) in zip(starts, after, strict=True)]
            self._steps += len(ends) + sum(ends) - sum(starts)
            if all(found for _, found, _ in after):
                reached = [(lines, found[1], seen) for lines, found, seen in after if found]
                yield (item,), reached, left - cost, now
                for more, *rest in self._sequences(reached, left - cost, depth, now):
                    yield (item, *more), *rest

    def _items(
        self, states: list[State], left: float, depth: int, used: tuple[Name, ...]
    ) -> Iterator[tuple[Item, float, tuple[Name, ...]]]:
        """Iterate over what may come next, with its cost."""
        number, envs = next(self._numbers), [env for _, _, env in states]
        for count, cost in [*_counts(envs, used), *([(None, 6.0)] if not depth else [])]:
            sizes = [count.of(env) if count else 1 for env in envs]
            if depth < _MAX_DEPTH and (not count or max(sizes) >= 2):
                inside = [state for state, size in zip(states, sizes, strict=True) if size > 0]
                for body, _, rest, now in self._sequences(inside, left - 1 - cost, depth + 1, used + _field(count)):
                    yield Block(number, count, body), left - rest, now
        rows = [lines[at].split() if at < len(lines) else [] for lines, at, _ in states]
        lengths = {len(row) for row in rows}
        for start in range(min(3, *lengths, 3) + 1):
            fields = Line(number, start, is_list=True)
            own = [dict(env) for env in envs]
            for row, env in zip(rows, own, strict=True):
                fields.read(" ".join(row), env)
            for count, cost in _counts(own, used):
                if max(sizes := [count.of(env) for env in own]) >= 2 and sizes == [len(r) - start for r in rows]:
                    yield Line(number, start, count, is_list=True), 2 + start + cost, used + _field(count)
        if len(lengths) == 1 and max(lengths) <= _MAX_FIELDS:
            yield Line(number, max(lengths)), 1 + max(lengths), used
        yield Line(number, 1, is_whole=True) if depth else Line(number, 0, is_list=True), 5.5, used


def _field(count: Count | None) -> tuple[Name, ...]:
    return (count.field,) if count else ()


def _counts(envs: Sequence[Env], used: tuple[Name, ...]) -> Iterator[tuple[Count, float]]:
    """Iterate over what the numbers in sight may count, with costs: first those that count nothing yet."""
    names = sorted(set.intersection(*(set(env) for env in envs)), key=lambda name: (name in used, name))
    for offset in (0, -1, 1):
        for name in names:
            yield Count(name, offset), 0.75 if offset else 0.25 * (name in used)


def _is_distinct(values: Sequence[Any]) -> bool:
    return len({*map(str, values)}) == len(values)


def _is_graph(rounds: Sequence[Any]) -> bool:
    """Tell whether lines are edges: the first two numbers of each differ, and from those of other lines."""
    return len({frozenset(line[:2]) for (line,) in rounds if line[0] != line[1]}) == len(rounds)


def _is_tree(rounds: Sequence[Any]) -> bool:
    """Tell whether lines are the edges of a tree of the numbers from 1."""
    group = list(range(len(rounds) + 2))
    for ((one, two, *_),) in rounds:
        if not (0 < one < len(group) and 0 < two < len(group)) or group[one] == group[two]:
            return False
        group = [group[one] if found == group[two] else found for found in group]
    return True


_RULES: dict[str, tuple[Callable[[list[Any]], bool], float]] = {
    "tree": (_is_tree, 0.9),
    "graph": (_is_graph, 0.9),
    "distinct": (_is_distinct, 0.1),
    "rising": (lambda values: values == sorted(values), 0.1),
}
"""What may hold of a list or of the rounds of a block, and how often at most random ones may have it for a rule."""


def _holds(rule: str, values: list[Any]) -> bool:
    try:
        return not values or _RULES[rule][0](values)
    except (TypeError, ValueError, IndexError):  # values of another kind
        return False


def _is_rule(rule: str, lists: list[list[Any]]) -> bool:
    """Tell whether a rule holds of all lists, and of random numbers in their place hardly ever."""
    if not all(_holds(rule, values) for values in lists):
        return False
    numbers, draws = [int(number) for number in re.findall(r"-?\d+", str(lists))], random.Random(0)
    low, high = min(numbers, default=0), max(numbers, default=0)

    def random_like(value: Any) -> Any:
        if isinstance(value, list):
            return [random_like(one) for one in value]
        return draws.randint(low, high) if isinstance(value, int) else value

    n_held = sum(all(_holds(rule, random_like(values)) for values in lists) for _ in range(100))
    return n_held < 100 * _RULES[rule][1]


def _obey(rules: Sequence[str], values: list[Any], pick: Pick) -> bool:
    """Make values obey the rules where that is simple, and tell whether they do."""
    for rule in rules:
        if rule == "tree" and not _holds(rule, values) and all(len(line) > 1 for (line,) in values):
            for at, (line,) in enumerate(values, 1):
                line[:2] = [1 + pick(at), at + 1]
        elif rule == "distinct" and isinstance(values[0], int):
            unused = (number for number in itertools.count(1) if number not in values)
            values[:] = [next(unused) if value in values[:at] else value for at, value in enumerate(values)]
        elif rule == "rising":
            values.sort()
    return all(_holds(rule, values) for rule in rules)


@dataclass(frozen=True)
class Field:
    """What was seen of a field."""

    values: list[Any]
    is_count: bool
    is_closed: bool
    """It has no values but those seen."""
    limits: tuple[Count, ...] = ()
    """What its numbers do not exceed."""
    length: Name | None = None
    """The field that tells how many letters its words have."""

    @cached_property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest number seen."""
        return min(self.values), max(self.values)

    def bounds(self, env: Env) -> tuple[int, int]:
        """Return the lowest and the highest number that it may have."""
        low, high = self.span
        return (min(low, 1) if low >= 0 else -max(-low, high)), min([high, *(limit.of(env) for limit in self.limits)])


def _field_of(name: Name, seen: list[tuple[Any, Env]], counts: set[Name]) -> Field:
    values, is_count = [value for value, _ in seen], name in counts
    others = sorted(set.intersection(*(set(env) for _, env in seen)) - {name})
    is_few = len(values) >= 3 * len(set(values)) and len(set(values)) <= 5
    if not all(isinstance(value, int) for value in values):
        words = [str(value) for value in values]
        told = [o for o in others if all(env[o] == len(word) > 0 for word, (_, env) in zip(words, seen, strict=True))]
        return Field(words, is_count, is_few and max(map(len, words)) > 1, length=told[-1] if told else None)
    limits = []
    for other in others if min(values) >= 0 and not is_count else ():
        room = min(env[other] - value for value, env in seen)
        if room >= 0 and (other in counts or (room <= 1 and len(values) > 2 + room)):
            limits.append(Count(other, -1 if room and (min(values) == 0 or other not in counts) else 0))
    return Field(values, is_count, is_few and max(values) <= 3 and not limits and not is_count, tuple(limits))


class Structure:
    """How some texts are read, and what they have in common."""

    def __init__(self, items: tuple[Item, ...], texts: Sequence[list[str]], mark: list[str]):
        self.items, self.mark = items, mark
        self.trees = [tree for lines in texts if (tree := self.read(lines)) is not None]
        self.pools: dict[int, list[Any]] = {}
        seen: dict[Name, list[tuple[Any, Env]]] = {}
        lists: dict[int, list[list[Any]]] = {}
        counts = set[Name]()
        for item, part, env in itertools.chain.from_iterable(map(self.walk, self.trees)):
            counts |= {*_field(item.count)}
            self.pools.setdefault(item.number, []).extend(part[item.start :])
            lists.setdefault(item.number, []).append(part[item.start :])
            for name, at in _names(item, part):
                seen.setdefault(name, []).append((part[at], dict(env)))
        self.fields = {name: _field_of(name, found, counts) for name, found in seen.items()}
        self.rules = {name: [rule for rule in _RULES if _is_rule(rule, found)] for name, found in lists.items()}

    def read(self, lines: list[str]) -> Tree | None:
        """Return the tree of a text; None where it has another structure."""
        end = len(lines) - len(self.mark)
        found = _read(self.items, lines[:end], 0, {}) if lines[end:] == self.mark else None
        return found[0] if found and found[1] >= end else None

    def walk(self, tree: Tree) -> Iterator[tuple[Item, Tree, Env]]:
        """Iterate over the lines and blocks of a tree with the numbers in sight."""
        return _walk(self.items, tree, {})

    def places(self, tree: Tree) -> list[tuple[Tree, int, Name, Env]]:
        """Return where the values of a tree stand (a line and an index), their fields, and the numbers in sight."""
        return [(part, at, name, dict(env)) for item, part, env in self.walk(tree) for name, at in _names(item, part)]

    def fit(self, tree: Tree, pick: Pick) -> str | None:
        """Make a tree true, ``pick(n)`` choosing one of n, and return its text; None where it cannot be."""
        for item, part, env in self.walk(tree):
            size = item.count.of(env) if item.count else len(part) - item.start
            if not 0 <= size <= _MOST_ELEMENTS or not _resize(part, item.start, size, self.pools[item.number], pick):
                return None
            for name, at in reversed(_names(item, part)):
                part[at] = env[name] = _within(self.fields[name], part[at], env, pick)
        for item, part, _ in self.walk(tree):
            values = part[item.start :]
            if values and not _obey(self.rules[item.number], values, pick):
                return None
            part[item.start :] = values
        lines = [" ".join(map(str, part)) for item, part, _ in self.walk(tree) if isinstance(item, Line)]
        return "".join(f"{line}\n" for line in (*lines, *self.mark))


def _names(item: Item, part: Tree) -> list[tuple[Name, int]]:
    """Return the field and the index of each word of a line; nothing of a block."""
    return [((item.number, min(at, item.start)), at) for at in range(len(part) if isinstance(item, Line) else 0)]


def _resize(part: list[Any], start: int, size: int, pool: Sequence[Any], pick: Pick) -> bool:
    """Leave elements out, or put in further ones of a pool; tell whether there are as many as asked now."""
    while len(part) - start > max(size, 0):
        del part[start + pick(len(part) - start)]
    while len(part) - start < size and pool:
        part.insert(start + pick(len(part) - start + 1), deepcopy(pool[pick(len(pool))]))
    return len(part) - start == size


def _within(field: Field, value: Any, env: Env, pick: Pick) -> Any:
    """Return a value that its limits allow, as long as its length says."""
    if field.length:
        letters = list(str(value))
        _resize(letters, 0, env[field.length], letters, pick)
        return "".join(letters)
    if not field.limits or value <= (high := field.bounds(env)[1]):
        return value
    return min(field.bounds(env)[0] + pick(max(1, high)), high)


@lru_cache(maxsize=64)
def structures_of(texts: tuple[str, ...]) -> tuple[Structure, ...]:
    """Return the structure of the shortest texts; where nothing reads all of them, one for each of the first."""
    found = sorted({text: _lines(text) for text in texts if text.strip()}.items(), key=lambda one: len(one[0]))
    short = [lines for text, lines in found if len(text) <= MAX_TEXT] or [lines for _, lines in found[:1]]
    examples = short[:_MOST_EXAMPLES]
    last = {lines[-1] for lines in examples}
    mark = [line for line in last if len(last) == 1 < min(map(len, examples)) and _MARK.fullmatch(line)]
    for groups in ([examples], [[lines] for lines in examples[:4]]):
        shapes = [(_Search().simplest([lines[: len(lines) - len(mark)] for lines in group]), group) for group in groups]
        if structures := [Structure(items, group, mark) for items, group in shapes if items]:
            return tuple(structures)
    return ()


def _lines(text: str) -> list[str]:
    return text.rstrip().replace("\r\n", "\n").split("\n")


def draw_text(texts: Sequence[str], key: int) -> str:
    """Return the text of one key: one of ``texts`` mutated; unchanged where that fails."""
    draws, structures = random.Random(key), structures_of(tuple(texts))
    for _ in range(_TRIES if structures else 0):
        structure = draws.choice(structures)
        tree = deepcopy(draws.choice(structure.trees))
        _mutate(structure, tree, draws)
        text = structure.fit(tree, draws.randrange)
        if text is not None and len(text) <= max(MAX_TEXT, *map(len, texts)) and text not in texts:
            return text
    return draws.choice(texts)


def _mutate(structure: Structure, tree: Tree, draws: random.Random) -> None:
    """Change some values and the order of lists, without care for what counts say."""
    lists = [(item, part) for item, part, _ in structure.walk(tree) if len(part) > item.start + 1]
    for item, part in draws.sample(lists, min(len(lists), draws.choice((0, 1, 2)))):
        part[item.start :] = _rearranged(part[item.start :], draws)
        if item.is_list and not item.count:
            size = len(part) - item.start + draws.choice((-1, 1, 2))
            _resize(part, item.start, size, structure.pools[item.number], draws.randrange)
    places = structure.places(tree)
    counts = [place for place in places if structure.fields[place[2]].is_count] or places
    n = draws.choice((1, 2, 4, len(places), len(places)))
    some = places if n == len(places) else [*draws.choices(places, k=n), *draws.choices(counts, k=n % 2)]
    for line, at, name, env in some:
        line[at] = _mutated(structure.fields[name], line[at], env, line, draws)


def _rearranged(values: list[Any], draws: random.Random) -> list[Any]:
    way = draws.randrange(3)
    if way == 0:
        return draws.sample(values, len(values))
    if way == 1:
        return sorted(values, key=str, reverse=draws.random() < 0.5)
    some = draws.sample(values, draws.randint(1, len(values)))
    return [deepcopy(draws.choice(some)) for _ in values]


def _mutated(field: Field, now: Any, env: Env, others: Sequence[Any], draws: random.Random) -> Any:
    if field.is_closed or isinstance(field.values[0], str):
        is_free = not field.is_closed and now and draws.random() < 0.8
        return _mutated_word(str(now), field.values, draws) if is_free else draws.choice(field.values)
    low, high = field.bounds(env)
    if field.is_count:
        return draws.choice((low, max(low, now - 1), now + 1, draws.randint(low, min(high, 12) + 2)))
    near = [n for n in (low, low + 1, now - 1, now + 1, high, *others) if isinstance(n, int) and low <= n <= high]
    return draws.choice((draws.choice(near), draws.choice(field.values), draws.randint(low, high))) if near else now


def _mutated_word(word: str, seen: Sequence[str], draws: random.Random) -> str:
    """Return a word of seen letters; for a line as it stands a seen one with other words after the first."""
    is_line = any(" " in other for other in seen)
    pattern = r"(?<= )\S+" if is_line else r"\S"
    share, alike = draws.choice((0.2, 0.5, 1.0)), dict[tuple[bool, ...], list[str]]()
    for unit in re.findall(pattern, "\n".join(seen)):
        alike.setdefault(_kind(unit), []).append(unit)

    def other(found: re.Match[str]) -> str:
        return draws.choice(alike.get(_kind(found[0]), [found[0]])) if draws.random() < share else found[0]

    way = draws.randrange(3)
    if is_line or way == 0 or not (word.isalpha() or word.isdigit()):
        return re.sub(pattern, other, draws.choice(seen) if is_line else word)
    if way == 1:
        return "".join(draws.sample(word, len(word)))
    cut = draws.randrange(len(word)) + 1
    return draws.choice((word[:cut], word + word[:cut], word[:cut] + word[:cut][::-1]))


def _kind(unit: str) -> tuple[bool, ...]:
    return unit.isdigit(), unit.isupper(), unit.islower(), unit == "."


def simpler_texts(texts: Sequence[str]) -> Callable[..., Iterator[tuple[Any, ...]]]:
    """Return ``around(arguments, *, coarse)`` for ``search.shrink``: fewer elements, smaller numbers, shorter words.

    A text that has not the structure of ``texts`` loses lines and words.
    """

    def around(arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
        here = simplicity(arguments)
        for text in _simpler(arguments[0], structures_of(tuple(texts)), coarse):
            if text is not None and simplicity((text,)) < here:
                yield (text,)

    return around


def _simpler(text: str, structures: Sequence[Structure], coarse: bool) -> Iterator[str | None]:
    for structure in structures:
        tree = structure.read(_lines(text))
        if tree is None:
            continue
        for number, (line, at, name, env) in enumerate(structure.places(tree)):
            field, value = structure.fields[name], line[at]
            for less in _simpler_values(field, value, env) if field.is_count or not coarse else ():
                for cut in range(0, value, max(1, value - less) if coarse else 1) if field.is_count else (0,):
                    own = deepcopy(tree)
                    line, at, _, _ = structure.places(own)[number]
                    line[at] = less
                    yield structure.fit(own, partial(_at_most, cut))
        return
    for blank in ("\n", " "):
        yield from (blank.join(kept) for kept in without_some(text.split(blank)))


def _at_most(cut: int, n: int) -> int:
    return min(cut, n - 1)


def _simpler_values(field: Field, value: Any, env: Env) -> Iterator[Any]:
    if isinstance(value, int) and isinstance(field.values[0], int):
        low = field.bounds(env)[0]
        found = (low, 0, 1, abs(value), value // 2, -(-value // 2), value - 1, value + 1, value - 10)
        yield from (n for n in dict.fromkeys(found) if n >= low and (n < value if field.is_count else n != value))
    else:
        yield from map("".join, without_some(list(str(value))))
