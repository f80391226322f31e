"""The benchmarks run to their end and print what they promise, on simulated coders; no figure is judged here."""

import os
import subprocess
import sys

import pytest

from difftrust_core.sandbox import layers


def printed(module: str, *arguments: str) -> str:
    command = [sys.executable, "-m", f"tests.bench.{module}", *arguments]
    environment = {**os.environ, "DIFFTRUST_DATA": "/nonexistent"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


def test_the_sandbox_s_benchmark_runs() -> None:
    said = printed("sandbox", "--programs", "5", "--inputs", "50", "--rounds", "1")
    assert "bare loop" in said
    assert "all layers cost" in said


@pytest.mark.skipif(not layers.bubblewrap(), reason="the yardstick needs bubblewrap")
def test_the_benchmark_runs() -> None:
    said = printed("performance", "--parts", "abcdg", "--pairs", "3")
    for what in ("executions a second", "without them, times the bare loop", "times as long as execut", "settings of"):
        assert what in said
    assert "`difftrust --help`" in said
