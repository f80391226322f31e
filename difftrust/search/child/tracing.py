"""What an instrumented call compares, which way it goes and what comes of it; in the sandbox, standard library only.

The trace of a call is one line of JSON, bounded in every part. It is the program's own process that says it, so the
host takes it for a hint of which inputs to run, and for nothing else.
"""

import datetime
import decimal
import fractions
import hashlib
import json
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import typed_repr
from canonical import UnsupportedValue, text_within
from instrument import names_with

MAX_OPERATIONS = 20_000
"""Notes of one call, after which it is ended: a loop that does not end costs no time that is waited for."""
MAX_OPERANDS, OF_EACH_SITE, MAX_TEXT, MAX_OUTCOME, MAX_LINE = 60, 3, 160, 400, 15_000
_FEW, _NODES = 12, 40
_type, _len, _abs, _bool, _getattr, _dumps = type, len, abs, bool, getattr, json.dumps
_digest = hashlib.blake2b
_NUMBERS = (int, float, bool)
_MOMENTS = (datetime.date, datetime.datetime, datetime.timedelta, decimal.Decimal, fractions.Fraction)
_PLAIN = (str, bytes, list, tuple, set, frozenset, dict, type(None), *_NUMBERS, *_MOMENTS)
_seconds = datetime.timedelta.total_seconds
_pattern: Any = re.Pattern.__dict__["pattern"].__get__
_module = type(re)


class Enough(BaseException):
    """The call has done as much as is noted of one."""


def _not_in(one: Any, other: Any) -> bool:
    return one not in other


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda one, other: one in other, "not in": _not_in,
}  # fmt: skip


