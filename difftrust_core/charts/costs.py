"""What a detection rate costs: the rate against dollars, along the number of programs; and nothing else."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.drawing import Drawing, drawing, drawn, named
from difftrust_core.charts.style import colour_of, styled, title_of


def costs_drawing(
    table: pl.DataFrame,
    *,
    measure: str = "detection_rate",
    among: Sequence[str] | None = None,
    chosen: int | None = None,
    width: int = 560,
    height: int = 280,
) -> Drawing:
    """Draw a measure against what all programs cost, a line a model along m; each point tells its m.

    ``table``: one row a (model, m) with model, m, cost_usd and the measure, e.g. ``ablation.settings_frame``; rows of
    unknown or no cost are left out. ``among``: all models that have colours of their own, those drawn unless given.
    ``chosen``: the m that is marked.
    """
    rows = table.select("model", "m", "cost_usd", measure)
    rows = rows.filter(pl.col("cost_usd").is_finite() & (pl.col("cost_usd") > 0) & pl.col(measure).is_not_nan())
    names = rows["model"].unique().sort().to_list()
    data = {"rows": rows.sort("model", "m")}
    if chosen is not None:
        data["chosen"] = data["rows"].filter(pl.col("m") == chosen)
    return drawing(
        _shape,
        data,
        measure=measure,
        names=tuple(names),
        among=tuple(among or names),
        has_chosen=chosen is not None,
        size=(width, height),
    )


draw_costs = drawn(costs_drawing)


def _shape(
    *, measure: str, names: tuple[str, ...], among: tuple[str, ...], has_chosen: bool, size: tuple[int, int]
) -> Any:
    legend = alt.Legend(title=None, orient="bottom", columns=1, symbolOpacity=1)
    base = alt.Chart(named("rows"))
    shared = alt.Encoding(
        x=alt.X(
            "cost_usd:Q",
            title="dollars for all programs of all tasks",
            scale=alt.Scale(type="log", nice=False, padding=14),
            axis=alt.Axis(format="$~g", tickCount=5),
        ),
        y=alt.Y(f"{measure}:Q", title=title_of(measure), scale=alt.Scale(zero=True, nice=True)),
        color=colour_of("model", names, among=among, legend=legend),
    )
    tooltip = [
        alt.Tooltip("model:N"),
        alt.Tooltip("m:Q"),
        alt.Tooltip("cost_usd:Q", format="$.2f"),
        alt.Tooltip(f"{measure}:Q", format=".3f"),
    ]
    layers: list[Any] = [
        base.mark_line(strokeWidth=2).encode(order=alt.Order("m:Q")),
        base.mark_point(filled=True, size=55, opacity=1).encode(tooltip=tooltip),
        base.mark_text(dy=-11, fontSize=10).encode(text=alt.Text("m:Q")),
    ]
    if has_chosen:
        layers.append(alt.Chart(named("chosen")).mark_point(size=190, strokeWidth=2, filled=False))
    width, height = size
    return styled(alt.LayerChart(layer=layers, encoding=shared, width=width, height=height))
