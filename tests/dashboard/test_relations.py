"""The page of a task with a checker speaks of the checker, not of a reference that it may not have."""

from pathlib import Path

import pytest

from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.execution.execute import execute
from tests.execution.test_relations import store_of
from tests.support.pages import opened, shown
from tests.support.right_answers import CHECKED, without_reference
from tests.support.tiny import silent


@pytest.mark.slow
def test_the_page_of_a_task_with_a_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = without_reference(CHECKED[0])
    store = store_of(tmp_path / "store", case.task, ("all", (*case.right, *case.wrong)))
    execute(store, n=30, validity="domain", say=silent)
    refresh_estimates(store)
    monkeypatch.setenv("DIFFTRUST_STORE", str(store.root))
    words = shown(opened("task", task=case.task.task_id))
    assert "Checker of this task: all values that" in words
    assert "By the task's checker: error" in words
    assert "The checker accepts every value of **cluster 1**." in words
    assert "accepted by the checker" in words
    assert "same as the reference" not in words
    assert "<accepted>" not in words
