"""Curves over m, n or temperature, the chosen point marked (Table 3); and nothing else."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.style import GREY, colour_of, side_by_side, styled, title_of

_CURVES = ("detection_rate", "mean_error", "mean_incoherence")
_LOGARITHMIC = ("m", "n")


def draw_ablation(
    table: pl.DataFrame,
    *,
    x: str = "m",
    measures: Sequence[str] = _CURVES,
    series: str = "benchmark",
    chosen: float | None = None,
    width: int = 260,
    height: int = 240,
) -> Any:
    """Draw each measure against the column ``x`` (m, n or temperature): a panel a measure, a line a ``series``.

    ``table``: one row a (series, x), e.g. ``ablation.curves``. Columns <measure>_low and <measure>_high become a band,
    published_<measure> diamonds. ``chosen``: the value of x that is marked.
    """
    names = table[series].unique().sort().to_list()
    panels: list[Any] = [
        _panel(table, (x, measure), (series, names), chosen)
        for measure in measures
        if table[measure].is_not_nan().any()
    ]
    for panel in panels:
        panel.width, panel.height = width, height
    return styled(side_by_side(panels))


def _panel(table: pl.DataFrame, axes: tuple[str, str], series: tuple[str, list[str]], chosen: float | None) -> Any:
    (x, measure), (column, names) = axes, series
    rows = table.filter(pl.col(measure).is_not_nan())
    ticks = sorted(set(rows[x].to_list()))
    scale = alt.Scale(type="log", nice=False) if x in _LOGARITHMIC else alt.Scale(zero=False, padding=12)
    across = alt.X(f"{x}:Q", title=title_of(x), scale=scale, axis=alt.Axis(values=_apart(ticks, x), format="~g"))
    up = alt.Y(f"{measure}:Q", title=title_of(measure), scale=alt.Scale(zero=True, nice=True))
    colour = colour_of(
        column,
        names,
        legend=alt.Legend(
            title=None,
            orient="bottom",
            columns=_across(names),
            symbolType="circle",
            symbolOpacity=1,
            symbolStrokeWidth=0,
        ),
    )
    told = [c for c in (column, x, measure, f"published_{measure}", "cost_usd") if c in rows.columns]
    tooltip = [alt.Tooltip(c) for c in told]  # a plain word costs Altair ten times as long
    base = alt.Chart(rows)
    layers: list[Any] = []
    if f"{measure}_low" in rows.columns:
        low, high = alt.Y(f"{measure}_low:Q", title=title_of(measure)), alt.Y2(f"{measure}_high:Q")
        layers.append(base.mark_area(opacity=0.15, line=False).encode(y=low, y2=high, color=colour))
    if chosen is not None:
        rule = alt.Chart(pl.DataFrame({x: [float(chosen)]})).mark_rule(color=GREY, strokeDash=[4, 4])
        layers.append(rule)
        marked = alt.Chart(rows.filter(pl.col(x) == chosen)).mark_point(size=190, strokeWidth=2, filled=False)
        layers.append(marked.encode(y=up, color=colour))
    layers.append(base.mark_line(strokeWidth=2).encode(y=up, color=colour))
    layers.append(base.mark_point(filled=True, size=55, opacity=1).encode(y=up, color=colour, tooltip=tooltip))
    if f"published_{measure}" in rows.columns:
        published = base.mark_point(shape="diamond", size=80, filled=False, strokeWidth=1.5, opacity=1)
        beside = alt.Y(f"published_{measure}:Q", title=title_of(measure))
        layers.append(published.encode(y=beside, color=colour, tooltip=tooltip))
    made = alt.LayerChart(layer=layers, encoding=alt.Encoding(x=across))
    if f"published_{measure}" in rows.columns:
        made.title = alt.Title("diamonds: as published", fontWeight="normal")
    return made


def _across(names: list[str]) -> int:
    """Return how many names stand beside one another below a narrow panel."""
    return 1 if len(names) > 1 and sum(map(len, names)) > 32 else 4


def _apart(ticks: list[float], x: str) -> list[float]:
    """Return the ticks of a logarithmic axis that lie a factor of 1.6 apart, so that their numbers do not touch."""
    kept: list[float] = []
    for tick in ticks:
        if x not in _LOGARITHMIC or not kept or tick >= 1.6 * kept[-1]:
            kept.append(tick)
    return kept
