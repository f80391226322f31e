"""A real scheduler and two real workers that share nothing with the host but a bucket: the same store."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from difftrust.verify.verification import verify
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.execution.execute import execute
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.mirror import folder_of
from difftrust_core.store.schemas import CHUNK_TABLES, KEYS
from difftrust_core.store.store import PARTITIONS, Store, merge_files
from difftrust_core.store.url import Remote
from tests.execution.test_dask_backend import cluster, silent, until
from tests.recovery.world import MEASURED, snapshot
from tests.support.proc import below, command_line, kill
from tests.support.s3_server import BUCKET, S3, fetch_all
from tests.support.tiny import simulated

pytestmark = pytest.mark.filterwarnings("default")  # the cluster's own, and moto's
TASKS = load_benchmark("starter")[:4]
URL = f"s3://{BUCKET}/stores/a"


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    with S3() as server:
        for name, value in {**server.environment, "DIFFTRUST_CACHE": str(tmp_path / "cache")}.items():
            monkeypatch.setenv(name, value)
        import s3fs

        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(BUCKET)
        yield server


def add(store: Store, coder: str) -> None:
    add_candidates(store, simulated(TASKS, coder, m=6), {"starter": TASKS}, n_jobs=1)


def rows(store: Store) -> list[pl.DataFrame]:
    keys = {table: [*PARTITIONS[table], *KEYS[table]] for table in CHUNK_TABLES}
    return [store.read(table).drop(MEASURED, strict=False).sort(keys[table]) for table in CHUNK_TABLES]


@pytest.mark.slow
def test_workers_that_share_nothing_but_a_bucket_and_one_of_them_killed(s3: S3, tmp_path: Path) -> None:
    alone = Store.create(tmp_path / "alone")
    add(alone, "simulated/medium")
    execute(alone, n=80, say=silent)
    store = Store.create(folder_of(URL))
    add(store, "simulated/medium")
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
            add(each, "simulated/weak")
        again = execute(alone, n=80, say=silent).n_tasks
        assert execute(store, n=80, scheduler=address, say=silent).n_tasks == again > 0
    assert all(mine.equals(other) for mine, other in zip(rows(store), rows(alone), strict=True))
    assert not verify(store).findings
    assert not list((tmp_path / "cluster").rglob("chunk"))


def kill_worker(nanny: int) -> None:
    """Kill the process that works, not the nanny that starts it again."""
    kill(pid for pid in below(nanny) if "spawn_main" in command_line(pid))
