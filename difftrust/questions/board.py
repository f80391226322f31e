"""What may be asked about a check: inputs on which its candidates differ, and what each of them does there.

As JSON it goes on in another process, or on a page, without executing anything again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from difftrust.check.inputs.input_filter import InputFilter
from difftrust.check.outcomes import Answers
from difftrust.check.programs import Duel
from difftrust.check.spelling import kind_in, spelled_method
from difftrust.check.verdict import Evidence
from difftrust.questions.information import squared_classes
from difftrust.search.inputs import InputSource
from difftrust.text import by_length
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.equality import Comparison, Equality

_SHRUNKEN = 8
"""Ways to split the candidates whose shortest input is made smaller, the most even ones first."""
_OF_EACH = 2
"""Inputs of each way to split the candidates: another one is asked about where the first may not be allowed."""
_MOST_WAYS = 100
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
    kind: str = "method"
    """Of a method, as ``Target.kind`` has it."""

    def call(self, arguments: str) -> str:
        """Return the call with an argument tuple, as one types it."""
        return spelled_method(self.entry_point, arguments, self.kind)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return (n_programs,): how many candidates have each."""
        return np.array([len(names) for names in self.names], dtype=np.int64)


def board_of(found: Evidence, judge: InputFilter, source: InputSource) -> Board:
    """Return the inputs that split the programs: each way by its shortest ones, those in doubt last."""
    measured, answers, executor = found.measured, judge.answers, judge.executor
    sound = measured.works & ~measured.lacks_package
    rows = [p for p in np.flatnonzero(sound).tolist() if p not in found.examples.contradicting]
    codes = tuple(judge.programs[p].code for p in rows)
    names = tuple(found.names[p] for p in rows)
    name, kind = found.task.entry_point, kind_in(found.task.preamble, found.task.entry_point)
    board = Board(entry_point=name, codes=codes, names=names, asked=(), answers=answers, kind=kind)
    if len(rows) < 2:
        return board
    labels = np.hstack([measured.distinct.labels[rows], found.seeds.labels[rows]])
    texts = [*measured.distinct.inputs, *found.seeds.inputs]
    chosen: dict[str, None] = {}
    for number, members in enumerate(_ways(labels, np.array([len(own) for own in names]))):
        short = sorted((texts[i] for i in members), key=by_length)[:_OF_EACH]
        if number < _SHRUNKEN:
            short.insert(0, _smaller(short[0], codes, judge, source))
        chosen |= dict.fromkeys(short)
    doubted = {each.arguments: each.condition for each in found.validation if not each.stated}
    inputs = list(chosen | doubted)
    ran = executor.run(codes, inputs).rows if inputs else []
    asked = [
        Asked(arguments=text, outcomes=row, doubt=text in doubted, condition=doubted.get(text, ""))
        for text, row in zip(inputs, ran, strict=True)
        if not any(kind in _SAYS_NOTHING for kind, _ in row) and len(set(answers.classify(row))) > 1
    ]
    order = {text: at for at, text in enumerate(doubted)}
    asked.sort(key=lambda each: (order.get(each.arguments, -1), by_length(each.arguments)))
    return replace(board, asked=tuple(asked))


def _smaller(start: str, codes: Sequence[str], judge: InputFilter, source: InputSource) -> str:
    """Return the smallest input found that is kept and splits the programs as ``start`` does."""

    def way(row: Sequence[Outcome]) -> list[int] | None:
        ended = any(kind in _SAYS_NOTHING for kind, _ in row)
        return None if ended else _canonical(judge.answers.classify(row))

    wanted, fresh = way(judge.executor.run(codes, [start]).rows[0]), judge.fresh()

    def shows(*row: Outcome) -> bool | None:
        found = way(row)
        return None if found is None or wanted is None else found == wanted

    shrunk = Duel(judge.executor, codes, shows, fresh.keeps).smallest([start], (), source.accepts)
    return shrunk.arguments if shrunk else start


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


def board_as_json(board: Board) -> dict[str, Any]:
    """Return all of a board as JSON has it, outcomes by the name of their kind."""
    comparison = board.answers.comparison
    return {
        "entry_point": board.entry_point,
        "kind": board.kind,
        "codes": list(board.codes),
        "names": [list(names) for names in board.names],
        "asked": [
            vars(each) | {"outcomes": [[Kind(kind).name.lower(), text] for kind, text in each.outcomes]}
            for each in board.asked
        ],
        "equality": str(comparison.equality),
        "tolerance": comparison.tolerance,
        "documented": sorted(board.answers.documented),
    }


def board_of_json(written: Any) -> Board:
    """Return the board that ``board_as_json`` wrote. Raises WrongUsage for anything else."""
    try:
        names = tuple(tuple(str(name) for name in own) for own in written["names"])
        asked = tuple(
            Asked(
                arguments=str(each["arguments"]),
                outcomes=tuple((Kind[str(kind).upper()], str(text)) for kind, text in each["outcomes"]),
                doubt=bool(each["doubt"]),
                condition=str(each["condition"]),
            )
            for each in written["asked"]
        )
        comparison = Comparison(Equality(written["equality"]), tolerance=float(written["tolerance"]))
        answers = Answers(comparison, [str(name) for name in written["documented"]])
        codes = tuple(str(code) for code in written["codes"])
        name, kind = str(written["entry_point"]), str(written.get("kind", "method"))
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise WrongUsage(f"expected questions as a check writes them, got others ({type(e).__name__})") from None
    if len(names) != len(codes) or any(len(each.outcomes) != len(codes) for each in asked):
        raise WrongUsage(f"expected an outcome of each of {len(codes)} programs on each input, some lack; check again")
    return Board(entry_point=name, codes=codes, names=names, asked=asked, answers=answers, kind=kind)
