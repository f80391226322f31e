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

import polars as pl
import pytest

from difftrust.verify.verification import verify
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.execution.resumable import connected
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.mirror import folder_of
from difftrust_core.store.schemas import CHUNK_TABLES, KEYS
from difftrust_core.store.store import PARTITIONS, Store, merge_files
from difftrust_core.store.url import Remote
from tests.recovery.world import MEASURED, snapshot
from tests.support.proc import below, command_line, kill
from tests.support.s3_server import BUCKET, S3, fetch_all
from tests.support.tiny import contents, run_on, silent, simulated
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


TASKS = load_benchmark("starter")[:12]


def filled(root: Path, n_tasks: int, coder: str = "simulated/medium") -> Store:
    """Return a new store, or the one that is there, with programs for the first tasks."""
    store = Store.open(root) if root.exists() else Store.create(root)
    add_candidates(store, simulated(TASKS[:n_tasks], coder, m=6), {"starter": TASKS}, n_jobs=1)
    return store


@pytest.mark.slow
def test_two_workers_one_of_them_killed_give_the_same_bytes(tmp_path: Path) -> None:
    store, undisturbed = (filled(tmp_path / name, 12) for name in ("store", "undisturbed"))
    run_on(undisturbed, 100)
    with cluster(tmp_path, nanny=False) as (address, processes), ThreadPoolExecutor(1) as pool:
        ran = pool.submit(execute, store, n=100, scheduler=address, say=silent)
        until(lambda: store.files("inputs"))
        processes[1].kill()
        done = ran.result(120)
    assert (done.n_tasks, done.failures) == (12, ())
    tables = ("inputs", "outcomes", "behaviours")
    assert contents(store, *tables) == contents(undisturbed, *tables)
    assert run_on(store, 100).n_tasks == 0


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


URL = f"s3://{BUCKET}/stores/a"


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    with S3() as server:
        for name, value in {**server.environment, "DIFFTRUST_CACHE": str(tmp_path / "cache")}.items():
            monkeypatch.setenv(name, value)
        import s3fs

        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(BUCKET)
        yield server


def rows(store: Store) -> list[pl.DataFrame]:
    keys = {table: [*PARTITIONS[table], *KEYS[table]] for table in CHUNK_TABLES}
    return [store.read(table).drop(MEASURED, strict=False).sort(keys[table]) for table in CHUNK_TABLES]


@pytest.mark.slow
def test_workers_that_share_nothing_but_a_bucket_and_one_of_them_killed(s3: S3, tmp_path: Path) -> None:
    alone, store = filled(tmp_path / "alone", 4), filled(folder_of(URL), 4)
    run_on(alone, 80)
    (tmp_path / "cluster").mkdir()
    with cluster(tmp_path / "cluster", nanny=True) as (address, workers):
        with ThreadPoolExecutor(1) as pool:
            ran = pool.submit(execute, store, n=80, scheduler=address, say=silent)
            until(lambda: Remote(url=URL).versions("inputs"))
            kill_worker(workers[0].pid)
            done = ran.result(300)
        assert (done.n_tasks, done.failures) == (4, ())
        assert snapshot(fetch_all("stores/a", tmp_path / "found")) == snapshot(alone.root) == snapshot(store.root)
        for each in (alone, store):  # chunks that are there, in a merged file, are extended
            merge_files(each)
            filled(each.root, 4, "simulated/weak")
        again = run_on(alone, 80).n_tasks
        assert run_on(store, 80, scheduler=address).n_tasks == again > 0
    assert all(mine.equals(other) for mine, other in zip(rows(store), rows(alone), strict=True))
    assert not verify(store).findings
    assert not list((tmp_path / "cluster").rglob("chunk"))


def kill_worker(nanny: int) -> None:
    """Kill the process that works, not the nanny that starts it again."""
    kill(pid for pid in below(nanny) if "spawn_main" in command_line(pid))
