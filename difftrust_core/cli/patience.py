"""A line from time to time while a command works and says nothing."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FIRST, EACH = 2.0, 5.0
"""Seconds of silence before the first line, and before each further one."""


@contextmanager
def patience(say: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Yield what takes the name of the step at hand; ``say`` is told of it where the command takes its time."""
    step, began, ended = ["reading the function"], time.monotonic(), threading.Event()

    def wait() -> None:
        silence = FIRST
        while not ended.wait(silence):
            say(f"{step[0]} ({time.monotonic() - began:.0f} s)")
            silence = EACH

    def enter(name: str) -> None:
        step[0] = name

    watching = threading.Thread(target=wait, name="difftrust-patience", daemon=True)
    watching.start()
    try:
        yield enter
    finally:
        ended.set()
        watching.join()
