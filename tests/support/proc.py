"""What Linux says of processes in /proc; nothing, or 0, of one that has ended."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PR_SET_CHILD_SUBREAPER = 36


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""


def _fields(pid: int) -> list[str]:
    return _read(pid, "stat").rpartition(")")[2].split()


def below(pid: int) -> list[int]:
    """Return all processes below one, parents first."""
    children = map(int, _read(pid, f"task/{pid}/children").split())
    return [found for child in children for found in (child, *below(child))]


def parent(pid: int) -> int:
    """Return the process that started it, or adopted it."""
    return int((_fields(pid) or ["", "0"])[1])


def name(pid: int) -> str:
    """Return the name of what it runs."""
    return _read(pid, "comm").strip()


def command_line(pid: int) -> str:
    """Return the words that it was started with, one after the other."""
    return _read(pid, "cmdline")


def is_running(pid: int) -> bool:
    """Tell whether it is there and not just waited for."""
    return _fields(pid)[:1] not in ([], ["Z"])


def end(pids: Iterable[int], *, within: float = 5.0) -> bool:
    """Wait until none of the processes runs any more, and tell whether that came."""
    pids, deadline = list(pids), time.monotonic() + within
    while any(map(is_running, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far."""
    return sum(map(int, _fields(pid)[11:13])) / _TICK


def peak_mb(pid: int) -> float:
    """Return the most memory that a process ever held, in MiB."""
    found = _read(pid, "status").partition("VmHWM:")[2].split()[:1]
    return int(found[0]) / 1024 if found else 0.0


def adopt_orphans(do: bool = True) -> None:
    """Let what processes below this one leave behind become its children, or no longer."""
    assert ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(do), 0, 0, 0) == 0


def kill(pids: Iterable[int]) -> int:
    """Kill processes; return how many of them were there."""
    count = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            count += 1
    return count


def reap(patience: float, every: float = 0.02) -> list[str]:
    """Wait until this process has no child; kill what is left after ``patience`` seconds and return its names."""
    end = time.monotonic() + patience
    names: list[str] = []
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return names
        if pid == 0 and time.monotonic() > end:
            those = below(os.getpid())
            names += map(name, those)
            kill(those)
            os.waitpid(-1, 0)
        elif pid == 0:
            time.sleep(every)
