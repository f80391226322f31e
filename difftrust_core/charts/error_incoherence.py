"""Tasks by their error and incoherence, zero in a place of its own (Figure 3)."""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import altair as alt
import numpy as np
import polars as pl

from difftrust_core.charts.style import FONT_SIZE, GREY, colour_of, shape_of, side_by_side, styled, title_of

Scale = Literal["log", "linear"]
_STRIP: Final = (0.20, 0.80)
"""Where points of value zero lie, in decades right of the axis; the strip itself ends before the first decade."""
_DECADE: Final = 1.0
_GOLDEN: Final = (0.7548776662466927, 0.5698402909980532)
"""Steps that spread points evenly over a square (Roberts' R2 sequence): no random numbers, no pattern."""


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """Where values lie on an axis: ``low`` is the power of ten below the least positive value."""

    scale: Scale
    low: float

    def ends(self) -> list[float]:
        return [0.0, 1.0] if self.scale == "linear" else [self.low / 10**_DECADE, 1.0]

    def zero(self) -> float:
        """Return where the tick 0 is."""
        return 0.0 if self.scale == "linear" else self.low / 10 ** (_DECADE - sum(_STRIP) / 2)

    def place(self, values: np.ndarray[Any, Any], spread: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return where the values are drawn: those above 0 at themselves, zeros side by side in their strip."""
        if self.scale == "linear":
            return values
        start, end = _STRIP
        strip = self.low / 10**_DECADE * 10 ** (start + spread * (end - start))
        return np.where(values > 0, values, strip)

    def axis(self) -> alt.Axis:
        if self.scale == "linear":
            return alt.Axis(format="~g")
        ticks = [self.zero(), *(10.0**k for k in range(round(math.log10(self.low)), 1))]
        return alt.Axis(values=ticks, labelExpr=f"datum.value < {self.low * 0.9} ? '0' : format(datum.value, '~g')")

    def scaled(self) -> alt.Scale:
        return alt.Scale(type=self.scale, domain=self.ends(), nice=False)


def draw_error_incoherence(
    estimates: pl.DataFrame,
    *,
    scale: Scale = "log",
    panels: str = "benchmark",
    with_error: bool = True,
    selection: alt.Parameter | None = None,
    width: int = 430,
    height: int = 380,
) -> Any:
    """Draw the error of each task against its incoherence: one point a row, a panel a value of the column ``panels``.

    Models are told apart by colour (and shape, beyond eight). On the logarithmic scale 0 has a strip of its own, in
    which points lie side by side; in the corner stands how many have both 0. No task lies below E = I / 2.
    ``selection``: makes points clickable, and fades the others. Without ``with_error`` nothing drawn depends on the
    error: tasks are ranked by their incoherence. Rows where a measure is undefined are left out.
    """
    measures = ["incoherence", *(["error"] if with_error else [])]
    shown = estimates.filter(*[pl.col(name).is_not_nan() & pl.col(name).is_not_null() for name in measures])
    shown = shown.sort(panels, "model", "task_id")
    axis = _axis(shown, measures, scale)
    models = shown["model"].unique().sort().to_list()
    made: list[Any] = []
    for (name,), points in shown.group_by(panels, maintain_order=True):
        dots = _dots(_placed(points, axis, with_error), axis, models, with_error)
        if selection is not None:
            dots = _clickable(dots, selection).properties(name=f"tasks_{len(made)}")
        layers = [*_ground(points, axis, with_error), dots]
        made.append(alt.layer(*layers).properties(title=str(name), width=width, height=height))
    return styled(side_by_side(made))


def _axis(shown: pl.DataFrame, measures: list[str], scale: Scale) -> _Axis:
    least = min((float(v) for m in measures for v in shown[m] if v > 0), default=0.01)
    return _Axis(scale=scale, low=10.0 ** math.floor(math.log10(least) + 1e-9))


def _placed(points: pl.DataFrame, axis: _Axis, with_error: bool) -> pl.DataFrame:
    steps = np.arange(1, points.height + 1)
    across, up = (np.mod(steps * step, 1.0) for step in _GOLDEN)
    if with_error:
        y = axis.place(points["error"].to_numpy(), up)
    else:
        order = points["incoherence"].to_numpy().argsort(kind="stable")
        y = np.empty(points.height)
        y[order] = steps
    kept = ["benchmark", "task_id", "model", "incoherence", *(["error"] if with_error else [])]
    return points.select(kept).with_columns(
        at_x=pl.Series(axis.place(points["incoherence"].to_numpy(), across)), at_y=pl.Series(y)
    )


def _clickable(dots: Any, selection: alt.Parameter) -> Any:
    """Return the points with the selection, the others faded."""
    return (
        dots.mark_point(filled=True, size=42, stroke="white", strokeWidth=0.4, cursor="pointer")
        .encode(opacity=alt.condition(selection, alt.value(0.85), alt.value(0.2)))
        .add_params(selection)
    )


def _dots(points: pl.DataFrame, axis: _Axis, models: list[str], with_error: bool) -> Any:
    x = alt.X("at_x:Q", title=title_of("incoherence"), scale=axis.scaled(), axis=axis.axis())
    y = alt.Y("at_y:Q", title="tasks, by their incoherence", scale=alt.Scale(domain=[0, points.height + 1], nice=False))
    if with_error:
        y = alt.Y("at_y:Q", title=title_of("error"), scale=axis.scaled(), axis=axis.axis())
    legend = {"legend": alt.Legend(title=None, orient="bottom", columns=4) if len(models) > 1 else None}
    numbers = [alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("error", "incoherence") if name in points.columns]
    return (
        alt.Chart(points)
        .mark_point(filled=True, size=42, stroke="white", strokeWidth=0.4)
        .encode(
            x=x,
            y=y,
            color=colour_of("model", models, **legend),
            shape=shape_of("model", models, **legend),
            tooltip=["benchmark:N", "task_id:N", "model:N", *numbers],
            opacity=alt.value(0.75),
        )
    )


def _ground(points: pl.DataFrame, axis: _Axis, with_error: bool) -> list[Any]:
    """Return what lies under the points: the strips of the zeros, the bound, and how many points are in the corner."""
    layers: list[Any] = []
    low, high = axis.ends()
    if axis.scale == "log":
        end = low * 10 ** (_DECADE * 0.93)
        strip = alt.Chart(pl.DataFrame({"a": [low], "b": [end]})).mark_rect(color="#E2E2E2", opacity=0.7)
        layers.append(strip.encode(x="a:Q", x2="b:Q"))
        if with_error:
            layers.append(strip.encode(y="a:Q", y2="b:Q"))
    if not with_error:
        return layers
    start = 0.0 if axis.scale == "linear" else 2 * axis.low
    line = pl.DataFrame({"at_x": [start, high], "at_y": [start / 2, high / 2]})
    dashes = alt.Chart(line).mark_line(color=GREY, strokeDash=[4, 4])
    layers.append(dashes.encode(x="at_x:Q", y="at_y:Q"))
    below = high / 16 if axis.scale == "log" else 0.37 * high
    words = pl.DataFrame({"at_x": [high], "at_y": [below], "text": ["E = I / 2"]})
    layers.append(_text(words, dx=-6))
    n_zero = points.filter(pl.col("error") == 0, pl.col("incoherence") == 0).height
    if n_zero and axis.scale == "log":
        count = pl.DataFrame({"at_x": [axis.low * 1.1], "at_y": [axis.zero()], "text": [f"{n_zero} with both 0"]})
        layers.append(_text(count, align="left"))
    return layers


def _text(words: pl.DataFrame, *, dx: int = 0, align: str = "right") -> Any:
    mark = alt.Chart(words).mark_text(align=align, baseline="middle", dx=dx, color=GREY, fontSize=FONT_SIZE)  # type: ignore[arg-type]
    return mark.encode(x="at_x:Q", y="at_y:Q", text="text:N")
