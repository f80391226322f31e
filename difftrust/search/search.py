"""Search inputs on which programs differ, led by what the running programs do.

An input is kept to make others of where the programs took ways that they had not taken together, or came nearer to a
side of a comparison that none had taken. What is allowed is asked of the caller; nothing here decides that.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from difftrust.search.drawing import TypedInputs, arguments_of, split_like
from difftrust.search.replacing import near, nodes_of, replacements, with_node
from difftrust.search.traces import Operands, Trace
from difftrust.types.argument_types import joined_arguments
from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.base.records import Kind, Outcome

Row = Sequence[Outcome]
_BATCH, _MOST_AT_ONCE, _FIRST = 60, 300, 60
MOST = 2_000
"""Inputs that are traced at most; a third of them without anything new ends a search."""
_OPERATIONS = 3_000_000
"""Notes of all programs on all inputs, after which no more are traced."""
_PAIRS, _USES, _NODES_REPLACED = 20, 3, 60
_UNCONFIRMED = 30
"""So many inputs of one sort are run plainly, and show no difference there or are left out."""
_WORDS = 200
_BLIND = 5
"""Traced outcomes unlike the plain ones, from which on a program's traces are not believed."""
_STEPS = (1, 1, 1, 1, 2, 2, 3, 5)
_COSTLY = 5_000
"""Notes of one input, from which on nothing is made of it."""
_NO_END = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH, Kind.LOAD_ERROR, Kind.FORGED)


@dataclass(frozen=True, kw_only=True)
class Subjects:
    """The programs of a search, behind what runs them."""

    n: int
    trace: Callable[[Sequence[str]], list[tuple[Trace, ...]]]
    """Of each input, the trace of each program."""
    allows: Callable[[Sequence[str]], list[bool]]
    """Which inputs lie inside the domain."""
    judge: Callable[[Sequence[str]], list[Row | None]]
    """Of each input what each program does as it is written; None where the input is left out."""
    classify: Callable[[Row], Sequence[int]]
    """Equal numbers for equal outcomes."""
    targets: Sequence[frozenset[int]] = ()
    """Of each program, sites that are to be reached; the search does not end while one is not."""


@dataclass(kw_only=True)
class Searched:
    """What a search found."""

    kept: dict[str, Row] = field(default_factory=dict)
    """Inputs that are allowed and did something new, or on which programs differ; and what the programs do there."""
    corpus: dict[str, Row | None] = field(default_factory=dict)
    """Inputs of which others were made."""
    reached: list[set[int]] = field(default_factory=list)
    """Of each program, the sites that allowed inputs reached."""
    parted: set[tuple[int, int]] = field(default_factory=set)
    """Pairs of programs that differ on an input that is kept."""
    blind: set[int] = field(default_factory=set)
    """Programs that do something else when they are traced, or cannot be."""
    n_traced: int = 0


@dataclass(kw_only=True)
class _Entry:
    arguments: tuple[Any, ...]
    operands: list[Operands]
    made: list[str] = field(default_factory=list)


