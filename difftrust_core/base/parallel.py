"""Spread work over processes, yield results as they come, and show how far it is."""

import contextlib
import io
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, TypeVar

from tqdm import tqdm

Job = TypeVar("Job")
Result = TypeVar("Result")
_IDLE = 300
"""Seconds after which a process that nobody needs ends."""


def in_parallel(function: Callable[[Job], Result], jobs: Iterable[Job], *, n_jobs: int) -> Iterator[Result]:
    """Yield ``function(job)`` for each job, in the order in which they end, from ``n_jobs`` processes.

    Few jobs are taken ahead: ``jobs`` is asked for more after every result.
    """
    if n_jobs == 1:
        yield from map(function, jobs)
        return
    from joblib.externals.loky import get_reusable_executor, wait

    # A process that has grown by 300 MB is replaced when it has ended its job: nothing that anybody needs to know.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
    waiting, running = iter(jobs), set[Any]()
    processes = get_reusable_executor(
        max_workers=n_jobs,
        timeout=_IDLE,
        initializer=_watch,
        initargs=(os.getpid(),),
        env=dict(os.environ),  # others are started where it has changed since: with credentials, say
    )
    try:
        while True:
            for job in islice(waiting, 2 * n_jobs - len(running)):  # no process waits for the next one to be sent
                running.add(processes.submit(function, job))
            if not running:
                return
            ended, running = wait(running, return_when="FIRST_COMPLETED")
            for future in ended:
                yield future.result()
    finally:
        if running:  # nobody wants the rest
            processes.shutdown(kill_workers=True)


def end_if_orphaned() -> None:
    """End this process if it is a worker whose parent has ended."""
    if _watched and os.getppid() not in _watched:
        os._exit(1)


_watched: set[int] = set()


def _watch(parent: int) -> None:
    """Let this process, a worker that was just started, end with its parent, however that one ends."""
    _watched.add(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the parent decides

    def leave_when_orphaned() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=leave_when_orphaned, daemon=True).start()


DESCRIPTOR: Final = "DIFFTRUST_PROGRESS_FD"
"""Environment variable: the file descriptor that JSON lines are written to."""


class Progress(tqdm):  # type: ignore[misc]
    """A bar on standard error if that is a terminal; JSON lines where ``DESCRIPTOR`` names a descriptor."""

    def __init__(self, *things: Any, **options: Any) -> None:
        self._descriptor = os.environ.get(DESCRIPTOR, "")
        # tqdm's own output goes nowhere then; it still decides how often to write.
        where = {"file": io.StringIO(), "disable": False} if self._descriptor else {"file": sys.stderr, "disable": None}
        super().__init__(*things, **where, **options)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Show how far it is: done, total, unit, and seconds so far."""
        if not self._descriptor:
            super().display(msg, pos)
            return
        known = self.format_dict
        line = {"done": self.n, "total": self.total, "unit": self.unit.strip(), "seconds": known["elapsed"]}
        with contextlib.suppress(OSError, ValueError):  # who watched is gone
            os.write(int(self._descriptor), json.dumps(line).encode() + b"\n")
