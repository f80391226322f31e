"""Run `difftrust check` and its peers as processes, and read what a check found."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT = 120.0
"""Seconds after which a check is given up."""
_COMMAND = (sys.executable, "-P", "-c", "from difftrust_core.cli import main; main()", "check")


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process ended."""

    status: int
    stdout: str
    stderr: str
    seconds: float
    cpu: float
    """Seconds of processor time, its own processes' included."""


def run(command: Sequence[str], cwd: Path, limit: float, env: Mapping[str, str] | None = None) -> Ended:
    """Run a command to its end; after so many seconds it is killed."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdout=stdout, stderr=stderr, env=env, start_new_session=True)
        timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        said = []
        for stream in (stdout, stderr):
            stream.seek(0)
            said.append(stream.read().decode(errors="replace"))
    return Ended(
        status=process.returncode,
        stdout=said[0],
        stderr=said[1],
        seconds=seconds,
        cpu=usage.ru_utime + usage.ru_stime,
    )


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


def run_check(where: str, programs: Path, options: Sequence[str], cwd: Path) -> Checked:
    """Check these candidates."""
    command = [*_COMMAND, where, "--candidates", str(programs), "--json", *options]
    return checked(run(command, cwd, LIMIT))


def checked(ended: Ended) -> Checked:
    """Return what a check said that ended so."""
    if ended.seconds >= LIMIT:
        return _refused(ended, f"did not end within {LIMIT:.0f} s")
    try:
        return _read(json.loads(ended.stdout), ended)
    except ValueError:
        lines = [line for line in ended.stderr.splitlines() if line.strip()]
        return _refused(ended, f"status {ended.status}: {lines[-1] if lines else 'nothing said'}")


def _read(report: dict[str, Any], ended: Ended) -> Checked:
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
        seconds=ended.seconds,
        cpu=ended.cpu,
        said=f"{report['verdict']}: {groups}; {inputs}" + (f"; {reasons}" if reasons else ""),
    )


def _refused(ended: Ended, said: str) -> Checked:
    return Checked(
        verdict="refused",
        behaviours=frozenset(),
        contradicting=frozenset(),
        shown=(),
        seconds=ended.seconds,
        cpu=ended.cpu,
        said=said,
    )


def _name(candidate: str) -> str:
    return candidate.removesuffix(".py")
