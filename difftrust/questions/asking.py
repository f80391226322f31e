"""Ask which outcome is right on single inputs; candidates that contradict an answer drop out."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust.check.outcomes import is_a
from difftrust.check.spelling import EFFECTS, effects_of, spelled_outcome, value_alone
from difftrust.questions.board import Asked, Board
from difftrust.questions.information import best_question
from difftrust.source.scopes import expression_in
from difftrust.text import by_length, printable
from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import WrongUsage

MOST = 5
"""Questions, at most: after two, hardly anything is left to settle (`difftrust table questions`)."""
NOT_ALLOWED, EITHER = "not allowed", "either"
FORM = f'a letter, a value such as [1, 2], "raises ValueError", "{NOT_ALLOWED}" or "{EITHER}"'
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One outcome on the input that is asked about, and whose it is."""

    letter: str
    outcome: str
    """In words."""
    answer: str
    """What to answer if it is right; empty where no answer says so, for it is neither a value nor an exception."""
    candidates: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question: what is right on this input."""

    number: int
    """From 1."""
    arguments: str
    call: str
    options: tuple[Option, ...]
    """Those of most candidates first."""
    n_left: int
    """Candidates that contradict no answer so far."""
    doubt: bool
    """The docstring does not say whether the input is allowed."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the user said of an input."""

    arguments: str
    said: str
    """``== VALUE``, ``raises NAME``, ``not allowed`` or ``either``."""


