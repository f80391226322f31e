"""Tests of the chart of tasks and models."""

import polars as pl

from difftrust.figures.heat_maps import draw_matrix
from difftrust.tasks.model_matrix import cells_of
from tests.figures.test_figures import rows_of


def cells() -> pl.DataFrame:
    rows = [
        ("gpt_4o", "b/0", 0.0, 0.0, False, 1),
        ("gpt_4", "b/0", 0.5, 0.0, False, 1),
        ("gpt_4o", "b/1", 1.0, 0.5, True, 2),
    ]
    names = ["model", "task_id", "error", "incoherence", "detected", "n_classes"]
    return cells_of(pl.DataFrame(rows, schema=names, orient="row").with_columns(benchmark=pl.lit("b")))


TASKS = pl.DataFrame({"benchmark": ["b", "b"], "task_id": ["b/1", "b/0"]})


def test_cells_stand_in_the_order_of_the_tasks_and_say_what_happened() -> None:
    drawn = draw_matrix(cells(), tasks=TASKS, models=["gpt_4o", "gpt_4"], selection="cell")
    rows = pl.DataFrame(rows_of(drawn)).sort("start", "id").select("start", "end", "id", "model", "what").rows()
    assert rows == [
        (0, 1, "gpt_4", "GPT-4", "undefined"),
        (0, 1, "gpt_4o", "GPT-4o", "wrong and detected"),
        (1, 2, "gpt_4", "GPT-4", "wrong, all programs agree"),
        (1, 2, "gpt_4o", "GPT-4o", "right"),
    ]
    spec = drawn.to_dict()
    assert spec["encoding"]["y"]["scale"]["domain"] == ["GPT-4o", "GPT-4"]
    assert spec["usermeta"]["embedOptions"]["renderer"] == "canvas"
    assert spec["params"][0]["select"]["fields"] == ["task_id", "id", "benchmark"]


def test_without_the_reference_nothing_of_it_is_in_the_chart() -> None:
    drawn = draw_matrix(cells(), tasks=TASKS, models=["gpt_4o", "gpt_4"], with_reference=False)
    assert set(pl.DataFrame(rows_of(drawn))["what"]) == {"programs agree", "programs disagree", "undefined"}
    spec = str(drawn.to_dict())
    assert "error" not in spec
    assert "wrong" not in spec
    assert "right" not in spec.replace("copyright", "")


def test_tasks_and_models_that_are_not_asked_for_are_left_out() -> None:
    drawn = draw_matrix(cells(), tasks=TASKS.head(1), models=["gpt_4o"])
    assert pl.DataFrame(rows_of(drawn)).select("task_id", "id").rows() == [("b/1", "gpt_4o")]
