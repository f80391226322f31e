"""What the traces of instrumented runs say: data of candidates, checked and bounded before anything is made of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftrust.search.instrument import tests_of
from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.languages.python.syntax import parsed

TRACING = (Path(__file__).parent / "instrument.py", Path(__file__).parent / "child" / "tracing.py")
"""The files of the sandbox's side of a trace."""
TRACED = "traced "
"""Before an entry point: the program runs instrumented, and the outcome of each call is its trace."""
_MOST, _MAX_TEXT = 400, 400
_LETTERS = {"V": Kind.VALUE, "E": Kind.EXCEPTION, "U": Kind.UNSUPPORTED, "T": Kind.TIMEOUT}


@dataclass(frozen=True, kw_only=True)
class Operands:
    """Two values that met in a program, and how: ``==``, ``in``, ``startswith``, ``re``, ``%``."""

    how: str
    values: tuple[Any, Any]


@dataclass(frozen=True, kw_only=True)
class Trace:
    """One call of one program: its outcome, and how it came to it; empty where that is not known."""

    outcome: Outcome
    ways: frozenset[tuple[str, int]] = frozenset()
    """Which way the program went where, and how often, roughly."""
    operands: tuple[tuple[str, str, str], ...] = ()
    n_operations: int = 0


def read_trace(outcome: Outcome) -> Trace:
    """Return the trace that a traced call gave as its value; where it is none, one that holds no more than its end."""
    kind, text = outcome
    if kind != Kind.VALUE:
        return Trace(outcome=outcome)
    try:
        said = json.loads(text)
        ended, operands = str(said["outcome"])[:_MAX_TEXT], said["operands"][:_MOST]
        return Trace(
            outcome=(_LETTERS[ended[:1]], ended[1:]),
            ways=frozenset((str(way)[:60], int(n).bit_length()) for way, n in said["ways"][:_MOST]),
            operands=tuple((how, one, other) for how, one, other in operands if _are_texts(how, one, other)),
            n_operations=max(0, min(int(said["n"]), 10**6)),
        )
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return Trace(outcome=(Kind.FORGED, ""))


def _are_texts(*parts: Any) -> bool:
    return all(type(part) is str and len(part) < _MAX_TEXT for part in parts)


def met_in(how: str, one: str, other: str) -> Operands | None:
    """Return what met by its texts; None where one is no literal."""
    try:
        return Operands(how=how, values=(read_literal(one), read_literal(other)))
    except BadText:
        return None


def missed_ways(code: str, ways: Sequence[str]) -> tuple[int, list[tuple[int, bool]]]:
    """Return how many ways a program's tests have, two each, and those that none of ``ways`` is: line and truth."""
    tree = parsed(code)
    tests = tests_of(tree) if tree is not None else {}
    known = set(ways)
    missed = [
        (line, side)
        for place, line in tests.items()
        for side in (True, False)
        if f"{place}{'+' if side else '-'}" not in known
    ]
    return 2 * len(tests), sorted(missed)
