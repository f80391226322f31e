"""Spread work over the workers of a dask cluster, as ``base.parallel`` spreads it over processes of this machine.

Not through joblib's dask backend: that one waits without end for a job that ends every worker it meets, while a future
of dask reports it.
"""

import importlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from difftrust_core.base.extras import require
from difftrust_core.exceptions import DifftrustError, WrongUsage

Job = TypeVar("Job")
Result = TypeVar("Result")
_ARRIVAL = 5.0
"""Seconds after which a result that does not arrive is asked for again, unless patience is longer."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A connected scheduler; ``n_workers`` counts the threads of its workers at the start."""

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
