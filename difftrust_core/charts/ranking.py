"""Coders by two measures, a point a model: mean error against mean incoherence (Figure 1)."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.drawing import Drawing, drawing, drawn, named
from difftrust_core.charts.labels import Frame, place_labels
from difftrust_core.charts.style import GREY, colour_of, side_by_side, styled, title_of

_BOUNDS = {
    ("mean_incoherence", "mean_error"): (0.5, "E = I / 2: none can lie below"),
    ("found", "erroneous"): (1.0, "found = erroneous"),
}
"""(x, y) -> slope of the line to compare with, and what it is called."""
_LABEL_SIZE = 10


def ranking_drawing(
    table: pl.DataFrame,
    *,
    x: str = "mean_incoherence",
    y: str = "mean_error",
    width: int = 430,
    height: int = 380,
) -> Drawing:
    """Draw measure ``y`` against ``x``, one point a (benchmark, model) of ``benchmark.table_4``, a panel a benchmark.

    Every point has its name. Columns <measure>_low and <measure>_high, where there are any, become thin bars. The line
    is the bound E = I / 2 (I <= 2E); for found and erroneous (``benchmark.coder_measures``) equal shares.
    """
    coders = table.filter(pl.col("model") != "mean").filter(pl.col(x).is_not_nan(), pl.col(y).is_not_nan())
    names = coders["benchmark"].unique().sort().to_list()
    data: dict[str, pl.DataFrame] = {}
    for place, name in enumerate(names):
        points = coders.filter(pl.col("benchmark") == name)
        frame = Frame(width=width, height=height, x=_domain(points, x), y=_domain(points, y))
        placed = place_labels(points, frame, x=x, y=y, font_size=_LABEL_SIZE)
        own = {
            "points": points,
            "placed": placed,
            "leaders": placed.drop_nulls("line_x"),
            "corner": pl.DataFrame({"x_end": [frame.x[1]], "y_end": [frame.y[1]]}),
            **_bound_data(frame, (x, y)),
        }
        data |= {f"{part}_{place}": rows for part, rows in own.items()}
    return drawing(_shape, data, axes=(x, y), names=tuple(names), columns=tuple(coders.columns), size=(width, height))


draw_ranking = drawn(ranking_drawing)


def _shape(*, axes: tuple[str, str], names: tuple[str, ...], columns: tuple[str, ...], size: tuple[int, int]) -> Any:
    width, height = size
    panels = []
    for place, name in enumerate(names):
        panel = _panel(place, axes, colour_of("benchmark", names, legend=None), columns)
        panels.append(panel.properties(title=name, width=width, height=height))
    return styled(side_by_side(panels))


def _domain(points: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Return the values at the ends of an axis: from 0, with room for the names."""
    ends = [name for name in (measure, f"{measure}_high") if name in points.columns]
    highest = max((float(points[name].fill_nan(None).max() or 0) for name in ends), default=0)  # type: ignore[arg-type]
    return 0.0, max(highest, 0.01) * 1.06


def _panel(place: int, axes: tuple[str, str], colour: alt.Color, columns: tuple[str, ...]) -> Any:
    x, y = axes
    exact = alt.Scale(domainMin=0, nice=False)  # to the corner, which is in the data and seen by nobody
    across, up = alt.X(f"{x}:Q", title=title_of(x), scale=exact), alt.Y(f"{y}:Q", title=title_of(y), scale=exact)
    corner = alt.Chart(named(f"corner_{place}")).mark_point(opacity=0, size=0, aria=False)
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("benchmark", "model") if name in columns]
    tooltip += [alt.Tooltip(f"{name}:Q") for name in (x, y, "detection_rate") if name in columns]
    beside = {"x": alt.X("label_x:Q"), "y": alt.Y("label_y:Q"), "text": alt.Text("model:N")}
    points, placed = named(f"points_{place}"), named(f"placed_{place}")
    dots = alt.Chart(points).mark_point(filled=True, size=60, opacity=1)
    leaders = alt.Chart(named(f"leaders_{place}")).mark_rule(color=GREY, strokeWidth=0.7)
    halo = alt.Chart(placed).mark_text(
        align="left", baseline="middle", fontSize=_LABEL_SIZE, stroke="white", strokeWidth=3, strokeJoin="round"
    )
    texts = alt.Chart(placed).mark_text(align="left", baseline="middle", fontSize=_LABEL_SIZE)
    layers: list[Any] = [*_bound(place, axes), *_bars(points, axes, columns)]
    layers += [
        corner.encode(x=alt.X("x_end:Q"), y=alt.Y("y_end:Q")),
        leaders.encode(x=across, y=up, x2=alt.X2("line_x:Q"), y2=alt.Y2("line_y:Q")),
        *[each.encode(**beside) for each in (halo, texts)],
        dots.encode(x=across, y=up, color=colour, tooltip=tooltip),
    ]
    return alt.layer(*layers)


def _bound_data(frame: Frame, axes: tuple[str, str]) -> dict[str, pl.DataFrame]:
    """Return the ends of the line to compare with, and where its name stands: in the corner below it."""
    if axes not in _BOUNDS:
        return {}
    x, y = axes
    slope, name = _BOUNDS[axes]
    end = min(frame.x[1], frame.y[1] / slope)
    return {
        "bound": pl.DataFrame({x: [0.0, end], y: [0.0, end * slope]}),
        "words": pl.DataFrame({x: [frame.x[1] * 0.985], y: [frame.y[1] * 0.02], "name": [name]}),
    }


def _bound(place: int, axes: tuple[str, str]) -> list[Any]:
    if axes not in _BOUNDS:
        return []
    x, y = axes
    return [
        alt.Chart(named(f"bound_{place}"))
        .mark_line(color=GREY, strokeDash=[4, 4], clip=True)
        .encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}:Q")),
        alt.Chart(named(f"words_{place}"))
        .mark_text(align="right", baseline="bottom", color=GREY, fontSize=_LABEL_SIZE)
        .encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}:Q"), text=alt.Text("name:N")),
    ]


def _bars(points: alt.NamedData, axes: tuple[str, str], columns: tuple[str, ...]) -> list[Any]:
    """Return the intervals, where the table has them."""
    x, y = axes
    pale = alt.Chart(points).mark_rule(color=GREY, opacity=0.35, strokeWidth=1.2)
    across = (
        [pale.encode(x=alt.X(f"{x}_low:Q"), x2=alt.X2(f"{x}_high:Q"), y=alt.Y(f"{y}:Q"))]
        if f"{x}_low" in columns
        else []
    )
    up = (
        [pale.encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}_low:Q"), y2=alt.Y2(f"{y}_high:Q"))]
        if f"{y}_low" in columns
        else []
    )
    return [*across, *up]
