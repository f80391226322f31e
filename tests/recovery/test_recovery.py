"""Real kills in the middle of a real run: nothing lost, nothing doubled, nothing half-written, nobody left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.datasets.recorded import Recorded
from difftrust_core.estimates.queries import query_estimates
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.proc import below, command_line, end
from tests.support.tiny import simulated
from tests.support.waiting import until

pytestmark = pytest.mark.slow
N = 150
TABLES = ("inputs", "outcomes", "behaviours", "estimates")


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return simulated(load_benchmark("starter")[:24], "simulated/medium", m=6)


def fresh(root: Path, recorded: Recorded) -> Store:
    store = Store.create(root)
    add_candidates(store, recorded, {"starter": load_benchmark("starter")}, n_jobs=1)
    return store


def command(store: Store) -> list[str]:
    return [str(Path(sys.executable).with_name("difftrust")), "execute", "--store", str(store.root), "-n", str(N)]


def finished(store: Store) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in store.files("executions")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, recorded: Recorded) -> Store:
    store = fresh(tmp_path_factory.mktemp("undisturbed") / "store", recorded)
    done = subprocess.run(command(store), capture_output=True, text=True, check=True)
    assert "executed 24 tasks" in done.stdout
    return store


def check_same(store: Store, undisturbed: Store) -> None:
    mine, other = query_estimates(store), query_estimates(undisturbed)
    slow = set(pl.concat([mine, other]).filter(pl.col("n_timeouts") > 0)["task_id"])
    assert mine.filter(~pl.col("task_id").is_in(slow)).equals(other.filter(~pl.col("task_id").is_in(slow)))
    if not slow:
        for table in TABLES:
            for path in undisturbed.files(table):
                assert (store.root / path.relative_to(undisturbed.root)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("after", [1, 9])
def test_a_killed_run_goes_on_where_it_was(
    tmp_path: Path, recorded: Recorded, undisturbed: Store, kill: signal.Signals, after: int
) -> None:
    store = fresh(tmp_path / "store", recorded)
    running = subprocess.Popen(
        command(store), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until(lambda: len(finished(store)) >= after or running.poll() is not None, 60)
    started = below(running.pid)
    if kill == signal.SIGINT:
        os.killpg(running.pid, kill)  # as a terminal does
    else:
        os.kill(running.pid, kill)
    _, said = running.communicate(timeout=30)
    if kill == signal.SIGINT:
        assert running.returncode == 130
        assert "the same command goes on from there" in said
        assert "Traceback" not in said
    assert end(started, within=20)
    for path in store.root.rglob("*.parquet"):
        pl.read_parquet(path, hive_partitioning=False)
    before = finished(store)
    assert after <= len(before) < 24
    again = subprocess.run(command(store), capture_output=True, text=True, check=True)
    assert f"executed {24 - len(before)} tasks" in again.stdout
    assert {path: stamp for path, stamp in finished(store).items() if path in before} == before
    assert not list(store.root.rglob("*.tmp"))
    check_same(store, undisturbed)


def test_a_second_run_says_quickly_that_there_is_nothing_to_do(undisturbed: Store) -> None:
    before = os.times()
    again = subprocess.run(command(undisturbed), capture_output=True, text=True, check=True)
    after = os.times()
    assert again.stdout.startswith("nothing to do: all 24 tasks")
    # CPU seconds of the command: the same on a busy machine.
    assert after.children_user + after.children_system - before.children_user - before.children_system < 5


def test_a_killed_worker_ends_the_run_with_a_line_and_costs_nothing_finished(
    tmp_path: Path, recorded: Recorded, undisturbed: Store
) -> None:
    store = fresh(tmp_path / "store", recorded)
    running = subprocess.Popen(
        [*command(store), "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(lambda: len(finished(store)) >= 3, 60)
    workers = [pid for pid in below(running.pid) if "popen_loky" in command_line(pid)]
    os.kill(workers[0], signal.SIGKILL)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "a worker process was killed" in said
    assert "Traceback" not in said
    subprocess.run(command(store), capture_output=True, check=True)
    check_same(store, undisturbed)
