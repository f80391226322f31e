"""Shrink the inputs on which the behaviours of one task differ, all pairs of them together, in the sandbox.

Every input that is tried is run on all programs at once, so what is found for one pair serves the others. A pair goes
downhill in the order ``simplicity``: to the simplest input tried so far on which the two still differ and still end in
the same kinds of outcome, until none of its neighbours does. Inputs stay valid by the store's policy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.literals import read_literal, write_literal
from difftrust_core.base.records import ACCEPTED, Kind, Outcome, Validity
from difftrust_core.base.task import Task
from difftrust_core.execution.places import Places
from difftrust_core.execution.relations import Checker
from difftrust_core.languages.language import language_of
from difftrust_core.languages.python.shrink import Simplicity, simplicity
from difftrust_core.metrics.equality import Equality
from difftrust_core.metrics.relation import Classes
from difftrust_core.sandbox.host import Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable

RIGHT = -1
"""The row that stands for what is right."""
MAX_CALLS = 20_000
"""Calls of programs that one task's pairs may take together; a run of a program counts as _CALLS_A_RUN more."""
_CALLS_A_RUN = 40
_LARGEST_POOL = 800
"""Neighbours of an input that are tried at most; where there are more, it is not called the smallest."""
_LONGEST = 2_000
"""Characters; longer inputs are not shrunken: their neighbours take too long to make."""
_FIRST, _MORE = 24, 160
"""Neighbours of an input tried in its first round, simplest first, and in each further one."""
_STARTS = 3
_UNSHRUNKEN = (Kind.TIMEOUT, Kind.MEMORY, Kind.SKIPPED, Kind.CRASH, Kind.FORGED, Kind.LOAD_ERROR)
"""Outcomes that take long to see again, or that an input has no part in."""
_PATIENCE = 3
"""In so many rounds a program may run out of time; then its pairs stay where they are."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two behaviours, by their rows, and the inputs on which they differ that are tried as a start, best first."""

    first: int
    second: int
    """RIGHT: what is right."""
    starts: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Smallest:
    """The smallest input found for a pair, and what the two do there."""

    pair: Pair
    input_index: int
    """Of the measured input that it was made from."""
    arguments: str
    outcomes: tuple[Outcome, Outcome | None]
    """The second is None where only a checker knows what is right."""
    is_smallest: bool
    """No neighbour shows the difference, and all were tried."""


