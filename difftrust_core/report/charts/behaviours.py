"""The behaviours of one task: how many programs show each, and on which inputs they differ."""

from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import COLOURS, GREY, styled
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import with_display_names

AS_REFERENCE: Final = "same as the reference"
OTHERWISE: Final = "different from the reference"
_ACCEPTED: Final = ("accepted by the checker", "rejected on some input")
RANKS: Final = ("most common", "2nd", "3rd", "4th", "5th", "6th", "rarer")
"""What the colour of a cell says: how common its outcome is among the outcomes on that input."""
LONGEST: Final = 120
"""Characters of an input or an outcome that a tooltip shows."""
_TEXTS: Final = {"arguments": "input", "outcome_text": "outcome"}
"""Column -> what its text is called."""
_MANY: Final = 25
"""Inputs beyond which the lines between cells are hair-thin."""
_RANK_COLOURS: Final = ("#DCE3EA", COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[3], COLOURS[4], "#8A8F98")


def clusters_drawing(table: pl.DataFrame, *, with_reference: bool = True, has_checker: bool = False) -> Drawing:
    """Draw one bar per cluster, divided by model.

    ``table``: cluster, model, n_candidates, is_reference. Without ``with_reference`` nothing drawn depends on it.
    ``has_checker``: what is right is said by the task's checker, not by a reference.
    """
    shown, words = table.drop("is_reference"), _ACCEPTED if has_checker else (AS_REFERENCE, OTHERWISE)
    if with_reference:
        said = pl.when("is_reference").then(pl.lit(words[0])).otherwise(pl.lit(words[1]))
        shown = table.with_columns(behaviour=said)
    return drawing(_bars, {"bars": with_display_names(shown)}, words=words if with_reference else ())


def _bars(*, words: tuple[str, ...]) -> Any:
    colour: Any = alt.value(COLOURS[0])
    if words:
        scale = alt.Scale(domain=list(words), range=[COLOURS[2], COLOURS[1]])
        colour = alt.Color("behaviour:N", scale=scale, legend=alt.Legend(title="outcomes", orient="top"))
    return styled(
        alt.Chart(named("bars"))
        .mark_bar(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("sum(n_candidates):Q", title="number of programs", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("cluster:O", title="cluster"),
            color=colour,
            detail=alt.Detail("model:N"),
            tooltip=[
                alt.Tooltip("cluster:O"),
                alt.Tooltip("model:N"),
                alt.Tooltip("n_candidates:Q", title="programs"),
            ],
        )
        .properties(width=560, height=alt.Step(17))
    )


def heat_map_drawing(table: pl.DataFrame, *, height: int = 320) -> Drawing:
    """Draw which outcome each candidate has on each kind of input: candidates down, inputs across.

    ``table``: one row a (cluster, kind of input): cluster, first and last (its candidates' places, a row each), place
    (of the input, from 0), input_index, n_inputs of the same kind, rank (0: the outcome of most programs). Where they
    are known, arguments (of the input, shown up to LONGEST characters) and outcome_text (what the cluster does there).
    """
    told = tuple(name for name in _TEXTS if name in table.columns)
    table = table.with_columns(_shortened(table[name]) for name in told)
    shown = table.with_columns(
        outcome=pl.col("rank").clip(0, len(RANKS) - 1).replace_strict(dict(enumerate(RANKS)), return_dtype=pl.String),
        right=pl.col("place") + 1,
    )
    n_rows, n_columns = (max(shown[name].to_list(), default=0) for name in ("last", "right"))
    edges = shown.select("last").unique().filter(pl.col("last") < n_rows)
    return drawing(_map, {"cells": shown, "edges": edges}, is_fine=n_columns > _MANY, told=told, height=height)


def _shortened(texts: pl.Series) -> pl.Series:
    shown = [None if text is None else text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…" for text in texts]
    return pl.Series(texts.name, shown, dtype=pl.String)


def _map(*, is_fine: bool, told: tuple[str, ...], height: int) -> Any:
    down, across = alt.Scale(reverse=True, nice=False, padding=0), alt.Scale(nice=False, padding=0)
    cells = (
        alt.Chart(named("cells"))
        .mark_rect(stroke="white", strokeWidth=0.3 if is_fine else 0.8)
        .encode(
            x=alt.X(
                "place:Q",
                scale=across,
                axis=alt.Axis(title="disagreeing inputs (most different outcomes first)", tickMinStep=1),
            ),
            x2=alt.X2("right:Q"),
            y=alt.Y("first:Q", scale=down, axis=alt.Axis(title="programs (grouped by cluster)", tickMinStep=1)),
            y2=alt.Y2("last:Q"),
            color=alt.Color(
                "outcome:N",
                scale=alt.Scale(domain=list(RANKS), range=list(_RANK_COLOURS)),
                legend=alt.Legend(title="outcome", orient="bottom", columns=4),
            ),
            tooltip=[
                *(alt.Tooltip(f"{name}:N", title=_TEXTS[name]) for name in told),
                alt.Tooltip("cluster:O"),
                alt.Tooltip("n_candidates:Q", title="programs"),
                alt.Tooltip("input_index:Q", title="number of the input"),
                alt.Tooltip("n_inputs:Q", title="inputs with the same split"),
                alt.Tooltip("outcome:N", title="how common"),
            ],
        )
    )
    lines = alt.Chart(named("edges")).mark_rule(color=GREY, strokeWidth=0.8).encode(y=alt.Y("last:Q", scale=down))
    return styled(alt.layer(cells, lines).properties(width=640, height=height))
