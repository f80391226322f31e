"""What a comparison of two versions found: as JSON for machines, and in words for a terminal."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from difftrust_core.base.records import Kind
from difftrust_core.base.text import printable
from difftrust_core.checks.spelling import spelled_method, spelled_outcome
from difftrust_core.checks.versions.records import Change, DiffReport

MAX_SHOWN = 300
"""Characters of one line on the screen; JSON holds all."""
MAX_DIFF_LINES = 40


def json_of(report: DiffReport) -> str:
    """Return the report as one JSON object: kinds of outcomes by name, calls as one would type them."""
    return json.dumps(as_json(report), indent=1)


def as_json(report: DiffReport) -> Mapping[str, Any]:
    """Return what ``json_of`` writes as a mapping."""
    found = asdict(report)
    for change, written in zip(report.changes, found["changes"], strict=True):
        written["call"] = spelled_method(report.entry_point, change.arguments)
        written["outcomes"] = [[Kind(kind).name.lower(), text] for kind, text in change.outcomes]
    return found


def text_of(report: DiffReport) -> str:
    """Return the report as lines; what could steer a terminal is escaped."""
    return "\n".join(printable(line.expandtabs(4)) for line in _lines(report))


def _lines(report: DiffReport) -> Iterator[str]:
    yield f"{report.new}: {report.verdict}"
    yield f"compared with {report.old}"
    yield report.statement
    if report.n:
        yield (
            f"{report.n} inputs, {report.n_witnesses} of them known calls and inputs made for the lines that differ; "
            f"seed {report.seed}"
        )
    for failed in report.failed_expectations:
        yield _cut(f"  not as expected: {failed}")
    for change in report.changes:
        yield ""
        yield from _change_lines(change, report)
    diff = report.difference.splitlines() if report.changes or report.verdict == "undecided" else []
    yield from ["", *(f"    {_cut(line)}" for line in diff[:MAX_DIFF_LINES])] if diff else []
    if len(diff) > MAX_DIFF_LINES:
        yield f"    ... {len(diff) - MAX_DIFF_LINES} more lines (all of them with --format json)"
    yield ""
    yield f"Next best step: {report.next_step}"
    yield from (_cut(f"Note: {note}") for note in report.notes)


def _change_lines(change: Change, report: DiffReport) -> Iterator[str]:
    kind = "smallest input" if change.minimal else "smallest input found"
    expected = ", as expected" if change.expected else ""
    call = spelled_method(report.entry_point, change.arguments)
    yield _cut(f"  {call}    ({kind}{expected}{f'; {change.note}' if change.note else ''})")
    for which, (one, text) in zip(("old", "new"), change.outcomes, strict=True):
        yield _cut(f"    {which}: {spelled_outcome(Kind(one).name.lower(), text, change.arguments)}")
    pin = pin_of(change, report)
    if pin and not change.expected and len(pin) <= MAX_SHOWN:
        yield f"    if that is intended: --expect {_quoted(pin)}"


def pin_of(change: Change, report: DiffReport) -> str:
    """Return what --expect takes to say that the new version is right there; "" where it cannot be said."""
    kind, text = change.outcomes[1]
    call = spelled_method(report.entry_point, change.arguments)
    if kind == Kind.EXCEPTION:
        return f"{call} raises {text.partition('(')[0]}"
    return f"{call} == {text}" if kind == Kind.VALUE and "Effects(" not in text and "(" not in text else ""


def _quoted(text: str) -> str:
    return f'"{text}"' if not set(text) & set('"$`\\!') else shlex.quote(text)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
