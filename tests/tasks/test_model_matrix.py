"""Tests of the matrix of tasks and models on tables whose answers can be counted by hand."""

import polars as pl
import pytest

from difftrust.tasks.model_matrix import cells_of, count_cells, rank_models, tasks_of_cells
from difftrust_core.metrics.intervals import bootstrap_tasks, statistic_of


def estimates() -> pl.DataFrame:
    rows = [
        ("b", "one", "b/0", 0.0, 0.0, False, 1),
        ("b", "one", "b/1", 0.5, 0.5, True, 2),
        ("b", "one", "b/2", 1.0, 0.0, False, 1),
        ("b", "two", "b/0", 0.0, 0.0, False, 1),
        ("b", "two", "b/1", None, 0.2, True, 2),
        ("c", "one", "c/0", 0.0, 0.0, False, 1),
    ]
    names = ["benchmark", "model", "task_id", "error", "incoherence", "detected", "n_classes"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_cell_says_what_happened() -> None:
    cells = cells_of(estimates())
    assert cells.select("task_id", "model", "happened", "agreement").rows() == [
        ("b/0", "one", "right", "agree"),
        ("b/0", "two", "right", "agree"),
        ("b/1", "one", "detected", "disagree"),
        ("b/1", "two", "undefined", "disagree"),
        ("b/2", "one", "undetected", "agree"),
        ("b/2", "two", "undefined", "undefined"),
        ("c/0", "one", "right", "agree"),
    ]


def test_all_programs_right_is_right_even_where_agreement_is_unknown() -> None:
    unknown = estimates().with_columns(detected=pl.lit(None, pl.Boolean))
    assert count_cells(cells_of(unknown)) == {"right": 3, "undefined": 4}


def test_cells_are_counted_by_what_happened_and_by_agreement() -> None:
    cells = cells_of(estimates())
    assert count_cells(cells) == {"right": 3, "detected": 1, "undetected": 1, "undefined": 2}
    assert count_cells(cells, "agreement") == {"undefined": 1, "agree": 4, "disagree": 2}


def test_a_task_is_as_difficult_as_the_share_of_models_that_are_wrong() -> None:
    tasks = tasks_of_cells(cells_of(estimates()))
    assert tasks.select("task_id", "wrong", "difficulty", "mean_error", "n_detected", "n_undetected").rows() == [
        ("b/0", 0.0, "easy", 0.0, 0, 0),
        ("b/1", 1.0, "hard", 0.5, 1, 0),
        ("b/2", 1.0, "hard", 1.0, 0, 1),
        ("c/0", 0.0, "easy", 0.0, 0, 0),
    ]
    assert tasks["mean_incoherence"].to_list() == pytest.approx([0.0, 0.35, 0.0, 0.0])
    unknown = tasks_of_cells(cells_of(estimates().with_columns(error=pl.lit(None, pl.Float64))))
    assert unknown["difficulty"].null_count() == 4


def test_models_are_ranked_by_the_share_of_tasks_on_which_they_are_right() -> None:
    table = rank_models(cells_of(estimates()))
    assert table.select("model", "tasks", "right", "error", "incoherence").rows() == [
        ("two", 2, 1.0, 0.0, pytest.approx(0.1)),
        ("one", 4, 0.5, 0.375, 0.125),
    ]
    assert table.filter(model="two")["right_low"].to_list() == [None]  # its error is known on one task


def test_the_intervals_are_those_of_a_plain_bootstrap() -> None:
    errors = [0.0, 0.1, 0.0, 0.9, 0.3, 0.0, 0.0, 0.5, 0.2, 0.0]
    made = pl.DataFrame({"error": errors, "incoherence": [e / 2 for e in errors], "detected": [e > 0 for e in errors]})
    made = made.with_columns(
        benchmark=pl.lit("b"), model=pl.lit("one"), n_classes=1, task_id=pl.format("b/{}", pl.int_range(10))
    )
    (row,) = rank_models(cells_of(made)).rows(named=True)
    plain = bootstrap_tasks(made, statistic_of("mean_error"), resamples=1_000)
    assert (row["error"], row["error_low"], row["error_high"]) == pytest.approx((0.2, plain.low, plain.high))
    assert row["right_low"] < row["right"] == 0.5 < row["right_high"]


def test_no_cell_ranks_no_model() -> None:
    cells = cells_of(estimates().clear())
    assert cells.is_empty()
    assert rank_models(cells).is_empty()
    assert count_cells(cells) == {}