class Search:
    """One search; always the same one for a source of inputs, programs and a seed."""

    def __init__(self, source: TypedInputs, subjects: Subjects, *, key: str, most: int = MOST):
        self._source, self._subjects, self._most = source, subjects, most
        self._generator = random.Random(key)
        self.found = Searched(reached=[set() for _ in range(subjects.n)])
        self._open = set(combinations(range(subjects.n), 2))
        self._tried: set[str] = set()
        self._corpus: list[_Entry] = []
        self._waiting: deque[_Entry] = deque()
        self._passed: set[tuple[int, int, int]] = set()
        self._nearest: dict[tuple[int, int], float] = {}
        self._ways: set[tuple[object, ...]] = set()
        self._uses: Counter[tuple[str, tuple[str, str]]] = Counter()
        self._words: dict[str, None] = {}
        self._numbers: dict[int | float, None] = {}
        self._unconfirmed: Counter[tuple[object, ...]] = Counter()
        self._unlike: Counter[int] = Counter()
        self._operations, self._last_new = 0, 0
        self._first = self._batch = max(_BATCH, _BATCH * MOST // most // 4)

    def run(self, starts: Collection[str]) -> Searched:
        """Search from some inputs; stop when all pairs of programs are parted, or nothing new comes any more."""
        self._try(list(starts))
        self._try([text for _ in range(_FIRST) if (text := self._source.drawn(self._draws()))])
        while self._goes_on() and (made := self._made(min(self._batch, self._most - self.found.n_traced))):
            before = self.found.n_traced, self._last_new
            self._try(made)
            is_new = self._last_new > before[1]
            self._batch = self._first if is_new else min(2 * self._batch, _MOST_AT_ONCE)
            if self.found.n_traced == before[0]:  # none of them was allowed
                self.found.n_traced += len(made)
        return self.found

    def _goes_on(self) -> bool:
        found = self.found
        if found.n_traced >= self._most or self._operations > _OPERATIONS:
            return False
        missing = any(not sites <= found.reached[p] for p, sites in enumerate(self._subjects.targets))
        return (bool(self._open) or missing) and found.n_traced - self._last_new < self._most // 3

    def _draws(self) -> Any:
        return self._source.draws(self._generator, list(self._words), list(self._numbers))

    def _try(self, texts: Sequence[str]) -> None:
        """Trace inputs; run those plainly that do something new or seem to part programs, and keep what is allowed."""
        new = [text for text in dict.fromkeys(texts) if text not in self._tried and self._source.accepts(text)]
        self._tried.update(texts)
        new = [text for text, allowed in zip(new, self._subjects.allows(new), strict=True) if allowed]
        if not new:
            return
        rows = self._subjects.trace(new)
        self.found.n_traced += len(new)
        wanted: dict[str, tuple[tuple[Trace, ...], bool]] = {}
        for text, row in zip(new, rows, strict=True):
            operations = sum(sum(trace.counts.values()) for trace in row)
            self._operations += operations
            is_new = self._is_new(row) and operations < _COSTLY
            if is_new or self.found.blind or self._seems_to_part(row):
                wanted[text] = (row, is_new)
        for text, plain in zip(wanted, self._subjects.judge(list(wanted)), strict=True):
            self._take(text, plain, *wanted[text])

    def _is_new(self, row: Sequence[Trace]) -> bool:
        """Tell whether programs did on an input what they had not done, and note what they did."""
        is_new = False
        for p, trace in enumerate(row):
            if p in self.found.blind:
                continue
            passed = {(p, *bucket) for bucket in trace.buckets()}
            is_new |= not passed <= self._passed
            self._passed |= passed
            for site, gap in trace.gaps.items():
                if (p, site, 0) not in self._passed and gap < self._nearest.get((p, site), float("inf")):
                    self._nearest[p, site] = gap
                    is_new = True
        way = tuple((trace.path, *_sort_of(trace.outcome)) for trace in row)
        if way not in self._ways and len(self._ways) < self._most // 4:
            self._ways.add(way)
            is_new = True
        return is_new

    def _seems_to_part(self, row: Sequence[Trace]) -> bool:
        """Tell whether programs that were not parted so far gave different outcomes, and that is worth a plain run."""
        outcomes = [trace.outcome for trace in row]
        if len(set(outcomes)) < 2 or self._unconfirmed[_sorts(outcomes)] >= _UNCONFIRMED:
            return False
        return any(
            outcomes[a] != outcomes[b] and {outcomes[a][0], outcomes[b][0]}.isdisjoint(_NO_END) for a, b in self._open
        )

    def _take(self, text: str, plain: Row | None, row: tuple[Trace, ...], is_new: bool) -> None:
        arguments = arguments_of(text)
        if arguments is None:
            return
        if plain is None:
            self._unconfirmed[_sorts([trace.outcome for trace in row])] += 1
        else:
            self._keep(text, plain, row, is_new)
        if is_new:
            self._last_new = self.found.n_traced
            self.found.corpus[text] = plain
            operands = [each for trace in row for each in trace.operands]
            entry = _Entry(arguments=arguments, operands=operands)
            self._corpus.append(entry)
            self._waiting.appendleft(entry)
            self._source.remember(arguments)
            self._learn(operands)

    def _keep(self, text: str, plain: Row, row: Sequence[Trace], is_new: bool) -> None:
        for p, (trace, outcome) in enumerate(zip(row, plain, strict=True)):
            self.found.reached[p] |= trace.path
            if not _is_alike(trace.outcome, outcome):
                self._unlike[p] += 1
                if self._unlike[p] >= _BLIND or trace.outcome[0] == Kind.LOAD_ERROR:
                    self.found.blind.add(p)
        labels = self._subjects.classify(plain)
        ended = {p for p, (kind, _) in enumerate(plain) if kind in _NO_END}
        parts = {(a, b) for a, b in self._open if labels[a] != labels[b] and a not in ended and b not in ended}
        if not parts:
            self._unconfirmed[_sorts([trace.outcome for trace in row])] += len(set(labels)) == 1
        if is_new or parts:
            self.found.kept[text] = plain
        self.found.parted |= parts
        self._open -= parts

    def _learn(self, operands: Sequence[Operands]) -> None:
        """Note the texts and numbers that met in programs: they come up in the inputs that follow."""
        for value in (value for each in operands for value in each.values or ()):
            if type(value) is str and 0 < len(value) < 40 and len(self._words) < _WORDS:
                self._words[value] = None
            elif type(value) in (int, float) and abs(value) < 2**64 and len(self._numbers) < _WORDS:
                self._numbers[value] = None

    def _made(self, n: int) -> list[str]:
        """Return n inputs made of those that are kept: half of them by what met in the programs, half by steps."""
        made = self._replaced(n // 2)
        for _ in range(3 * n):
            if len(made) >= n:
                break
            text = self._mutated()
            if text is not None and text not in self._tried:
                made.append(text)
        return made

    def _replaced(self, n: int) -> list[str]:
        made: list[str] = []
        for _ in range(len(self._waiting)):
            if len(made) >= n:
                break
            entry = self._waiting.popleft()
            if entry.operands:
                entry.made += self._replacements(entry)
            made += entry.made[:12]
            del entry.made[:12]
            if entry.made or entry.operands:
                self._waiting.append(entry)
        return made

    def _replacements(self, entry: _Entry) -> list[str]:
        """Return inputs by some of the pairs that met on an input; the others wait for its next turn."""
        chosen: list[Operands] = []
        while entry.operands and len(chosen) < _PAIRS:
            each = entry.operands.pop(0)
            key = (each.how, each.texts)
            if self._uses[key] < _USES and each not in chosen:
                self._uses[key] += 1
                chosen.append(each)
        parts, found = self._source.parts(entry.arguments), []
        for values in replacements(parts, chosen, self._draws())[:_NODES_REPLACED]:
            text = _written(entry.arguments, values)
            if text is not None and text not in self._tried:
                found.append(text)
        return list(dict.fromkeys(found))

    def _mutated(self) -> str | None:
        draws = self._draws()
        if not self._corpus or draws.chance(0.1):
            return self._source.drawn(draws)
        recent = self._corpus[-20:] if draws.chance(0.5) else self._corpus
        entry = draws.one_of(recent)
        if draws.chance(0.3):
            return self._spliced(entry, draws.one_of(self._corpus), draws)
        return self._source.changed(entry.arguments, draws, _STEPS)

    def _spliced(self, entry: _Entry, other: _Entry, draws: Any) -> str | None:
        """Return an input with a node of another one, or of itself, or what lies next to it, in the place of a node."""
        parts = self._source.parts(entry.arguments)
        nodes = nodes_of(parts)
        if not nodes:
            return None
        path, part = draws.one_of(nodes)
        sources = nodes if draws.chance(0.6) else nodes_of(self._source.parts(other.arguments))
        value = draws.one_of(sources)[1].value if sources else None
        fitting = [new for new in near(value, part.value) if part.type.fits(new)]
        if not fitting:
            return None
        new = fitting[0] if draws.chance(0.6) else draws.one_of(fitting)
        return _written(entry.arguments, with_node(parts, path, new))


def _written(arguments: tuple[Any, ...], values: Sequence[Any]) -> str | None:
    try:
        return write_literal(joined_arguments(*split_like(arguments, values)))
    except (BadText, RecursionError, ValueError, TypeError):
        return None


def _sort_of(outcome: Outcome) -> tuple[object, ...]:
    kind, text = outcome
    return (kind, text.partition("(")[0] if kind == Kind.EXCEPTION else "")


def _sorts(outcomes: Sequence[Outcome]) -> tuple[object, ...]:
    return tuple(map(_sort_of, outcomes))


def _is_alike(traced: Outcome, plain: Outcome) -> bool:
    """Tell whether a traced call ended as the plain one, as far as the trace holds it."""
    return traced[0] == plain[0] and (traced[1] == plain[1] or traced[1].startswith("#"))
