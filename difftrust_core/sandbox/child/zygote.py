"""The process that holds a task's inputs and forks one confined child for each program; standard library only.

It never runs a candidate itself. It speaks frames with the host on one socket: length, type, nonce, payload.
Its watchdog reads the child's CPU clock, so a busy machine does not change an outcome, and kills: a signal handler
would not interrupt C code, and a candidate can catch every exception.
"""

import gc
import importlib.util
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
from array import array

_HARNESS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _HARNESS)
# literals.py lies elsewhere: the host reads the same grammar with it.
_spec = importlib.util.spec_from_file_location("literals", sys.argv[2])
sys.modules["literals"] = _literals = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_literals)
# What candidates import most, so that they find it loaded.
import bisect, collections, copy, datetime, decimal, fractions, functools, heapq  # noqa: E401, E402, F401, I001
import itertools, math, operator, random, re, statistics, string, typing  # noqa: E401, E402, F401

from canonical import MAX_TEXT  # noqa: E402
from confine import Confinement, self_test  # noqa: E402
from program import (  # noqa: E402
    DONE, FULL, HEADER_BYTES, LOADING, NO_MEMORY, NONDETERMINISTIC, NOT_LOADED, POSITION, RECHECKING, STATE, WRITTEN,
    Inputs, run,
)  # fmt: skip

for _name in ("literals", "canonical", "confine", "program"):
    del sys.modules[_name]  # no candidate meets the harness under these names
sys.path.remove(_HARNESS)

FRAME = struct.Struct("=IB16s")
CONFIG, TASK, RUN, READY, LOADED, RESULT, END, ERROR = range(1, 9)
MAX_FRAME = 1 << 28
POLL_MS = 10
MAPPING_BYTES = 64 << 20


class Channel:
    """Frames on the control socket; the zygote ends when the host's end closes."""

    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)
        self.nonce = b""

    def receive(self):
        """Return the next frame's type and payload; leave if it is not the host's."""
        length, kind, nonce = FRAME.unpack(self._exactly(FRAME.size))
        self.nonce = self.nonce or nonce
        if nonce != self.nonce or length > MAX_FRAME:
            os._exit(3)
        return kind, json.loads(self._exactly(length))

    def send(self, kind, payload, tail=b""):
        """Send a frame: a line of JSON, then raw bytes."""
        body = json.dumps(payload).encode() + b"\n" + tail
        self.socket.sendall(FRAME.pack(len(body), kind, self.nonce) + body)

    def _exactly(self, count):
        parts = bytearray()
        while len(parts) < count:
            part = self.socket.recv(min(count - len(parts), 1 << 20))
            if not part:
                os._exit(0)  # the host is gone: nothing is left to do
            parts += part
        return bytes(parts)


class Child:
    """One confined process running one program, and what the watchdog knows of it."""

    def __init__(self, confinement, limits, program, inputs, start):
        self.mapping = mmap.mmap(-1, MAPPING_BYTES)
        self.start = start
        self.pid = os.fork()
        if self.pid == 0:
            try:
                confinement.confine(limits["memory_bytes"])
                run(program, inputs, self.mapping, start)
            finally:
                os._exit(120)
        self.head = memoryview(self.mapping)[:HEADER_BYTES].cast("Q")
        self.clock = (~self.pid << 3) | 2  # the CPU clock of another process, as clock_getcpuclockid(3) makes it
        self.killed = self.moved_on = False

    def watch(self, channel, left, *, load_cpu, call_cpu, call_wall):
        """Wait for the end of the child, killing it when a call, the load or the program is over its limit."""
        pidfd = os.pidfd_open(self.pid)
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        poller.register(channel.socket, select.POLLHUP | select.POLLRDHUP)
        began = time.monotonic()
        last, cpu_mark, wall_mark = None, 0.0, began
        while not (ready := poller.poll(POLL_MS)):
            cpu, wall = self._cpu(), time.monotonic()
            where = (self.head[STATE], self.head[POSITION])
            if where != last:
                last, cpu_mark, wall_mark = where, cpu, wall
            loading = where[0] == LOADING
            over = cpu - cpu_mark > (load_cpu if loading else call_cpu) or wall - wall_mark > call_wall
            if over or cpu > left["cpu"] or wall - began > left["wall"]:
                os.kill(self.pid, signal.SIGKILL)
                poller.unregister(channel.socket)
                poller.poll()
                self.killed = True
                # If it moved on while it was being killed, the call that was over its limit had ended after all.
                self.moved_on = (self.head[STATE], self.head[POSITION]) != last
                break
        if ready and any(descriptor == channel.socket.fileno() for descriptor, _ in ready):
            os.kill(self.pid, signal.SIGKILL)
            os._exit(0)
        os.close(pidfd)
        _, self.status, self.usage = os.wait4(self.pid, 0)
        left["cpu"] -= self.usage.ru_utime + self.usage.ru_stime
        left["wall"] -= time.monotonic() - began

    def _cpu(self):
        try:
            return time.clock_gettime(self.clock)
        except OSError:
            return 0.0  # it ended in this moment

    def lines(self):
        """Return the lines that the child wrote, or None where the mapping contradicts itself."""
        end = self.head[WRITTEN]
        if not HEADER_BYTES <= end <= MAPPING_BYTES:
            return None
        text = self.mapping[HEADER_BYTES:end]
        return text.split(b"\n")[:-1] if not text or text.endswith(b"\n") else None

    def close(self):
        """Give the mapping back."""
        self.head.release()
        self.mapping.close()

    def death(self):
        """Return the kind's letter and words for a child that ended by itself before it was done."""
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            return b"M" if number == signal.SIGKILL else b"C" + signal.Signals(number).name.encode()
        return b"Cexit"


