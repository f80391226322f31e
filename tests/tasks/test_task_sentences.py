"""What a task's page says in words, of few programs and inputs, and which relation of outcomes holds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from difftrust.explorer.cube import cube_of
from difftrust.tables.paper_tables import make_table_4
from difftrust.tables.request import TableRequest
from difftrust.tasks.clusters import Cluster, Clustering
from difftrust.tasks.relation_text import relation_in_words, relations_note
from difftrust.tasks.task_sentences import domain_in_words, headline, percent, statements_of
from difftrust.tasks.task_view import TaskView, view_task
from difftrust.text import count_of
from difftrust.verify.rows import check_tables
from difftrust_core.base.task import Domain, Order, Relation
from difftrust_core.estimates.refresh import open_pools, refresh_estimates
from difftrust_core.execution.execute import execute
from difftrust_core.store.store import Store
from tests.execution.test_relations import store_of
from tests.support.right_answers import BENCHMARK, CHECKED, COMPARED
from tests.support.tasks import add_programs
from tests.support.tiny import RIGHT, WRONG, filled, silent

A = ("a", 0.6)


def clustering(
    *groups: tuple[int, list[int]], truth: list[int] | None = None, loads: tuple[bool, ...] = ()
) -> Clustering:
    """Return clusters: how many programs, and which class on each of the inputs."""
    labels = np.array([own for _, own in groups], dtype=np.uint16)
    right = None if truth is None else np.array(truth, dtype=np.uint16)
    starts = np.cumsum([0, *(size for size, _ in groups)]).tolist()
    wrong = [None if right is None else int((own != right).sum()) for own in labels]
    return Clustering(
        task_id="t",
        n=labels.shape[1],
        clusters=tuple(
            Cluster(
                number=i + 1,
                members={A: tuple(range(starts[i], starts[i + 1]))},
                n_wrong=wrong[i],
                loads=loads[i] if loads else True,
            )
            for i in range(len(groups))
        ),
        labels=labels,
        reference_labels=right,
        pattern_of_input=np.arange(labels.shape[1], dtype=np.uint16),
    )


ALIKE = clustering((10, [0, 0, 0, 0]), truth=[0, 0, 1, 1])
TWO = clustering((3, [0, 0, 0, 0]), (1, [0, 0, 0, 1]), truth=[0, 0, 0, 0])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (ALIKE, "10 programs behave alike, and differ from the reference on 50 % of inputs"),
        (clustering((9, [0, 0]), truth=[0, 0]), "9 programs behave alike, and agree with the reference on every input"),
        (clustering((10, [0, 0])), "10 programs behave alike"),
        (clustering((1, [0, 0]), truth=[0, 1]), "1 program differs from the reference on 50 % of inputs"),
        (clustering((1, [0, 0]), truth=[0, 0]), "1 program agrees with the reference on every input"),
        (TWO, "4 programs show 2 behaviours and disagree on 25 % of inputs; 3 of them are right on every input"),
        (
            clustering((2, [0, 0]), (1, [1, 1]), truth=[0, 0], loads=(True, False)),
            "2 programs behave alike, and agree with the reference on every input; 1 more does not load",
        ),
        (clustering((2, [1, 1]), loads=(False,)), "2 programs do not load"),
        (clustering((1, [1, 1]), loads=(False,)), "1 program does not load"),
    ],
)
def test_the_headline_says_how_programs_behave(found: Clustering, said: str) -> None:
    assert headline(found) == said


def test_a_checker_refuses() -> None:
    assert headline(ALIKE, has_checker=True).endswith("and are refused by the checker on 50 % of inputs")


def test_one_is_not_spelled_as_many_and_no_share_rounded_to_nothing_or_all() -> None:
    counts = [count_of(number) for number in (0, 1, 2, 1000)]
    assert counts == ["0 programs", "1 program", "2 programs", "1,000 programs"]
    one = clustering((1, [0, 0]), (2, [1, 0]), (1, [3, 3]), truth=[0, 0], loads=(True, True, False))
    said = " ".join((headline(one), *statements_of(one)))
    assert "1 programs" not in said
    assert "1 of these 4 programs does not load" in said
    assert [percent(share) for share in (0.0, 0.0001, 0.003, 0.51, 0.999, 1.0)] == [
        "0 %", "less than 0.1 %", "0.3 %", "51 %", "more than 99 %", "100 %",
    ]  # fmt: skip


def test_a_disagreement_proves_an_error_inside_the_domain_only() -> None:
    inside, elsewhere = (" ".join(statements_of(TWO, is_inside=is_inside)) for is_inside in (True, False))
    assert "on each of these that has one answer, a program is wrong" in inside
    assert "a program is wrong" not in elsewhere
    assert "The programs differ on 1 of 4 inputs. At least " in elsewhere
    assert "wrong (95% confidence, over the choice of inputs, given these programs; E >= I/2), if the task" in elsewhere


def test_a_domain_is_said_as_it_was_written() -> None:
    assert domain_in_words(Domain(types="x: int", requires="x > 0")) == "x: int\nx > 0"
    assert domain_in_words(None) == domain_in_words(Domain()) == ""


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        (None, ""),
        (Relation(), ""),
        (Relation(equality="strict"), "Comparison of this task: values are compared exactly"),
        (
            Relation(order=Order.UNORDERED, atol=1e-6),
            "Comparison of this task: the order of a list does not count; numbers are equal within 1e-06",
        ),
        (
            Relation(tokens=True, atol=0.5, rtol=0.1),
            "Comparison of this task: numbers are equal within 0.5 plus 0.1 of the larger one; "
            "texts are compared word by word, numbers among them as numbers",
        ),
        (Relation(normal="..."), "Comparison of this task: values are equal if their normal forms, by `normal`, are"),
        (
            Relation(accept="..."),
            "Checker of this task: all values that `accept` accepts count as one outcome, others are compared by value",
        ),
    ],
)
def test_a_relation_in_words(relation: Relation | None, said: str) -> None:
    end = "; of two programs that differ on an input, at most one is right there."
    assert relation_in_words(relation) == (said and said + end)


def viewed(folder: Path, programs: Sequence[str]) -> tuple[Store, TaskView]:
    """Return the store and the view of the first task with a checker, executed on one of its tests."""
    task = CHECKED[0].task
    store = store_of(folder / "store", task, ("all", programs))
    execute(store, n=1, validity="tests", say=silent)
    refresh_estimates(store)
    assert check_tables(store) == []
    return store, view_task(store, open_pools(store)[BENCHMARK], task.task_id, [("all", 0.6)], m=None, n=1)


def test_a_view_of_a_task_with_a_checker(tmp_path: Path) -> None:
    case = CHECKED[0]
    store, view = viewed(tmp_path, (*case.right, *case.wrong))
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
    _, view = viewed(tmp_path, CHECKED[0].wrong[1:])
    assert view.clusters.frame.select("is_reference", "n_wrong").rows() == [(False, 1)] * 3


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
