"""The benchmarks run to their end and print what they promise, on simulated coders; no figure is judged here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from psutil import process_iter

from tests.bench import published
from tests.bench.worst_imports import SOURCES, TASKS, import_worst
from tests.support.needs import needs_bubblewrap
from tests.support.tasks import small_task
from tests.support.waiting import until


def printed(module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", f"tests.bench.{module}", *arguments]
    environment = {**os.environ, "DIFFTRUST_DATA": "/nonexistent"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


@pytest.mark.slow
def test_the_sandbox_s_benchmark_runs() -> None:
    said = printed("sandbox", "--programs", "5", "--inputs", "50", "--rounds", "1")
    assert "bare loop" in said
    assert "all layers cost" in said


@pytest.mark.long
@pytest.mark.slow
@needs_bubblewrap  # the yardstick runs in it
def test_the_benchmark_runs() -> None:
    said = printed("performance", "--parts", "abcdfg", "-m", "2", "--pairs", "1", "--runs", "1")
    for what in ("executions a second", "without them, times the bare loop", "times as long as executing"):
        assert what in said
    assert "settings of" in said
    assert "one setting in SQL" in said
    assert "`difftrust --help`" in said


@pytest.mark.slow
@needs_bubblewrap  # the yardstick runs in it
def test_a_pair_that_hangs_is_dropped_and_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "DROPPED_AFTER", 3.0)
    task = small_task("f", reference="def f(a):\n    return a\n")
    candidates = ("def f(a):\n    while True: pass\n",) * 2
    pair = published.Pair(task=task, model="m", candidates=candidates, inputs=("(1,)",) * 20, attempts=(1,) * 20)
    (taken,) = published.run_published([pair], n_processes=1, n=20)
    assert (taken.seconds, taken.incoherence) == (3.0, pytest.approx(float("nan"), nan_ok=True))
    until(lambda: not any(published.YARDSTICK in (p.info["cmdline"] or []) for p in process_iter(["cmdline"])), 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES | TASKS)
def test_the_worst_files_are_bounded(name: str, tmp_path: Path) -> None:
    """Imported, or refused in one line, within 500 MB and fifteen seconds of processors."""
    took = import_worst(name, tmp_path)
    assert took.status in (0, 1)
    assert "Traceback" not in took.said
    assert took.together_mb < 500
    assert took.cpu < 15  # on two processors, which other tests share
