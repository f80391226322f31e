"""Pearson's correlation of every two measures, as a heat map (Figure 1 of Song et al.)."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.drawing import Drawing, drawing, drawn, named
from difftrust_core.charts.style import styled

_ENDS = ("#5AA9DC", "#FFFFFF", "#F0883E")
"""Of -1, 0 and 1: blue and orange so pale that black numbers can be read on them, contrast 8 and more."""


def correlations_drawing(table: pl.DataFrame) -> Drawing:
    """Draw ``signals.correlation_table``: orange together, blue against each other, white not at all."""
    names = table["a"].unique(maintain_order=True).to_list()
    return drawing(_shape, {"pairs": table.with_columns(pl.col("r").fill_nan(None))}, names=tuple(names))


draw_correlations = drawn(correlations_drawing)


def _shape(*, names: tuple[str, ...]) -> Any:
    order, size = list(names), 34 * len(names)
    base = alt.Chart(named("pairs")).encode(
        x=alt.X("b:N", sort=order, title=None, axis=alt.Axis(labelAngle=-45, labelLimit=200, labelOverlap=False)),
        y=alt.Y("a:N", sort=order, title=None, axis=alt.Axis(labelLimit=200)),
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=list(_ENDS), interpolate="rgb")
    cells = base.mark_rect().encode(
        color=alt.Color("r:Q", scale=scale, title="Pearson's r"),
        tooltip=[alt.Tooltip("a:N"), alt.Tooltip("b:N"), alt.Tooltip("r:Q", format=".3f")],
    )
    numbers = base.mark_text(fontSize=10, color="black").encode(text=alt.Text("r:Q", format=".2f"))
    return styled(alt.layer(cells, numbers).properties(width=size, height=size))
