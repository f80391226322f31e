"""Run `difftrust check` as a process, and read what it found."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.processes import DIFFTRUST, Took, run

LIMIT = 120.0
"""Seconds after which a check is given up."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What one check said."""

    verdict: str
    """As the report has it (``disagreement found`` too), or ``refused``."""
    behaviours: frozenset[frozenset[str]]
    contradicting: frozenset[str]
    """Candidates that contradict an example."""
    shown: tuple[str, ...]
    """The inputs shown."""
    seconds: float
    cpu: float
    """Seconds of processor time."""
    said: str
    """In a line."""
    doubted: str = ""
    """The first input shown that is left out; empty where none is."""


def run_check(where: str, programs: Path, options: Sequence[str], cwd: Path) -> Checked:
    """Check these candidates."""
    command = [*DIFFTRUST, "check", where, "--candidates", str(programs), "--format=json", *options]
    return checked(run(command, cwd=cwd, limit=LIMIT))


def checked(ended: Took) -> Checked:
    """Return what a check said that ended so."""
    if ended.wall >= LIMIT:
        return _refused(ended, f"did not end within {LIMIT:.0f} s")
    try:
        return _read(json.loads(ended.stdout), ended)
    except ValueError:
        lines = [line for line in ended.stderr.splitlines() if line.strip()]
        return _refused(ended, f"status {ended.status}: {lines[-1] if lines else 'nothing said'}")


def _read(report: dict[str, Any], ended: Took) -> Checked:
    behaviours = [frozenset(map(_name, cluster["candidates"])) for cluster in report["clusters"]]
    contradictions = report.get("contradictions", [])
    shown = tuple(found["arguments"] for found in report["disagreements"] if found["arguments"] is not None)
    groups = " | ".join(",".join(sorted(group)) for group in behaviours)
    reasons = "; ".join(str(each["why"]) for each in report.get("undecided", []))
    inputs = f"shown {', '.join(shown) or 'nothing'}; {report['n_distinct']} distinct inputs"
    return Checked(
        verdict=report["verdict"],
        behaviours=frozenset(behaviours),
        contradicting=frozenset(_name(name) for each in contradictions for name in each["candidates"]),
        shown=shown,
        doubted=next((each["arguments"] for each in report["validation"]), ""),
        seconds=ended.wall,
        cpu=ended.cpu,
        said=f"{report['verdict']}: {groups}; {inputs}" + (f"; {reasons}" if reasons else ""),
    )


def _refused(ended: Took, said: str) -> Checked:
    none = frozenset[Any]()
    spent = {"seconds": ended.wall, "cpu": ended.cpu}
    return Checked(verdict="refused", behaviours=none, contradicting=none, shown=(), said=said, **spent)


def _name(candidate: str) -> str:
    return candidate.removesuffix(".py")
