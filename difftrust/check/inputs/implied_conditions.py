"""What keeps an input in doubt: conditions that names imply, sentences that were not read, refusals without a word.

They filter no input. An input on which candidates differ and one of them does not hold shows nothing for sure: it is
reported apart, for the user to settle.
"""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from difftrust.conditions.likeness import are_like
from difftrust.conditions.predicates import Predicate
from difftrust.conditions.reading import contradicted
from difftrust.search.dictionary import special_floats
from difftrust.source.conditions import Conditions
from difftrust.types.argument_types import Parameter, split_arguments
from difftrust.types.frames import is_array
from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.languages.python.fuzz import children

_COUNTS = frozenset(
    {"count", "counts", "total", "times", "size", "length", "limit", "attempts", "retries", "seconds", "minutes"}
    | {"hours", "capacity", "width", "height", "depth", "repeat", "repeats", "top_n", "page", "per_page", "window"}
)
_COUNTED, _COUNTING = ("n", "num", "number", "count", "total"), ("count", "size", "length", "limit")
"""First and last parts of names of counts."""
_FROM_ONE = frozenset(["per_page", "page", "page_size", "window", "window_size", "batch_size", "chunk_size"])
_PAIRS = (
    ("start", "end"), ("start", "stop"), ("begin", "end"), ("first", "last"), ("low", "high"), ("lo", "hi"),
    ("lower", "upper"), ("min", "max"), ("minimum", "maximum"), ("since", "until"), ("from", "to"), ("left", "right"),
)  # fmt: skip
_ANY_ORDER = re.compile(
    r"(?:either|any) order|revers|swap|absolute|regardless|wrap|midnight"
    r"|\b(?:start|first|low|begin|lower|min|left)\w* (?:is )?(?:>|greater|later|after|beyond|exceeds)",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\bempty\b|\bno (?:items?|values?|elements?|numbers?|words?)\b|there (?:is|are) none", re.IGNORECASE
)
_ON_EMPTY = ("ValueError", "ZeroDivisionError", "IndexError", "KeyError", "StopIteration")
MANY_AXES = "an array has several dimensions"
_ON_MANY_AXES = ("ValueError", "TypeError", "IndexError")
_ZERO = re.compile(r"\bzero\b|(?<![\d.])0(?![\d.])", re.IGNORECASE)
_SPECIAL = re.compile(r"\b(?:nan|inf)\b")
"""In an argument tuple that may hold such a float."""
_RULES_OUT = re.compile(r"\b(?:without|no|exclud\w*|assum\w*|must|never|except|unless)\b", re.IGNORECASE)
"""In a sentence on NaN: it may say that there is none."""


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Why an input may not be allowed, and the condition for --assume that leaves it out, where one is known."""

    why: str
    condition: str = ""


class ImpliedConditions:
    """What is not sure of the domain of a function, and what its candidates may refuse."""

    def __init__(
        self,
        parameters: Sequence[Parameter] = (),
        docstring: str = "",
        *,
        conditions: Conditions | None = None,
        calls: Sequence[Mapping[str, Any]] = (),
    ):
        """``calls``: arguments, by name, that are allowed for sure."""
        self.parameters, self.docstring, self._calls = tuple(parameters), docstring, calls
        found = conditions or Conditions()
        told = {name for each in (*found.stated, *found.reading.predicates) for name in each.names}
        implied = [
            p for p in _by_names(self.parameters, docstring) if not p.names & told and not contradicted(p, calls)
        ]
        self.predicates = (*found.doubts, *implied)
        unread = [each for each in found.reading.unread if each.origin != "raises"]
        # The user said what they mean, by as many conditions as there are sentences, or by one of the same parameters.
        is_settled = sum(each.origin == "assume" for each in found.stated) >= len(unread)
        formal = {name for each in found.stated if each.origin in ("assume", "requires") for name in each.names}
        self._unread = () if is_settled else tuple(each for each in unread if not each.names & formal)

    def doubt(self, arguments: str) -> Doubt | None:
        """Return why an argument tuple may not be allowed; None where nothing speaks against it.

        Where a sentence was not read, inputs like the calls are allowed nonetheless.
        """
        is_special = _SPECIAL.search(arguments) is not None
        if not (self.predicates or self._unread or is_special):
            return None
        values = self.values(arguments)
        if is_special and not _special_in(values.values()) <= self._allowed_special:
            alone = " and ".join(f"math.isfinite({name})" for name, value in values.items() if type(value) is float)
            return Doubt(why="the docstring does not say what NaN or infinity means", condition=alone)
        for each in self.predicates:
            if each.holds(values) is False:
                return Doubt(why=f"not {each.text}", condition=each.text)
        if not self._unread or are_like(values, self._calls, values):
            return None
        unlike = (each for each in self._unread if not are_like(values, self._calls, each.names or values))
        sentence = next(unlike, self._unread[0])
        condition = f"CONDITION on {', '.join(sorted(sentence.names))}" if sentence.names else ""
        return Doubt(why=sentence.told, condition=condition)

    @cached_property
    def _allowed_special(self) -> set[str]:
        """Return which of NaN and infinite floats calls hold, or sentences name that do not rule them out."""
        sentences = [text for text in re.split(r"[.;\n]", self.docstring) if not _RULES_OUT.search(text)]
        return _special_in([*self._calls, *(special_floats((), text) for text in sentences)])

    def values(self, arguments: str) -> dict[str, Any]:
        """Return an argument tuple by the names of its parameters."""
        try:
            values, named = split_arguments(read_literal(arguments))
        except BadText:
            return {}
        names = [p.name for p in self.parameters if not p.keyword and not p.variadic]
        return dict(zip(names, values, strict=False)) | dict(named)

    def may_refuse(self, arguments: str, exception: str) -> str:
        """Return why a candidate may raise this on an input that the docstring does not speak of; "" if it may not.

        ``exception``: the builtin that it is or derives from.
        """
        values = list(self.values(arguments).values())
        is_empty = any(type(v) in (list, tuple, dict, set, str) and not v for v in values)
        if is_empty and exception in _ON_EMPTY and not _EMPTY.search(self.docstring):
            return "an argument is empty"
        is_zero = any(type(v) in (int, float) and not v for v in values)
        if is_zero and exception == "ZeroDivisionError" and not _ZERO.search(self.docstring):
            return "an argument is 0"
        has_axes = any(type(row) is list for v in values if is_array(v) for row in v.args[0])
        if has_axes and exception in _ON_MANY_AXES:
            return MANY_AXES
        is_text = exception == "ValueError" and any(type(v) is str for v in values)
        return "a candidate refuses the text" if is_text else ""


def _special_in(values: Iterable[Any]) -> set[str]:
    """Return ``nan`` and ``inf``, as far as values are or hold such floats."""
    found: set[str] = set()
    for value in values:
        if type(value) is float:
            found |= set() if math.isfinite(value) else {str(abs(value))}
        else:
            found |= _special_in(children(dict(value) if isinstance(value, Mapping) else value))
    return found


def _by_names(parameters: Sequence[Parameter], docstring: str) -> Iterator[Predicate]:
    """Yield what the names of parameters imply: counts are not negative, a start is not after its end."""
    typed = {p.name: ast.unparse(p.annotation) if p.annotation is not None else "" for p in parameters}
    for name, said in typed.items():
        if re.match(r"int\b", said) and _is_count(name) and not re.search(r"\bnegative\b", docstring):
            yield Predicate(text=f"{name} >= {int(name in _FROM_ONE)}", origin="name")
    for one, said in typed.items():
        for first, second in _PAIRS:
            other = re.sub(rf"(?:(?<=_)|^){first}(?=_|$)", second, one)
            is_pair = other != one and typed.get(other) == said and not said.startswith("str")
            if is_pair and not _ANY_ORDER.search(docstring):
                yield Predicate(text=f"{one} <= {other}", origin="name")
                break


def _is_count(name: str) -> bool:
    first, *others = name.split("_")
    return name in _COUNTS or (bool(others) and (first in _COUNTED or others[-1] in _COUNTING))
