"""Cells whose colour says what happened: tasks and models, programs and inputs, signals; and clusters as bars."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.figures.intervals import LABELS, ROW
from difftrust.figures.style import COLOURS, GREY, OUTCOMES, SHARE, legend, styled, tips
from difftrust.tables.names import display_name, with_display_names

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
AS_REFERENCE: Final = "same as the reference"
OTHERWISE: Final = "different from the reference"
_ACCEPTED: Final = ("accepted by the checker", "rejected on some input")
RANKS: Final = ("most common", "2nd", "3rd", "4th", "5th", "6th", "rarer")
"""What the colour of a cell says: how common its outcome is among the outcomes on that input."""
_RANK_COLOURS: Final = ("#DCE3EA", COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[3], COLOURS[4], "#8A8F98")
LONGEST: Final = 120
"""Characters of an input or an outcome that a tooltip shows."""
_TEXTS: Final = {"arguments": "input", "outcome_text": "outcome"}
"""Column -> what its text is called."""
_MANY: Final = 25
"""Inputs beyond which the lines between cells are hair-thin."""
_CORRELATION_COLOURS: Final = ("#5AA9DC", "#FFFFFF", "#F0883E")
"""Of -1, 0 and 1: blue and orange so pale that black numbers can be read on them, contrast 8 and more."""
_WIDE, _NARROW = 28, 19
"""Pixels of a cell that holds -0.50, and of one that holds -.5."""


def draw_matrix(
    cells: pl.DataFrame,
    *,
    tasks: pl.DataFrame,
    models: Sequence[str],
    with_reference: bool = True,
    selection: str | None = None,
    order: str = "",
) -> Any:
    """Draw a cell each task and model: tasks from left to right in the order of ``tasks``, ``models`` from the top.

    ``cells``: those of ``model_matrix.cells_of``; ``tasks``: their benchmark and task_id, a row a task. Without
    ``with_reference`` nothing drawn depends on the reference. ``selection``: the name of a parameter that a click on a
    cell gives its task_id, model and benchmark. ``order``: how the tasks are sorted, in words. Thousands of cells are
    drawn on a canvas.
    """
    placed = tasks.select("benchmark", "task_id").with_row_index("place")
    words, column = (SAID, "happened") if with_reference else (SAID_BLIND, "agreement")
    colours = _COLOURS if with_reference else _BLIND_COLOURS
    measures = ("error", "incoherence") if with_reference else ("incoherence",)
    there = cells.filter(pl.col("model").is_in(list(models)))
    shown = there.join(placed, on=["benchmark", "task_id"], maintain_order="left").select(
        *("benchmark", "task_id", "model", *measures, "n_classes"),
        start=pl.col("place").cast(pl.Int64),
        end=pl.col("place").cast(pl.Int64) + 1,
        what=pl.col(column).replace_strict(words, return_dtype=pl.String),
        id="model",
    )
    bare: dict[str, Any] = {"grid": False, "ticks": False, "domain": False}
    across = alt.X(
        "start:Q",
        title=f"tasks, {order}" if order else "tasks",
        scale=alt.Scale(nice=False, zero=True),
        axis=alt.Axis(labels=False, **bare),
    )
    rows = alt.Scale(domain=[display_name(model) for model in models], paddingInner=0.05)
    happened = alt.Color(
        "what:N",
        scale=alt.Scale(domain=list(colours), range=list(colours.values())),
        legend=legend(2, "top", symbolType="square", symbolStrokeWidth=0),
    )
    names = tips("task_id: task", "model", f"what: {'what happened' if with_reference else 'programs'}")
    made = (
        alt.Chart(with_display_names(shown))
        .mark_rect(cursor="pointer" if selection else "default", strokeWidth=0)
        .encode(
            x=across,
            x2="end",
            y=alt.Y("model:N", title=None, scale=rows, axis=alt.Axis(labelLimit=130, labelPadding=4, **bare)),
            color=happened,
            tooltip=[*names, *tips(**dict.fromkeys(measures, SHARE), n_classes=("clusters", None))],
        )
        .properties(
            width=900, height=max(_LEAST, _STEP * len(models)), usermeta={"embedOptions": {"renderer": "canvas"}}
        )
    )
    if selection is not None:
        made = made.add_params(alt.selection_point(name=selection, fields=["task_id", "id", "benchmark"]))
    return styled(made)


def draw_clusters(table: pl.DataFrame, *, with_reference: bool = True, has_checker: bool = False) -> Any:
    """Draw one bar per cluster, divided by model.

    ``table``: cluster, model, n_candidates, is_reference. Without ``with_reference`` nothing drawn depends on it.
    ``has_checker``: what is right is said by the task's checker, not by a reference.
    """
    words = _ACCEPTED if has_checker else (AS_REFERENCE, OTHERWISE)
    shown: pl.DataFrame = table.drop("is_reference")
    colour: Any = alt.value(COLOURS[0])
    if with_reference:
        said = pl.when("is_reference").then(pl.lit(words[0])).otherwise(pl.lit(words[1]))
        shown = table.with_columns(behaviour=said)
        scale = alt.Scale(domain=list(words), range=[COLOURS[2], COLOURS[1]])
        colour = alt.Color("behaviour:N", scale=scale, legend=alt.Legend(title="outcomes", orient="top"))
    bars = alt.Chart(with_display_names(shown)).mark_bar(stroke="white", strokeWidth=1)
    made = bars.encode(
        x=alt.X("sum(n_candidates):Q", title="number of programs", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("cluster:O", title="cluster"),
        color=colour,
        detail="model:N",
        tooltip=tips("cluster", "model", n_candidates=("programs", None)),
    )
    return styled(made.properties(width=560, height=alt.Step(17)))


def draw_heat_map(table: pl.DataFrame, *, height: int = 320) -> Any:
    """Draw which outcome each candidate has on each kind of input: candidates down, inputs across.

    ``table``: one row a (cluster, kind of input): cluster, first and last (its candidates' places, a row each), place
    (of the input, from 0), input_index, n_inputs of the same kind, rank (0: the outcome of most programs). Where they
    are known, arguments (of the input, shown up to LONGEST characters) and outcome_text (what the cluster does there).
    """
    told = [name for name in _TEXTS if name in table.columns]
    text = pl.col(pl.String)
    cut = pl.when(text.str.len_chars() > LONGEST).then(text.str.head(LONGEST - 1) + "…").otherwise(text)
    shown = table.with_columns(cut.name.keep()).with_columns(
        outcome=pl.col("rank").clip(0, len(RANKS) - 1).replace_strict(dict(enumerate(RANKS)), return_dtype=pl.String),
        right=pl.col("place") + 1,
    )
    down, across = alt.Scale(reverse=True, nice=False, padding=0), alt.Scale(nice=False, padding=0)
    inputs = alt.Axis(title="disagreeing inputs (most different outcomes first)", tickMinStep=1)
    programs = alt.Axis(title="programs (grouped by cluster)", tickMinStep=1)
    is_fine = max(shown["right"].to_list(), default=0) > _MANY
    numbers = {
        "n_candidates": "programs", "input_index": "number of the input", "n_inputs": "inputs with the same split",
    }  # fmt: skip
    cells = (
        alt.Chart(shown)
        .mark_rect(stroke="white", strokeWidth=0.3 if is_fine else 0.8)
        .encode(
            x=alt.X("place:Q", scale=across, axis=inputs),
            x2="right:Q",
            y=alt.Y("first:Q", scale=down, axis=programs),
            y2="last:Q",
            color=alt.Color(
                "outcome:N", scale=alt.Scale(domain=list(RANKS), range=list(_RANK_COLOURS)),
                legend=legend(title="outcome"),
            ),
            tooltip=[
                *tips(*(f"{name}: {_TEXTS[name]}" for name in told), "cluster"),
                *tips(**{name: (said, None) for name, said in numbers.items()}),
                *tips("outcome: how common"),
            ],
        )
    )  # fmt: skip
    edges = shown.select("last").unique(maintain_order=True).filter(pl.col("last") < pl.col("last").max())
    lines = alt.Chart(edges).mark_rule(color=GREY, strokeWidth=0.8).encode(y=alt.Y("last:Q", scale=down))
    return styled(alt.layer(cells, lines).properties(width=640, height=height))


def draw_correlations(table: pl.DataFrame) -> Any:
    """Draw ``signals.correlation_table``: orange together, blue against each other, white not at all.

    A cell says r in as many digits as it has room for.
    """
    names = table["a"].unique(maintain_order=True).to_list()
    n = max(1, len(names))
    labels: dict[str, Any] = {"labelLimit": LABELS, "labelOverlap": False}
    base = alt.Chart(table).encode(
        x=alt.X("b:N", sort=names, title=None, axis=alt.Axis(labelAngle=-90, **labels)),
        y=alt.Y("a:N", sort=names, title=None, axis=alt.Axis(**labels)),
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=list(_CORRELATION_COLOURS), interpolate="rgb")
    shown = alt.Legend(title="Pearson's r", orient="top", gradientLength=140, tickCount=3)
    cells = base.mark_rect().encode(
        color=alt.Color("r:Q", scale=scale, legend=shown), tooltip=tips("a: signal", "b: other signal", r=".3f")
    )
    short = "replace(format(datum.r, '.1f'), '0.', '.')"
    spelled = f"width / {n} >= {_WIDE} ? format(datum.r, '.2f') : width / {n} >= {_NARROW} ? {short} : ''"
    numbers = base.transform_filter("isValid(datum.r)").mark_text(
        fontSize=10, color="black", text=alt.ExprRef(spelled), tooltip=None
    )
    return styled(alt.layer(cells, numbers).properties(width=34 * n, height=ROW * n))
