"""Run `difftrust check` as a process, and read what it found."""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT = 120.0
"""Seconds after which a check is given up."""
_COMMAND = (sys.executable, "-P", "-c", "from difftrust_core.cli import main; main()", "check")


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
    said: str
    """In a line."""


def run_check(where: str, programs: Path, options: Sequence[str], cwd: Path) -> Checked:
    """Check these candidates."""
    command = [*_COMMAND, where, "--candidates", str(programs), "--json", *options]
    began = time.perf_counter()
    try:
        ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return _refused(LIMIT, f"did not end within {LIMIT:.0f} s")
    seconds = time.perf_counter() - began
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        lines = [line for line in ended.stderr.splitlines() if line.strip()]
        return _refused(seconds, f"status {ended.returncode}: {lines[-1] if lines else 'nothing said'}")
    return _read(report, seconds)


def _read(report: dict[str, Any], seconds: float) -> Checked:
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
        seconds=seconds,
        said=f"{report['verdict']}: {groups}; {inputs}" + (f"; {reasons}" if reasons else ""),
    )


def _refused(seconds: float, said: str) -> Checked:
    return Checked(
        verdict="refused",
        behaviours=frozenset(),
        contradicting=frozenset(),
        shown=(),
        seconds=seconds,
        said=said,
    )


def _name(candidate: str) -> str:
    return candidate.removesuffix(".py")
