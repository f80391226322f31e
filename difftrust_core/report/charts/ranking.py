"""Coders by two measures, a labelled point a model: error against incoherence, ranks and shares (Figure 1)."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.report.charts.labels import LABEL_SIZE, Frame, place_at_widths, place_labels, text_width
from difftrust_core.report.charts.style import (
    FAMILY_COLOURS,
    GREY,
    LETTERS,
    PALE,
    SHARES,
    side_by_side,
    styled,
    title_of,
)
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import family_of, with_display_names
from difftrust_core.report.sentences import in_percent
from difftrust_core.store.schemas import rewrite

_BOUNDS = {
    ("mean_incoherence", "mean_error"): (0.5, "impossible: E < I / 2"),
    ("found", "erroneous"): (1.0, "flagged = erroneous"),
    ("found_rank", "erroneous_rank"): (1.0, "same rank"),
}
"""(x, y) -> slope of the line to compare with, and what stands below it."""
_SHADED = "impossible"
_IN_TOOLTIP = {
    "mean_error": "error [95 %]",
    "mean_incoherence": "incoherence [95 %]",
    "detection_rate": "detected",
    "silent_rate": "wrong, all agree",
    "found": "flagged",
    "erroneous": "erroneous",
}
"""Measure -> what a tooltip calls it."""
_SAID = "said_"
"""How columns begin that hold the text of a measure."""
_MARGIN = 6.0
PICKED = "picked"
"""The selection of a chart whose points can be clicked."""


def ranking_drawing(
    table: pl.DataFrame,
    *,
    x: str = "mean_incoherence",
    y: str = "mean_error",
    width: int = 430,
    height: int = 380,
    is_fluid: bool = False,
) -> Drawing:
    """Draw measure ``y`` against ``x``, one point a (benchmark, model) of ``benchmark.table_4``, a panel a benchmark.

    A colour a family. Names stand where they cover nothing; a name without room is left out, and said on hovering.
    Columns <measure>_low and <measure>_high, where there are any, become crosses. The line is the bound E = I / 2
    (I <= 2E), the region below it shaded; for found and erroneous (``benchmark.coder_measures``), and for their ranks,
    equality. ``is_fluid``: names are placed for every width of the page, in a chart of one benchmark, and points can be
    clicked: PICKED says the ``id`` of the model, where the table has such a column, else the model.
    """
    coders = table.filter(pl.col("model") != "mean").drop_nulls([x, y])
    coders = coders if "id" in coders.columns else coders.with_columns(id="model")
    coders = rewrite(coders.with_columns(family="id"), ["family"], family_of)
    coders = with_display_names(_with_tooltips(coders))
    names = coders["benchmark"].unique().sort().to_list()
    data: dict[str, pl.DataFrame] = {}
    for place, name in enumerate(names):
        points = coders.filter(pl.col("benchmark") == name)
        frame = Frame(width=width, height=height, x=_domain(points, x), y=_domain(points, y))
        put = _placed(points, frame, (x, y), is_fluid)
        own = {
            "points": points,
            "placed": put,
            "leaders": put.drop_nulls("line_dx"),
            "corner": pl.DataFrame({"x_end": [frame.x[1]], "y_end": [frame.y[1]]}),
            **_bound_data(frame, (x, y)),
        }
        data |= {f"{part}_{place}": rows for part, rows in own.items()}
    return drawing(
        _shape,
        data,
        axes=(x, y),
        names=tuple(names),
        columns=tuple(coders.columns),
        size=(width, height),
        families=tuple(sorted(set(coders["family"]))),
        is_fluid=is_fluid,
    )


def _placed(points: pl.DataFrame, frame: Frame, axes: tuple[str, str], is_fluid: bool) -> pl.DataFrame:
    x, y = axes
    corner = text_width(_BOUNDS[axes][1]) + 2 * _MARGIN if axes in _BOUNDS else 0.0
    if is_fluid:
        return place_at_widths(points, frame, x=x, y=y, corner=corner)
    return place_labels(points, [frame], x=x, y=y, corner=corner)


def _with_tooltips(coders: pl.DataFrame) -> pl.DataFrame:
    """Add what a tooltip says of each measure, as text: 7.2 % [5.1, 10.3]."""
    said = {}
    for name in _IN_TOOLTIP:
        if name in coders.columns:
            ends = [end for end in (f"{name}_low", f"{name}_high") if end in coders.columns]
            said[_SAID + name] = [in_percent(*row) for row in coders.select(name, *ends).iter_rows()]
    return coders.with_columns(pl.Series(name, texts, dtype=pl.String) for name, texts in said.items())


def _domain(points: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Return the values at the ends of an axis: from 0, with room for the names."""
    ends = [name for name in (measure, f"{measure}_high") if name in points.columns]
    highest = max((float(points[name].max() or 0) for name in ends), default=0)  # type: ignore[arg-type]
    return 0.0, max(highest, 0.01) * 1.06


def _shape(
    *,
    axes: tuple[str, str],
    names: tuple[str, ...],
    columns: tuple[str, ...],
    size: tuple[int, int],
    families: tuple[str, ...],
    is_fluid: bool,
) -> Any:
    known = [FAMILY_COLOURS.get(family, GREY) for family in families]
    colour = alt.Color("family:N", scale=alt.Scale(domain=list(families), range=known), legend=None)
    width, height = size
    panels = []
    for place, name in enumerate(names):
        panel = alt.layer(*_layers(place, axes, colour, columns, is_fluid))
        panels.append((panel if is_fluid else panel.properties(title=name)).properties(width=width, height=height))
    return styled(side_by_side(panels))


