"""What may be asked about a check: inputs on which its candidates differ, and what each of them does there."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.checks.answers import Answers
from difftrust_core.checks.inputs import Draws
from difftrust_core.checks.judge import Judge
from difftrust_core.checks.matrix import Matrix, Witnesses
from difftrust_core.checks.programs import Executor
from difftrust_core.checks.report import Validation
from difftrust_core.languages.language import language_of
from difftrust_core.languages.python.shrink import shrink
from difftrust_core.metrics.questions import squared_classes

_SHRUNKEN = 8
"""Ways to split the candidates whose shortest input is made smaller, the most even ones first."""
_OF_EACH = 2
"""Inputs of each way to split the candidates: another one is asked about where the first may not be allowed."""
_MOST_WAYS = 100
_CPU = 2.0
"""CPU seconds that making one input smaller may take."""
_SAYS_NOTHING = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """An input that may be asked about."""

    arguments: str
    """An argument tuple."""
    outcomes: tuple[Outcome, ...]
    """Of each program."""
    doubt: bool = False
    """The docstring does not say whether it is allowed: asked about last."""
    condition: str = ""
    """What --assume takes to leave such inputs out, where that is known."""


@dataclass(frozen=True, kw_only=True)
class Board:
    """All that questions rest on; nothing is executed for them."""

    entry_point: str
    codes: tuple[str, ...]
    """The programs that work and contradict no example."""
    names: tuple[tuple[str, ...], ...]
    """Of each program, the candidates that have it."""
    asked: tuple[Asked, ...]
    """Inputs on which some two programs differ, short ones first."""
    answers: Answers
    """When two outcomes are equal."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return (n_programs,): how many candidates have each."""
        return np.array([len(names) for names in self.names], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What of a check a board is made of."""

    executor: Executor
    programs: Sequence[Program]
    names: Sequence[Sequence[str]]
    """Of each program, the candidates that have it."""
    answers: Answers
    judge: Judge
    draws: Draws
    matrix: Matrix
    witnesses: Witnesses
    validation: Sequence[Validation]
    contradicting: Collection[int]
    """Programs that contradict an example."""

    def board(self) -> Board:
        """Return the inputs that split the programs, each way to do so by its shortest ones, the best made smaller."""
        matrix = self.matrix
        rows = [p for p in np.flatnonzero(matrix.works & ~matrix.lacks_package).tolist() if p not in self.contradicting]
        codes = tuple(self.programs[p].code for p in rows)
        names = tuple(tuple(self.names[p]) for p in rows)
        entry_point = self.executor.task.entry_point
        if len(rows) < 2:
            return Board(entry_point=entry_point, codes=codes, names=names, asked=(), answers=self.answers)
        labels = np.hstack([matrix.labels_of_distinct[rows], self.witnesses.labels[rows]])
        texts = [*matrix.inputs, *self.witnesses.inputs]
        counts = np.array([len(own) for own in names], dtype=np.int64)
        chosen: dict[str, None] = {}
        for number, members in enumerate(_ways(labels, counts)):
            short = sorted((texts[i] for i in members), key=_length)[:_OF_EACH]
            if number < _SHRUNKEN:
                short.insert(0, self._smaller(short[0], codes))
            chosen |= dict.fromkeys(short)
        doubted = {each.arguments: each for each in self.validation if not each.stated}
        inputs = [*chosen, *(text for text in doubted if text not in chosen)]
        ran = self.executor.run(codes, inputs).rows if inputs else []
        found = [
            Asked(
                arguments=text,
                outcomes=row,
                doubt=text in doubted,
                condition=doubted[text].condition if text in doubted else "",
            )
            for text, row in zip(inputs, ran, strict=True)
            if not any(kind in _SAYS_NOTHING for kind, _ in row) and len(set(self.answers.classify(row))) > 1
        ]
        asked = tuple(sorted(found, key=lambda each: _length(each.arguments)))
        return Board(entry_point=entry_point, codes=codes, names=names, asked=asked, answers=self.answers)

    def _smaller(self, start: str, codes: Sequence[str]) -> str:
        """Return the smallest input found that is kept and splits the programs as ``start`` does."""
        wanted: list[int] | None = None
        judge, cpu = self.judge.fresh(), 0.0

        def shows(texts: Sequence[str]) -> list[bool | None]:
            nonlocal wanted, cpu
            if cpu > _CPU:
                return [None] * len(texts)
            ran = self.executor.run(codes, texts)
            cpu += sum(run.cpu for run in ran.runs)
            made = [_canonical(self.answers.classify(row)) for row in ran.rows]
            if wanted is None:
                wanted = made[0]
            found: list[bool | None] = [
                None if any(kind in _SAYS_NOTHING for kind, _ in row) else own == wanted
                for own, row in zip(made, ran.rows, strict=True)
            ]
            seen = [i for i, shown in enumerate(found) if shown]
            for i, kept in zip(seen, judge.keeps([texts[i] for i in seen]) if seen else [], strict=True):
                found[i] = kept
            return found

        if not shows([start])[0]:
            return start
        task = self.executor.task
        return shrink(start, shows, accepts=self.draws.accepts, around=language_of(task).around(task)).arguments


def _ways(labels: NDArray[np.int64], counts: NDArray[np.int64]) -> list[list[int]]:
    """Return the inputs that split the programs, those that do it alike together, the most even way first."""
    scores = squared_classes(labels, counts)
    ways: dict[tuple[int, ...], list[int]] = {}
    for i in np.flatnonzero((labels != labels[:1]).any(axis=0)).tolist():
        ways.setdefault(tuple(_canonical(labels[:, i].tolist())), []).append(i)
    return sorted(ways.values(), key=lambda members: int(scores[members[0]]))[:_MOST_WAYS]


def _canonical(labels: Sequence[int]) -> list[int]:
    """Return labels by first appearance: equal lists split the programs alike."""
    first: dict[int, int] = {}
    return [first.setdefault(label, len(first)) for label in labels]


def _length(text: str) -> tuple[int, str]:
    return len(text), text
