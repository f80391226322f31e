"""Sandboxes, and whoever is killed in or around one, in a process that adopts every orphan.

`python -m tests.support.killing random|birth COUNT LAYER ...` kills that often and prints, as JSON,
how many and what was left.
"""

import ctypes
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable

from difftrust_core.exceptions import SandboxFailed
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Limits, OutcomeTable, Sandbox
from tests.support.proc import below, name

PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 20.0
"""Seconds for what was started to end by itself; a host waits half of it for a sandbox that does not start."""
HANGS = "def f(x):\n    while True: pass"


def start_host(wanted: frozenset[str], *, runs: bool) -> int:
    """Fork a host that starts a sandbox, runs what hangs for 0.2 s of CPU time if it ``runs``, and leaves."""
    pid = os.fork()
    if pid == 0:
        try:
            with Sandbox(Limits(call_cpu=0.2, max_timeouts=1), wanted=wanted) as sandbox:
                sandbox.load("", ["(0,)"], OutcomeTable.empty(1))
                if runs:
                    sandbox.run(HANGS, "f")
        except SandboxFailed:
            os._exit(1)
        finally:
            os._exit(0)
    return pid


def kill(pids: list[int]) -> int:
    """Kill processes; return how many of them were there."""
    count = 0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            count += 1
        except ProcessLookupError:
            pass
    return count


def left(patience: float = PATIENCE) -> list[str]:
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
            names += [name(one) for one in those]
            kill(those)
            os.waitpid(-1, 0)
        elif pid == 0:
            time.sleep(0.002)


def kill_at_random(number: int, wanted: frozenset[str]) -> tuple[int, list[str]]:
    """Kill any of a host and what is below it, at any moment of its start or run; return how many, and what is left."""
    draws = random.Random(number)
    runs = draws.random() < 0.3
    host = start_host(wanted, runs=runs)
    time.sleep(draws.uniform(0, 0.6 if runs else 0.06))
    there = below(host)
    victims = [pid for pid in [host, *there] if draws.random() < 0.5] or there[:1] or [host]
    return kill(victims), left()


def kill_at_birth(number: int, wanted: frozenset[str]) -> tuple[int, list[str]]:
    """Kill bubblewrap as soon as it has a child, every second time with its host."""
    host = start_host(wanted, runs=False)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for pid in below(host):
            if name(pid) == "bwrap" and below(pid):
                return kill([*([host] if number % 2 else []), pid]), left()
    return 0, left()


def main(words: list[str]) -> None:
    assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    how: dict[str, Callable[[int, frozenset[str]], tuple[int, list[str]]]] = {
        "random": kill_at_random,
        "birth": kill_at_birth,
    }
    kill_one, count, wanted = how[words[0]], int(words[1]), frozenset(words[2:])
    if "bubblewrap" in wanted:
        layers.bubblewrap()  # found out once, before the forks
    layers.probe_fixed_addresses()
    n_killed, leftovers = 0, []
    for number in range(count):
        n, names = kill_one(number, wanted)
        n_killed += n
        leftovers += [[number, *names]] if names else []
    print(json.dumps({"killed": n_killed, "left": leftovers}))


if __name__ == "__main__":
    main(sys.argv[1:])
