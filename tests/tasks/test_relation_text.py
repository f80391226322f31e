"""Which relation held is said: on a task's view, below tables, on the dashboard's page."""

from pathlib import Path

import pytest

from difftrust.explorer.cube import cube_of
from difftrust.tables.paper_tables import make_table_4
from difftrust.tables.request import TableRequest
from difftrust.tasks.relation_text import relation_in_words, relations_note
from difftrust.tasks.task_view import TaskView, view_task
from difftrust.verify.rows import check_tables
from difftrust_core.base.task import Order, Relation
from difftrust_core.estimates.refresh import open_pools, refresh_estimates
from difftrust_core.execution.execute import execute
from difftrust_core.store.store import Store
from tests.execution.test_relations import store_of
from tests.support.right_answers import BENCHMARK, CHECKED, COMPARED
from tests.support.tasks import add_programs
from tests.support.tiny import RIGHT, WRONG, filled, silent

END = "of two programs that differ on an input, at most one is right there."


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        (None, ""),
        (Relation(), ""),
        (Relation(equality="strict"), f"Comparison of this task: values are compared exactly; {END}"),
        (
            Relation(order=Order.UNORDERED, atol=1e-6),
            f"Comparison of this task: the order of a list does not count; numbers are equal within 1e-06; {END}",
        ),
        (
            Relation(tokens=True, atol=0.5, rtol=0.1),
            "Comparison of this task: numbers are equal within 0.5 plus 0.1 of the larger one; "
            f"texts are compared word by word, numbers among them as numbers; {END}",
        ),
        (
            Relation(normal="..."),
            f"Comparison of this task: values are equal if their normal forms, by `normal`, are; {END}",
        ),
        (
            Relation(accept="..."),
            "Checker of this task: all values that `accept` accepts count as one outcome, others are compared "
            f"by value; {END}",
        ),
    ],
)
def test_a_relation_in_words(relation: Relation | None, said: str) -> None:
    assert relation_in_words(relation) == said


def viewed(store: Store, task_id: str) -> TaskView:
    refresh_estimates(store)
    assert check_tables(store) == []
    return view_task(store, open_pools(store)[BENCHMARK], task_id, [("all", 0.6)], m=None, n=1)


def test_a_view_of_a_task_with_a_checker(tmp_path: Path) -> None:
    case = CHECKED[0]
    store = store_of(tmp_path / "store", case.task, ("all", (*case.right, *case.wrong)))
    execute(store, n=1, validity="tests", say=silent)
    view = viewed(store, case.task.task_id)
    assert view.has_checker
    assert view.statements[-1] == relation_in_words(case.task.relation)
    clusters = view.clusters.frame
    assert clusters["n_candidates"].to_list() == [3, 1, 1, 1]  # a wrong one is right on this input
    assert clusters["is_reference"].to_list() == [True, False, False, False]
    shown = view.disagreeing.frame.filter("is_reference")
    assert shown["text"].to_list() == ["(1, 4)"]  # a value of the class, not the name of the class
    assert view.wrong.frame["reference_text"].unique().to_list() == ["<accepted>"]
    assert [task["checker"] for task in cube_of(store, BENCHMARK)["tasks"]] == [True]


def test_where_no_value_is_accepted_the_class_stands_for_itself(tmp_path: Path) -> None:
    case = CHECKED[0]
    store = store_of(tmp_path / "store", case.task, ("all", case.wrong[1:]))
    execute(store, n=1, validity="tests", say=silent)
    view = viewed(store, case.task.task_id)
    assert not view.clusters.frame["is_reference"].any()
    assert view.clusters.frame["n_wrong"].to_list() == [1, 1, 1]


@pytest.mark.slow
def test_the_note_of_a_table_counts_the_tasks_with_a_relation(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for case in (CHECKED[0], CHECKED[1], *COMPARED):
        add_programs(store, (case.task, "all", case.right))
    note = (
        "8 of 8 tasks say themselves when two outcomes are both right: 2 by a checker, 1 by a normal form, "
        "2 by a tolerance, 1 by an equality of their own, 2 by an order that does not count"
    )
    assert relations_note(store) == note
    execute(store, n=5, validity="domain", say=silent)
    refresh_estimates(store)
    assert note in make_table_4(TableRequest(store=store.root)).notes


def test_a_store_without_relations_says_nothing(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", RIGHT, WRONG)
    assert relations_note(store) == ""
