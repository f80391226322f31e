"""Shrink the inputs on which the behaviours of one task differ, all pairs of them together, in the sandbox."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from difftrust.search.shrink import Effort, Shrunk, shrink_together
from difftrust_core.base.records import ACCEPTED, Kind, Outcome, Validity
from difftrust_core.base.task import Task
from difftrust_core.execution.answers import Checker
from difftrust_core.execution.validity import DomainTest
from difftrust_core.languages.registry import language_of
from difftrust_core.metrics.equality import Equality
from difftrust_core.metrics.relation import Classes
from difftrust_core.sandbox.host import OutcomeTable, Sandbox


class Place(StrEnum):
    """Where an input lies."""

    DOMAIN = "domain"
    """The task allows it."""
    TYPES = "types"
    """It does not fit the declared types."""
    OUTSIDE = "outside"
    """It fits the types, and the domain's condition does not hold."""


class Places(DomainTest):
    """Tells where inputs of one task lie; the domain's condition runs in ``sandbox``. Raises BadTask if it is none."""

    def of(self, inputs: Sequence[str]) -> list[Place | None]:
        """Return where each input lies; None where there is no domain."""
        if self.domain is None:
            return [None] * len(inputs)
        fits = [self.domain.fits(text) for text in inputs]
        holding = iter(self.holds([text for text, fit in zip(inputs, fits, strict=True) if fit]))
        return [Place.TYPES if not fit else Place.DOMAIN if next(holding) else Place.OUTSIDE for fit in fits]


RIGHT = -1
"""The row that stands for what is right."""
MAX_CALLS = 20_000
"""Calls of programs that one task's pairs may take together; a run of a program counts as _CALLS_A_RUN more."""
_CALLS_A_RUN = 40
_EFFORT = Effort(first=24, more=160, most=800)
_LONGEST = 2_000
"""Characters; longer inputs are not shrunken: their neighbours take too long to make."""
UNTELLING = (Kind.TIMEOUT, Kind.MEMORY, Kind.SKIPPED, Kind.CRASH, Kind.FORGED, Kind.LOAD_ERROR)
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


@dataclass(frozen=True, kw_only=True)
class _Goal:
    """A pair, the start on which it differs, and how the two end there."""

    pair: Pair
    index: int
    start: str
    kinds: tuple[Kind, Kind]


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
        self._slow: dict[int, int] = {}
        self._left = MAX_CALLS

    def smallest(self, pairs: Sequence[Pair], inputs: Sequence[str]) -> Iterator[Smallest]:
        """Yield the smallest input found for each pair; a pair that differs on no start when run again is left out."""
        starts = list(dict.fromkeys(inputs[i] for pair in pairs for i in pair.starts))
        self._run(starts, _rows(pairs))
        goals = [goal for pair in pairs if (goal := self._begin(pair, inputs))]
        able = [g for g in goals if len(g.start) <= _LONGEST and not set(g.kinds) & set(UNTELLING)]
        found = {goal: Shrunk(arguments=goal.start, minimal=False) for goal in goals}
        around = self._language.around(self._task)
        found |= shrink_together({goal: goal.start for goal in able}, self, around, _EFFORT)
        for goal, shrunk in self._confirmed(found).items():
            seen = self._seen[shrunk.arguments]
            yield Smallest(
                pair=goal.pair,
                input_index=goal.index,
                arguments=shrunk.arguments,
                outcomes=(seen.outcomes[goal.pair.first], seen.outcomes.get(goal.pair.second)),
                is_smallest=shrunk.minimal,
            )

    def _begin(self, pair: Pair, inputs: Sequence[str]) -> _Goal | None:
        """Return a pair with the first of its starts on which it differs; None if it does on none."""
        for index in pair.starts:
            text = inputs[index]
            if self._differ(pair, text):
                return _Goal(pair=pair, index=index, start=text, kinds=self._kinds(pair, text))
        return None

    def _confirmed(self, found: Mapping[_Goal, Shrunk]) -> dict[_Goal, Shrunk]:
        """Run what was found once more: a pair that does not differ there again goes back to its start, or nowhere."""
        finals, rows = list(dict.fromkeys(each.arguments for each in found.values())), _rows([g.pair for g in found])
        self._run(finals, rows)
        lost = [goal for goal, each in found.items() if not self.shows(goal, each.arguments)]
        self._run(list(dict.fromkeys(goal.start for goal in lost if goal.start not in finals)), rows)
        gone = [goal for goal in lost if not self._differ(goal.pair, goal.start)]
        back = {goal: Shrunk(arguments=goal.start, minimal=False) for goal in lost}
        return {goal: back.get(goal, each) for goal, each in found.items() if goal not in gone}

    def run(self, texts: Sequence[str], goals: Sequence[_Goal]) -> Collection[_Goal]:
        """Run the programs of these goals on inputs; return the goals that cannot go on: all, once the budget ends."""
        if self._left <= 0:
            return goals
        late = self._run([text for text in texts if text not in self._seen], _rows([goal.pair for goal in goals]))
        return [goal for goal in goals if {goal.pair.first, goal.pair.second} & late]

    def shows(self, goal: _Goal, text: str) -> bool:
        """Tell whether an input that was run is valid and shows the two differ as they did at the start."""
        seen = self._seen.get(text)
        return (
            seen is not None
            and seen.is_valid
            and self._differ(goal.pair, text)
            and self._kinds(goal.pair, text) == goal.kinds
        )

    def _kinds(self, pair: Pair, text: str) -> tuple[Kind, Kind]:
        outcomes = self._seen[text].outcomes
        return outcomes[pair.first][0], outcomes.get(pair.second, ACCEPTED)[0]

    def _differ(self, pair: Pair, text: str) -> bool:
        seen = self._seen[text]
        if pair.first not in seen.labels or pair.second not in seen.labels:
            return False
        return seen.labels[pair.first] != seen.labels[pair.second]

    def _run(self, texts: Sequence[str], rows: set[int]) -> set[int]:
        """Run the programs of these rows on inputs, and the reference; return the rows that run out of time."""
        chosen = texts
        if self._validity == Validity.DOMAIN:
            places = zip(texts, self._places.of(texts), strict=True)
            chosen = [text for text, place in places if place in (None, Place.DOMAIN)]
        self._seen |= dict.fromkeys(texts, _Seen(outcomes={}, labels={}, is_valid=False))
        if not chosen:
            return set()
        table = OutcomeTable.empty(len(chosen))
        self._sandbox.load(self._language.preamble(self._task), chosen, table)
        ids, late = dict[int, NDArray[np.uint16]](), set[int]()
        for row in sorted((rows | {RIGHT}) & self._codes.keys()):
            run = self._sandbox.run(self._language.source(self._task, self._codes[row]), self._task.entry_point)
            ids[row] = np.asarray(run.outcome_ids)
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
            self._validity == Validity.DOMAIN and self._places.domain is None and RIGHT in self._codes
        )
        if judged_by_reference:
            return RIGHT not in outcomes or outcomes[RIGHT][0] == Kind.VALUE
        if self._validity == Validity.QUORUM:
            own = [kind for row, (kind, _) in outcomes.items() if row != RIGHT and kind != Kind.LOAD_ERROR]
            return 2 * own.count(Kind.VALUE) >= len(own)
        return True


def _rows(pairs: Sequence[Pair]) -> set[int]:
    return {row for pair in pairs for row in (pair.first, pair.second)}
