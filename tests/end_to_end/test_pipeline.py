"""From candidates to estimates in the real sandbox: equal to running everything and comparing every pair."""

from pathlib import Path

import pytest

from difftrust_core.estimates.queries import query_estimates, query_sql
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.execution.execute import execute
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, filled, silent, slow_estimates


def test_estimates_equal_running_everything_and_comparing_every_pair(tmp_path: Path) -> None:
    programs = (RIGHT, WRONG, WRONG, OTHER)
    store = filled(tmp_path / "store", *programs)
    done = execute(store, n=60, say=silent)
    assert (done.n_tasks, done.n_programs, done.failures) == (3, 9, ())
    refresh_estimates(store)
    found = {row["task_id"]: row for row in query_estimates(store, equality="strict").iter_rows(named=True)}
    for task in TASKS:
        inputs = query_sql(store, "SELECT arguments FROM inputs WHERE task_id = ? ORDER BY input_index", [task.task_id])
        error, incoherence = slow_estimates(task, [p[task.task_id] for p in programs], inputs["arguments"].to_list())
        row = found[task.task_id]
        assert (row["m"], row["n"]) == (4, 60)
        assert row["error"] == pytest.approx(error, abs=1e-12)
        assert row["incoherence"] == pytest.approx(incoherence, abs=1e-12)
        assert row["incoherence_v"] == pytest.approx(incoherence * 3 / 4, abs=1e-12)
        assert row["n_classes"] == 3
        assert 0 < row["incoherence"] <= 2 * row["error"]