class Program:
    """One program's way through its inputs: children, restarts, budgets, and the lines so far."""

    def __init__(self, zygote, request):
        self.zygote = zygote
        self.request = {**request, "trim": False}
        self.n = len(zygote.inputs)
        self.limits = zygote.limits
        scale = max(1.0, self.n / 1000)
        self.left = {"cpu": self.limits["program_cpu"] * scale, "wall": self.limits["program_wall"] * scale}
        self.lines, self.restarts, self.timeouts, self.crashes = [], -1, 0, 0
        self.trimmed = self.nondeterministic = False
        self.peak_kb, self.why_not_loaded = 0, b""

    def execute(self):
        """Run children until every input has its line; return what it cost and what was seen."""
        began_cpu, began_wall = self.left["cpu"], self.left["wall"]
        while len(self.lines) < self.n and self._step():
            pass
        return {
            "restarts": max(0, self.restarts),
            "cpu": began_cpu - self.left["cpu"],
            "wall": began_wall - self.left["wall"],
            "peak_kb": self.peak_kb,
            "trimmed": self.trimmed,
            "nondeterministic": self.nondeterministic,
        }

    def _step(self):
        """Run one child; return whether another one shall go on."""
        self.restarts += 1
        child = Child(self.zygote.confinement, self.limits, self.request, self.zygote.inputs, len(self.lines))
        limits = self.limits
        child.watch(
            self.zygote.channel,
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

    def _take(self, child):
        lines, state = child.lines(), child.head[STATE]
        if lines is None or len(lines) > self.n - child.start + (state == NOT_LOADED):
            return self._fill(b"F")
        if state in (LOADING, NOT_LOADED):
            return self._not_loaded(child, lines, state)
        if any(line[:1] not in (b"V", b"E", b"U") for line in lines):
            return self._fill(b"F")
        self.lines += lines
        self.trimmed = bool(self.request["trim"])
        self.nondeterministic = self.nondeterministic or child.head[NONDETERMINISTIC] != 0
        if state in (DONE, RECHECKING):
            self.nondeterministic = self.nondeterministic or state == RECHECKING
            return self._fill(b"F") if len(self.lines) != self.n else False
        if state == FULL and child.status == 0:
            return True if lines else self._fill(b"F")
        return self._blame(child)

    def _blame(self, child):
        if self.left["cpu"] <= 0 or self.left["wall"] <= 0:
            self.lines.append(b"T")
            return self._fill(b"S")
        if child.killed and child.moved_on:
            return True
        out_of_memory = child.head[STATE] == NO_MEMORY
        if child.killed or out_of_memory:
            self.timeouts += 1
            self.lines.append(b"M" if out_of_memory else b"T")
        else:
            self.crashes += 1
            self.lines.append(child.death())
        given_up = self.timeouts >= self.limits["max_timeouts"] or self.crashes >= self.limits["max_crashes"]
        return self._fill(b"S") if given_up else True

    def _not_loaded(self, child, lines, state):
        if state == NOT_LOADED and len(lines) == 1 and lines[0][:1] == b"L":
            why = lines[0]
        else:
            why = b"Ltimeout" if child.killed else b"L" + child.death()
        self.why_not_loaded = self.why_not_loaded or why
        if self.lines:  # it loaded before, and did not after a restart
            return self._fill(b"S")
        if self.request["trim"] or why in (b"LSyntaxError", b"LIndentationError", b"LNameMissing"):
            return self._fill(self.why_not_loaded)
        self.request["trim"] = True
        return True

    def _fill(self, line):
        if line == b"F":
            self.lines = []
        self.lines += [line] * (self.n - len(self.lines))
        return False


class Zygote:
    """The loop: a task's inputs, then its programs one by one."""

    def __init__(self, channel):
        self.channel = channel
        kind, config = channel.receive()
        assert kind == CONFIG
        self.limits = config["limits"]
        self.confinement = Confinement(config["layers"], config["readable"])
        self.confinement.zygote()
        self.inputs, self.codes, self.preamble = Inputs([]), [], ""
        channel.send(READY, {"layers": self.confinement.active, "open": self._self_test()})

    def _self_test(self):
        mapping = mmap.mmap(-1, 4096)
        pid = os.fork()
        if pid == 0:
            try:
                self.confinement.confine(self.limits["memory_bytes"])
                said = json.dumps(self_test()).encode()
                mapping[: len(said)] = said
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        return json.loads(mapping[:].rstrip(b"\0") or b'["everything: a layer could not be set up"]')

    def serve(self):
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

    def _serve_task(self, request):
        self.inputs, self.preamble = Inputs(request["inputs"]), request["preamble"]
        self.codes = [{} for _ in request["inputs"]]
        gc.collect()
        gc.freeze()
        self.channel.send(LOADED, {"n": len(self.inputs)})
        while True:
            kind, request = self.channel.receive()
            if kind == END:
                os._exit(0)
            self._run(request)

    def _run(self, request):
        program = Program(self, {**request, "preamble": self.preamble})
        facts = program.execute()
        lines = program.lines
        if not all(map(_printable, set(lines))):
            lines = [b"F"] * len(lines)
        new, codes = [], array("I")
        for index, (known, line) in enumerate(zip(self.codes, lines, strict=True)):
            code = known.get(line)
            if code is None:
                code = known[line] = len(known)
                new.append((index, code, line.decode()))
            codes.append(code)
        self.channel.send(RESULT, {**facts, "index": request["index"], "new": new}, codes.tobytes())


def _printable(line):
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return False
    return text.isprintable() and len(text) <= MAX_TEXT + 64


if __name__ == "__main__":
    Zygote(Channel(int(sys.argv[1]))).serve()
