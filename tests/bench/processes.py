"""A command run to its end, and what it and everything it started took: wall time, CPU time, memory."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_LOOK_EVERY = 0.2


@dataclass(frozen=True, kw_only=True)
class Took:
    """Seconds, and megabytes: of the largest process and of all of them together, shared pages counted in each.

    A process that runs candidates is counted apart: it takes what these take, up to their limit.
    """

    wall: float
    cpu: float
    largest_mb: float
    largest_of_candidates_mb: float
    together_mb: float
    status: int
    said: str


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
                if any(word.endswith("zygote.py") for word in process.cmdline()):
                    self.of_candidates = max(self.of_candidates, _peak_mb(process))
                else:
                    self.largest = max(self.largest, _peak_mb(process))
        self.cpu, self.together = max(self.cpu, cpu), max(self.together, together)

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self.join()


def _peak_mb(process: psutil.Process) -> float:
    """Return the most that a process has had so far, where the system says it, else what it has."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return float(process.memory_info().rss) / 1e6


def run(command: Sequence[str], *, may_fail: bool = False, look_every: float = _LOOK_EVERY) -> Took:
    """Run a command. Raises SystemExit with its last words if it fails and may not."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        watch = _Watch(process.pid, look_every)
        watch.start()
        said, _ = process.communicate()
        wall = time.perf_counter() - began
        watch.end()
    if process.returncode and not may_fail:
        raise SystemExit(f"{' '.join(command)} failed: {said.strip()[-500:]}")
    return Took(
        wall=wall,
        cpu=watch.cpu,
        largest_mb=watch.largest,
        largest_of_candidates_mb=watch.of_candidates,
        together_mb=watch.together,
        status=process.returncode,
        said=said,
    )
