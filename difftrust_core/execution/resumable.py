"""Run a job that consists of many: what is missing of a store, a task at a time, wherever there is room.

Each job finds out by itself what its table lacks, so it goes on after any stop: what has ended is written whole, and
what had not is missing still. Jobs run in processes of this machine or on a dask cluster, and one that fails is
reported, not raised, so that the others go on.
"""

import importlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final, Generic, TypeVar

import polars as pl

from difftrust_core.base.parallel import Progress, end_if_orphaned, in_parallel
from difftrust_core.base.plugins import require
from difftrust_core.exceptions import DifftrustError, StoreUnreachable, WrongUsage
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.sandbox.runner import Runner
from difftrust_core.store.checksums import forget
from difftrust_core.store.schemas import KEYS, SCHEMAS
from difftrust_core.store.store import Store

Job = TypeVar("Job")
Result = TypeVar("Result")
_KEEP_EVERY: Final = 20.0
"""Seconds after which what has ended is written."""


@dataclass(frozen=True, kw_only=True)
class Ended(Generic[Job, Result]):
    """What became of a job: its result, or why it failed."""

    job: Job
    result: Result | None = None
    error: DifftrustError | None = None

    @property
    def failure(self) -> str:
        """Why it failed, in one line; empty if it did not."""
        return "" if self.error is None else str(self.error)


def attempt(work: Callable[[Job], Result], job: Job) -> Ended[Job, Result]:
    """Do one job in this worker. Only StoreUnreachable is raised: nor would the other jobs be kept."""
    end_if_orphaned()
    try:
        return Ended(job=job, result=work(job))
    except DifftrustError as e:
        close_sandboxes()  # whatever state they are in, the next job gets new ones
        if isinstance(e, StoreUnreachable):
            raise
        return Ended(job=job, error=e)


def run_missing(
    work: Callable[[Job], Result],
    jobs: Iterable[Job],
    keep: Callable[[Ended[Job, Result]], None],
    *,
    bar: Progress,
    size: Callable[[Job], int] = lambda job: 1,
    n_jobs: int = 1,
    scheduler: str = "",
) -> None:
    """Do all jobs, few of them taken ahead, and ``keep`` each as it ends; ``bar`` goes on by its ``size``.

    ``scheduler``: the address of a dask cluster; else ``n_jobs`` processes of this machine. Raises DifftrustError if
    a worker dies; what is kept stays.
    """
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    count = 0
    try:
        with bar, _spread_over(n_jobs, scheduler) as spread:
            for ended in spread(partial(attempt, work), jobs):
                keep(ended)
                count += 1
                bar.update(size(ended.job))
    except TerminatedWorkerError:
        raise DifftrustError(
            f"a worker process was killed after {count} tasks (out of memory?); what is finished is kept, "
            "run the command again, with fewer --jobs"
        ) from None
    finally:
        close_sandboxes()


@contextmanager
def _spread_over(n_jobs: int, scheduler: str) -> Iterator[Callable[..., Iterable[Any]]]:
    if not scheduler:
        yield partial(in_parallel, n_jobs=n_jobs)
        return
    with connected(scheduler) as cluster:
        yield partial(cluster.in_parallel, lost=lambda job, why: Ended(job=job, error=DifftrustError(why)))


class GrowingFile:
    """The file of one partition: what it held, and the rows found since, written now and then and at the end.

    New rows take the place of those with the same keys. Rows that stand in several files, as an earlier version left
    them, come into one.
    """

    def __init__(self, store: Store, table: str, partition: Mapping[str, object]):
        self._store, self._table, self._partition = store, table, partition
        self.rows = store.read(table, partition).select(SCHEMAS[table].keys())
        self._new: list[Mapping[str, Any]] = []
        self._written = time.monotonic()

    def __enter__(self) -> "GrowingFile":
        """Return itself."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Write what is new, whatever happened."""
        self._write()

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows."""
        self._new += rows
        if time.monotonic() - self._written > _KEEP_EVERY:
            self._write()

    def _write(self) -> None:
        store, table, partition = self._store, self._table, self._partition
        others = [path for path in store.files(table, partition) if path.stem != table]
        if not self._new and not others:
            return
        new = pl.DataFrame(self._new, schema=SCHEMAS[table])
        self.rows = pl.concat([new, self.rows]).unique(KEYS[table], keep="first").sort(KEYS[table])
        self._new = []
        store.write(table, self.rows, partition, table)
        forget(store.root, [path.relative_to(store.root).as_posix() for path in others])
        for path in others:
            path.unlink()
        self._written = time.monotonic()


class _Started(threading.local):
    """The sandboxes of this thread (workers of a cluster have several), and what each was started for."""

    def __init__(self) -> None:
        self.sandboxes: dict[str, tuple[tuple[Limits, bool, Runner], Sandbox]] = {}


_started = _Started()


def sandbox_of_worker(purpose: str, limits: Limits, allow_weak: bool, runner: Runner) -> Sandbox:
    """Return this worker's sandbox, started at its first job: each task runs in a fork of its own inside it."""
    wanted, found = (limits, allow_weak, runner), _started.sandboxes.get(purpose)
    if found is None or found[0] != wanted:
        _close(purpose)
        found = _started.sandboxes[purpose] = (wanted, Sandbox(limits, allow_weak=allow_weak, runner=runner))
    return found[1]


