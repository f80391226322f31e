"""A real dask scheduler and two real workers on loopback: the same store, also when a worker is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.execution.resumable import connected
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.tiny import contents, silent, simulated
from tests.support.waiting import until

pytestmark = pytest.mark.filterwarnings("default")  # the cluster's own


def ended_by_its_job(job: tuple[int, str]) -> tuple[int, int]:
    """Return the job's number and the process that ran it; the job `kill` ends the process instead."""
    number, what = job
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return number, os.getpid()


def too_late(job: int) -> int:
    """Raise what a result that does not arrive raises, too."""
    raise TimeoutError("the job's own")


class EndsItsSender:
    """A result; the process that sends it to another one ends."""

    def __init__(self, number: int):
        self.number = number

    def __reduce__(self) -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


RUNS_JOBS = """
import sys
from difftrust_core.exceptions import DifftrustError
from difftrust_core.execution.resumable import connected
from tests.execution.test_dask_backend import ended_by_its_job

with connected(sys.argv[1]) as found:
    try:
        jobs = [(i, "run") for i in range(99)]
        for number, _ in found.in_parallel(ended_by_its_job, jobs, lost=lambda job, why: job):
            print(number, flush=True)
    except DifftrustError as e:
        print(e)
"""


@contextmanager
def cluster(folder: Path, *, nanny: bool) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """Start a scheduler and, each in its own folder, two workers of one thread; ``nanny`` starts a killed one again."""
    file, environment = folder / "scheduler.json", {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    dask = [sys.executable, "-m", "dask"]
    told = {"env": environment, "cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    where = ["--scheduler-file", str(file), "--no-dashboard"]
    started = [subprocess.Popen([*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *where], **told)]  # type: ignore[call-overload]
    kind = "--nanny" if nanny else "--no-nanny"
    worker = [*dask, "worker", *where, "--nthreads", "1", "--host", "127.0.0.1", kind, "--local-directory", "."]
    try:
        for own in (folder / "worker-0", folder / "worker-1"):
            own.mkdir()
            started.append(subprocess.Popen(worker, **{**told, "cwd": own}))  # type: ignore[call-overload]
        until(file.is_file)
        address = json.loads(file.read_text())["address"]
        until(lambda: both_there(address))
        yield address, started
    finally:
        for process in reversed(started):
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


def both_there(address: str) -> bool:
    """Tell whether both workers have reported to the scheduler."""
    with suppress(WrongUsage), connected(address) as found:
        return found.n_workers == 2
    return False


def filled(root: Path) -> Store:
    tasks = load_benchmark("starter")[:12]
    store = Store.create(root)
    add_candidates(store, simulated(tasks, "simulated/medium", m=6), {"starter": load_benchmark("starter")}, n_jobs=1)
    return store


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = filled(tmp_path_factory.mktemp("undisturbed") / "store")
    execute(store, n=100, say=silent)
    return store


@pytest.mark.slow
def test_two_workers_one_of_them_killed_give_the_same_bytes(tmp_path: Path, undisturbed: Store) -> None:
    store = filled(tmp_path / "store")
    with cluster(tmp_path, nanny=False) as (address, processes), ThreadPoolExecutor(1) as pool:
        ran = pool.submit(execute, store, n=100, scheduler=address, say=silent)
        until(lambda: store.files("inputs"))
        processes[1].kill()
        done = ran.result(120)
    assert (done.n_tasks, done.failures) == (12, ())
    tables = ("inputs", "outcomes", "behaviours")
    assert contents(store, *tables) == contents(undisturbed, *tables)
    assert execute(store, n=100, say=silent).n_tasks == 0


@pytest.mark.slow
def test_a_job_that_ends_every_worker_is_given_up_and_the_others_are_done(tmp_path: Path) -> None:
    jobs = [(i, "kill" if i == 3 else "run") for i in range(12)]
    with cluster(tmp_path, nanny=True) as (address, _), connected(address) as found:
        results = list(found.in_parallel(ended_by_its_job, jobs, lost=lambda job, why: (-job[0], why)))
        with pytest.raises(TimeoutError, match="the job's own"):  # not taken for a result on its way
            list(found.in_parallel(too_late, [1], lost=lambda job, why: job))
    assert sorted(number for number, _ in results) == sorted(-i if i == 3 else i for i in range(12))
    assert [why for number, why in results if number == -3] == ["given up: 4 workers ended while they ran it"]
    assert len({pid for number, pid in results if number >= 0}) > 2


@pytest.mark.slow
def test_where_no_worker_is_left_the_job_that_did_it_is_named(tmp_path: Path) -> None:
    jobs = [(i, "kill" if i == 5 else "run") for i in range(9)]
    results: list[tuple[int, object]] = []
    with cluster(tmp_path, nanny=False) as (address, _), connected(address) as found:
        ran = replace(found, patience=3).in_parallel(ended_by_its_job, jobs, lost=lambda job, why: (-job[0], why))
        with pytest.raises(DifftrustError, match=r"no worker is left at tcp://127"):
            results.extend(iter(ran))
    assert results[-1] == (-5, "given up: it ended the last worker")
    missing = set(range(5)) - {number for number, _ in results[:-1]}
    assert len(missing) <= 1  # one may have ended on that worker just before


@pytest.mark.slow
def test_a_result_whose_worker_ends_while_it_sends_it_is_not_waited_for(tmp_path: Path) -> None:
    with cluster(tmp_path, nanny=False) as (address, _), connected(address) as found:
        ran = replace(found, patience=2).in_parallel(EndsItsSender, [1], lost=lambda job, why: EndsItsSender(-job))
        with pytest.raises(DifftrustError, match=r"no worker is left at tcp://127"):
            list(ran)


@pytest.mark.slow
def test_a_scheduler_that_ends_is_said_in_one_line(tmp_path: Path) -> None:
    # In a process of its own: threads of a client that lost its scheduler go on saying so for a while.
    with cluster(tmp_path, nanny=False) as (address, processes):
        root = Path(__file__).parents[2]
        told = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "cwd": root}
        with subprocess.Popen([sys.executable, "-c", RUNS_JOBS, address], **told) as process:  # type: ignore[call-overload]
            assert process.stdout.readline().strip() in ("0", "1")
            processes[0].kill()
            said, _ = process.communicate(timeout=60)
    assert said.splitlines()[-1].startswith("the scheduler has ended at tcp://127"), said


@pytest.mark.slow
def test_an_address_where_nobody_answers_is_refused_in_one_line() -> None:
    with (
        pytest.raises(WrongUsage, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:9"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass
