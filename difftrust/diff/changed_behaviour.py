"""When the outcomes of two versions differ, and which differences mean a changed behaviour."""

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Literal

from difftrust.source.closure import dotted_name
from difftrust.source.sandbox_imports import LEFT_OUT, MISSING, STAND_IN
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.metrics.equality import Comparison, Equality

Weight = Literal["same", "counts", "doubtful", "nothing"]
"""``doubtful``: they differ, but on an input that the function may not allow. ``nothing``: one gave no answer."""
_NO_ANSWER = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY, Kind.CRASH, Kind.LOAD_ERROR)
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"(?<![\w.])-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|inf|nan)(?![\w.])")
_NEGATIVE_ZERO = re.compile(r"Decimal\('-(0(?:\.0*)?')")
_HIDDEN = re.compile(r"[\[{:] ?\.\.\.|\.\.\.[\]}]")
"""An item of a list or dict that no text tells from another."""
_OF_WRONG_KINDS = ("TypeError", "AttributeError")
"""What Python raises by itself where a value is of a kind that the code was not written for."""


class Compare:
    """The rule by which outcomes of two versions are equal; ``raised``: exceptions that the versions raise by name."""

    def __init__(self, equality: Equality, *, tolerance: float, raised: Iterable[str]):
        self._comparison, self._is_by_value = Comparison(equality, tolerance=tolerance), equality is Equality.VALUE
        self.raised = frozenset(raised)

    def differ(self, one: Outcome, other: Outcome) -> bool:
        """Tell whether two outcomes differ; by value also 1 and True, 1 and 1.0 do, for they print differently."""
        one, other = plain(one), plain(other)
        if one == other:
            return False
        if not self._comparison.are_equal(one, other):
            return True
        return self._is_by_value and one[0] == Kind.VALUE and _skeleton(one[1]) != _skeleton(other[1])

    def weigh(self, one: Outcome, other: Outcome, *, sure: bool) -> Weight:
        """Return what two outcomes on an input say; ``sure``: the input is one that the function is known to take."""
        if any(is_no_answer(outcome) for outcome in (one, other)):
            return "nothing" if one[0] == other[0] or self.differ(one, other) else "same"
        if not self.differ(one, other):
            return "same"
        kinds = {one[0], other[0]}
        if Kind.UNSUPPORTED in kinds and Kind.EXCEPTION not in kinds:
            return "counts"
        names = [name_of(outcome) for outcome in (one, other) if outcome[0] == Kind.EXCEPTION]
        meant = any(name in self.raised for name in names)
        if not names or meant:
            return "counts"
        if len(names) == 2:
            return "doubtful"
        return "counts" if sure or names[0] not in _OF_WRONG_KINDS else "doubtful"


def is_no_answer(outcome: Outcome) -> bool:
    """Tell whether a version was ended, or met what is not there, so that nothing is known of what it does."""
    kind, text = outcome
    is_missing = outcome == (Kind.UNSUPPORTED, STAND_IN) or (
        kind == Kind.EXCEPTION and text.startswith((MISSING, LEFT_OUT))
    )
    return kind in _NO_ANSWER or is_missing or is_not_built(outcome)


def is_not_built(outcome: Outcome) -> bool:
    """Tell whether the arguments could not be made."""
    return outcome[0] == Kind.UNSUPPORTED and outcome[1].startswith("input: ")


def opaque_in(one: Outcome, other: Outcome) -> str:
    """Return what two versions gave that cannot be compared, "" where all can be; objects of two types differ."""
    if plain(one) != plain(other):
        return ""
    if one[0] == Kind.UNSUPPORTED:
        return one[1]
    return "what an argument holds" if _HIDDEN.search(one[1].partition("arguments=")[2]) else ""


def name_of(outcome: Outcome) -> str:
    """Return the name of the exception of an outcome, without its message."""
    return outcome[1].partition("(")[0]


def plain(outcome: Outcome) -> Outcome:
    """Return an outcome without addresses in memory."""
    kind, text = outcome
    return (kind, _ADDRESS.sub("at 0x...", text)) if " at 0x" in text else outcome


def _skeleton(text: str) -> str:
    return _FLOAT.sub("0.0", _NEGATIVE_ZERO.sub(r"Decimal('\1", text))


def raised_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names of the exceptions that code raises or handles by name, and those that asserts raise.

    Not of those handled that Python raises for values of wrong kinds.
    """
    found: set[str] = set()
    for node in (inner for top in nodes for inner in ast.walk(top)):
        match node:
            case ast.Raise(exc=ast.Call(func=raised) | (ast.expr() as raised)):
                found.add(dotted_name(raised).rpartition(".")[2])
            case ast.ExceptHandler():
                found |= {name.rpartition(".")[2] for name in exceptions_in(node)} - {*_OF_WRONG_KINDS}
            case ast.Assert():
                found.add("AssertionError")
    return found


def exceptions_in(handler: ast.ExceptHandler) -> dict[str, ast.expr]:
    """Return the exceptions that a handler names; none of one that takes all."""
    if handler.type is None:
        return {}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind): kind for kind in kinds}