def close_sandboxes() -> None:
    """End this worker's sandboxes, if it has any."""
    for purpose in tuple(_started.sandboxes):
        _close(purpose)


def _close(purpose: str) -> None:
    _, sandbox = _started.sandboxes.pop(purpose, (None, None))
    if sandbox is not None:
        sandbox.close()


_ARRIVAL = 5.0
"""Seconds after which a result that does not arrive is asked for again, unless patience is longer."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A connected scheduler; ``n_workers`` counts the threads of its workers at the start.

    Not through joblib's dask backend: that one waits without end for a job that ends every worker it meets, while a
    future of dask reports it.
    """

    client: Any
    address: str
    n_workers: int
    patience: float = 30.0
    """Seconds without any worker after which the run ends."""

    def in_parallel(
        self, function: Callable[[Job], Result], jobs: Iterable[Job], *, lost: Callable[[Job, str], Result]
    ) -> Iterator[Result]:
        """Yield ``function(job)`` for each job, in the order in which they end.

        A job whose worker is lost runs again elsewhere, so jobs must be repeatable; one that was lost with every
        worker it met, four by default (``distributed.scheduler.allowed-failures``), yields ``lost(job, why)``.
        Once no worker is left, the jobs that ended the last ones are ``lost`` too, and DifftrustError is raised; so it
        is when the scheduler ends.
        """
        from concurrent.futures import CancelledError

        from distributed.comm.core import CommClosedError

        try:
            yield from self._results(function, jobs, lost)
        except (CancelledError, CommClosedError):
            raise self._without("the scheduler has ended") from None

    def _results(
        self, function: Callable[[Job], Result], jobs: Iterable[Job], lost: Callable[[Job, str], Result]
    ) -> Iterator[Result]:
        waiting, running = iter(jobs), dict[Any, Job]()
        while True:
            for job in islice(waiting, self.n_workers - len(running)):  # one a thread: no other is suspected with it
                running[self._submit(function, job)] = job
            if not running:
                return
            ended = self._ended(list(running))
            if not ended:
                yield from (
                    lost(running[future], "given up: it ended the last worker") for future in self._suspects(running)
                )
                raise self._without("no worker is left")
            for future in ended:
                try:
                    result = self._result(future, running[future], lost)
                except TimeoutError:
                    if future.status == "error":
                        raise  # the job's own
                    continue  # its worker ended before it had sent it: the job runs again, or waits for a worker
                del running[future]
                yield result

    def _without(self, what: str) -> DifftrustError:
        return DifftrustError(
            f"{what} at {self.address}; what is finished is kept, start what is missing and run the command again"
        )

    def _submit(self, function: Callable[[Any], Any], job: Any) -> Any:
        return self.client.submit(function, job, pure=False)

    def _ended(self, futures: list[Any]) -> tuple[Any, ...]:
        """Wait for some of the futures to end; return none if there was no worker for ``patience`` seconds."""
        wait: Any = importlib.import_module("distributed").wait  # it has no types

        began = time.monotonic()
        while time.monotonic() - began < self.patience:
            try:
                with self.client.as_current():
                    return tuple(wait(futures, timeout=min(1.0, self.patience), return_when="FIRST_COMPLETED").done)
            except TimeoutError:
                if self.client.scheduler_info()["workers"]:
                    began = time.monotonic()
        return ()

    def _suspects(self, futures: Iterable[Any]) -> list[Any]:
        """Return those that were on most of the workers that ended: another one may have been on the last by chance."""

        def count(dask_scheduler: Any) -> dict[Any, int]:
            return {key: task.suspicious for key, task in dask_scheduler.tasks.items()}

        counts = self.client.run_on_scheduler(count)
        most = max(counts.values(), default=0)
        return [future for future in futures if most and counts.get(future.key) == most]

    def _result(self, future: Any, job: Job, lost: Callable[[Job, str], Result]) -> Result:
        from distributed import KilledWorker

        try:
            result: Result = future.result(timeout=max(self.patience, _ARRIVAL))
        except KilledWorker as e:
            return lost(job, f"given up: {e.allowed_failures + 1} workers ended while they ran it")
        return result


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to the scheduler at ``address`` (tcp://host:port). Raises WrongUsage if none with workers answers."""
    client_of: Any = require("distributed", extra="dask", purpose="--backend dask").Client  # it has no types
    try:
        client = client_of(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as e:
        raise WrongUsage(f"no dask scheduler answers at {address} ({e}); start one with `dask scheduler`") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it would say of a lost scheduler we say
    with client:
        threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
        if not threads:
            raise WrongUsage(f"the scheduler at {address} has no workers; start some with `dask worker {address}`")
        yield Cluster(client=client, address=address, n_workers=threads)
