"""Tasks by their error and incoherence, zero in a place of its own (Figure 3)."""

import math
from dataclasses import dataclass
from typing import Any, Final

import altair as alt
import numpy as np
import polars as pl

from difftrust.figures.style import (
    FONT_SIZE,
    GREY,
    SHARE,
    SHARES,
    channels,
    dashed_line,
    legend,
    lines_of,
    panels,
    tips,
    title_of,
)
from difftrust.tables.names import with_display_names

_STRIP: Final = (0.20, 0.80)
"""Where points of value zero lie, in decades right of the axis; the strip itself ends before the first decade."""
_GOLDEN: Final = (0.7548776662466927, 0.5698402909980532)
"""Steps that spread points evenly over a square (Roberts' R2 sequence): no random numbers, no pattern."""


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """Where values lie on a logarithmic axis: ``low`` is the power of ten below the least positive value."""

    low: float

    @property
    def zero(self) -> float:
        """Return where the tick 0 is."""
        return self.low / 10 ** (1 - sum(_STRIP) / 2)

    def place(self, values: np.ndarray[Any, Any], spread: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return where the values are drawn: those above 0 at themselves, zeros side by side in their strip."""
        start, end = _STRIP
        return np.where(values > 0, values, self.low / 10 * 10 ** (start + spread * (end - start)))

    def of(self, channel: Any, column: str, measure: str) -> Any:
        """Return ``channel`` of a column of places."""
        ticks = [self.zero, *(10.0**k for k in range(round(math.log10(self.low)), 1))]
        spelled = f"datum.value < {self.low * 0.9} ? '0' : format(datum.value, '{SHARES}')"
        scale = alt.Scale(type="log", domain=[self.low / 10, 1.0], nice=False)
        drawn = alt.Axis(format=SHARES, values=ticks, labelExpr=spelled)
        return channel(f"{column}:Q", title=title_of(measure), scale=scale, axis=drawn)


def draw_error_incoherence(
    estimates: pl.DataFrame, *, by: str = "benchmark", width: int = 430, height: int = 380
) -> Any:
    """Draw the error of each task against its incoherence: one point a row, a panel a value of the column ``by``.

    Models are told apart by colour (and shape, beyond eight). On the logarithmic axes 0 has a strip of its own, in
    which points lie side by side; in the corner stands how many have both 0. No task lies below E = I / 2. Rows where a
    measure is undefined are left out.
    """
    axis, placed = place_points(estimates, by=by)
    lines = lines_of(placed["model"].unique().sort().to_list(), of_models=False)
    look = channels("model", lines, legend() if len(lines) > 1 else None)
    look.pop("strokeDash", None)
    x, y = axis.of(alt.X, "at_x", "incoherence"), axis.of(alt.Y, "at_y", "error")
    told = tips("benchmark", "task_id", "model", error=SHARE, incoherence=SHARE)

    def panel(points: pl.DataFrame) -> Any:
        kept = ("benchmark", "task_id", "model", "incoherence", "error", "at_x", "at_y")
        dots = alt.Chart(with_display_names(points.select(kept)))
        dots = dots.mark_point(filled=True, size=42, stroke="white", strokeWidth=0.4, opacity=0.75)
        return alt.layer(*_ground(points, axis), dots.encode(x=x, y=y, tooltip=told, **look))

    return panels(placed, by, panel, width=width, height=height)


def place_points(estimates: pl.DataFrame, *, by: str) -> tuple[_Axis, pl.DataFrame]:
    """Return the axes of both measures and the rows that are drawn, with the columns at_x and at_y."""
    measures = ["incoherence", "error"]
    shown = estimates.drop_nulls(measures).sort(by, "model", "task_id")
    least = min((float(v) for m in measures for v in shown[m] if v > 0), default=0.01)
    axis = _Axis(low=10.0 ** math.floor(math.log10(least) + 1e-9))
    parts = [_placed(part, axis) for _, part in shown.group_by(by, maintain_order=True)]
    return axis, pl.concat(parts) if parts else _placed(shown, axis)


def _placed(points: pl.DataFrame, axis: _Axis) -> pl.DataFrame:
    steps = np.arange(1, points.height + 1)
    across, up = (np.mod(steps * step, 1.0) for step in _GOLDEN)
    x, y = (axis.place(points[m].to_numpy(), spread) for m, spread in (("incoherence", across), ("error", up)))
    return points.with_columns(at_x=pl.Series(x), at_y=pl.Series(y))


def _ground(points: pl.DataFrame, axis: _Axis) -> list[Any]:
    """Return what lies under the points: the strips of the zeros, the bound, and how many points are in the corner."""
    low = axis.low
    ends = pl.DataFrame({"a": [low / 10], "b": [low / 10 * 10**0.93]})
    strip = alt.Chart(ends).mark_rect(color="#E2E2E2", opacity=0.7)
    bound = pl.DataFrame({"at_x": [2 * low, 1.0], "at_y": [low, 0.5]})
    layers = [
        strip.encode(x="a:Q", x2="b:Q"),
        strip.encode(y="a:Q", y2="b:Q"),
        dashed_line(bound, x="at_x:Q", y="at_y:Q"),
        _text("E = I / 2", 1.0, 1 / 16, align="right", dx=-6),
    ]
    n_zero = points.filter(error=0, incoherence=0).height
    return [*layers, _text(f"{n_zero} with both 0", low * 1.1, axis.zero, align="left")] if n_zero else layers


def _text(text: str, x: float, y: float, **look: Any) -> Any:
    mark = alt.Chart(pl.DataFrame({"at_x": [x], "at_y": [y], "text": [text]}))
    return mark.mark_text(baseline="middle", color=GREY, fontSize=FONT_SIZE, **look).encode(
        x="at_x:Q", y="at_y:Q", text="text:N"
    )
