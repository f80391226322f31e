"""Tasks by their error and incoherence, zero in a place of its own (Figure 3)."""

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

import altair as alt
import numpy as np
import polars as pl

from difftrust_core.report.charts.style import (
    FONT_SIZE,
    GREY,
    SHARE,
    SHARES,
    colour_of,
    shape_of,
    side_by_side,
    styled,
    title_of,
)
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import display_name, with_display_names

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
            return alt.Axis(format=SHARES)
        ticks = [self.zero(), *(10.0**k for k in range(round(math.log10(self.low)), 1))]
        return alt.Axis(
            values=ticks, labelExpr=f"datum.value < {self.low * 0.9} ? '0' : format(datum.value, '{SHARES}')"
        )

    def scaled(self) -> alt.Scale:
        return alt.Scale(type=self.scale, domain=self.ends(), nice=False)


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


def error_incoherence_drawing(
    estimates: pl.DataFrame,
    *,
    scale: Scale = "log",
    panels: str = "benchmark",
    with_error: bool = True,
    selection: Selection | None = None,
    width: int = 430,
    height: int = 380,
) -> Drawing:
    """Draw the error of each task against its incoherence: one point a row, a panel a value of the column ``panels``.

    Models are told apart by colour (and shape, beyond eight). On the logarithmic scale 0 has a strip of its own, in
    which points lie side by side; in the corner stands how many have both 0. No task lies below E = I / 2.
    ``selection``: makes points clickable, and fades the others. Without ``with_error`` nothing drawn depends on the
    error: tasks are ranked by their incoherence. Rows where a measure is undefined are left out. The data of each
    panel's points are called points_0, points_1 and so on.
    """
    measures = ["incoherence", *(["error"] if with_error else [])]
    shown = estimates.drop_nulls(measures)
    shown = shown.sort(panels, "model", "task_id")
    axis = _axis(shown, measures, scale)
    data: dict[str, pl.DataFrame] = {}
    made: list[tuple[str, int, bool]] = []
    for (name,), points in shown.group_by(panels, maintain_order=True):
        own = {"points": _placed(points, axis, with_error), **_ground_data(points, axis, with_error)}
        data |= {f"{part}_{len(made)}": rows for part, rows in own.items()}
        made.append((display_name(str(name)), 0 if with_error else points.height, "count" in own))
    return drawing(
        _shape,
        data,
        axis=axis,
        panels=tuple(made),
        models=tuple(map(display_name, shown["model"].unique().sort())),
        with_error=with_error,
        selection=selection,
        size=(width, height),
    )


def _shape(
    *,
    axis: _Axis,
    panels: tuple[tuple[str, int, bool], ...],
    models: tuple[str, ...],
    with_error: bool,
    selection: Selection | None,
    size: tuple[int, int],
) -> Any:
    made: list[Any] = []
    parameter = None if selection is None else selection.parameter()
    width, height = size
    for i, (title, n_tasks, has_count) in enumerate(panels):
        dots = _dots(f"points_{i}", axis, models, None if with_error else n_tasks)
        if parameter is not None:
            dots = _clickable(dots, parameter).properties(name=f"tasks_{i}")
        layers = [*_ground(i, axis, with_error, has_count), dots]
        made.append(alt.layer(*layers).properties(title=title, width=width, height=height))
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
    return with_display_names(points.select(kept)).with_columns(
        at_x=pl.Series(axis.place(points["incoherence"].to_numpy(), across)), at_y=pl.Series(y)
    )


def _ground_data(points: pl.DataFrame, axis: _Axis, with_error: bool) -> dict[str, pl.DataFrame]:
    """Return what lies under the points: the strips of the zeros, the bound, and how many points are in the corner."""
    low, high = axis.ends()
    is_log = axis.scale == "log"
    data: dict[str, pl.DataFrame] = {}
    if is_log:
        data["strip"] = pl.DataFrame({"a": [low], "b": [low * 10 ** (_DECADE * 0.93)]})
    if not with_error:
        return data
    start = 2 * axis.low if is_log else 0.0
    data["bound"] = pl.DataFrame({"at_x": [start, high], "at_y": [start / 2, high / 2]})
    below = high / 16 if is_log else 0.37 * high
    data["words"] = pl.DataFrame({"at_x": [high], "at_y": [below], "text": ["E = I / 2"]})
    n_zero = points.filter(pl.col("error") == 0, pl.col("incoherence") == 0).height
    if n_zero and is_log:
        corner = {"at_x": [axis.low * 1.1], "at_y": [axis.zero()], "text": [f"{n_zero} with both 0"]}
        data["count"] = pl.DataFrame(corner)
    return data


def _clickable(dots: Any, selection: alt.Parameter) -> Any:
    """Return the points with the selection, the others faded."""
    return (
        dots.mark_point(filled=True, size=42, stroke="white", strokeWidth=0.4, cursor="pointer")
        .encode(opacity=alt.condition(selection, alt.value(0.85), alt.value(0.2)))
        .add_params(selection)
    )


def _dots(data: str, axis: _Axis, models: tuple[str, ...], n_ranked: int | None) -> Any:
    """Return the points; with ``n_ranked`` of them by their rank instead of their error."""
    x = alt.X("at_x:Q", title=title_of("incoherence"), scale=axis.scaled(), axis=axis.axis())
    y = alt.Y("at_y:Q", title=title_of("error"), scale=axis.scaled(), axis=axis.axis())
    if n_ranked is not None:
        ranks = alt.Scale(domain=[0, n_ranked + 1], nice=False)
        y = alt.Y("at_y:Q", title="tasks (ordered by incoherence)", scale=ranks)
    legend = alt.Legend(title=None, orient="bottom", columns=4) if len(models) > 1 else None
    measures = ("incoherence",) if n_ranked is not None else ("error", "incoherence")
    numbers = [alt.Tooltip(f"{name}:Q", format=SHARE) for name in measures]
    return (
        alt.Chart(named(data))
        .mark_point(filled=True, size=42, stroke="white", strokeWidth=0.4)
        .encode(
            x=x,
            y=y,
            color=colour_of("model", models, legend=legend),
            shape=shape_of("model", models, legend=legend),
            tooltip=[*(alt.Tooltip(f"{name}:N") for name in ("benchmark", "task_id", "model")), *numbers],
            opacity=alt.value(0.75),
        )
    )


def _ground(place: int, axis: _Axis, with_error: bool, has_count: bool) -> list[Any]:
    layers: list[Any] = []
    if axis.scale == "log":
        strip = alt.Chart(named(f"strip_{place}")).mark_rect(color="#E2E2E2", opacity=0.7)
        layers.append(strip.encode(x=alt.X("a:Q"), x2=alt.X2("b:Q")))
        if with_error:
            layers.append(strip.encode(y=alt.Y("a:Q"), y2=alt.Y2("b:Q")))
    if not with_error:
        return layers
    dashes = alt.Chart(named(f"bound_{place}")).mark_line(color=GREY, strokeDash=[4, 4])
    layers.append(dashes.encode(x=alt.X("at_x:Q"), y=alt.Y("at_y:Q")))
    layers.append(_text(f"words_{place}", dx=-6))
    if has_count:
        layers.append(_text(f"count_{place}", align="left"))
    return layers


def _text(data: str, *, dx: int = 0, align: str = "right") -> Any:
    mark = alt.Chart(named(data)).mark_text(align=align, baseline="middle", dx=dx, color=GREY, fontSize=FONT_SIZE)  # type: ignore[arg-type]
    return mark.encode(x=alt.X("at_x:Q"), y=alt.Y("at_y:Q"), text=alt.Text("text:N"))