def _layers(
    place: int, axes: tuple[str, str], colour: alt.Color, columns: tuple[str, ...], is_fluid: bool
) -> list[Any]:
    x, y = axes
    across, up = (_axis(channel, name) for channel, name in ((alt.X, x), (alt.Y, y)))
    points, placed = named(f"points_{place}"), named(f"placed_{place}")
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("benchmark", "model") if name in columns]
    tooltip += [alt.Tooltip(f"{_SAID}{name}:N", title=title) for name, title in _IN_TOOLTIP.items() if name in columns]
    dots = alt.Chart(points).mark_point(filled=True, size=70, opacity=1, cursor="pointer" if is_fluid else "default")
    if is_fluid:
        dots = dots.add_params(alt.selection_point(name=PICKED, fields=["id"]))
    corner = alt.Chart(named(f"corner_{place}")).mark_point(opacity=0, size=0, aria=False)
    return [
        *_bound(place, axes),
        *_crosses(points, axes, columns, colour),
        corner.encode(x=alt.X("x_end:Q"), y=alt.Y("y_end:Q")),
        *_names(placed, named(f"leaders_{place}"), axes, is_fluid),
        dots.encode(x=across, y=up, color=colour, tooltip=tooltip),
    ]


def _axis(channel: Any, measure: str) -> Any:
    is_rank = measure.endswith("_rank")
    exact = alt.Scale(domainMin=0, nice=False)  # to the corner, which is in the data and seen by nobody
    axis = alt.Axis(format="d", tickMinStep=1) if is_rank else alt.Axis(format=SHARES, tickCount=6)
    return channel(f"{measure}:Q", title=title_of(measure), scale=exact, axis=axis)


def _names(placed: alt.NamedData, leaders: alt.NamedData, axes: tuple[str, str], is_fluid: bool) -> list[Any]:
    """Return the names, a halo below each, and the lines from points to names that stand apart."""
    x, y = (f"{name}:Q" for name in axes)

    def at(table: alt.NamedData) -> Any:
        chart = alt.Chart(table)
        return chart.transform_filter("datum.from_width <= width && width < datum.to_width") if is_fluid else chart

    offset: Any = {"dx": alt.expr("datum.dx"), "dy": alt.expr("datum.dy")}
    look: Any = {"align": "left", "baseline": "middle", "fontSize": LABEL_SIZE, "aria": False} | offset
    spelled = {"x": alt.X(x), "y": alt.Y(y), "text": alt.Text("model:N")}
    lines = at(leaders).mark_rule(
        color=GREY,
        strokeWidth=0.7,
        x2Offset=alt.expr("datum.line_dx"),
        y2Offset=alt.expr("datum.line_dy"),
        aria=False,
    )
    return [
        lines.encode(x=alt.X(x), y=alt.Y(y), x2=alt.X2(axes[0]), y2=alt.Y2(axes[1])),
        at(placed).mark_text(**look, stroke="white", strokeWidth=3, strokeJoin="round").encode(**spelled),
        at(placed).mark_text(**look, color=LETTERS).encode(**spelled),
    ]


def _bound_data(frame: Frame, axes: tuple[str, str]) -> dict[str, pl.DataFrame]:
    """Return the ends of the line to compare with, and what stands in the corner below it."""
    if axes not in _BOUNDS:
        return {}
    x, y = axes
    slope, words = _BOUNDS[axes]
    end = min(frame.x[1], frame.y[1] / slope)
    line = [(0.0, 0.0), (end, end * slope)]
    return {
        "bound": pl.DataFrame(line, schema=[x, y], orient="row"),
        "below": pl.DataFrame([*line, (frame.x[1], end * slope)], schema=[x, y], orient="row"),
        "words": pl.DataFrame({x: [frame.x[1]], y: [0.0], "words": [words]}),
    }


def _bound(place: int, axes: tuple[str, str]) -> list[Any]:
    if axes not in _BOUNDS:
        return []
    x, y = (f"{name}:Q" for name in axes)
    below = alt.Chart(named(f"below_{place}"))
    shade = below.mark_area(color=PALE, clip=True, aria=False) if _BOUNDS[axes][1].startswith(_SHADED) else None
    line = alt.Chart(named(f"bound_{place}")).mark_line(color=GREY, strokeDash=[4, 4], clip=True, aria=False)
    words = alt.Chart(named(f"words_{place}")).mark_text(
        align="right",
        baseline="bottom",
        color=LETTERS,
        fontSize=LABEL_SIZE,
        dx=-_MARGIN,
        dy=-_MARGIN,
    )
    return [
        *([] if shade is None else [shade.encode(x=alt.X(x), y=alt.Y(y))]),
        line.encode(x=alt.X(x), y=alt.Y(y)),
        words.encode(x=alt.X(x), y=alt.Y(y), text=alt.Text("words:N")),
    ]


def _crosses(points: alt.NamedData, axes: tuple[str, str], columns: tuple[str, ...], colour: alt.Color) -> list[Any]:
    """Return the intervals, where the table has them."""
    x, y = axes
    pale = alt.Chart(points).mark_rule(opacity=0.3, strokeWidth=1.5, aria=False).encode(color=colour)
    bars = {
        f"{x}_low": pale.encode(x=alt.X(f"{x}_low:Q"), x2=alt.X2(f"{x}_high:Q"), y=alt.Y(f"{y}:Q")),
        f"{y}_low": pale.encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}_low:Q"), y2=alt.Y2(f"{y}_high:Q")),
    }
    return [bar for low, bar in bars.items() if low in columns]
