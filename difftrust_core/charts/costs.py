"""What a detection rate costs: the rate against dollars, along the number of programs; and nothing else."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.style import colour_of, styled, title_of


def draw_costs(
    table: pl.DataFrame,
    *,
    measure: str = "detection_rate",
    chosen: int | None = None,
    width: int = 560,
    height: int = 280,
) -> Any:
    """Draw a measure against what all programs cost, a line a model along m; each point tells its m.

    ``table``: one row a (model, m) with model, m, cost_usd and the measure, e.g. ``ablation.settings_frame``; rows of
    unknown or no cost are left out. ``chosen``: the m that is marked.
    """
    rows = table.filter(pl.col("cost_usd").is_finite() & (pl.col("cost_usd") > 0) & pl.col(measure).is_not_nan())
    names = rows["model"].unique().sort().to_list()
    legend = alt.Legend(title=None, orient="bottom", columns=1, symbolOpacity=1)
    base = alt.Chart(rows.sort("model", "m"))
    shared = alt.Encoding(
        x=alt.X(
            "cost_usd:Q",
            title="dollars for all programs of all tasks",
            scale=alt.Scale(type="log", nice=False, padding=14),
            axis=alt.Axis(format="$~g", tickCount=5),
        ),
        y=alt.Y(f"{measure}:Q", title=title_of(measure), scale=alt.Scale(zero=True, nice=True)),
        color=colour_of("model", names, legend=legend),
    )
    tooltip = [
        *(alt.Tooltip(name) for name in ("model", "m")),
        alt.Tooltip("cost_usd:Q", format="$.2f"),
        alt.Tooltip(f"{measure}:Q", format=".3f"),
    ]
    layers: list[Any] = [
        base.mark_line(strokeWidth=2).encode(order=alt.Order("m:Q")),
        base.mark_point(filled=True, size=55, opacity=1).encode(tooltip=tooltip),
        base.mark_text(dy=-11, fontSize=10).encode(text=alt.Text("m:Q")),
    ]
    if chosen is not None:
        marked = base.transform_filter(alt.datum.m == chosen)
        layers.append(marked.mark_point(size=190, strokeWidth=2, filled=False))
    return styled(alt.LayerChart(layer=layers, encoding=shared, width=width, height=height))
