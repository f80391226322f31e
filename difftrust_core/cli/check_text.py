"""What a check found, as text for a terminal and as JSON for machines; and nothing else."""

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from difftrust_core.cli.reports import printable
from difftrust_core.exceptions import DifftrustError
from difftrust_core.literals import read_literal, write_literal
from difftrust_core.pipeline.check_records import CheckReport, Cluster, Disagreement, Outcome
from difftrust_core.records import Kind
from difftrust_core.stubs import parse_pin

MAX_SHOWN = 300
"""Characters of one line or value on the screen; JSON holds all."""
MAX_DIFF_LINES = 40


def json_of(report: CheckReport) -> str:
    """Return the report as one JSON object: kinds by name, NaN as null, hostile characters escaped."""
    return json.dumps(_plain(asdict(report)), indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, Kind):
        return value.name.lower()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def text_of(report: CheckReport, where: str) -> str:
    """Return the report as lines; what could steer a terminal is escaped. ``where``: how the user named the stub."""
    return "\n".join(printable(line.expandtabs(4)) for line in _lines(report, where))


def _lines(report: CheckReport, where: str) -> Iterator[str]:
    yield f"{where}: {report.verdict}"
    loading = "" if report.n_loading == report.m else f", {report.n_loading} of them load"
    yield (
        f"{report.m} candidates{loading}, {report.n_programs} distinct programs; {report.n} inputs "
        f"({report.n_distinct} distinct) from {len(report.task.seed_inputs)} seed inputs"
    )
    types = "within the annotated types" if report.typed else "types not checked"
    valid = "on which half of the candidates return" if report.validity == "quorum" else "whatever candidates do"
    yield f"inputs {types}, {valid}; outcomes agree by the {report.equality} rule; seed {report.seed}"
    if report.interval is not None:
        low, high = report.interval.low, report.interval.high
        yield (
            f"incoherence {report.incoherence:.4f}, {report.interval.level:.0%} interval [{low:.4f}, {high:.4f}] "
            f"over {report.interval.covers}"
        )
    yield report.statement
    yield from _cluster_lines(report.clusters)
    for disagreement in report.disagreements:
        yield from _disagreement_lines(disagreement, report, where)
    yield from _ending(report)


def _cluster_lines(clusters: tuple[Cluster, ...]) -> Iterator[str]:
    yield ""
    yield "Behaviours (candidates that did the same on every input):"
    for cluster in clusters:
        did = ", ".join(f"{kind} {count}" for kind, count in cluster.outcomes)
        yield _cut(f"  {cluster.number}: {len(cluster.candidates)} ({', '.join(cluster.candidates)}); {did}")


def _disagreement_lines(found: Disagreement, report: CheckReport, where: str) -> Iterator[str]:
    if found.arguments is None or found.outcomes is None:
        return
    function = report.task.entry_point
    call = spelled_call(function, found.arguments)
    kind = "the smallest input" if found.minimal else "the smallest input found"
    yield ""
    yield f"{found.first} and {found.second} differ on {found.n_inputs} of {report.n} inputs; {kind}:"
    yield f"  {_cut(call)}"
    for number, outcome in zip((found.first, found.second), found.outcomes, strict=True):
        yield f"    {number}: {_cut(_spelled(outcome))}"
    for number, outcome in zip((found.first, found.second), found.outcomes, strict=True):
        pin = spelled_pin(function, found.arguments, outcome)
        if pin is not None and len(pin) <= MAX_SHOWN:
            yield f"  if {number} is right: difftrust check {_quoted(where)} --pin {_quoted(pin)}"
    diff = found.difference.splitlines()
    yield from (f"    {_cut(line)}" for line in diff[:MAX_DIFF_LINES])
    if len(diff) > MAX_DIFF_LINES:
        yield f"    ... {len(diff) - MAX_DIFF_LINES} more lines (all of them with --json)"


def _ending(report: CheckReport) -> Iterator[str]:
    yield ""
    if report.consensus is not None:
        first = report.clusters[0]
        yield f"Consensus: {first.candidates[0]}, for {len(first.candidates)} of {report.m} candidates do the same"
    yield f"Next best step: {report.next_step}"
    for note in report.notes:
        yield f"Note: {_cut(note)}"


def spelled_call(function: str, arguments: str) -> str:
    """Return ``f(1, [2])`` for the argument tuple ``(1, [2])``."""
    return f"{function}({', '.join(map(write_literal, read_literal(arguments)))})"


def spelled_pin(function: str, arguments: str, outcome: Outcome) -> str | None:
    """Return what --pin takes to say that this outcome is right; None where it cannot be said in an example."""
    kind, text = outcome
    call = spelled_call(function, arguments)
    pin = f"{call} == {text}" if kind is Kind.VALUE else f"{call} raises {text}"
    if kind not in (Kind.VALUE, Kind.EXCEPTION):
        return None
    try:
        _ = parse_pin(pin, function)
    except DifftrustError:
        return None
    return pin


def _quoted(word: str) -> str:
    """Return ``word`` as a shell takes it, in double quotes where nothing in it means something there."""
    return f'"{word}"' if set(word) & set(" '") and not set(word) & set('"$`\\!') else shlex.quote(word)


def _spelled(outcome: Outcome) -> str:
    kind, text = outcome
    return text if kind is Kind.VALUE else f"{kind.name.lower().replace('_', ' ')} {text}".strip()


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
