"""What an instrumented call compares, which way it goes and what comes of it; in the sandbox, standard library only.

The trace of a call is one line of JSON, bounded in every part. It is the program's own process that says it, so the
host takes it for a hint of which inputs to run, and for nothing else.
"""

import contextlib
import hashlib
import json
import operator
import re
from collections.abc import Callable
from typing import Any

import typed_repr
from canonical import UnsupportedValue, text_within
from instrument import PREFIX

MAX_OPERATIONS = 20_000
"""Notes of one call, after which it is ended: a loop that does not end costs no time that is waited for."""
MAX_OPERANDS, OF_EACH_PLACE, MAX_WAYS, MAX_TEXT = 40, 3, 400, 160
_FEW, _NODES = 12, 40
_type, _len, _getattr, _dumps, _digest = type, len, getattr, json.dumps, hashlib.blake2b
_COLLECTIONS = (list, tuple, set, frozenset, dict)
_pattern: Any = re.Pattern.__dict__["pattern"].__get__
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda one, other: one in other, "not in": lambda one, other: one not in other, "is": operator.is_,
    "is not": operator.is_not, "%": operator.mod, "//": operator.floordiv, "item": operator.getitem,
}  # fmt: skip
_PATTERNS = frozenset(("match", "fullmatch", "search", "findall", "finditer", "sub", "split"))
_LOOKED_UP = frozenset(("in", "not in", "item", "get", "pop", "setdefault"))


class Enough(BaseException):
    """The call has done as much as is noted of one."""


class Recorder:
    """Notes one call at a time; outside of calls, as while a program loads, nothing."""

    def __init__(self) -> None:
        self._active = False
        self._start()

    def _start(self) -> None:
        self._ways: dict[str, int] = {}
        self._operands: dict[tuple[str, str, str], None] = {}
        self._of_place: dict[str, int] = {}
        self._left = MAX_OPERATIONS

    def call(self, make: Callable[[], str]) -> str:
        """Return the trace of what ``make`` does, which returns an outcome's line or raises."""
        self._start()
        self._active = True
        try:
            outcome = make()
        except Enough:
            outcome = ""
        finally:
            self._active = False
        if self._left < 0:
            outcome = "T"  # even where the program caught it
        if _len(outcome) > MAX_TEXT:
            digest = _digest(outcome.encode("utf-8", "backslashreplace"), digest_size=16)
            outcome = f"{outcome[:1]}#{digest.hexdigest()}"
        ways = [*self._ways.items()][:MAX_WAYS]
        return _dumps(
            {"outcome": outcome, "ways": ways, "operands": [*self._operands], "n": MAX_OPERATIONS - self._left}
        )

    def names(self) -> dict[str, Callable[..., Any]]:
        """Return the names that an instrumented program finds."""
        return {f"{PREFIX}test": self._test, f"{PREFIX}operate": self._operate, f"{PREFIX}method": self._method}

    def _way(self, place: str, way: object) -> None:
        key = f"{place}{'+' if way else '-'}"
        self._ways[key] = self._ways.get(key, 0) + 1
        self._left -= 1
        if self._left < 0:
            raise Enough

    def _test(self, place: str, value: Any) -> Any:
        if self._active:
            with contextlib.suppress(Exception):  # the program's own test raises the same
                self._way(place, value)
        return value

    def _operate(self, place: str, names: tuple[str, ...], *operands: Any) -> Any:
        result = None
        for name, left, right in zip(names, operands, operands[1:], strict=False):
            if self._active:
                self._note(place, name, *((right, left) if name in ("in", "not in") else (left, right)))
            result = _OPERATORS[name](left, right)
            if _len(names) > 1 and not result:
                break
        if self._active and _type(result) is bool:
            self._way(place, result)
        return result

    def _method(self, place: str, name: str, owner: Any, *arguments: Any, **named: Any) -> Any:
        if self._active and arguments:
            how = name or _getattr(owner, "__name__", "")
            if how in _PATTERNS and owner is not str and _type(owner) is not str:
                pattern = _pattern(owner) if _type(owner) is re.Pattern else arguments[0]
                self._note(place, "re", pattern, arguments[-1])
            elif not name or how in ("strptime", "fromisoformat"):
                self._note(place, how, arguments[0], arguments[-1])
            else:
                self._note(place, how, owner, arguments[0])
        return (_getattr(owner, name) if name else owner)(*arguments, **named)

    def _note(self, place: str, how: str, left: Any, right: Any) -> None:
        """Note two operands; of a collection that is searched its first members."""
        n = self._of_place.get(place, 0)
        if n < OF_EACH_PLACE and _len(self._operands) < MAX_OPERANDS:
            self._of_place[place] = n + 1
            one, other = _text(_sample(how, left) if how in _LOOKED_UP else left), _text(right)
            if one and other:
                self._operands[how, one, other] = None


def _sample(how: str, owner: Any) -> Any:
    """Return the first members of what is searched; of a list that is looked into by place, its length."""
    kind = _type(owner)
    if how == "item" and kind in (list, tuple, str):
        return _len(owner)
    return [member for member, _ in zip(owner, range(_FEW), strict=False)] if kind in _COLLECTIONS else owner


def _text(value: Any) -> str:
    """Return the text of an operand; empty where it is long, or none that an input could be made of."""
    kind = _type(value)
    try:
        if kind in (str, bytes) and _len(value) > MAX_TEXT:
            return ""
        text = text_within(value, 0, typed_repr.Glance([_NODES]))
    except (UnsupportedValue, ValueError):
        return ""
    return text if _len(text) <= 2 * MAX_TEXT else ""
