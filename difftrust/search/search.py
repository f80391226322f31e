"""Search inputs on which programs differ, led by what the running programs do.

An input is kept to make others of where the programs took ways that they had not taken together. What is allowed is
asked of the caller; nothing here decides that.
"""

import random
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from difftrust.search.drawing import TypedInputs, arguments_of, split_like
from difftrust.search.replacing import guesses, near, nodes_of, substitutes, with_node
from difftrust.search.traces import Trace, met_in
from difftrust.types.argument_types import joined_arguments
from difftrust.types.base import Draws
from difftrust_core.base.literals import BadText, write_literal

MOST = 1_200
"""Inputs that are traced at most; a third of them without anything new ends a search."""
_OPERATIONS = 2_000_000
"""Notes of all programs on all inputs, after which no more are traced."""
_COSTLY = 5_000
"""Notes of one input, from which on nothing is made of it."""
_BATCH, _OF_ONE, _OF_A_PAIR, _USES, _WORDS, _JUDGED = 100, 12, 60, 3, 200, 500
_STEPS = (1, 1, 1, 1, 2, 2, 3, 5)
Labels = Sequence[int]
"""Of each program a number, equal for equal outcomes; -1 where its end says nothing."""


class Search:
    """One search; always the same one for a source of inputs, programs and a seed.

    ``trace`` gives, of those inputs that lie in the domain, the trace of each program; ``judge``, of those that count,
    what each program does as it is written. ``pairs``: of programs that are to be parted.
    """

    def __init__(
        self,
        source: TypedInputs,
        pairs: Collection[tuple[int, int]],
        *,
        trace: Callable[[Sequence[str]], Mapping[str, Sequence[Trace]]],
        judge: Callable[[Sequence[str]], Mapping[str, Labels]],
        key: str,
        most: int = MOST,
    ):
        self._source, self._trace, self._judge, self._most = source, trace, judge, most
        self._generator = random.Random(key)
        self.open = set(pairs)
        self.parting: list[str] = []
        """Inputs on which a pair differs that no earlier one parted."""
        self.ways: set[tuple[int, str]] = set()
        """Each program's ways that inputs which count took."""
        self.n_traced = 0
        self._last_new, self._operations, self._n_judged = 0, 0, 0
        self._tried: set[str] = set()
        self._corpus: list[tuple[Any, ...]] = []
        self._waiting: deque[Iterator[str]] = deque()
        self._seen: set[object] = set()
        self._uses: Counter[tuple[str, str, str]] = Counter()
        self._met: dict[type, dict[Any, None]] = {str: {}, int: {}, float: {}}

    def run(self, starts: Sequence[str]) -> None:
        """Search from some inputs; stop when all pairs are parted, or nothing new comes any more."""
        made = list(starts)
        while self.open and made and self.n_traced < self._most and self._operations < _OPERATIONS:
            self._try(made[: self._most - self.n_traced])
            made = self._made() if self.n_traced - self._last_new < self._most // 3 else []

    def _draws(self) -> Draws:
        return self._source.draws(self._generator, list(self._met[str]), [*self._met[int], *self._met[float]])

    def _try(self, texts: Sequence[str]) -> None:
        """Trace inputs; run those plainly that do something new or seem to part programs."""
        new = [text for text in dict.fromkeys(texts) if text not in self._tried and self._source.accepts(text)]
        self._tried.update(texts)
        self.n_traced += len(new) or len(texts)
        wanted: dict[str, Sequence[Trace]] = {}
        for text, row in self._trace(new).items():
            n = sum(trace.n_operations for trace in row)
            self._operations += n
            is_new = self._is_new(row)
            if is_new or any(row[a].outcome != row[b].outcome for a, b in self.open):
                wanted[text] = row
            if is_new and n < _COSTLY:
                self._keep(text, row)
        wanted = dict(islice(wanted.items(), max(0, _JUDGED - self._n_judged)))
        self._n_judged += len(wanted)
        for text, labels in self._judge(list(wanted)).items():
            self.ways |= {(p, way) for p, trace in enumerate(wanted[text]) for way, _ in trace.ways}
            parted = {(a, b) for a, b in self.open if labels[a] != labels[b] and -1 not in (labels[a], labels[b])}
            if parted:
                self.parting.append(text)
                self.open -= parted

    def _is_new(self, row: Sequence[Trace]) -> bool:
        """Tell whether programs did on an input what they had not done, each by itself or together."""
        done: set[object] = {(p, way) for p, trace in enumerate(row) for way in trace.ways}
        if len(self._seen) < 50 * self._most:
            done.add(tuple((trace.outcome[0], frozenset(way for way, _ in trace.ways)) for trace in row))
        is_new = not done <= self._seen
        self._seen |= done
        return is_new

    def _keep(self, text: str, row: Sequence[Trace]) -> None:
        arguments = arguments_of(text)
        if arguments is None:
            return
        self._last_new = self.n_traced
        self._corpus.append(arguments)
        operands = list(dict.fromkeys(pair for trace in row for pair in trace.operands))
        self._generator.shuffle(operands)
        self._waiting.appendleft(self._replaced(arguments, operands))

    def _replaced(self, arguments: tuple[Any, ...], operands: Sequence[tuple[str, str, str]]) -> Iterator[str]:
        """Iterate over inputs in which one node is what stood, or should stand, where it met another value."""
        parts = self._source.parts(arguments)
        nodes = nodes_of(parts)
        for pair in operands:
            met = met_in(*pair) if self._uses[pair] < _USES else None
            if met is None:
                continue
            self._uses[pair] += 1
            self._learn(met.values)
            draws = self._draws()
            for way in (substitutes, guesses):
                made = [with_node(parts, path, value) for path, part in nodes for value in way(part, met, draws)]
                for values in self._generator.sample(made, min(len(made), _OF_A_PAIR)):
                    text = _written(arguments, values)
                    if text is not None and text not in self._tried:
                        yield text
                if made:
                    break

    def _learn(self, values: Sequence[Any]) -> None:
        """Note the texts and numbers that met in programs: they come up in the inputs that follow."""
        for value in values:
            known = self._met.get(type(value))
            if known is not None and len(known) < _WORDS and (abs(value) < 2**64 if type(value) is not str else value):
                known[value] = None

    def _made(self) -> list[str]:
        """Return inputs made of those that are kept: half of them by what met in the programs, half by steps."""
        made: list[str] = []
        for _ in range(len(self._waiting)):
            if len(made) >= _BATCH // 2:
                break
            replaced = self._waiting.popleft()
            some = list(islice(replaced, _OF_ONE))
            made += some
            if some:
                self._waiting.append(replaced)
        return made + [text for _ in range(_BATCH - len(made)) if (text := self._changed())]

    def _changed(self) -> str | None:
        """Return a fresh input, one with a node of another one in it, or one in some steps."""
        draws = self._draws()
        if not self._corpus or draws.chance(0.1):
            return self._source.drawn(draws)
        arguments = draws.one_of(self._corpus[-20:] if draws.chance(0.5) else self._corpus)
        if draws.chance(0.3):
            parts = self._source.parts(arguments)
            nodes = nodes_of(parts)
            others = nodes if draws.chance(0.6) else nodes_of(self._source.parts(draws.one_of(self._corpus)))
            if nodes and others:
                path, part = draws.one_of(nodes)
                fitting = [new for new in near(draws.one_of(others)[1].value, part.value) if part.type.fits(new)]
                return _written(arguments, with_node(parts, path, draws.one_of(fitting[:2]))) if fitting else None
        return self._source.changed(arguments, draws, _STEPS)


def _written(arguments: tuple[Any, ...], values: Sequence[Any]) -> str | None:
    try:
        return write_literal(joined_arguments(*split_like(arguments, values)))
    except (BadText, RecursionError, ValueError, TypeError):
        return None
