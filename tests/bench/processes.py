"""Commands run to their end, and what they and everything they started took: wall time, CPU time, memory."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

from tests.support.proc import peak_mb

Item, Result = TypeVar("Item"), TypeVar("Result")
DIFFTRUST = (sys.executable, "-P", "-c", "from difftrust.cli import main; main()")
"""How a command of difftrust begins, whatever is on the PATH."""


@dataclass(frozen=True, kw_only=True)
class Took:
    """Seconds; and megabytes, where it was watched: of the largest process and of all together, shared pages in each.

    A process that runs candidates is counted apart: it takes what these take, up to their limit.
    """

    status: int
    stdout: str
    stderr: str
    wall: float
    cpu: float
    largest_mb: float = 0.0
    largest_of_candidates_mb: float = 0.0
    together_mb: float = 0.0

    @property
    def said(self) -> str:
        """Return all that it wrote."""
        return self.stdout + self.stderr


class _Watch(threading.Thread):
    """Look at a tree of processes now and then: workers are killed at the end, and nobody is told what they took."""

    def __init__(self, pid: int, look_every: float):
        super().__init__(daemon=True)
        self._look_every = look_every
        self._root = psutil.Process(pid)
        self._ended = threading.Event()
        self.cpu = self.largest = self.of_candidates = self.together = 0.0

    def run(self) -> None:
        while not self._ended.wait(self._look_every):
            with contextlib.suppress(psutil.Error):
                self._look([self._root, *self._root.children(recursive=True)])

    def _look(self, processes: list[psutil.Process]) -> None:
        cpu, together = 0.0, 0.0
        for process in processes:
            with contextlib.suppress(psutil.Error):
                cpu += sum(process.cpu_times()[:4])  # its own, and that of children it waited for
                together += process.memory_info().rss / 1e6
                peak = peak_mb(process.pid) * 2**20 / 1e6
                if any(word.endswith("zygote.py") for word in process.cmdline()):
                    self.of_candidates = max(self.of_candidates, peak)
                else:
                    self.largest = max(self.largest, peak)
        self.cpu, self.together = max(self.cpu, cpu), max(self.together, together)

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self.join()


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    limit: float | None = None,
    look_every: float | None = None,
) -> Took:
    """Run a command; after ``limit`` seconds it is killed, and every ``look_every`` seconds its memory is looked at."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdout=stdout, stderr=stderr, env=env, start_new_session=True)
        timer = threading.Timer(limit or 0, os.killpg, (process.pid, signal.SIGKILL))
        watch = _Watch(process.pid, look_every or 0)
        for thread, is_wanted in ((timer, limit), (watch, look_every)):
            if is_wanted:
                thread.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        timer.cancel()
        if look_every:
            watch.end()
        process.returncode = os.waitstatus_to_exitcode(status)
        said = []
        for stream in (stdout, stderr):
            stream.seek(0)
            said.append(stream.read().decode(errors="replace"))
    return Took(
        status=process.returncode,
        stdout=said[0],
        stderr=said[1],
        wall=wall,
        cpu=max(watch.cpu, usage.ru_utime + usage.ru_stime),
        largest_mb=watch.largest,
        largest_of_candidates_mb=watch.of_candidates,
        together_mb=watch.together,
    )


def run_well(command: Sequence[str | Path]) -> Took:
    """Run a command and look at it. Raises SystemExit with its last words if it fails."""
    took = run(command, look_every=0.05)
    if took.status:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {took.said.strip()[-500:]}")
    return took


def in_turn(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[tuple[Item, Result]]:
    """Yield each item and what ``work`` makes of it, in order, ``jobs`` at a time; count on the error stream."""
    with ThreadPoolExecutor(jobs) as pool:
        for number, found in enumerate(zip(items, pool.map(work, items), strict=True), 1):
            yield found
            print(f"\r{number} of {len(items)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def own_cpu() -> float:
    """Return the CPU time so far of this process and of those that it waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
