"""Work spread over processes, results as they come, nothing left behind; and nothing else."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def in_parallel(function: Callable[[Job], Result], jobs: Iterable[Job], *, n_jobs: int) -> Iterator[Result]:
    """Yield ``function(job)`` for each job, in the order in which they end, from ``n_jobs`` processes."""
    from joblib import Parallel, delayed

    calls = (delayed(_guarded)(function, job, os.getpid()) for job in jobs)
    with Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1) as parallel:
        yield from parallel(calls)


def _guarded(function: Callable[[Any], Any], job: Any, parent: int) -> Any:
    """Run one job in a worker that ends with its parent, however that one ended."""
    if os.getpid() != parent:
        _watch(parent)
    return function(job)


def end_if_orphaned() -> None:
    """End this process if it is a worker whose parent has ended."""
    if _watched and os.getppid() not in _watched:
        os._exit(1)


_watched: set[int] = set()


def _watch(parent: int) -> None:
    if parent in _watched:
        return
    _watched.add(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the parent decides

    def leave_when_orphaned() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=leave_when_orphaned, daemon=True).start()
