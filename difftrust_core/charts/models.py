"""Models beside one another, a bar an interval and a dot a value, one panel a measure; and nothing else."""

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.style import COLOURS, styled

TITLES: Mapping[str, str] = {
    "mean_error": "error",
    "mean_incoherence": "incoherence",
    "detection_rate": "detection rate",
    "undetected_mean_error": "undetected mean error",
}
"""Measure -> what stands above its panel."""


def draw_models(table: pl.DataFrame, *, width: int = 150) -> Any:
    """Draw the intervals of ``comparison.long_intervals``: models as rows in the table's order, measures as panels."""
    models = table["model"].unique(maintain_order=True).to_list()
    panels: list[Any] = []
    for measure, title in TITLES.items():
        part = table.filter(pl.col("measure") == measure)
        if not part.is_empty():
            panels.append(_panel(part, models, title, is_first=not panels, width=width))
    return styled(alt.hconcat(*panels)).configure_concat(spacing=10)


def _panel(part: pl.DataFrame, models: list[str], title: str, *, is_first: bool, width: int) -> Any:
    axis = alt.Axis(title=None, labelLimit=180) if is_first else None
    base = alt.Chart(part).encode(y=alt.Y("model:N", sort=models, axis=axis, scale=alt.Scale(domain=models)))
    tooltip = ["model:N", *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("value", "low", "high"))]
    bar = base.mark_bar(height=6, opacity=0.35, color=COLOURS[0]).encode(
        x=alt.X("low:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=".2~f")),
        x2="high:Q",
        tooltip=tooltip,
    )
    dot = base.mark_point(filled=True, size=45, opacity=1, color=COLOURS[0]).encode(x="value:Q", tooltip=tooltip)
    return alt.layer(bar, dot).properties(width=width, height=alt.Step(20), title=alt.Title(title, fontSize=12))
