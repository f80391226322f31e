"""What is printed of several functions, and the exit status."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from difftrust_core.cli.checking.one import say
from difftrust_core.cli.checking.request import UNDECIDED, CheckRequest

if TYPE_CHECKING:
    from difftrust_core.checks.source.targets import Skipped
    from difftrust_core.report.formats.findings import Finding

_SHOWN = 3
"""Functions named of each reason to leave some out."""


def status_of(findings: "Sequence[Finding]") -> int:
    """Return the exit status of several: 1 if any failed, else 3 if any is undecided or refused, else 0."""
    statuses = {finding.status for finding in findings}
    return 1 if "failed" in statuses else UNDECIDED if statuses & {"undecided", "refused"} else 0


def refused(where: str, why: str) -> "Finding":
    """Return what is said of a function, or a file, that could not be checked."""
    from difftrust_core.report.formats.findings import Finding, line_of

    path, _, name = where.rpartition("::")
    return Finding(
        name=where,
        path=path or where,
        line=line_of(where) if name else 1,
        verdict="refused",
        status="refused",
        message=why,
    )


def finding_of(kept: Mapping[str, Any]) -> "Finding":
    """Return what ``asdict`` made of a finding."""
    from difftrust_core.report.formats.findings import Finding, FindingInput

    inputs = [
        FindingInput(call=each["call"], outcomes=tuple((who, did) for who, did in each["outcomes"]))
        for each in kept["inputs"]
    ]
    return Finding(**{**kept, "inputs": tuple(inputs)})


def say_skipped(skipped: "Sequence[Skipped]") -> None:
    """Say how many functions are left out, by reason, the first few by name."""
    reasons: dict[str, list[str]] = {}
    for each in skipped:
        if not each.is_fault:
            reasons.setdefault(each.why, []).append(each.where)
    for why, where in reasons.items():
        more = f" and {len(where) - _SHOWN} more" if len(where) > _SHOWN else ""
        say(f"left out, {why}: {', '.join(where[:_SHOWN])}{more}")


def printed(findings: "Sequence[Finding]", request: CheckRequest) -> str:
    """Return all that was found in the format asked for."""
    from difftrust_core.report.formats.render import render

    return render(findings, request.style)
