"""What counts as an answer of a candidate, and which answers are equal."""

import builtins
from collections.abc import Collection, Sequence

from difftrust_core.base.records import Kind, Outcome
from difftrust_core.metrics.equality import Comparison

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

    def __init__(self, comparison: Comparison, documented: Collection[str] = ()):
        self.comparison, self.documented = comparison, frozenset(documented)

    def is_answer(self, outcome: Outcome) -> bool:
        """Tell whether an outcome says what the function does there: a value, or a documented exception."""
        kind, text = outcome
        return kind == Kind.VALUE or (kind == Kind.EXCEPTION and self.known(text).partition("(")[0] in self.documented)

    def classify(self, outcomes: Sequence[Outcome]) -> list[int]:
        """Return one class label per outcome; equal labels mean equal outcomes."""
        if self.documented:
            outcomes = [(k, self.known(text)) if k == Kind.EXCEPTION else (k, text) for k, text in outcomes]
        return self.comparison.classify(outcomes)

    def differ(self, one: Outcome, other: Outcome) -> bool:
        """Tell whether two outcomes differ when they are compared with each other alone."""
        first, second = self.classify([one, other])
        return first != second

    def known(self, name: str) -> str:
        """Return the documented exception that ``name`` is or derives from, else ``name``; each with its message."""
        plain = name.partition("(")[0]
        if name in self.documented or not self.documented:
            return name
        for base in _bases(plain):
            if base in self.documented:
                return base + name[len(plain) :]
        return name


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