class Asking:
    """A conversation: each question is about the input that splits the candidates left most evenly.

    That minimises how many are expected to be left if each is equally likely to be right. Inputs of which the docstring
    does not say whether they are allowed come last. What candidates do is data; an answer is a literal or a word.
    """

    def __init__(self, board: Board, answers: Iterable[Answer] = (), *, most: int = MOST):
        """Take up a conversation after these ``answers``. Raises WrongUsage for one that cannot be understood."""
        self.board, self.most = board, most
        self.answers: list[Answer] = []
        self._alive = np.ones(len(board.codes), dtype=np.bool_)
        self._open = np.ones(len(board.asked), dtype=np.bool_)
        labels = [board.answers.classify(each.outcomes) for each in board.asked]
        self._labels = np.array(labels, dtype=np.int64).reshape(-1, len(board.codes)).T
        self._doubted = np.array([each.doubt for each in board.asked], dtype=np.bool_)
        for answer in answers:
            self._take(self._index(answer.arguments), answer.said)

    def question(self) -> Question | None:
        """Return the next question; None where nothing splits the candidates left, or enough was asked."""
        index = self._next()
        if index is None:
            return None
        asked = self.board.asked[index]
        return Question(
            number=len(self.answers) + 1,
            arguments=asked.arguments,
            call=self.board.call(asked.arguments),
            options=self._options(index),
            n_left=self.n_left,
            doubt=asked.doubt,
        )

    def answer(self, text: str) -> None:
        """Take the answer to the question. Raises WrongUsage if it cannot be understood, or nothing was asked."""
        index = self._next()
        if index is None:
            raise WrongUsage("expected a question to answer, there is none left")
        self._take(index, self._understood(text, index))

    @property
    def n_left(self) -> int:
        """How many candidates contradict no answer."""
        return int(self.board.counts[self._alive].sum())

    @property
    def survivors(self) -> tuple[str, ...]:
        """Return the candidates that contradict no answer, those of the largest cluster first."""
        return tuple(name for row in self._clusters() for p in row for name in self.board.names[p])

    @property
    def program(self) -> str | None:
        """Return the program of most survivors that do the same, the smaller one of two; None if none is left."""
        clusters = self._clusters()
        return min((self.board.codes[p] for p in clusters[0]), key=by_length) if clusters else None

    @property
    def is_settled(self) -> bool:
        """Whether the candidates left did the same on every input that may be asked about."""
        return len(self._clusters()) <= 1

    @property
    def is_same(self) -> bool:
        """Whether the candidates left did the same also on the inputs that were asked about."""
        return len(self._groups(self._labels)) <= 1

    @property
    def pins(self) -> tuple[str, ...]:
        """Return the answers that say what is right as --example takes them, none of an object that was used before."""
        pins = []
        for answer in self.answers:
            call, said = self.board.call(answer.arguments), answer.said
            is_stated = said not in (NOT_ALLOWED, EITHER) and effects_of(said[3:]) is None
            if is_stated and expression_in(call) is not None:
                right = said if said.startswith("raises ") else f"== {value_alone(said[3:], listed=True)}"
                pins.append(f"{call} {right}")
        return tuple(pins)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Return what --assume takes to leave out inputs that are not allowed, as far as that is known."""
        denied = [self.board.asked[self._index(a.arguments)] for a in self.answers if a.said == NOT_ALLOWED]
        return tuple(dict.fromkeys(each.condition for each in denied if each.condition))

    def _next(self) -> int | None:
        if len(self.answers) >= self.most or not len(self.board.asked):
            return None
        for allowed in (self._open & ~self._doubted, self._open & self._doubted):
            index = best_question(self._labels, self.board.counts, alive=self._alive, allowed=allowed)
            if index is not None:
                return index
        return None

    def _index(self, arguments: str) -> int:
        for index, each in enumerate(self.board.asked):
            if each.arguments == arguments:
                return index
        raise WrongUsage(f"expected an input of these {len(self.board.asked)} questions, got {printable(arguments)}")

    def _options(self, index: int) -> tuple[Option, ...]:
        asked, outcomes = self.board.asked[index], self.board.asked[index].outcomes
        return tuple(
            Option(
                letter=_LETTERS[place] if place < len(_LETTERS) else str(place),
                outcome=spelled_outcome(outcomes[rows[0]][0].name.lower(), outcomes[rows[0]][1], asked.arguments),
                answer=self._answer_of(asked, rows),
                candidates=tuple(name for p in rows for name in self.board.names[p]),
            )
            for place, rows in enumerate(self._groups(self._labels[:, [index]]))
        )

    def _answer_of(self, asked: Asked, rows: Sequence[int]) -> str:
        """Return what says that the outcome of the programs ``rows`` is right, and that no other is."""
        kind, text = asked.outcomes[rows[0]]
        if kind == Kind.EXCEPTION:
            return f"raises {self.board.answers.known(text).partition('(')[0]}"
        known = _canonical(text) if kind == Kind.VALUE else None
        if known is None:
            return ""
        taken = self._agree(asked, f"== {known}") & self._alive
        return f"== {known}" if set(np.flatnonzero(taken).tolist()) <= {*rows} else f"== {EFFECTS}(value={known})"

    def _understood(self, text: str, index: int) -> str:
        """Return what was answered in one form. Raises WrongUsage."""
        plain = re.sub(r"\s+", " ", text.strip())
        if plain.lower() in (NOT_ALLOWED, EITHER):
            return plain.lower()
        for option in self._options(index):
            if plain == option.letter and option.answer:
                return option.answer
        if match := re.fullmatch(r"raises ([A-Za-z_][\w.]*)", plain):
            return f"raises {match[1].rpartition('.')[2]}"
        try:
            return f"== {write_literal(read_literal(text.strip().removeprefix('==').strip()))}"
        except (BadText, RecursionError):
            raise WrongUsage(f"expected {FORM}, got {printable(text.strip())[:80]!r}") from None

    def _take(self, index: int, said: str) -> None:
        said = self._understood(said, index)
        asked = self.board.asked[index]
        self._open[index] = False
        self.answers.append(Answer(arguments=asked.arguments, said=said))
        if said == NOT_ALLOWED:
            if asked.condition:  # nothing more of that kind
                self._open &= np.array([each.condition != asked.condition for each in self.board.asked])
        elif said != EITHER:
            agree, labels = self._agree(asked, said), self._labels[:, index]
            self._alive &= np.isin(labels, labels[agree])  # what counts as one outcome is right or wrong together

    def _agree(self, asked: Asked, said: str) -> NDArray[np.bool_]:
        """Return which programs do on an input what was said to be right: (n_programs,)."""
        answers = self.board.answers
        if said.startswith("raises "):
            name = said.removeprefix("raises ")
            return np.array([kind == Kind.EXCEPTION and is_a(text, name) for kind, text in asked.outcomes])
        right = said.removeprefix("==").strip()
        exact = effects_of(right)
        if exact is not None and exact.fields.keys() == {"value"}:  # this value, and no effects
            right = write_literal(exact.fields["value"])
        whole = (Kind.VALUE, write_literal(read_literal(right)))
        found = []
        for kind, text in asked.outcomes:
            if kind == Kind.VALUE and exact is None:  # a value was answered, nothing of effects or of a list's type
                text = value_alone(text, listed=right.startswith("["))
            found.append(kind == Kind.VALUE and not answers.differ(whole, (kind, _canonical(text) or text)))
        return np.array(found)

    def _clusters(self) -> list[list[int]]:
        """Return the programs left, those that did the same on every input together, the most candidates first."""
        return self._groups(self._labels[:, self._open])

    def _groups(self, labels: NDArray[np.int64]) -> list[list[int]]:
        """Return the programs left, those of equal rows of ``labels`` together, the most candidates first."""
        groups = defaultdict[tuple[int, ...], list[int]](list)
        for p in np.flatnonzero(self._alive).tolist():
            groups[tuple(labels[p].tolist())].append(p)
        counts = self.board.counts
        return sorted(groups.values(), key=lambda rows: (-int(counts[rows].sum()), rows))


def _canonical(text: str) -> str | None:
    """Return a value's text as an answer is written; None where it is no literal."""
    try:
        return write_literal(read_literal(text))
    except (BadText, RecursionError):
        return None
