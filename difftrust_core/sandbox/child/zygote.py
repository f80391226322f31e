"""The process that holds a task's inputs and forks one confined child for each program; standard library only.

It never runs a candidate itself. It speaks frames with the host on one socket and believes no child unchecked.
"""

import builtins
import gc
import importlib.util
import json
import mmap
import os
import sys
from typing import Any, Never

_HERE = os.path.dirname(os.path.abspath(__file__))
_HARNESS = ("canonical", "confine", "program", "channel", "watch", "plain")
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


_load_harness("literals", sys.argv[2])  # it lies elsewhere: the host reads the same grammar with it
for _name in _HARNESS:
    _load_harness(_name, os.path.join(_HERE, f"{_name}.py"))

# What candidates import most, so that they find it loaded.
import bisect, collections, copy, datetime, decimal, fractions, functools, heapq  # noqa: E401, E402, F401, I001
import itertools, math, operator, random, re, statistics, string  # noqa: E401, E402, F401

from canonical import MAX_TEXT  # noqa: E402
from channel import CONFIG, END, ERROR, LOADED, READY, RESULT, TASK, Channel  # noqa: E402
from confine import Confinement, landlock_abi, self_test  # noqa: E402
from program import DONE, FULL, LOADING, NO_MEMORY, NONDETERMINISTIC, NOT_LOADED, RECHECKING, STATE, Inputs  # noqa: E402
from plain import kind_of_child  # noqa: E402
from watch import Child  # noqa: E402

sys.path.append(sys.argv[3])  # where NumPy lies; the layers keep the rest of it shut
for _name in ("literals", *_HARNESS):
    del sys.modules[_name]  # no candidate meets the harness under these names

vars(builtins).update(exit=sys.exit, quit=sys.exit)  # what the module site, left out here, gives every program


MAX_LINE_BYTES = 4 * (MAX_TEXT + 64)  # in UTF-8


