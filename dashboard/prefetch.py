"""Compute what one more click may show, while nobody waits; read other benchmarks; keep the heap quick to sweep.

Without it, in processor time on the shipped results: another m costs the overview 70 ms (HumanEval) to 330 ms (MBPP)
more, another benchmark 1 s and reading it 0.6 s, and the sweep for garbage after each run 160 ms.
"""

import atexit
import contextlib
import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import streamlit as st

from dashboard import data
from difftrust_core.estimates.pool import load_pool, pool_names
from difftrust_core.exceptions import DifftrustError
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.store.store import Store

_PAUSE = 0.1
"""Seconds after a page was drawn in which it is sent, undisturbed."""


def make_ready() -> None:
    """Read the first benchmarks in the background; once per process and store."""
    with contextlib.suppress(DifftrustError):  # a page that needs the store says so
        _started(str(data.store_path()))


@st.cache_resource(show_spinner=False, max_entries=1)
def _started(root: str) -> threading.Thread:
    thread = threading.Thread(target=_load, args=(Path(root),), name="ahead", daemon=True)
    thread.start()
    return thread


def _load(root: Path) -> None:
    _set_aside()
    with contextlib.suppress(DifftrustError, OSError):
        store = Store.open(root)
        for benchmark in pool_names(store)[: data.READ_AHEAD]:
            for equality in EQUALITIES:
                _ = load_pool(store, benchmark, equality=equality).flat
    _set_aside()


def _set_aside() -> None:
    """Take what exists out of the sweeps for garbage: one follows each run, and would visit all libraries again."""
    gc.collect()
    gc.freeze()


atexit.register(gc.unfreeze)  # else libraries find leaks when the process ends


class Steps:
    """A thread that computes what the page drawn last may show next, and forgets the steps of earlier pages."""

    def __init__(self) -> None:
        self._asked: Iterator[Callable[[], object]] | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def expect(self, steps: Iterable[Callable[[], object]]) -> None:
        """Call these, the likeliest first, until others are expected, or none. What they return they must keep.

        Each should be short: the one that is under way is not stopped. Each is asked for when its turn comes.
        """
        with self._changed:
            self._asked = iter(steps)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="steps", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked is not None)
                asked = self._asked
            time.sleep(_PAUSE)
            while asked is not None and self._asked is asked:
                with contextlib.suppress(DifftrustError, OSError, MemoryError):  # who asks for it is told
                    next(asked, partial(self._finish, asked))()

    def _finish(self, asked: Iterator[Callable[[], object]]) -> None:
        with self._changed:
            if self._asked is asked:
                self._asked = None


STEPS = Steps()
"""The one of this process; it never uses more than one core."""
