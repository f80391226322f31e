"""Candidates and tasks that come into a store: samples that are there already, and files of earlier versions."""

from pathlib import Path

import polars as pl

from difftrust_core.analysis.estimates import refresh_estimates
from difftrust_core.analysis.queries import query_estimates
from difftrust_core.execution.execute import execute
from difftrust_core.store.imports import add_candidates
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, candidates, filled, silent

BENCHMARK = {"tiny": TASKS}


def test_tasks_written_before_there_was_another_language_are_in_python(tmp_path: Path) -> None:
    stores = [filled(tmp_path / name, RIGHT, WRONG) for name in ("new", "earlier")]
    for path in stores[1].files("tasks"):
        pl.read_parquet(path, hive_partitioning=False).drop("language").write_parquet(path)
    for store in stores:
        execute(store, n=20, say=silent)
        refresh_estimates(store)
    assert query_estimates(stores[1]).equals(query_estimates(stores[0]))


def test_a_sample_that_is_there_with_another_text_is_kept_and_reported(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT)
    again = add_candidates(store, candidates("coder", WRONG, OTHER), BENCHMARK, n_jobs=1)
    assert (again.n_candidates, again.n_known, len(again.bad_rows)) == (3, 0, 3)
    assert "holds this sample with another text" in again.bad_rows[0].why
    same = add_candidates(store, candidates("coder", RIGHT, OTHER), BENCHMARK, n_jobs=1)
    assert (same.n_candidates, same.n_known, same.bad_rows) == (0, 6, ())
