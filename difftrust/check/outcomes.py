"""What candidates answer: which outcomes are answers, which are equal, and the classes of equal ones on the inputs."""

import builtins
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.literals import BadText, read_literal, write_literal
from difftrust_core.base.records import Equality, Kind, Outcome
from difftrust_core.metrics.equality import Comparison
from difftrust_core.sandbox.host import ProgramRun

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
_BASES = {
    "JSONDecodeError": "ValueError",
    "StatisticsError": "ValueError",
    "AddressValueError": "ValueError",
    "NetmaskValueError": "ValueError",
    "ZoneInfoNotFoundError": "KeyError",
    "InvalidOperation": "ArithmeticError",
    "DivisionByZero": "ZeroDivisionError",
    "FrozenInstanceError": "AttributeError",
    "UnsupportedOperation": "OSError",
    "ParseError": "SyntaxError",
}
"""Exceptions of the standard library that are no builtins, and what they derive from."""


class Answers:
    """Values are answers, and so are exceptions that are documented; others are refusals.

    ``documented``: names of exceptions. One that derives from a documented one counts as that.
    """

    def __init__(self, comparison: Comparison, documented: Collection[str] = (), *, any_order: bool = False):
        """``any_order``: lists of the same items are equal, unless the equality is strict."""
        self.comparison, self.documented = comparison, frozenset(documented)
        self._any_order = any_order and comparison.equality is not Equality.STRICT

    def is_answer(self, outcome: Outcome) -> bool:
        """Tell whether an outcome says what the function does there: a value, or a documented exception."""
        kind, text = outcome
        return kind == Kind.VALUE or (kind == Kind.EXCEPTION and self.known(text).partition("(")[0] in self.documented)

    def classify(self, outcomes: Sequence[Outcome]) -> list[int]:
        """Return one class label per outcome; equal labels mean equal outcomes."""
        if self.documented:
            outcomes = [(k, self.known(text)) if k == Kind.EXCEPTION else (k, text) for k, text in outcomes]
        if self._any_order:
            outcomes = [(k, _in_one_order(text)) if k == Kind.VALUE else (k, text) for k, text in outcomes]
        return self.comparison.classify(outcomes)

    def differ(self, one: Outcome, other: Outcome) -> bool:
        """Tell whether two outcomes differ when they are compared with each other alone."""
        first, second = self.classify([one, other])
        return first != second

    def known(self, name: str) -> str:
        """Return the documented exception that ``name`` is or derives from, else ``name``; each with its message."""
        plain = name.partition("(")[0]
        for base in _bases(plain):
            if base in self.documented:
                return base + name[len(plain) :]
        return name


def _in_one_order(text: str) -> str:
    """Return a list or tuple with its items in one order; any other value, or one with effects, as it is."""
    try:
        value = read_literal(text)
    except BadText:
        return text
    return write_literal(type(value)(sorted(value, key=write_literal))) if type(value) in (list, tuple) else text


def _bases(name: str) -> list[str]:
    """Return the names of the exceptions that one of the standard library derives from, itself first."""
    start = _BASES.get(name, name)
    found = getattr(builtins, start, None)
    if not isinstance(found, type) or not issubclass(found, BaseException):
        return [name]
    return [name, *(base.__name__ for base in found.__mro__ if base not in (Exception, BaseException, object))]


def is_a(raised: str, name: str) -> bool:
    """Tell whether an exception, with its message or without, is ``name`` or derives from it, as far as is known."""
    return name in _bases(raised.partition("(")[0]) or (name == "Exception" and bool(raised))


def builtin_of(name: str) -> str:
    """Return the builtin exception that counts when an input is refused: ValueError, ZeroDivisionError, or its own."""
    line = _bases(name.partition("(")[0])
    return next((base for base in ("ValueError", "ZeroDivisionError") if base in line), line[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeClasses:
    """Programs on distinct inputs: ``labels`` and ``kinds`` are (n_programs, n_inputs), -1 for programs not run."""

    inputs: list[str]
    labels: Ints
    """Equal labels on an input mean equal outcomes."""
    kinds: Ints
    outcomes: frozenset[Outcome]
    """The distinct ones of programs that load."""

    @classmethod
    def of(
        cls,
        inputs: list[str],
        rows: Sequence[Sequence[Outcome]],
        answers: Answers,
        *,
        n_programs: int,
        ran: Sequence[int],
    ) -> "OutcomeClasses":
        """Sort what the programs ``ran`` did, a row an input, into classes."""
        labels, kinds = np.full((2, n_programs, len(inputs)), -1, dtype=np.int64)
        if inputs:
            labels[ran] = np.array([answers.classify(row) for row in rows]).T
            kinds[ran] = np.array([[int(kind) for kind, _ in row] for row in rows]).T
        outcomes = frozenset(outcome for row in rows for outcome in row if outcome[0] != Kind.LOAD_ERROR)
        return cls(inputs=inputs, labels=labels, kinds=kinds, outcomes=outcomes)

    def differ(self, one: int, other: int) -> Flags:
        """Return on which inputs two programs, both of which were run, differ: (n_inputs,)."""
        first, second = self.labels[[one, other]]
        return np.asarray((first != second) & (first >= 0) & (second >= 0))

    @property
    def splitting(self) -> list[int]:
        """The inputs on which some two programs that were run differ."""
        own = self.labels[(self.labels >= 0).any(axis=1)]
        return np.flatnonzero((own != own[:1]).any(axis=0)).tolist()


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """The programs on the measured inputs."""

    distinct: OutcomeClasses
    """On the distinct ones."""
    which: Ints
    """(n,): of each input drawn, its place among the distinct ones."""
    runs: list[ProgramRun]
    load_errors: list[str | None]
    """In the sandbox's words; None for a program that loads."""
    lacks_package: Flags
    """It does not load, for it imports a package that is not allowed."""
    spent: tuple[int, ...] = ()
    """Programs whose processor time ended before the last input, though none of their calls hung."""

    @property
    def labels(self) -> Ints:
        """(n_programs, n), one column an input drawn."""
        return np.ascontiguousarray(self.distinct.labels[:, self.which])

    @property
    def loads(self) -> Flags:
        """Which programs load."""
        return np.array([error is None for error in self.load_errors])

    @property
    def given_up(self) -> Flags:
        """Which programs ran out of their timeouts or crashes."""
        return np.asarray((self.distinct.kinds == Kind.SKIPPED).any(axis=1))

    @property
    def works(self) -> Flags:
        """Which programs return a value on some input and were not given up."""
        return np.asarray((self.distinct.kinds == Kind.VALUE).any(axis=1) & ~self.given_up)

    @property
    def n_returning(self) -> int:
        """On so many distinct inputs some program returns a value."""
        return int((self.distinct.kinds == Kind.VALUE).any(axis=0).sum())

    def inputs_that_split(self, one: int, other: int) -> list[str]:
        """Return the distinct inputs on which two programs were run and differ."""
        tried = (self.distinct.kinds[[one, other]] != Kind.SKIPPED).all(axis=0)
        return [self.distinct.inputs[i] for i in np.flatnonzero(self.distinct.differ(one, other) & tried).tolist()]
