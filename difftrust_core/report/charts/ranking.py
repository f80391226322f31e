"""Coders by two measures, a labelled point a model: mean error against mean incoherence (Figure 1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import GREY, SHARE, SHARES, colour_of, side_by_side, styled, title_of
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import with_display_names

_BOUNDS = {
    ("mean_incoherence", "mean_error"): (0.5, "lower bound: E = I / 2"),
    ("found", "erroneous"): (1.0, "flagged = erroneous"),
}
"""(x, y) -> slope of the line to compare with, and what it is called."""
_LABEL_SIZE = 10
_LETTER = 0.56
"""Mean width of a letter, in units of the font size."""
_GAP, _DOT = 6.0, 5.0
_BESIDE = 2
"""Places right beside a point, which need no line."""

Box = tuple[float, float, float, float]
"""left, top, right, bottom; in pixels."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The area of a chart: its size in pixels, and the values at its ends."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies, from the left and from the top."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0]) * self.width
        down = (self.y[1] - y) / (self.y[1] - self.y[0]) * self.height
        return across, down

    def values(self, across: float, down: float) -> tuple[float, float]:
        """Return the point at these pixels."""
        x = self.x[0] + across / self.width * (self.x[1] - self.x[0])
        return x, self.y[1] - down / self.height * (self.y[1] - self.y[0])


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
    coders = table.filter(pl.col("model") != "mean").drop_nulls([x, y])
    coders = with_display_names(coders)
    names = coders["benchmark"].unique().sort().to_list()
    data: dict[str, pl.DataFrame] = {}
    for place, name in enumerate(names):
        points = coders.filter(pl.col("benchmark") == name)
        frame = Frame(width=width, height=height, x=_domain(points, x), y=_domain(points, y))
        placed = place_labels(points, frame, x=x, y=y)
        own = {
            "points": points,
            "placed": placed,
            "leaders": placed.drop_nulls("line_x"),
            "corner": pl.DataFrame({"x_end": [frame.x[1]], "y_end": [frame.y[1]]}),
            **_bound_data(frame, (x, y)),
        }
        data |= {f"{part}_{place}": rows for part, rows in own.items()}
    return drawing(_shape, data, axes=(x, y), names=tuple(names), columns=tuple(coders.columns), size=(width, height))


def _shape(*, axes: tuple[str, str], names: tuple[str, ...], columns: tuple[str, ...], size: tuple[int, int]) -> Any:
    colour, (width, height) = colour_of("benchmark", names, legend=None), size
    panels = [
        _panel(place, axes, colour, columns).properties(title=name, width=width, height=height)
        for place, name in enumerate(names)
    ]
    return styled(side_by_side(panels))


def _domain(points: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Return the values at the ends of an axis: from 0, with room for the names."""
    ends = [name for name in (measure, f"{measure}_high") if name in points.columns]
    highest = max((float(points[name].max() or 0) for name in ends), default=0)  # type: ignore[arg-type]
    return 0.0, max(highest, 0.01) * 1.06


def _panel(place: int, axes: tuple[str, str], colour: alt.Color, columns: tuple[str, ...]) -> Any:
    x, y = axes
    exact = alt.Scale(domainMin=0, nice=False)  # to the corner, which is in the data and seen by nobody
    across = alt.X(f"{x}:Q", title=title_of(x), scale=exact, axis=alt.Axis(format=SHARES))
    up = alt.Y(f"{y}:Q", title=title_of(y), scale=exact, axis=alt.Axis(format=SHARES))
    corner = alt.Chart(named(f"corner_{place}")).mark_point(opacity=0, size=0, aria=False)
    tooltip = [alt.Tooltip(f"{name}:N") for name in ("benchmark", "model") if name in columns]
    tooltip += [alt.Tooltip(f"{name}:Q", format=SHARE) for name in (x, y, "detection_rate") if name in columns]
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
    bars = {
        f"{x}_low": pale.encode(x=alt.X(f"{x}_low:Q"), x2=alt.X2(f"{x}_high:Q"), y=alt.Y(f"{y}:Q")),
        f"{y}_low": pale.encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}_low:Q"), y2=alt.Y2(f"{y}_high:Q")),
    }
    return [bar for low, bar in bars.items() if low in columns]


def place_labels(points: pl.DataFrame, frame: Frame, *, x: str, y: str) -> pl.DataFrame:
    """Return ``points`` with label_x and label_y, the middle of each label's left edge, and line_x, line_y.

    Greedy, the most crowded points last: of places around its point, ever further away, each label takes the first that
    covers no point, no label and no edge, else the one that covers least. A line leads from the point to (line_x,
    line_y), the label's nearest place; null where the label stands beside its point.
    """
    rows = points.sort(x, y, "model", descending=[True, True, False]).to_dicts()
    at = [frame.pixels(row[x], row[y]) for row in rows]
    taken: list[Box] = [(a - _DOT, d - _DOT, a + _DOT, d + _DOT) for a, d in at]
    made: list[dict[str, Any]] = []
    for row, (across, down) in zip(rows, at, strict=True):
        size = len(row["model"]) * _LABEL_SIZE * _LETTER, _LABEL_SIZE * 1.1
        places = list(_places(across, down, size))
        best = _best(places, taken, frame)
        box = places[best]
        taken.append(box)
        ends = frame.values(min(max(across, box[0]), box[2]), min(max(down, box[1]), box[3]))
        label = frame.values(box[0], (box[1] + box[3]) / 2)
        line = ends if best >= _BESIDE else (None, None)
        made.append(row | dict(zip(("label_x", "label_y", "line_x", "line_y"), (*label, *line), strict=True)))
    schema = points.schema | dict.fromkeys(("label_x", "label_y", "line_x", "line_y"), pl.Float64())
    return pl.DataFrame(made, schema=schema)


def _places(across: float, down: float, size: tuple[float, float]) -> Iterator[Box]:
    """Return boxes around a point, the nearest first."""
    width, height = size
    for step in range(9):
        for sign in (0,) if step == 0 else (-1, 1):
            top = down - height / 2 + sign * step * height * 0.6
            for left in (across + _GAP, across - _GAP - width, across - width / 2):
                beside = left != across - width / 2
                if beside or step >= 2:
                    yield left, top, left + width, top + height
    for far in (2.0, 4.0):
        for left in (across + far * _GAP + 6, across - far * _GAP - 6 - width):
            for step in range(-10, 11):
                top = down - height / 2 + step * height * 0.6
                yield left, top, left + width, top + height


def _best(places: list[Box], taken: list[Box], frame: Frame) -> int:
    """Return the number of the place that costs least, the first of equals."""
    costs: list[int] = []
    for place in places:
        costs.append(round(_cost(place, taken, frame)))
        if costs[-1] <= 0:  # none costs less
            break
    return costs.index(min(costs))


def _cost(box: Box, taken: list[Box], frame: Frame) -> float:
    """Return how many square pixels the box covers of others, and ten times those outside."""
    inside = _overlap(box, (0.0, 0.0, frame.width, frame.height))
    outside = (box[2] - box[0]) * (box[3] - box[1]) - inside
    return sum(_overlap(box, other) for other in taken) + 10 * outside


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
