"""A check's report with clusters numbered as the programs are, and programs called as the page calls them."""

import re
from collections.abc import Mapping
from typing import Any

from dashboard.components.pasted import NAME
from difftrust.outputs.report_text import Report

_FILE = re.compile(rf"\b0*(\d+)-{NAME}\.py\b")
_TEXTS = frozenset({"code", "consensus", "difference", "arguments", "outcome", "outcomes", "got", "want", "call"})
"""Parts of a report that hold programs, inputs and outcomes: nothing in them is a name of a program."""


def renumbered(report: Report) -> Report:
    """Return the report, its clusters in the order of their first programs: that of program 1 is cluster 1.

    In a report they are numbered by size.
    """
    listed = [{**cluster, "candidates": sorted(cluster["candidates"], key=_place)} for cluster in report["clusters"]]
    by_program = sorted(listed, key=lambda cluster: (_place(cluster["candidates"][0]), cluster["number"]))
    number_of = {cluster["number"]: number for number, cluster in enumerate(by_program, 1)}
    clusters = [{**cluster, "number": number_of[cluster["number"]]} for cluster in by_program]
    disagreements = [_turned(found, number_of) for found in report["disagreements"]]
    return {**report, "clusters": clusters, "disagreements": disagreements}


def _place(name: str) -> int:
    """Return the place of a program; far back where its name says nothing of it."""
    found = re.match(r"(?:program )?(\d+)", name) or re.search(r"(\d+)$", name)
    return int(found[1]) if found else 1 << 30


def _turned(found: Mapping[str, Any], number_of: Mapping[int, int]) -> dict[str, Any]:
    """Return a disagreement by the new numbers, the lower one first."""
    first, second = number_of[found["first"]], number_of[found["second"]]
    outcomes = found["outcomes"]
    if first > second:
        first, second, outcomes = second, first, outcomes and outcomes[::-1]
    return {**found, "first": first, "second": second, "outcomes": outcomes}


def with_names(report: Report) -> Report:
    """Return the report with "program 2" for the file that a pasted program was written to."""
    return {name: value if name in _TEXTS else _named(value) for name, value in report.items()}


def _named(value: Any) -> Any:
    if isinstance(value, str):
        return _FILE.sub(r"program \1", value)
    if isinstance(value, list):
        return [_named(each) for each in value]
    if isinstance(value, dict):
        return {name: each if name in _TEXTS else _named(each) for name, each in value.items()}
    return value
