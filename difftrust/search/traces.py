"""What the traces of instrumented runs say: data of candidates, checked and bounded before anything is made of it."""

import ast
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from difftrust.search.instrument import sites_of
from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.languages.python.syntax import parsed

TRACING = (Path(__file__).parent / "instrument.py", Path(__file__).parent / "child" / "tracing.py")
"""The files of the sandbox's side of a trace."""
TRACED = "traced "
"""Before an entry point: the program runs instrumented, and the outcome of each call is its trace."""
_MOST = 4_000
_MAX_TEXT = 400
_LETTERS = {"V": Kind.VALUE, "E": Kind.EXCEPTION, "U": Kind.UNSUPPORTED, "T": Kind.TIMEOUT}
_BUCKETS = (1, 2, 3, 7, 15, 31)


@dataclass(frozen=True, kw_only=True)
class Operands:
    """Two values that met in a program, and how: ``==``, ``in``, ``startswith``, ``re``, ``%``."""

    how: str
    site: int
    texts: tuple[str, str]

    @cached_property
    def values(self) -> tuple[Any, Any] | None:
        """The values; None where a text is no literal."""
        try:
            one, other = map(read_literal, self.texts)
        except BadText:
            return None
        return one, other


@dataclass(frozen=True, kw_only=True)
class Trace:
    """One call of one program: its outcome, and how it came to it; empty where that is not known."""

    outcome: Outcome
    counts: Mapping[int, int] = field(default_factory=dict)
    """How often each site was passed, by its number."""
    gaps: Mapping[int, float] = field(default_factory=dict)
    """How far the sides of comparisons were that it did not take."""
    operands: tuple[Operands, ...] = ()

    @cached_property
    def path(self) -> frozenset[int]:
        """The sites that it passed."""
        return frozenset(self.counts)

    def buckets(self) -> list[tuple[int, int]]:
        """Return each site with how often it was passed, roughly."""
        return [(n, sum(count > most for most in _BUCKETS)) for n, count in self.counts.items()]


def read_trace(outcome: Outcome) -> Trace:
    """Return the trace that a traced call gave as its value; where it is none, one that holds no more than its end."""
    kind, text = outcome
    if kind != Kind.VALUE:
        return Trace(outcome=outcome)
    try:
        said = json.loads(text)
        ended = str(said["outcome"])[: _MAX_TEXT + 100]
        return Trace(
            outcome=(_LETTERS[ended[:1]], ended[1:]),
            counts={n: count for n, count in _pairs(said["counts"]) if type(count) is int and count > 0},
            gaps={n: gap for n, gap in _pairs(said["gaps"]) if type(gap) in (int, float) and math.isfinite(gap)},
            operands=tuple(_operands(said["operands"])),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return Trace(outcome=(Kind.FORGED, ""))


def _pairs(flat: Sequence[Any]) -> list[tuple[int, Any]]:
    pairs = zip(flat[: 2 * _MOST : 2], flat[1 : 2 * _MOST : 2], strict=False)
    return [(n, value) for n, value in pairs if type(n) is int and n >= 0]


def _operands(rows: Sequence[Any]) -> list[Operands]:
    found = []
    for how, one, other, site in rows[:_MOST]:
        if (
            type(one) is type(other) is type(how) is str
            and type(site) is int
            and max(map(len, (one, other))) < _MAX_TEXT
        ):
            found.append(Operands(how=how, site=site, texts=(one, other)))
    return found


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What of one program was reached, of its functions' lines and its tests."""

    n_sides: int
    """Two of each test."""
    n_reached: int
    n_tests: int
    n_both: int
    """Tests that were met on both sides."""
    unreached: tuple[int, ...]
    """Lines that no input reached, from 1."""


def coverage_of(code: str, reached: frozenset[int]) -> Coverage:
    """Return what the sites ``reached`` are of a program's."""
    tree = parsed(code)
    sites = list(sites_of(tree if tree is not None else ast.Module([], [])).values())
    tests = [site.number for site in sites if site.is_test]
    sides = [(n in reached) + (n + 1 in reached) for n in tests]
    lines = {site.line for site in sites if not site.is_test}
    return Coverage(
        n_sides=2 * len(tests),
        n_reached=sum(sides),
        n_tests=len(tests),
        n_both=sum(n == 2 for n in sides),
        unreached=tuple(sorted(lines - {site.line for site in sites if site.number in reached and not site.is_test})),
    )
