"""The table of the smallest inputs: made task by task, resumed, read by cluster, thrown away with its rows' numbers."""

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.shipped import find_results, find_starter_results
from difftrust.tasks import smallest_inputs
from difftrust.tasks.clusters import cluster_candidates
from difftrust.tasks.details import DISAGREEING, WRONG, read_smallest, smallest_of
from difftrust.tasks.smallest_inputs import Request, find_smallest
from difftrust.verify.verification import verify
from difftrust_core.datasets.recorded import selection_of
from difftrust_core.estimates.pool import load_pool
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import WrongUsage
from difftrust_core.execution.execute import execute
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.command import run
from tests.support.tiny import OTHER, RIGHT, TASKS, candidates, contents, executed, outcome, silent
from tests.support.tiny import WRONG as FAULTY

CODER = ("coder", 0.6)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store that has no such table yet; no test changes it."""
    return executed(tmp_path_factory.mktemp("bare") / "store", n=60, coder=(RIGHT, RIGHT, FAULTY, OTHER))


def copied(store: Store, folder: Path) -> Store:
    return Store.open(shutil.copytree(store.root, folder / "store"))


@pytest.fixture(scope="module")
def store(bare: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = copied(bare, tmp_path_factory.mktemp("smallest"))
    find_smallest(store, Request())
    return store


def test_each_cluster_gets_its_smallest_wrong_and_disagreeing_input(store: Store) -> None:
    pool = load_pool(store, "tiny")
    clustering = cluster_candidates(pool, "tiny/double", [CODER], m=4, n=60)
    assert clustering.clusters[0].is_reference
    found = smallest_of(clustering, read_smallest(store, "tiny", "tiny/double"), pool)
    numbers = {cluster.members[CODER]: cluster.number for cluster in clustering.clusters}
    faulty, other = numbers[2,], numbers[3,]
    assert {(one.kind, one.first, one.second): one.arguments for one in found} == {
        (WRONG, faulty, 0): "(-1,)",  # 0 for negative numbers
        (WRONG, other, 0): "(1,)",  # the square
        (DISAGREEING, 1, faulty): "(-1,)",
        (DISAGREEING, 1, other): "(1,)",
    }
    assert all(one.is_smallest and one.place is None for one in found)
    codes = {0: RIGHT, 1: RIGHT, faulty: FAULTY, other: OTHER}
    for one in found:
        assert [number for number, _, _ in one.outcomes] == [one.first, one.second]
        for number, _, text in one.outcomes:
            assert outcome(codes[number]["tiny/double"], "double", one.arguments) == ("int", text)


def test_what_is_there_is_not_made_again_and_the_store_verifies(store: Store) -> None:
    before = contents(store, "smallest")
    assert [Path(name).name for name in before] == ["smallest.parquet"]
    again = find_smallest(store, Request())
    assert (again.n_tasks, again.n_pairs, again.n_at_hand) == (0, 0, len(store.read("smallest")))
    assert contents(store, "smallest") == before
    assert verify(store).findings == ()


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(
    store: Store, bare: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = copied(bare, tmp_path)
    whole = smallest_inputs.run_smallest
    done: list[str] = []

    def one_task_then_stop(job: smallest_inputs._Job) -> object:
        if done:
            raise KeyboardInterrupt
        done.append(job.behaviours.task_id)
        return whole(job)

    monkeypatch.setattr(smallest_inputs, "run_smallest", one_task_then_stop)
    with pytest.raises(KeyboardInterrupt):
        find_smallest(stopped, Request())
    assert set(stopped.read("smallest")["task_id"]) == set(done)
    monkeypatch.undo()
    went_on = find_smallest(stopped, Request())
    assert (went_on.n_tasks, went_on.n_at_hand > 0) == (2, True)
    assert contents(stopped, "smallest") == contents(store, "smallest")


@pytest.mark.slow
def test_more_candidates_add_their_pairs_or_start_anew(store: Store, bare: Store, tmp_path: Path) -> None:
    other = copied(bare, tmp_path)
    first = find_smallest(other, Request(selection=selection_of(m=3)))
    more = find_smallest(other, Request(selection=selection_of(m=4)))
    assert more.n_at_hand == first.n_found > 0
    assert contents(other, "smallest") == contents(store, "smallest")
    # Rows get other numbers when there are more candidates, so what spoke of them goes.
    add_candidates(other, candidates("new", OTHER, OTHER, OTHER), {"tiny": TASKS}, n_jobs=1)
    execute(other, n=60, say=silent)
    refresh_estimates(other)
    assert other.read("smallest").is_empty()
    assert verify(other).findings == ()


def test_results_keep_the_table_and_are_not_filled_without_texts(store: Store, bare: Store, tmp_path: Path) -> None:
    results = export_results(store, tmp_path / "results")
    assert results.read("smallest").equals(store.read("smallest"))
    results = export_results(bare, tmp_path / "bare")
    found = find_smallest(results, Request())
    assert found.without_texts == tuple(task.task_id for task in TASKS)
    assert found.n_tasks == 0
    assert results.read("smallest").is_empty()


def test_a_store_from_before_has_none(store: Store, tmp_path: Path) -> None:
    results = export_results(store, tmp_path / "results")
    settings = results.settings()
    results.write_settings(settings.__class__(tables=tuple(name for name in settings.tables if name != "smallest")))
    assert read_smallest(results, "tiny", "tiny/double").is_empty()
    pool = load_pool(results, "tiny")
    clustering = cluster_candidates(pool, "tiny/double", [CODER], m=4, n=60)
    assert smallest_of(clustering, read_smallest(results, "tiny", "tiny/double"), pool) == []


def test_the_strict_comparison_reads_what_the_tolerant_one_found_and_a_task_must_be_known(store: Store) -> None:
    tolerant, strict = (read_smallest(store, "tiny", "tiny/total", equality=name) for name in ("paper", "strict"))
    assert not tolerant.is_empty()
    assert strict.equals(tolerant)
    with pytest.raises(WrongUsage, match="no two programs differ in tiny/nothing, or it is no task here"):
        find_smallest(store, Request(tasks=frozenset({"tiny/nothing"})))


def test_the_command_says_what_it_did(bare: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = copied(bare, tmp_path).root
    for said in ("8 of 8 inputs found, 8 of them as small as they get; 0 were there", "0 of 0 inputs found"):
        words = ("smallest", "--store", root, "--task", "tiny/double", "--task", "tiny/total", "-j", "1")
        status, out, _ = run(capsys, *words)
        assert (status, said in out) == (0, True)


@pytest.mark.parametrize("find", [find_starter_results, find_results])
def test_the_shipped_stores_hold_small_inputs_inside_the_domains(find: Callable[[], Path]) -> None:
    shipped = Store.open(find())
    rows = shipped.read("smallest")
    inside = rows.filter(validity="domain")
    assert set(inside["place"]) == {"domain"}
    assert inside["is_smallest"].mean() > 0.8  # type: ignore[operator]
    assert inside["arguments"].str.len_chars().median() < 30  # type: ignore[operator]
    assert rows.filter(pl.col("first_kind") == "load_error").is_empty()
    assert sum(path.stat().st_size for path in shipped.files("smallest")) < 5e6
