"""The benchmarks run to their end and print what they promise, on simulated coders; no figure is judged here."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from difftrust_core.base.task import Task
from tests.bench import published
from tests.support.needs import needs_bubblewrap


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
    said = printed("performance", "--parts", "abcdg", "--pairs", "3")
    for what in (
        "executions a second",
        "without them, times the bare loop",
        "times as long as executing",
        "settings of",
    ):
        assert what in said
    assert "`difftrust --help`" in said


@needs_bubblewrap  # the yardstick runs in it
def test_a_pair_that_hangs_is_dropped_and_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "DROPPED_AFTER", 3.0)
    task = Task(
        benchmark="tiny",
        task_id="tiny/0",
        entry_point="f",
        signature="(a)",
        description="",
        seed_inputs=("(1,)",),
        reference="def f(a):\n    return a\n",
    )
    candidates = ("def f(a):\n    while True: pass\n",) * 2
    pair = published.Pair(task=task, model="m", candidates=candidates, inputs=("(1,)",) * 20, attempts=(1,) * 20)
    (taken,) = published.run_published([pair], n_processes=1, n=20)
    assert (taken.seconds, taken.incoherence) == (3.0, pytest.approx(float("nan"), nan_ok=True))
    end = time.monotonic() + 10
    while any(published.YARDSTICK in (p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"])):
        assert time.monotonic() < end, "the yardstick was left behind"
        time.sleep(0.1)
