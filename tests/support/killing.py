"""Sandboxes, and whoever is killed in or around one, in a process that adopts every orphan.

`python -m tests.support.killing random|birth COUNT LAYER ...` kills that often and prints, as JSON,
how many and what was left.
"""

import json
import os
import random
import sys
import time

from difftrust_core.exceptions import SandboxFailed
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import Limits, OutcomeTable, Sandbox
from tests.support.proc import adopt_orphans, below, kill, name, reap

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


def kill_at_random(number: int, wanted: frozenset[str]) -> tuple[int, list[str]]:
    """Kill any of a host and what is below it, at any moment of its start or run; return how many, and what is left."""
    draws = random.Random(number)
    runs = draws.random() < 0.3
    host = start_host(wanted, runs=runs)
    time.sleep(draws.uniform(0, 0.6 if runs else 0.06))
    there = below(host)
    victims = [pid for pid in [host, *there] if draws.random() < 0.5] or there[:1] or [host]
    return kill(victims), reap(PATIENCE, every=0.002)


def kill_at_birth(number: int, wanted: frozenset[str]) -> tuple[int, list[str]]:
    """Kill bubblewrap as soon as it has a child, every second time with its host."""
    host = start_host(wanted, runs=False)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for pid in below(host):
            if name(pid) == "bwrap" and below(pid):
                return kill([*([host] if number % 2 else []), pid]), reap(PATIENCE, every=0.002)
    return 0, reap(PATIENCE, every=0.002)


def main(words: list[str]) -> None:
    adopt_orphans()
    kill_one = {"random": kill_at_random, "birth": kill_at_birth}[words[0]]
    count, wanted = int(words[1]), frozenset(words[2:])
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