class Program:
    """One program's way through its inputs: children, restarts, budgets, and the text of its lines so far."""

    def __init__(self, zygote: "Zygote", request: dict[str, Any]):
        self.zygote = zygote
        self.request = {**request, "trim": False}
        self.n = len(zygote.inputs)
        self.limits = zygote.limits
        scale = max(1.0, self.n / 1000)
        self.left = {"cpu": self.limits["program_cpu"] * scale, "wall": self.limits["program_wall"] * scale}
        self.text, self.done = bytearray(), 0
        self.restarts, self.timeouts, self.crashes = -1, 0, 0
        self.trimmed = self.nondeterministic = False
        self.peak_kb, self.why_not_loaded = 0, b""

    def execute(self) -> dict[str, Any]:
        """Run children until every input has its line; return what it cost and what was seen."""
        began_cpu, began_wall = self.left["cpu"], self.left["wall"]
        while self.done < self.n and self._step():
            pass
        return {
            "restarts": max(0, self.restarts),
            "cpu": began_cpu - self.left["cpu"],
            "wall": began_wall - self.left["wall"],
            "peak_kb": self.peak_kb,
            "trimmed": self.trimmed,
            "nondeterministic": self.nondeterministic,
        }

    def _step(self) -> bool:
        """Run one child; return whether another one shall go on."""
        self.restarts += 1
        limits, zygote = self.limits, self.zygote
        child = zygote.kind_of_child(
            zygote.confinement,
            self.request,
            zygote.inputs,
            start=self.done,
        )
        child.watch(
            zygote.channel,
            self.left,
            load_cpu=limits["load_cpu"],
            call_cpu=limits["repeat_cpu"] if self.timeouts else limits["call_cpu"],
            call_wall=limits["call_wall"],
        )
        self.peak_kb = max(self.peak_kb, child.usage.ru_maxrss)
        try:
            return self._take(child)
        finally:
            child.close()

    def _take(self, child: Child) -> bool:
        text, state = child.text(), child.head[STATE]
        if state in (LOADING, NOT_LOADED):
            return self._not_loaded(child, text)
        count = text.count(b"\n")
        too_much = count > self.n - self.done or len(text) > count * MAX_LINE_BYTES
        if too_much or _count_of_calls(text) != count:
            return self._fill(b"F")
        self.text += text
        self.done += count
        self.trimmed = bool(self.request["trim"])
        self.nondeterministic = self.nondeterministic or child.head[NONDETERMINISTIC] != 0
        if self.done == self.n:
            # The second run of some inputs came to no end, but not for want of the program's budget.
            self.nondeterministic = self.nondeterministic or (state != DONE and not self._spent())
            return False
        if state in (DONE, RECHECKING):
            return self._fill(b"F")
        if state == FULL and child.status == 0:
            return True if count else self._fill(b"F")
        return self._blame(child)

    def _spent(self) -> bool:
        return self.left["cpu"] <= 0 or self.left["wall"] <= 0

    def _blame(self, child: Child) -> bool:
        if self._spent():
            self._add(b"T")
            return self._fill(b"S")
        if child.killed and child.moved_on:
            return True
        out_of_memory = child.head[STATE] == NO_MEMORY
        if child.killed or out_of_memory:
            self.timeouts += 1
            self._add(b"M" if out_of_memory else b"T")
        else:
            self.crashes += 1
            self._add(child.death())
        given_up = self.timeouts >= self.limits["max_timeouts"] or self.crashes >= self.limits["max_crashes"]
        return self._fill(b"S") if given_up else True

    def _not_loaded(self, child: Child, text: bytes) -> bool:
        if child.head[STATE] == NOT_LOADED and text.count(b"\n") == 1 and text[:1] == b"L":
            why = text[:-1]
        else:
            why = b"Ltimeout" if child.killed else b"L" + (child.death()[1:] or b"killed")
        self.why_not_loaded = self.why_not_loaded or why
        if self.done:  # it loaded before, and did not after a restart
            return self._fill(b"S")
        if self.request["trim"] or why in (b"LSyntaxError", b"LIndentationError", b"LNameMissing"):
            return self._fill(self.why_not_loaded)
        self.request["trim"] = True
        return True

    def _add(self, line: bytes) -> None:
        self.text += line + b"\n"
        self.done += 1

    def _fill(self, line: bytes) -> bool:
        if line == b"F":
            self.text, self.done = bytearray(), 0
        self.text += (line + b"\n") * (self.n - self.done)
        self.done = self.n
        return False


def _count_of_calls(text: bytes) -> int:
    """Return how many lines of ``text`` say what only a child may say: value, exception, unsupported."""
    return sum(text.count(b"\n" + letter) + text.startswith(letter) for letter in (b"V", b"E", b"U"))


class Zygote:
    """The loop: a task's inputs, then its programs one by one."""

    def __init__(self, channel: Channel):
        self.channel = channel
        kind, config = channel.receive()
        assert kind == CONFIG
        self.limits: dict[str, float] = config["limits"]
        self.confinement = Confinement(config["layers"], config["readable"])
        self.confinement.zygote()
        self.kind_of_child = kind_of_child()
        self.inputs, self.preamble = Inputs([]), ""
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
        while True:
            kind, request = self.channel.receive()
            if kind != TASK:
                continue
            pid = os.fork()
            if pid == 0:
                self._serve_task(request)
            _, status = os.waitpid(pid, 0)
            if status != 0:
                self.channel.send(ERROR, {"status": status})

    def _serve_task(self, request: dict[str, Any]) -> Never:
        self.confinement.limit_memory(int(self.limits["memory_bytes"]))
        self.inputs, self.preamble = Inputs(request["inputs"]), request["preamble"]
        gc.collect()
        gc.freeze()
        self.channel.send(LOADED, {"n": len(self.inputs)})
        while True:
            kind, request = self.channel.receive()
            if kind == END:
                os._exit(0)
            self._run(request)

    def _run(self, request: dict[str, Any]) -> None:
        program = Program(self, {**request, "preamble": self.preamble})
        facts = program.execute()
        # Nothing of it is kept: a later program could find in memory what the reference answered.
        self.channel.send(RESULT, {**facts, "index": request["index"]}, program.text)


if __name__ == "__main__":
    Zygote(Channel(int(sys.argv[1]))).serve()
