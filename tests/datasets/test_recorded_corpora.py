"""The recorded candidates of real models, really executed, beside what the published pipeline measured on them.

Skipped where the corpora are not at hand.
"""

import json
from pathlib import Path

import polars as pl
import pytest

from difftrust.reproduce import run_all as reproduce
from difftrust.shipped import find_results
from difftrust.tables.registry import make_table
from difftrust.tables.request import TableRequest
from difftrust_core.datasets.recorded import selection_of
from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.execution.execute import execute
from difftrust_core.store.imports import import_source
from difftrust_core.store.store import Store
from tests.support.recorded import few_recorded

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


@pytest.mark.slow
def test_error_and_incoherence_are_near_the_published_ones(store: Store, shared_data: Path) -> None:
    beside = query_estimates(store).join(published(shared_data), on=["model", "task_id"])
    assert beside.height == 20
    error = (beside["error"] - beside["Err"]).abs()
    incoherence = (beside["incoherence"] - beside["Dis"]).abs()
    assert error.mean() < 0.04
    assert incoherence.mean() < 0.04


@pytest.mark.slow
def test_reproducing_resumes_and_writes_the_same_bytes(shared_data: Path, tmp_path: Path) -> None:
    of_tasks = pl.col("task_id").str.contains(r"^HumanEval/1\d$")
    few = few_recorded(shared_data, tmp_path / "data", of_tasks)
    wanted = selection_of(benchmarks=["HumanEval"], models=["gpt_4o"], temperatures=[0.6], m=2)
    contents, said = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIFFTRUST_DATA", str(few))
        for _ in range(2):
            made = reproduce(
                tmp_path / "store", tmp_path / "to", selection=wanted, n=5, n_deep=8, n_jobs=2, say=said.append
            )
            contents.append({p.name: p.read_bytes() for p in made.root.rglob("*.parquet")})
    assert contents[0] == contents[1]
    assert query_estimates(made)["n"].unique().to_list() == [8]
    n_programs = 2 * query_estimates(made).height
    assert n_programs >= 10
    assert [line for line in said if line.startswith(f"imported {n_programs}")]
    assert [line for line in said if line.startswith(f"imported 0 candidates; {n_programs} were there before")]
    table = make_table("3a", TableRequest(store=made.root, published=True)).frame
    assert table["humaneval_expenses_usd"].is_null().all()


def test_two_programs_a_task_cost_about_a_fifth_of_what_the_paper_paid_for_ten() -> None:
    asked = "SELECT cost_usd FROM ablation_summary('gpt_4o', 'HumanEval', 0.6, 2, 5)"
    assert query_sql(Store.open(find_results()), asked).item() == pytest.approx(4.4840 / 5, rel=0.05)
