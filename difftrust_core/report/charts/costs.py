"""A measure against dollars: a line a model, its programs per task at each point where there is room."""

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import altair as alt
import polars as pl

from difftrust_core.report.charts.ablation import COST, domains_of, share_axis, with_cost
from difftrust_core.report.charts.series import Look, encodings, lines_of, look_of, shape_encoding
from difftrust_core.report.charts.style import LETTERS, SHARE, styled, title_of
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import display_name, with_display_names

HEIGHT: Final = 300
NARROW: Final = 270
"""Pixels between the axes on a phone: what does not collide there collides nowhere."""
_PADDING: Final = 14
_LETTER, _LINE = 6.6, 12.0
"""Pixels of a digit and of a line of numbers, 11 pixels high."""
_ABOVE, _BELOW = -12, 14
_POINT: Final = 5.0


def costs_drawing(
    table: pl.DataFrame,
    *,
    measure: str = "detection_rate",
    among: Sequence[str] | None = None,
    chosen: int | None = None,
    has_legend: bool = True,
) -> Drawing:
    """Draw a measure against what all programs cost, a line a model along m; a point tells its m where there is room.

    ``table``: one row a (model, m) with model, m, cost_usd and the measure, e.g. ``ablation.settings_frame``; rows of
    unknown or no cost are left out. <measure>_low and <measure>_high become a band. ``among``: all models that have
    lines of their own, those drawn unless given. ``chosen``: the m that is marked.
    """
    kept = ["model", "m", "cost_usd", COST, measure]
    rows = with_cost(table).select(*kept, f"^{measure}_(low|high)$")
    rows = rows.filter(pl.col("cost_usd").is_finite() & (pl.col("cost_usd") > 0) & pl.col(measure).is_not_null())
    names = rows["model"].unique().sort().to_list()
    rows = rows.sort("model", "m")
    ends = domains_of([rows], [measure])[measure]
    data = {"rows": with_display_names(rows), "labels": labels_of(rows, measure, ends, chosen=chosen)}
    if chosen is not None:
        data["chosen"] = data["rows"].filter(pl.col("m") == chosen)
    lines = lines_of(among or names)
    return drawing(
        _shape,
        data,
        measured=(measure, ends, f"{measure}_low" in rows.columns),
        look=look_of(lines, names, [display_name(name) for name in names]),
        has_chosen=chosen is not None,
        has_legend=has_legend,
    )


class Box(NamedTuple):
    """Where a label stands, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "Box") -> bool:
        """Tell whether two boxes overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def labels_of(
    rows: pl.DataFrame, measure: str, ends: tuple[float, float], *, chosen: int | None = None, width: float = NARROW
) -> pl.DataFrame:
    """Return the numbers that fit on a chart of this width, no two of them touching: m, cost_usd, measure, shift.

    The chosen one first, then the ends of each line. ``shift``: pixels down from the point.
    """
    listed = rows.select("model", "m", "cost_usd", measure).rows()
    costs = [math.log(row[2]) for row in listed]
    low, spread = min(costs, default=0.0), max(max(costs, default=1.0) - min(costs, default=0.0), 1e-9)
    places = [
        (_PADDING + (cost - low) / spread * (width - 2 * _PADDING), HEIGHT * (1 - row[3] / (ends[1] or 1.0)))
        for cost, row in zip(costs, listed, strict=True)
    ]
    taken = [Box(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in places]
    made = []
    for i in sorted(range(len(listed)), key=lambda i: _rank(listed, i, chosen)):
        _, m, cost, value = listed[i]
        half = _LETTER * len(str(m)) / 2
        for shift in (_ABOVE, _BELOW):
            x, y = places[i][0], places[i][1] + shift
            box = Box(x - half, y - _LINE / 2, x + half, y + _LINE / 2)
            if not any(box.touches(other) for other in taken) and box.top >= 0 and box.bottom <= HEIGHT:
                taken.append(box)
                made.append((m, cost, value, shift))
                break
    schema = {"m": pl.Int64, "cost_usd": pl.Float64, measure: pl.Float64, "shift": pl.Int64}
    return pl.DataFrame(made, schema=schema, orient="row")


def _rank(listed: list[tuple[Any, ...]], i: int, chosen: int | None) -> tuple[int, int]:
    """Return how early the i-th number is placed: the chosen one, ends of lines, the others."""
    model, m = listed[i][:2]
    is_end = m in {f([row[1] for row in listed if row[0] == model]) for f in (min, max)}
    return (0 if m == chosen else 1 if is_end else 2, i)


def _shape(*, measured: tuple[str, tuple[float, float], bool], look: Look, has_chosen: bool, has_legend: bool) -> Any:
    measure, ends, has_band = measured
    legend = alt.Legend(title=None, orient="bottom", columns=1, symbolType="stroke", symbolStrokeWidth=3)
    lines = encodings("model", look, legend=legend if has_legend else None)
    colour, up = {"color": lines["color"]}, share_axis(measure, ends)
    base = alt.Chart(named("rows"))
    tooltip = [
        alt.Tooltip("model:N"),
        alt.Tooltip("m:Q", title="programs per task (m)"),
        alt.Tooltip(f"{COST}:N"),
        alt.Tooltip(f"{measure}:Q", title=measure.replace("_", " "), format=SHARE),
    ]
    layers: list[Any] = []
    if has_band:
        band = base.mark_area(opacity=0.14, line=False)
        layers.append(band.encode(y=share_axis(f"{measure}_low", ends), y2=alt.Y2(f"{measure}_high:Q"), **colour))
    layers.append(base.mark_line(strokeWidth=2).encode(y=up, order=alt.Order("m:Q"), **lines))
    points = base.mark_point(filled=True, size=55, opacity=1)
    layers.append(points.encode(y=up, tooltip=tooltip, **colour, **shape_encoding("model", look)))
    if has_chosen:
        marked = alt.Chart(named("chosen")).mark_point(size=190, strokeWidth=2, filled=False)
        layers.append(marked.encode(y=up, **colour))
    for shift in (_ABOVE, _BELOW):
        texts = alt.Chart(named("labels")).transform_filter(f"datum.shift == {shift}")
        layers.append(texts.mark_text(dy=shift, fontSize=11, color=LETTERS).encode(y=up, text=alt.Text("m:Q")))
    x = alt.X(
        "cost_usd:Q",
        title="cost of all programs of all tasks (US dollars)",
        scale=alt.Scale(type="log", nice=False, padding=_PADDING),
        axis=alt.Axis(format="$~g", tickCount=5),
    )
    made = alt.LayerChart(layer=layers, encoding=alt.Encoding(x=x), width=560, height=HEIGHT)
    made.title = alt.Title(title_of(measure), fontWeight="normal")
    return styled(made)
