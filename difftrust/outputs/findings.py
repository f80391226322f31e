"""What was found of a function, the same record for checks and comparisons, and how it is printed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from difftrust.check.report import CheckReport
from difftrust.check.spelling import spelled_outcome
from difftrust.diff.comparison import DiffReport
from difftrust.outputs.report_text import (
    as_json,
    call_of,
    contradictions_of,
    outcomes_shown,
    shown_disagreements,
    standing_of,
    validation_of,
)
from difftrust.source.target import find_target
from difftrust.text import count_of, printable
from difftrust_core.exceptions import DifftrustError

Status = Literal["ok", "failed", "undecided", "refused"]
_STATUS: dict[str, Status] = {
    "coherent": "ok",
    "unchanged": "ok",
    "incoherent": "failed",
    "disagreement found": "failed",
    "changed": "failed",
}


UNDECIDED = 3
"""The exit status where nothing was decided, since 1 says incoherent."""


@dataclass(frozen=True, kw_only=True)
class FindingInput:
    """An input that shows what was found, and who does what on it."""

    call: str
    outcomes: tuple[tuple[str, str], ...]
    """(who, what): candidates or a version, and the value or exception in words."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found of one function."""

    name: str
    """``module.py::function`` as the user may name it."""
    path: str
    line: int
    """Of the function in its file, from 1."""
    verdict: str
    """coherent, incoherent, disagreement found, undecided; unchanged, changed; refused."""
    status: Status
    message: str
    inputs: tuple[FindingInput, ...] = ()
    seconds: float | None = None


def finding_of_check(report: CheckReport, where: str) -> Finding:
    """Return what a check of ``module.py::function`` found; where the user's own code stands comes first."""
    whole = as_json(report)
    own = standing_of(whole)[:1]
    said = [f"{report.statement} {report.next_step}"] if report.verdict == "undecided" else [report.statement]
    return Finding(
        name=where,
        path=where.rpartition("::")[0],
        line=line_of(where),
        verdict=report.verdict,
        status=_STATUS.get(report.verdict, "undecided"),
        message=" ".join([*(f"{line}." for line in own), *said]),
        inputs=tuple(_inputs_of_check(whole)),
    )


def _inputs_of_check(report: Any) -> Iterator[FindingInput]:
    for call, right, who in contradictions_of(report):
        did = [tuple(line.split(": ", 1)) for line in who]
        yield FindingInput(call=call, outcomes=(("expected", right), *((one[0], one[-1]) for one in did)))
    for found in shown_disagreements(report):
        names = [", ".join(report["clusters"][found[side] - 1]["candidates"]) for side in ("first", "second")]
        shown = tuple(zip(names, outcomes_shown(found, report), strict=True))
        yield FindingInput(call=call_of(report["task"], found["arguments"]), outcomes=shown)
    for call, lines in validation_of(report):
        outcomes = [line.split(": ", 1) for line in lines]
        yield FindingInput(call=call, outcomes=tuple((one[0], one[-1]) for one in outcomes))


def finding_of_diff(report: DiffReport) -> Finding:
    """Return what a comparison of two versions found; a change that was expected fails nothing."""
    return Finding(
        name=report.new,
        path=report.path,
        line=report.line,
        verdict=report.verdict,
        status=_STATUS.get(report.verdict, "undecided"),
        message=report.statement,
        inputs=tuple(map(_input_of_change, as_json(report)["changes"])),
    )


def _input_of_change(change: Any) -> FindingInput:
    did = [spelled_outcome(kind, text, change["arguments"]) for kind, text in change["outcomes"]]
    return FindingInput(call=change["call"], outcomes=tuple(zip(("old", "new"), did, strict=True)))


def refuse(where: str, why: str) -> Finding:
    """Return what is said of a function, or a file, that could not be checked."""
    path, _, name = where.rpartition("::")
    line = line_of(where) if name else 1
    return Finding(name=where, path=path or where, line=line, verdict="refused", status="refused", message=why)


def finding_of_json(kept: Mapping[str, Any]) -> Finding:
    """Return what ``asdict`` made of a finding."""
    inputs = [
        FindingInput(call=each["call"], outcomes=tuple((who, did) for who, did in each["outcomes"]))
        for each in kept["inputs"]
    ]
    return Finding(**{**kept, "inputs": tuple(inputs)})


def exit_status_of(findings: Sequence[Finding]) -> int:
    """Return the exit status: 1 if any failed, else 3 if any is undecided or refused, else 0."""
    statuses = {finding.status for finding in findings}
    return 1 if "failed" in statuses else UNDECIDED if statuses & {"undecided", "refused"} else 0


def line_of(where: str) -> int:
    """Return the line of ``module.py::function``; 1 where it cannot be found."""
    try:
        return find_target(where).function.lineno
    except DifftrustError:
        return 1


def lines_of(finding: Finding) -> list[str]:
    """Return the message, then each input and who does what on it; printable, each on a line."""
    lines = [finding.message]
    for each in finding.inputs:
        lines += [each.call, *(f"  {who}: {what}" for who, what in each.outcomes)]
    return [printable(line) for line in lines]


def summary_of(findings: Sequence[Finding]) -> str:
    """Return how many functions there are, and how many of each verdict."""
    counts = Counter(finding.verdict for finding in findings)
    of = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{count_of(len(findings), 'function')}{f': {of}' if of else ''}"
