"""One confined child and its watchdog; standard library only.

The watchdog reads the child's CPU clock, so that a busy machine does not change an outcome. It kills the child: a
signal handler would not interrupt C code, and a candidate can catch every exception.
"""

import json
import mmap
import os
import select
import signal
import time
from typing import Any

from channel import Channel
from confine import Confinement, end_with
from program import HEADER_BYTES, LOADING, RECHECKED, STATE, Inputs, run

POLL_MS = 10
_exit = os._exit  # a candidate may replace it in its own process


class Task:
    """What every child of a task is given: the way it is confined, the inputs, the preamble, the two shared files."""

    def __init__(self, confinement: Confinement, request: int, reply: mmap.mmap):
        self.confinement, self.request, self.reply = confinement, request, reply
        self.inputs, self.preamble = Inputs("", []), ""

    def program(self) -> dict[str, Any]:
        """Return the program at hand; for the child that is to run it only."""
        text = os.pread(self.request, os.fstat(self.request).st_size, 0)
        program: dict[str, Any] = json.loads(text)
        return {**program, "preamble": self.preamble}


class Child:
    """One confined process running one program, and what the watchdog knows of it."""

    def __init__(self, task: Task, *, start: int, begin: int, trim: bool):
        self.reply, self.begin, self._end = task.reply, begin, begin
        self.head = memoryview(self.reply)[:HEADER_BYTES].cast("Q")
        self.head[STATE] = LOADING
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                end_with(parent)
                program = {**task.program(), "trim": trim}
                task.confinement.confine()
                self.reply.seek(begin)
                run(program, task.inputs, self.reply, start)
            finally:
                _exit(120)
        self.clock = (~self.pid << 3) | 2  # the CPU clock of another process, as clock_getcpuclockid(3) makes it
        self.killed = self.moved_on = False

    def watch(self, channel: Channel, left: dict[str, float], limits: dict[str, float], call_cpu: float) -> None:
        """Wait for the end of the child, killing it when a call, the load or the program is over its limit."""
        began = time.monotonic()
        pidfd = os.pidfd_open(self.pid)
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        poller.register(channel.socket, select.POLLHUP | select.POLLRDHUP)
        last, cpu_mark, wall_mark = self._progress(), 0.0, began
        while not (ready := poller.poll(POLL_MS)):
            cpu, wall, now = self._cpu(), time.monotonic(), self._progress()
            if now != last:
                last, cpu_mark, wall_mark = now, cpu, wall
            limit = limits["load_cpu"] if now[0] == LOADING else call_cpu
            patience = limits["load_wall" if now[0] == LOADING else "call_wall"]
            over = cpu - cpu_mark > limit or wall - wall_mark > patience
            if over or cpu > left["cpu"] or wall - began > left["wall"]:
                os.kill(self.pid, signal.SIGKILL)
                poller.unregister(channel.socket)
                poller.poll()
                self.killed = True
                # If it moved on while it was being killed, the call that was over its limit had ended after all.
                self.moved_on = self._progress() != last
                break
        if any(descriptor != pidfd for descriptor, _ in ready):
            os.kill(self.pid, signal.SIGKILL)
            _exit(0)
        os.close(pidfd)
        _, self.status, self.usage = os.wait4(self.pid, 0)
        left["cpu"] -= self.usage.ru_utime + self.usage.ru_stime
        left["wall"] -= time.monotonic() - began

    def _progress(self) -> tuple[int, int, int]:
        """Return what changes whenever a call ends; looked at only now and then, so that calls pay nothing for it."""
        return self.head[STATE], self.head[RECHECKED], self.end()

    def end(self) -> int:
        """Return where the text of the child ends: at the first zero byte."""
        end = self.reply.find(b"\0", self._end)
        self._end = end if end >= 0 else len(self.reply)
        return self._end

    def _cpu(self) -> float:
        try:
            return time.clock_gettime(self.clock)
        except OSError:
            return 0.0  # it ended in this moment

    def erase(self, begin: int) -> None:
        """Put zeros in place of the child's text from ``begin`` on."""
        self.reply[begin : self.end()] = bytes(self.end() - begin)

    def count_lines(self, at_most: int) -> tuple[int, int]:
        """Return how many whole lines the child wrote, and where they end; or one more than ``at_most``."""
        count, at, end = 0, self.begin, self.end()
        while count <= at_most and (found := self.reply.find(b"\n", at, end)) >= 0:
            count, at = count + 1, found + 1
        return count, at

    def death(self) -> str:
        """Return the kind's letter and words for a child that ended by itself before it was done."""
        if not os.WIFSIGNALED(self.status):
            return "Cexit"
        number = os.WTERMSIG(self.status)
        if number == signal.SIGKILL:  # by the kernel, for want of memory
            return "M"
        try:
            return "C" + signal.Signals(number).name
        except ValueError:  # a real-time signal has no name
            return f"Csignal {number}"


class PlainChild(Child):
    """A child watched with what every POSIX system has, where there is no descriptor and no CPU clock of a process.

    Its watchdog asks every few milliseconds whether the child has ended, and limits calls by the time on the wall: a
    busy machine can then change an outcome.
    """

    def watch(self, channel: Channel, left: dict[str, float], limits: dict[str, float], call_cpu: float) -> None:
        """Wait for the end of the child, killing it when a call, the load or the program is over its limit."""
        began = mark = time.monotonic()
        poller = select.poll()
        poller.register(channel.socket, select.POLLHUP)
        last, patience = self._progress(), 1
        while not self._has_ended():
            if poller.poll(patience):
                os.kill(self.pid, signal.SIGKILL)
                _exit(0)
            patience = min(2 * patience, POLL_MS)
            now, wall = self._progress(), time.monotonic()
            if now != last:
                last, mark = now, wall
            limit = min(limits["call_wall"], limits["load_cpu"] if now[0] == LOADING else call_cpu)
            if wall - mark > limit or wall - began > min(left["cpu"], left["wall"]):
                os.kill(self.pid, signal.SIGKILL)
                self.killed = self._has_ended(0)
                self.moved_on = self._progress() != last
                break
        left["cpu"] -= time.monotonic() - began
        left["wall"] -= time.monotonic() - began

    def _has_ended(self, options: int = os.WNOHANG) -> bool:
        """Tell whether the child has ended, and note how; without options, wait until it has."""
        pid, self.status, self.usage = os.wait4(self.pid, options)
        return pid != 0


def kind_of_child() -> type[Child]:
    """Return the best kind of child that can be watched here."""
    needed: list[Any] = [getattr(os, "pidfd_open", None), getattr(select, "POLLRDHUP", None)]
    if None in needed:
        return PlainChild
    try:
        os.close(os.pidfd_open(os.getpid()))
        time.clock_gettime((~os.getpid() << 3) | 2)
    except OSError:
        return PlainChild
    return Child
