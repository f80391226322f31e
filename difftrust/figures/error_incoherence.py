"""Tasks by their error and incoherence, zero in a place of its own (Figure 3)."""

import math
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal

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

Scale = Literal["log", "linear"]
_STRIP: Final = (0.20, 0.80)
"""Where points of value zero lie, in decades right of the axis; the strip itself ends before the first decade."""
_GOLDEN: Final = (0.7548776662466927, 0.5698402909980532)
"""Steps that spread points evenly over a square (Roberts' R2 sequence): no random numbers, no pattern."""


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """Where values lie on an axis: ``low`` is the power of ten below the least positive value."""

    scale: Scale
    low: float

    @property
    def ends(self) -> tuple[float, float]:
        return (self.low / 10 if self.scale == "log" else 0.0), 1.0

    @property
    def zero(self) -> float:
        """Return where the tick 0 is."""
        return self.low / 10 ** (1 - sum(_STRIP) / 2) if self.scale == "log" else 0.0

    def place(self, values: np.ndarray[Any, Any], spread: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return where the values are drawn: those above 0 at themselves, zeros side by side in their strip."""
        if self.scale == "linear":
            return values
        start, end = _STRIP
        return np.where(values > 0, values, self.low / 10 * 10 ** (start + spread * (end - start)))

    def of(self, channel: Any, column: str, measure: str) -> Any:
        """Return ``channel`` of a column of places."""
        drawn: dict[str, Any] = {"format": SHARES}
        if self.scale == "log":
            ticks = [self.zero, *(10.0**k for k in range(round(math.log10(self.low)), 1))]
            spelled = f"datum.value < {self.low * 0.9} ? '0' : format(datum.value, '{SHARES}')"
            drawn = {"values": ticks, "labelExpr": spelled}
        scale = alt.Scale(type=self.scale, domain=list(self.ends), nice=False)
        return channel(f"{column}:Q", title=title_of(measure), scale=scale, axis=alt.Axis(**drawn))


@dataclass(frozen=True, kw_only=True)
class Selection:
    """How points are selected: by a click that takes those alike in ``fields``, without fields by a box."""

    name: str
    fields: tuple[str, ...] = ()

    def parameter(self) -> alt.Parameter:
        """Return it as Altair has it."""
        if not self.fields:
            return alt.selection_interval(name=self.name)
        return alt.selection_point(name=self.name, fields=list(self.fields))


def draw_error_incoherence(
    estimates: pl.DataFrame,
    *,
    scale: Scale = "log",
    by: str = "benchmark",
    with_error: bool = True,
    selection: Selection | None = None,
    width: int = 430,
    height: int = 380,
) -> Any:
    """Draw the error of each task against its incoherence: one point a row, a panel a value of the column ``by``.

    Models are told apart by colour (and shape, beyond eight). On the logarithmic scale 0 has a strip of its own, in
    which points lie side by side; in the corner stands how many have both 0. No task lies below E = I / 2.
    ``selection``: makes points clickable, and fades the others. Without ``with_error`` nothing drawn depends on the
    error: tasks are ranked by their incoherence. Rows where a measure is undefined are left out.
    """
    axis, placed = place_points(estimates, scale=scale, by=by, with_error=with_error)
    lines = lines_of(placed["model"].unique().sort().to_list(), of_models=False)
    look = channels("model", lines, legend() if len(lines) > 1 else None)
    look.pop("strokeDash", None)
    parameter, numbers = selection.parameter() if selection else None, count()

    def panel(points: pl.DataFrame) -> Any:
        x, y = axis.of(alt.X, "at_x", "incoherence"), axis.of(alt.Y, "at_y", "error")
        if not with_error:
            ranks = alt.Scale(domain=[0, points.height + 1], nice=False)
            y = alt.Y("at_y:Q", title="tasks (ordered by incoherence)", scale=ranks)
        kept = [name for name in ("benchmark", "task_id", "model", "incoherence", "error") if name in points.columns]
        told = dict.fromkeys(reversed(kept[3:]), SHARE)
        dots = alt.Chart(with_display_names(points.select(*kept, "at_x", "at_y")))
        dots = dots.mark_point(
            filled=True, size=42, stroke="white", strokeWidth=0.4, cursor="pointer" if parameter else "default"
        ).encode(x=x, y=y, opacity=alt.value(0.75), tooltip=tips(*kept[:3], **told), **look)
        if parameter:
            faded = alt.condition(parameter, alt.value(0.85), alt.value(0.2))
            dots = dots.encode(opacity=faded).add_params(parameter).properties(name=f"tasks_{next(numbers)}")
        return alt.layer(*_ground(points, axis, with_error), dots)

    return panels(placed, by, panel, width=width, height=height)


def place_points(
    estimates: pl.DataFrame, *, scale: Scale = "log", by: str = "benchmark", with_error: bool = True
) -> tuple[_Axis, pl.DataFrame]:
    """Return the axes of both measures and the rows that are drawn, with the columns at_x and at_y."""
    measures = ["incoherence", "error"] if with_error else ["incoherence"]
    shown = estimates.drop_nulls(measures).sort(by, "model", "task_id")
    shown = shown if with_error else shown.drop("error", strict=False)
    least = min((float(v) for m in measures for v in shown[m] if v > 0), default=0.01)
    axis = _Axis(scale=scale, low=10.0 ** math.floor(math.log10(least) + 1e-9))
    parts = [_placed(part, axis) for _, part in shown.group_by(by, maintain_order=True)]
    return axis, pl.concat(parts) if parts else _placed(shown, axis)


def _placed(points: pl.DataFrame, axis: _Axis) -> pl.DataFrame:
    steps = np.arange(1, points.height + 1)
    across, up = (np.mod(steps * step, 1.0) for step in _GOLDEN)
    incoherence = points["incoherence"].to_numpy()
    if "error" in points.columns:
        y = axis.place(points["error"].to_numpy(), up)
    else:
        y = np.empty(points.height)
        y[incoherence.argsort(kind="stable")] = steps
    return points.with_columns(at_x=pl.Series(axis.place(incoherence, across)), at_y=pl.Series(y))


def _ground(points: pl.DataFrame, axis: _Axis, with_error: bool) -> list[Any]:
    """Return what lies under the points: the strips of the zeros, the bound, and how many points are in the corner."""
    low, high = axis.ends
    is_log = axis.scale == "log"
    layers: list[Any] = []
    if is_log:
        strip = alt.Chart(pl.DataFrame({"a": [low], "b": [low * 10**0.93]})).mark_rect(color="#E2E2E2", opacity=0.7)
        layers.append(strip.encode(x="a:Q", x2="b:Q"))
        layers += [strip.encode(y="a:Q", y2="b:Q")] if with_error else []
    if not with_error:
        return layers
    start = 2 * axis.low if is_log else 0.0
    bound = pl.DataFrame({"at_x": [start, high], "at_y": [start / 2, high / 2]})
    layers.append(dashed_line(bound, x="at_x:Q", y="at_y:Q"))
    layers.append(_text("E = I / 2", high, high / 16 if is_log else 0.37 * high, align="right", dx=-6))
    n_zero = points.filter(error=0, incoherence=0).height
    if n_zero and is_log:
        layers.append(_text(f"{n_zero} with both 0", axis.low * 1.1, axis.zero, align="left"))
    return layers


def _text(text: str, x: float, y: float, **look: Any) -> Any:
    mark = alt.Chart(pl.DataFrame({"at_x": [x], "at_y": [y], "text": [text]}))
    return mark.mark_text(baseline="middle", color=GREY, fontSize=FONT_SIZE, **look).encode(
        x="at_x:Q", y="at_y:Q", text="text:N"
    )
