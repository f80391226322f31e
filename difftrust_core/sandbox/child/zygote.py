"""The process that holds a task's inputs and forks one confined child for each program; standard library only.

It never runs a candidate itself. It speaks frames with the host on one socket and believes no child unchecked.
"""

import builtins
import contextlib
import gc
import importlib.util
import json
import mmap
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Any, Never

_HERE = os.path.dirname(os.path.abspath(__file__))
_HARNESS = ("canonical", "confine", "program", "channel", "watchdog")
_BUILTINS = dict(vars(builtins))


def _load_harness(name: str, path: str) -> None:
    """Import a module of ours with builtins of its own: candidates replace and delete theirs."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = _BUILTINS
    sys.modules[name] = module
    spec.loader.exec_module(module)


# They lie elsewhere: the host reads the same grammar with them.
_load_harness("literals", sys.argv[1])
_load_harness("standard_types", os.path.join(os.path.dirname(sys.argv[1]), "standard_types.py"))
for _name in _HARNESS:
    _load_harness(_name, os.path.join(_HERE, f"{_name}.py"))

# What candidates import most, so that they find it loaded.
import bisect, collections, copy, datetime, decimal, fractions, functools, heapq  # noqa: E401, E402, F401, I001
import itertools, math, operator, random, re, statistics, string  # noqa: E401, E402, F401

from channel import CONFIG, END, ERROR, LOADED, READY, RESULT, TASK, Channel  # noqa: E402
from confine import Confinement, end_with, landlock_abi, self_test  # noqa: E402
from program import (  # noqa: E402
    DONE, FULL, HEADER_BYTES, LOADING, NO_MEMORY, NONDETERMINISTIC, NOT_LOADED, RECHECKING, STATE, Inputs,
)  # fmt: skip
from watchdog import Child, Task, kind_of_child  # noqa: E402


class Libraries:
    """Finds the libraries that candidates may import beside the standard one, and nothing that lies beside them.

    So an import ends in the same way whether or not the other packages of their folder can be seen.
    """

    def __init__(self, paths: dict[str, str]):
        self.paths = paths

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        """Return where a library is, None for every other name."""
        return importlib.util.spec_from_file_location(name, self.paths[name]) if name in self.paths else None


_told: dict[str, Any] = json.loads(sys.argv[4])
if _told["libraries"]:
    sys.meta_path.append(Libraries(_told["libraries"]))
_own = {os.path.splitext(os.path.basename(file))[0]: file for file in (*_told["parts"], sys.argv[2])}
_runner = next(reversed(_own))
for _name, _file in _own.items():
    if _name not in _HARNESS:
        _load_harness(_name, _file)
_make_inputs: Callable[[str, list[str]], Inputs] = getattr(sys.modules[_runner], sys.argv[3])
_preload: frozenset[str] = getattr(sys.modules[_runner], "LOADED_BEFORE", frozenset()).intersection(_told["preload"])
for _name in {"literals", "standard_types", *_HARNESS, *_own}:
    del sys.modules[_name]  # no candidate meets the harness under these names

vars(builtins).update(exit=sys.exit, quit=sys.exit)  # what the module site, left out here, gives every program


MAX_WHY = 1_000
"""Bytes of the name of what kept a program from loading."""


class Program:
    """One program's way through its inputs: children, restarts, budgets, and how far its lines go."""

    def __init__(self, task: Task, kind_of_child: type[Child], limits: dict[str, float]):
        self.task, self.kind_of_child, self.limits = task, kind_of_child, limits
        self.n = len(task.inputs)
        scale = max(1.0, self.n / 1000)
        self.left = {"cpu": limits["program_cpu"] * scale, "wall": limits["program_wall"] * scale}
        self.end, self.done = HEADER_BYTES, 0
        self.marks: list[int] = []  # the lines that are the zygote's own words
        self.rest = ""  # what the zygote says of all inputs that have no line
        self.restarts, self.timeouts, self.crashes = -1, 0, 0
        self.trim = self.trimmed = self.nondeterministic = False
        self.peak_kb, self.why_not_loaded = 0, ""

    def execute(self, channel: Channel) -> dict[str, Any]:
        """Run children until every input has its line; return what it cost and what was seen."""
        began_cpu, began_wall = self.left["cpu"], self.left["wall"]
        while self.done < self.n and self._step(channel):
            pass
        return {
            "end": self.end,
            "marks": self.marks,
            "rest": self.rest,
            "restarts": max(0, self.restarts),
            "cpu": began_cpu - self.left["cpu"],
            "wall": began_wall - self.left["wall"],
            "peak_kb": self.peak_kb,
            "trimmed": self.trimmed,
            "nondeterministic": self.nondeterministic,
        }

    def _step(self, channel: Channel) -> bool:
        """Run one child; return whether another one shall go on."""
        self.restarts += 1
        child = self.kind_of_child(self.task, start=self.done, begin=self.end, trim=self.trim)
        limits = self.limits | ({"call_wall": self.limits["repeat_wall"]} if self.timeouts else {})
        child.watch(channel, self.left, limits, limits["repeat_cpu" if self.timeouts else "call_cpu"])
        self.peak_kb = max(self.peak_kb, child.usage.ru_maxrss)
        try:
            return self._take(child)
        finally:
            child.head.release()

    def _take(self, child: Child) -> bool:
        state = child.head[STATE]
        if state in (LOADING, NOT_LOADED):
            return self._not_loaded(child)
        self.trimmed = self.trim
        self.nondeterministic = self.nondeterministic or child.head[NONDETERMINISTIC] != 0
        if state == DONE:
            self.end, self.done = child.end(), self.n  # the host counts
            return False
        count, at = child.count_lines(self.n - self.done)
        if count > self.n - self.done:
            return self._give_up("F")
        child.erase(at)
        self.end, self.done = at, self.done + count
        if self.done == self.n:
            # The second run of some inputs came to no end, but not for want of the program's budget.
            self.nondeterministic = self.nondeterministic or not self._spent()
            return False
        if state == RECHECKING:
            return self._give_up("F")
        no_room = state == FULL or len(self.task.reply) - self.end < MAX_WHY
        return self._give_up("M") if no_room else self._blame(child)

    def _spent(self) -> bool:
        return self.left["cpu"] <= 0 or self.left["wall"] <= 0

    def _blame(self, child: Child) -> bool:
        if self._spent():  # how far it gets hangs on the machine: that says nothing of the call it was in
            return self._give_up("S")
        if child.killed and child.moved_on:
            return True
        out_of_memory = child.head[STATE] == NO_MEMORY
        if child.killed or out_of_memory:
            self.timeouts += 1
            self._mark("M" if out_of_memory else "T")
        else:
            self.crashes += 1
            self._mark(child.death())
        given_up = self.timeouts >= self.limits["max_timeouts"] or self.crashes >= self.limits["max_crashes"]
        return self._give_up("S") if given_up else True

    def _not_loaded(self, child: Child) -> bool:
        count, at = child.count_lines(1)
        if child.head[STATE] == NOT_LOADED and count == 1 and at - child.begin < MAX_WHY:
            why = self.task.reply[child.begin : at - 1].decode(errors="replace")
        else:
            why = "Ltimeout" if child.killed else "L" + (child.death()[1:] or "killed")
        child.erase(child.begin)
        self.why_not_loaded = self.why_not_loaded or why
        if self.done:  # it loaded before, and did not after a restart
            return self._give_up("S")
        if self.trim or why.partition(":")[0] in ("LSyntaxError", "LIndentationError", "LNameMissing"):
            return self._give_up(self.why_not_loaded if self.why_not_loaded[:1] == "L" else "F")
        self.trim = True
        return True

    def _mark(self, line: str) -> None:
        text = f"{line}\n".encode()
        self.task.reply[self.end : self.end + len(text)] = text
        self.marks.append(self.done)
        self.end += len(text)
        self.done += 1

    def _give_up(self, rest: str) -> bool:
        if rest == "F":
            self.end, self.marks = HEADER_BYTES, []
        self.rest, self.done = rest, self.n
        return False


