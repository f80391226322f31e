"""Tasks and models as a matrix: a cell's colour says what happened."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import OUTCOMES, SHARE, styled
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import with_display_names

SAID: Final = {
    "right": "right",
    "detected": "wrong and detected",
    "undetected": "wrong, all programs agree",
    "undefined": "undefined",
}
"""What happened -> words."""
SAID_BLIND: Final = {"agree": "programs agree", "disagree": "programs disagree", "undefined": "undefined"}
"""Whether programs agree -> words."""
_COLOURS: Final = {SAID[name]: colour for name, colour in OUTCOMES.items()}
_BLIND_COLOURS: Final = {"programs agree": "#DCE3EA", "programs disagree": "#0072B2", "undefined": "#BBBBBB"}
"""Others than with a reference: that programs disagree is not that they are wrong."""
_STEP: Final = 17
"""Pixels of a row, its model's name in it."""
_LEAST: Final = 100


def matrix_drawing(
    cells: pl.DataFrame,
    *,
    tasks: pl.DataFrame,
    models: Sequence[str],
    with_reference: bool = True,
    selection: str | None = None,
    order: str = "",
) -> Drawing:
    """Draw a cell each task and model: tasks from left to right in the order of ``tasks``, ``models`` from the top.

    ``cells``: those of ``analysis.matrix.cells_of``; ``tasks``: their benchmark and task_id, a row a task. Without
    ``with_reference`` nothing drawn depends on the reference. ``selection``: the name of a parameter that a click on a
    cell gives its task_id, model and benchmark. ``order``: how the tasks are sorted, in words. Thousands of cells are
    drawn on a canvas. The table of the cells is called cells.
    """
    placed = tasks.select("benchmark", "task_id").with_row_index("place")
    words, column = (SAID, "happened") if with_reference else (SAID_BLIND, "agreement")
    numbers = ("incoherence", "n_classes", *(("error",) if with_reference else ()))
    there = cells.filter(pl.col("model").is_in(list(models)))
    shown = there.join(placed, on=["benchmark", "task_id"], maintain_order="left").select(
        *("benchmark", "task_id", "model", *numbers),
        start=pl.col("place").cast(pl.Int64),
        end=pl.col("place").cast(pl.Int64) + 1,
        what=pl.col(column).replace_strict(words, return_dtype=pl.String),
    )
    ids = shown["model"]
    return drawing(
        _shape,
        {"cells": with_display_names(shown).with_columns(id=ids)},
        models=tuple(with_display_names(pl.DataFrame({"model": list(models)}, schema={"model": pl.String}))["model"]),
        with_reference=with_reference,
        selection=selection,
        order=order,
    )


def _shape(*, models: tuple[str, ...], with_reference: bool, selection: str | None, order: str) -> Any:
    colours = _COLOURS if with_reference else _BLIND_COLOURS
    made = (
        alt.Chart(named("cells"))
        .mark_rect(cursor="pointer" if selection else "default", strokeWidth=0)
        .encode(
            x=alt.X(
                "start:Q",
                title=f"tasks, {order}" if order else "tasks",
                scale=alt.Scale(nice=False, zero=True),
                axis=alt.Axis(labels=False, ticks=False, grid=False, domain=False),
            ),
            x2="end",
            y=alt.Y(
                "model:N",
                title=None,
                scale=alt.Scale(domain=list(models), paddingInner=0.05),
                axis=alt.Axis(grid=False, ticks=False, domain=False, labelLimit=130, labelPadding=4),
            ),
            color=alt.Color(
                "what:N",
                scale=alt.Scale(domain=list(colours), range=list(colours.values())),
                legend=alt.Legend(title=None, orient="top", columns=2, symbolType="square", symbolStrokeWidth=0),
            ),
            tooltip=_tooltip(with_reference),
        )
        .properties(
            width=900, height=max(_LEAST, _STEP * len(models)), usermeta={"embedOptions": {"renderer": "canvas"}}
        )
    )
    if selection is not None:
        made = made.add_params(alt.selection_point(name=selection, fields=["task_id", "id", "benchmark"]))
    return styled(made)


def _tooltip(with_reference: bool) -> list[alt.Tooltip]:
    error = [alt.Tooltip("error:Q", format=SHARE)] if with_reference else []
    return [
        alt.Tooltip("task_id:N", title="task"),
        alt.Tooltip("model:N"),
        alt.Tooltip("what:N", title="what happened" if with_reference else "programs"),
        *error,
        alt.Tooltip("incoherence:Q", format=SHARE),
        alt.Tooltip("n_classes:Q", title="clusters"),
    ]
