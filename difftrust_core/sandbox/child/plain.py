"""The watchdog where the kernel offers no descriptor and no CPU clock of another process; standard library only.

It asks every few milliseconds whether the child has ended, and limits calls by the time on the wall: a busy machine
can then change an outcome, which the watchdog of ``watch`` avoids.
"""

import os
import select
import signal
import time
from typing import Any

from channel import Channel
from program import LOADING
from watch import POLL_MS, Child

_exit = os._exit  # a candidate may replace it in its own process


class PlainChild(Child):
    """One confined process running one program, watched with what every POSIX system has."""

    def watch(
        self, channel: Channel, left: dict[str, float], *, load_cpu: float, call_cpu: float, call_wall: float
    ) -> None:
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
            limit = min(call_wall, load_cpu if now[0] == LOADING else call_cpu)
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
