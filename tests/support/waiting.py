"""Waiting for what other processes and threads do."""

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 60, *, every: float = 0.02) -> None:
    """Return as soon as ``condition`` holds; fail if it does not within ``seconds``."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds:g} s in vain"
        time.sleep(every)