@dataclass(kw_only=True)
class _Walk:
    """A pair on its way down."""

    pair: Pair
    index: int = 0
    start: str = ""
    current: str = ""
    kinds: tuple[Kind, Kind] = (Kind.VALUE, Kind.VALUE)
    coarse: bool = True
    tried: int = 0
    """Neighbours of ``current`` that were tried."""
    done: bool = False
    minimal: bool = False


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What was seen on one input: the outcome of each row, and its class."""

    outcomes: Mapping[int, Outcome]
    labels: Mapping[int, int]
    is_valid: bool


class Shrinking:
    """The programs of one task at work. ``codes``: row -> text; RIGHT is added where the task has a reference."""

    def __init__(
        self,
        task: Task,
        codes: Mapping[int, str],
        sandbox: Sandbox,
        *,
        validity: str,
        equality: Equality,
        checker: Checker | None = None,
        places: Places,
    ):
        self._task, self._sandbox, self._language = task, sandbox, language_of(task)
        self._codes = dict(codes) | ({RIGHT: task.reference} if task.reference is not None else {})
        self._validity, self._places, self._checker = validity, places, checker
        self._classes = Classes(equality, task.relation)
        self._seen: dict[str, _Seen] = {}
        self._order: dict[str, Simplicity] = {}
        self._pools: dict[tuple[str, bool], list[str]] = {}
        self._slow: dict[int, int] = {}
        self._left = MAX_CALLS

    def smallest(self, pairs: Sequence[Pair], inputs: Sequence[str]) -> Iterator[Smallest]:
        """Yield the smallest input found for each pair; a pair that differs on no start when run again is left out."""
        walks = [_Walk(pair=pair) for pair in pairs]
        starts = list(dict.fromkeys(inputs[i] for pair in pairs for i in pair.starts[:_STARTS]))
        self._run(starts, {row for pair in pairs for row in (pair.first, pair.second)})
        begun = [walk for walk in walks if self._begin(walk, inputs)]
        while active := [walk for walk in begun if not walk.done]:
            self._step(active)
        self._confirm(begun)
        for walk in begun:
            if walk.current:
                seen = self._seen[walk.current]
                yield Smallest(
                    pair=walk.pair,
                    input_index=walk.index,
                    arguments=walk.current,
                    outcomes=(seen.outcomes[walk.pair.first], seen.outcomes.get(walk.pair.second)),
                    is_smallest=walk.minimal,
                )

    def _begin(self, walk: _Walk, inputs: Sequence[str]) -> bool:
        """Put a pair on the first of its starts on which it differs; tell whether there is one."""
        for index in walk.pair.starts[:_STARTS]:
            if self._differ(walk.pair, inputs[index]):
                walk.index, walk.start, walk.current = index, inputs[index], inputs[index]
                walk.kinds = self._kinds(walk.pair, walk.current)
                walk.done = len(walk.current) > _LONGEST or bool(set(walk.kinds) & set(_UNSHRUNKEN))
                return True
        return False

    def _step(self, active: Sequence[_Walk]) -> None:
        """Try some neighbours of every pair's input, and move the pairs."""
        wanted = dict[str, None]()
        for walk in active:
            pool = self._pool(walk.current, walk.coarse)
            stop = walk.tried + (_MORE if walk.tried else _FIRST)
            wanted |= dict.fromkeys(pool[walk.tried : stop])
            walk.tried = min(stop, len(pool))
        new = [text for text in wanted if text not in self._seen]
        if self._left <= 0:
            for walk in active:
                walk.done = True
            return
        late = self._run(new, {row for walk in active for row in (walk.pair.first, walk.pair.second)})
        simplest_first = sorted((text for text in wanted), key=self._order_of)
        for walk in active:
            self._move(walk, simplest_first)
            walk.done |= bool({walk.pair.first, walk.pair.second} & late)

    def _move(self, walk: _Walk, simplest_first: Sequence[str]) -> None:
        here = self._order_of(walk.current)
        for text in simplest_first:
            if self._order_of(text) >= here:
                break
            if self._shows(walk, text):
                walk.current, walk.tried = text, 0
                return
        pool = self._pool(walk.current, walk.coarse)
        if walk.tried >= len(pool):
            if walk.coarse:
                walk.coarse, walk.tried = False, 0
            else:
                walk.done, walk.minimal = True, len(pool) < _LARGEST_POOL

    def _confirm(self, walks: Sequence[_Walk]) -> None:
        """Run what was found once more: a pair that does not differ there again goes back to its start, or nowhere."""
        finals = list(dict.fromkeys(walk.current for walk in walks))
        rows = {row for walk in walks for row in (walk.pair.first, walk.pair.second)}
        self._run(finals, rows)
        lost = [walk for walk in walks if not self._shows(walk, walk.current)]
        self._run(list(dict.fromkeys(walk.start for walk in lost if walk.start not in finals)), rows)
        for walk in lost:
            walk.current, walk.minimal = walk.start if self._differ(walk.pair, walk.start) else "", False

    def _pool(self, current: str, coarse: bool) -> list[str]:
        """Return the neighbours of an input, simplest first."""
        if (current, coarse) not in self._pools:
            made = self._language.around(self._task)(read_literal(current), coarse=coarse)
            texts = dict[str, None]()
            for arguments in islice(made, _LARGEST_POOL):
                text = write_literal(arguments)
                self._order[text] = simplicity(arguments)
                texts[text] = None
            here = self._order_of(current)
            self._pools[current, coarse] = sorted((t for t in texts if self._order[t] < here), key=self._order_of)
        return self._pools[current, coarse]

    def _order_of(self, text: str) -> Simplicity:
        if text not in self._order:
            self._order[text] = simplicity(read_literal(text))
        return self._order[text]

    def _kinds(self, pair: Pair, text: str) -> tuple[Kind, Kind]:
        outcomes = self._seen[text].outcomes
        return outcomes[pair.first][0], outcomes.get(pair.second, ACCEPTED)[0]

    def _differ(self, pair: Pair, text: str) -> bool:
        seen = self._seen[text]
        if pair.first not in seen.labels or pair.second not in seen.labels:
            return False
        return seen.labels[pair.first] != seen.labels[pair.second]

    def _shows(self, walk: _Walk, text: str) -> bool:
        seen = self._seen.get(text)
        return (
            seen is not None
            and seen.is_valid
            and self._differ(walk.pair, text)
            and self._kinds(walk.pair, text) == walk.kinds
        )

    def _run(self, texts: Sequence[str], rows: set[int]) -> set[int]:
        """Run the programs of these rows on inputs, and the reference; return the rows that run out of time."""
        inside = self._places.inside(texts) if self._validity == Validity.DOMAIN else np.ones(len(texts), dtype=bool)
        none = _Seen(outcomes={}, labels={}, is_valid=False)
        self._seen |= {text: none for text, is_inside in zip(texts, inside.tolist(), strict=True) if not is_inside}
        chosen = [text for text, is_inside in zip(texts, inside.tolist(), strict=True) if is_inside]
        if not chosen:
            return set()
        table = OutcomeTable.empty(len(chosen))
        self._sandbox.load(self._language.preamble(self._task), chosen, table)
        ids, late = dict[int, NDArray[np.uint16]](), set[int]()
        for row in sorted((rows | {RIGHT}) & self._codes.keys()):
            run = self._sandbox.run(self._language.source(self._task, self._codes[row]), self._task.entry_point)
            ids[row] = run.outcome_ids
            if run.restarts:
                self._slow[row] = self._slow.get(row, 0) + 1
                late |= {row} if self._slow[row] >= _PATIENCE else set()
        self._left -= len(ids) * (len(chosen) + _CALLS_A_RUN)
        for text, seen in zip(chosen, self._classified(chosen, table, ids), strict=True):
            self._seen[text] = seen
        return late

    def _classified(
        self, texts: Sequence[str], table: OutcomeTable, ids: Mapping[int, NDArray[np.uint16]]
    ) -> Iterator[_Seen]:
        has_accept = self._task.relation is not None and bool(self._task.relation.accept)
        if has_accept:  # what is right stands for every accepted value
            for row in table.rows:
                row.append(ACCEPTED)
        said = self._checker.says(texts, table.rows) if self._checker else [()] * len(texts)
        for i, (row, words) in enumerate(zip(table.rows, said, strict=True)):
            of_row = {name: int(own[i]) for name, own in ids.items()}
            labels = self._classes.classify(row, words)
            seen = {name: labels[place] for name, place in of_row.items()}
            if has_accept:
                seen[RIGHT] = labels[-1]
            outcomes = {name: row[place] for name, place in of_row.items()}
            yield _Seen(outcomes=outcomes, labels=seen, is_valid=self._is_valid(outcomes))

    def _is_valid(self, outcomes: Mapping[int, Outcome]) -> bool:
        """Tell whether an input is kept, by what the programs do there."""
        judged_by_reference = self._validity == Validity.REFERENCE or (
            self._validity == Validity.DOMAIN and not self._places.has_domain and RIGHT in self._codes
        )
        if judged_by_reference:
            return RIGHT not in outcomes or outcomes[RIGHT][0] == Kind.VALUE
        if self._validity == Validity.QUORUM:
            own = [kind for row, (kind, _) in outcomes.items() if row != RIGHT and kind != Kind.LOAD_ERROR]
            return 2 * own.count(Kind.VALUE) >= len(own)
        return True
