"""The recorded candidates of real models, really executed, beside what the published pipeline measured on them.

Skipped where the corpora are not at hand.
"""

import json
from pathlib import Path

import polars as pl
import pytest

from difftrust_core.corpora.benchmarks import load_benchmark
from difftrust_core.pipeline import execute, import_source, refresh_estimates, selection_of
from difftrust_core.queries import query_estimates, query_sql
from difftrust_core.store import Store

N = 200


@pytest.fixture(scope="module")
def store(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIFFTRUST_DATA", str(shared_data))
        root = tmp_path_factory.mktemp("recorded") / "store"
        found = import_source(
            root, shared_data / "artifact_sample", selection_of(benchmarks=["HumanEval"], m=10), n_jobs=1
        )
        made = Store.open(root)
        assert (found.n_candidates, found.bad_rows) == (200, ())
        done = execute(made, n=N, n_jobs=2, say=lambda line: None)
        assert (done.n_tasks, done.failures) == (10, ())
        refresh_estimates(made)
    return made


def published(shared_data: Path) -> pl.DataFrame:
    rows = []
    for log in sorted((shared_data / "artifact_sample" / "HumanEval").rglob("experiment-pointwise.json")):
        model = log.parents[1].name.removesuffix("_temp0.6")
        rows += [(model, r["task_id"], r["Err"], r["Dis"]) for r in json.loads(log.read_text())]
    logged = pl.DataFrame(rows, schema=["model", "task_id", "Err", "Dis"], orient="row")
    return logged.group_by("model", "task_id").mean()  # a log may hold a task twice: the published sampling, repeated


def test_the_bound_holds_on_every_row(store: Store) -> None:
    broken = "SELECT count(*) FROM all_estimates WHERE incoherence > 2 * error OR (error = 0 AND incoherence > 0)"
    assert query_sql(store, broken).item() == 0
    assert query_estimates(store).height == 20


def test_error_and_incoherence_are_near_the_published_ones(store: Store, shared_data: Path) -> None:
    beside = query_estimates(store).join(published(shared_data), on=["model", "task_id"])
    assert beside.height == 20
    error = (beside["error"] - beside["Err"]).abs()
    incoherence = (beside["incoherence"] - beside["Dis"]).abs()
    assert error.mean() < 0.04
    assert incoherence.mean() < 0.04


def test_parquet_and_artifact_hold_the_same_candidates(store: Store, shared_data: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIFFTRUST_DATA", str(shared_data))
        wanted = selection_of(benchmarks=["HumanEval"], models=["gpt_4o"], temperatures=[0.6], m=10)
        import_source(tmp_path / "store", shared_data / "difftrust" / "candidates.parquet", wanted, n_jobs=1)
    mine = store.read("candidates").filter(pl.col("model") == "gpt_4o")
    theirs = (
        Store.open(tmp_path / "store").read("candidates").join(mine, on=["task_id", "sample_index"], suffix="_artifact")
    )
    assert theirs.height == 100
    assert (theirs["program_id"] == theirs["program_id_artifact"]).all()


def test_every_task_of_the_published_set_has_a_seed(shared_data: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIFFTRUST_DATA", str(shared_data))
        tasks = {(t.benchmark, t.task_id): t for name in ("HumanEval", "MBPP") for t in load_benchmark(name)}
    listed = pl.read_csv(shared_data / "difftrust" / "task_set.csv").rows()
    assert len(listed) == 562
    assert [key for key in listed if not tasks[key].seed_inputs] == []