class Recorder:
    """Notes one call at a time; outside of calls, as while a program loads, nothing."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._active = False
        self.is_over = False
        self._start()

    def _start(self) -> None:
        self._counts: dict[int, int] = {}
        self._gaps: dict[int, float] = {}
        self._operands: dict[tuple[str, str, str], int] = {}
        self._of_site: dict[Any, int] = {}
        self._left, self.is_over = MAX_OPERATIONS, False

    def call(self, make: Callable[[], str]) -> str:
        """Return the trace of what ``make`` does, which returns an outcome's line or raises."""
        self._kept.clear()
        self._start()
        self._active = True
        try:
            outcome = make()
        except Enough:
            self.is_over = True
        finally:
            self._active = False
        return self._written("T" if self.is_over else outcome)

    def _written(self, outcome: str) -> str:
        if _len(outcome) > MAX_OUTCOME:
            outcome = (
                f"{outcome[:1]}#{_digest(outcome.encode('utf-8', 'backslashreplace'), digest_size=16).hexdigest()}"
            )
        gaps = {n: gap for n, gap in self._gaps.items() if n not in self._counts}
        for most in (1_000, 300, 60, 0):
            counts = [*self._counts.items()][: 3 * most]
            text = _dumps({
                "outcome": outcome,
                "counts": [part for pair in counts for part in pair],
                "gaps": [part for pair in [*gaps.items()][:most] for part in pair],
                "operands": [[*key, n] for key, n in [*self._operands.items()][:most]],
            })  # fmt: skip
            if _len(text) < MAX_LINE:
                break
        return text

    def hooks(self) -> dict[str, Callable[..., Any]]:
        """Return the names that an instrumented program finds."""
        named: dict[str, Callable[..., Any]] = names_with({
            "line": self._line, "test": self._test, "compare": self._compare, "kept": lambda _: self._kept.pop(),
            "method": self._method, "function": self._function, "modulo": self._modulo, "item": self._item,
            "piece": self._piece, "subject": self._subject,
        })  # fmt: skip
        return named

    def _line(self, number: int) -> None:
        if self._active:
            self._counts[number] = self._counts.get(number, 0) + 1
            self._left -= 1
            if self._left < 0:
                self.is_over = True
                raise Enough

    def _test(self, number: int, value: Any) -> Any:
        if self._active:
            try:
                self._line(number + (not value))
            except Enough:
                raise
            except Exception:  # the program's own test raises the same
                pass
        return value

    def _compare(self, number: int, name: str, left: Any, right: Any, keeps: bool) -> Any:
        result = _OPERATORS[name](left, right)
        if self._active:
            if _type(result) is bool:
                self._line(number + (not result))
                self._near(number + result, name, left, right)
            if self._is_new(number):
                self._note(number, name, left, _sample(right) if "in" in name else right)
        if keeps and result:
            self._kept.append(right)
        return result

    def _near(self, number: int, name: str, left: Any, right: Any) -> None:
        """Note how far the other side of a comparison is."""
        gap = _gap(left, right) if "in" not in name else None
        if gap is not None and gap < self._gaps.get(number, math.inf):
            self._gaps[number] = gap

    def _is_new(self, site: Any) -> bool:
        n = self._of_site.get(site, 0)
        self._of_site[site] = n + 1
        return n < OF_EACH_SITE or (n < 200 and n % 20 == 0)

    def _note(self, number: int, name: str, left: Any, right: Any) -> None:
        if _len(self._operands) < MAX_OPERANDS:
            one, other = _text(left), _text(right)
            if one and other:
                self._operands.setdefault((name, one, other), number)

    def _method(self, name: str, owner: Any, *arguments: Any, **named: Any) -> Any:
        if self._active and arguments and self._is_new((name, _type(owner))):
            kind = _type(owner)
            if kind is _module and owner is re and _len(arguments) > 1:
                self._note(0, "re", arguments[0], arguments[-1])
            elif kind is re.Pattern:
                self._note(0, "re", _pattern(owner), arguments[-1])
            elif name in ("strptime", "fromisoformat"):
                self._note(0, name, arguments[0], arguments[-1])
            elif kind in _PLAIN:
                self._note(0, name, _sample(owner), arguments[0])
        return _getattr(owner, name)(*arguments, **named)

    def _function(self, name: str, function: Any, *arguments: Any, **named: Any) -> Any:
        if self._active and arguments and self._is_new(name):
            if name in ("int", "float", "Decimal", "Fraction"):
                self._note(0, name, arguments[0], None)
            elif name == "round":
                self._note(0, name, arguments[0], arguments[1] if _len(arguments) > 1 else 0)
            elif _len(arguments) > 1:
                self._note(0, "re", arguments[0], arguments[-1])
        return function(*arguments, **named)

    def _modulo(self, remains: int, left: Any, right: Any) -> Any:
        if self._active and _type(left) in _NUMBERS and _type(right) in _NUMBERS and self._is_new((remains, right)):
            self._note(0, "%", left, right)
        return left % right if remains else left // right

    def _item(self, number: int, owner: Any, key: Any) -> Any:
        if self._active and _type(owner) in _PLAIN and self._is_new(("item", _type(owner))):
            self._note(0, "item", _sample(owner) if _type(owner) is dict else _len(owner), key)
        return owner[key]

    def _piece(self, number: int, owner: Any, lower: Any, upper: Any, step: Any) -> Any:
        if self._active and _type(owner) in _PLAIN and self._is_new(("piece", _type(owner))):
            for bound in (lower, upper):
                if _type(bound) is int:
                    self._note(0, "piece", _len(owner), _abs(bound))
        return owner[lower:upper:step] if step is not None else owner[lower:upper]

    def _subject(self, number: int, subject: Any, constants: tuple[Any, ...]) -> Any:
        if self._active and constants and self._is_new(("subject", constants)):
            self._note(0, "in", subject, constants)
        return subject


def _text(value: Any) -> str:
    """Return the text of an operand; empty where it is long, or none that an input could be made of."""
    kind = _type(value)
    try:
        if kind in (str, bytes) and _len(value) > MAX_TEXT:
            return ""
        text = text_within(value, 0, typed_repr.Glance([_NODES]))
    except (UnsupportedValue, ValueError):
        return ""
    return text if _len(text) <= MAX_TEXT + 60 else ""


def _sample(owner: Any) -> Any:
    """Return the first members of a collection, as one list; a text as it is."""
    kind = _type(owner)
    if kind in (list, tuple, set, frozenset, dict):
        try:
            return [member for member, _ in zip(owner, range(_FEW), strict=False)]
        except RuntimeError:
            return owner
    return owner


def _gap(left: Any, right: Any) -> float | None:
    """Return how far two operands lie from each other; None where that means nothing."""
    kinds = _type(left), _type(right)
    try:
        if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS:
            gap = float(_abs(left - right))
        elif kinds == (str, str):
            same = sum(a == b for a, b in zip(left[:200], right[:200], strict=False))
            gap = float(max(_len(left), _len(right)) - same)
        elif kinds[0] is kinds[1] and kinds[0] in _MOMENTS:
            between = _abs(left - right)
            gap = _seconds(between) if _type(between) is datetime.timedelta else float(between)
        else:
            return None
    except (ArithmeticError, TypeError, ValueError):
        return None
    return gap if math.isfinite(gap) else None