class Zygote:
    """The loop: a task's inputs, then its programs one by one."""

    def __init__(self, channel: Channel):
        self.channel = channel
        kind, config = channel.receive()
        assert kind == CONFIG
        self.limits: dict[str, float] = config["limits"]
        self.confinement = Confinement(
            config["layers"], config["files"], threads=config["threads"], stack_bytes=config["stack_bytes"]
        )
        self.confinement.zygote()
        self.kind_of_child = kind_of_child()
        request, reply = map(int, sys.argv[6:8])
        self.task = Task(self.confinement, request, mmap.mmap(reply, 0))
        facts = {"layers": self.confinement.active, "missing": self.confinement.missing, "landlock_abi": landlock_abi()}
        facts["cpu_clock"] = self.kind_of_child is Child
        channel.send(READY, {**facts, **self._self_test(config["baits"])})

    def _self_test(self, baits: dict[str, Any]) -> dict[str, Any]:
        mapping = mmap.mmap(-1, 4096)
        pid = os.fork()
        if pid == 0:
            try:
                said: dict[str, Any] = {"failed": "the self-test ended without a word"}
                self.confinement.confine()
                said = {"open": self_test(baits)}
            except (OSError, ValueError) as e:
                said = {"failed": str(e)}
            finally:
                text = json.dumps(said).encode()
                mapping[: len(text)] = text
                os._exit(0)
        os.waitpid(pid, 0)
        found: dict[str, Any] = json.loads(mapping[:].rstrip(b"\0") or b'{"failed": "the self-test was killed"}')
        mapping.close()
        return found

    def serve(self) -> Never:
        """Serve task after task, each in a fork of its own: its programs meet the same memory whatever ran before."""
        for name in sorted(_preload):
            with contextlib.suppress(ImportError):
                __import__(name)
        sys.argv[:] = [""]  # what a program reads of its own command line
        gc.collect()
        gc.freeze()  # here, so that no task's collection writes into what all of them share
        while True:
            kind, request = self.channel.receive()
            if kind != TASK:
                continue
            parent = os.getpid()
            pid = os.fork()
            if pid == 0:
                end_with(parent)
                self._serve_task(request)
            if (status := self._status(pid)) != 0:
                self.channel.send(ERROR, {"status": status})

    def _status(self, pid: int) -> int:
        """Wait for the process of a task. Once the host is gone it ends, whatever it is at."""
        if self.kind_of_child is Child:
            pidfd, poller = os.pidfd_open(pid), select.poll()
            poller.register(pidfd, select.POLLIN)
            poller.register(self.channel.socket, select.POLLHUP | select.POLLRDHUP)
            poller.poll()
            poller.unregister(self.channel.socket)
            if not poller.poll(1000):  # it would have seen that for itself, were it not busy with its inputs
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os._exit(0)
            os.close(pidfd)
        return os.waitpid(pid, 0)[1]

    def _serve_task(self, request: dict[str, Any]) -> Never:
        self.confinement.limit_memory(int(self.limits["memory_bytes"]) + len(self.task.reply))
        self.task.preamble = request["preamble"]
        self.task.inputs = _make_inputs(request["preamble"], request["inputs"])
        gc.collect()
        gc.freeze()
        self.channel.send(LOADED, {"n": len(self.task.inputs)})
        while True:
            kind, request = self.channel.receive()
            if kind == END:
                os._exit(0)
            # Of a program nothing is held here: a later one could find in memory what the reference answered.
            facts = Program(self.task, self.kind_of_child, self.limits).execute(self.channel)
            self.channel.send(RESULT, {**facts, "index": request["index"]})


if __name__ == "__main__":
    Zygote(Channel(int(sys.argv[5]))).serve()
