"""Models side by side: a dot for each value, a bar for its interval, one panel per measure."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import COLOURS, SHARE, SHARES, styled
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import with_display_names

TITLES: Mapping[str, str] = {
    "mean_error": "error",
    "mean_incoherence": "incoherence",
    "detection_rate": "detection rate",
    "undetected_mean_error": "error of undetected tasks",
}
"""Measure -> what stands above its panel."""


def models_drawing(table: pl.DataFrame) -> Drawing:
    """Draw the intervals of ``comparison.long_intervals``: models as rows in the table's order, measures as panels."""
    models = table["model"].unique(maintain_order=True).to_list()
    measures = [title for name, title in TITLES.items() if name in set(table["measure"])]
    place = {model: i for i, model in enumerate(models)}
    shown = table.with_columns(
        pl.col("measure").replace_strict(TITLES),
        place=pl.col("model").replace_strict(place, return_dtype=pl.Int64),
    )
    return drawing(_shape, {"intervals": with_display_names(shown)}, measures=tuple(measures))


def _shape(*, measures: tuple[str, ...]) -> Any:
    order = alt.EncodingSortField(field="place", op="min")
    tooltip: list[Any] = [
        alt.Tooltip("model:N"),
        *(alt.Tooltip(f"{name}:Q", format=SHARE) for name in ("value", "low", "high")),
    ]
    base = alt.Chart(named("intervals")).encode(
        y=alt.Y("model:N", sort=order, axis=alt.Axis(title=None, labelLimit=180)), tooltip=tooltip
    )
    across = alt.X("low:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=SHARES))
    bar = base.mark_bar(height=6, opacity=0.35, color=COLOURS[0]).encode(x=across, x2=alt.X2("high:Q"))
    dot = base.mark_point(filled=True, size=45, opacity=1, color=COLOURS[0]).encode(x=alt.X("value:Q"))
    panels = alt.layer(bar, dot).properties(width=150, height=alt.Step(20))
    header = alt.Header(title=None, labelFontSize=12, labelFontWeight="bold", labelAnchor="start")
    faceted = panels.facet(column=alt.Column("measure:N", sort=list(measures), header=header), spacing=14)
    return styled(faceted.resolve_scale(x="independent"))
