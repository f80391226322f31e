"""A task with a checker speaks of the checker, not of a reference that it may not have."""

from pathlib import Path

import pytest

from difftrust.explorer.cube import cube_of
from difftrust.tasks.task_view import view_task
from difftrust_core.estimates.pool import load_pool
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.execution.execute import execute
from tests.execution.test_relations import store_of
from tests.support.right_answers import CHECKED, without_reference
from tests.support.tiny import silent


@pytest.mark.slow
def test_the_page_of_a_task_with_a_checker(tmp_path: Path) -> None:
    case = without_reference(CHECKED[0])
    store = store_of(tmp_path / "store", case.task, ("all", (*case.right, *case.wrong)))
    execute(store, n=30, validity="domain", say=silent)
    refresh_estimates(store)
    (task,) = cube_of(store, case.task.benchmark)["tasks"]
    assert task["checker"]
    view = view_task(store, load_pool(store, case.task.benchmark), case.task.task_id, [("all", 0.6)], m=None, n=30)
    assert "Checker of this task: all values that" in "\n".join(view.statements)
    assert "reference" not in view.headline
