"""Plain tables: one m, one n, one set of tasks, and only the models asked for."""

import pytest

import difftrust as dt
from difftrust.tables.registry import make_table
from difftrust.tables.request import TableRequest, estimates_for
from difftrust_core.exceptions import WrongUsage
from difftrust_core.store.store import Store
from tests.support.tiny import OTHER, RIGHT, WRONG, executed


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Coder "two" has two programs a task, "three" has three, of which the first two are right."""
    root = tmp_path_factory.mktemp("tables") / "store"
    return executed(root, n=20, two=(RIGHT, WRONG), three=(RIGHT, RIGHT, OTHER))


def test_a_plain_table_has_the_largest_m_that_all_have_and_says_so(store: Store) -> None:
    made = make_table("4", TableRequest(store=store.root))
    errors = dict(made.frame.select("model", "mean_error").iter_rows())
    assert errors["three"] == 0  # the third program, which is wrong, is no part of it
    assert any(note.startswith("m = 2, n = 20: the largest that all coders shown have") for note in made.notes)
    assert estimates_for(TableRequest(store=store.root))[0]["m"].unique().to_list() == [2]


def test_one_model_has_all_of_its_own(store: Store) -> None:
    made = make_table("4", TableRequest(store=store.root, only=("three",)))
    assert made.frame["model"].to_list() == ["three", "mean"]
    assert made.frame["mean_error"][0] > 0
    assert not [note for note in made.notes if "the largest that all" in note]
    named = estimates_for(TableRequest(store=store.root, only=("three",), m=3))[0]
    assert named["m"].unique().to_list() == [3]
    with pytest.raises(WrongUsage, match="no model 'four'; there are: three, two"):
        make_table("4", TableRequest(store=store.root, only=("four",)))


def test_a_pool_without_some_tasks_has_the_others_unchanged(store: Store) -> None:
    pool = dt.open(store.root).pool("tiny")
    fewer = pool.without({"tiny/double"})
    assert [task.task_id for task in fewer.tasks] == [t.task_id for t in pool.tasks if t.task_id != "tiny/double"]
    for coder in pool.members:
        assert fewer.tasks_of(coder) == [name for name in pool.tasks_of(coder) if name != "tiny/double"]
    assert pool.without({"tiny/none"}) is pool
