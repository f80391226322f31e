"""Sliders in a notebook: m, n, temperature and model; two charts and a table follow."""

from functools import partial
from typing import Any, Final

import altair as alt
import ipywidgets as widgets
import polars as pl

from difftrust.figures.chart_file import chart_bytes
from difftrust.figures.ranking import draw_ranking
from difftrust.figures.style import axis, channels, dashed_line, legend, line_layers, lines_of, styled, titled
from difftrust.results import Table, picture
from difftrust.shipped import PAPER_SETTING
from difftrust.tables.grid import recorded
from difftrust.tables.names import display_name
from difftrust.tables.render import in_percent
from difftrust_core.estimates.measures import Filter, keep_all, summary, whole_rows
from difftrust_core.estimates.pool import Pool

SHOWN: Final = ("mean_error", "mean_incoherence", "detection_rate", "undetected_mean_error", "pass_at_1")
_SCHEMA: Final = {
    "benchmark": pl.String,
    "model": pl.String,
    "temperature": pl.Float64,
    "m": pl.Int64,
    "n": pl.Int64,
    "n_tasks": pl.Int64,
    **dict.fromkeys(SHOWN, pl.Float64),
}
_SIZES: Final = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)
"""Values of m at which the curve of the model has points."""
_LINES: Final = {"detection_rate": "detected", "mean_error": "error", "mean_incoherence": "incoherence"}
"""Measure -> what its line is called."""
_WHAT_TO_SEE: Final = (
    "Left, a point a model: higher means more errors, further right more disagreement. "
    "Right: what more programs bring; dashed: m."
)


class Explorer:
    """Widgets over the pool of one benchmark; ``frame`` holds what is shown at the moment, a row a model.

    ``tasks`` takes the rows of the tasks that count. What was computed once is kept, so that only new settings cost.
    """

    def __init__(self, pool: Pool, tasks: Filter = keep_all):
        self._pool, self._tasks = pool, tasks
        self._rows: dict[tuple[str, float, int, int], dict[str, Any] | None] = {}
        coders = sorted(pool.members)
        self._most_m = max(2, *(recorded(pool, coder) for coder in coders))
        most_n = max(pool.reach(coder) for coder in coders)
        temperatures = sorted({temperature for _, temperature in coders})
        models = sorted({model for model, _ in coders}, key=display_name)
        wide: dict[str, Any] = {
            "style": {"description_width": "110px"},
            "layout": widgets.Layout(width="420px"),
            "continuous_update": True,
        }
        self.model = widgets.SelectionSlider(
            options=[(display_name(model), model) for model in models],
            value=PAPER_SETTING.model if PAPER_SETTING.model in models else models[0],
            description="model",
            **wide,
        )
        self.temperature = widgets.SelectionSlider(
            options=temperatures,
            value=PAPER_SETTING.temperature if PAPER_SETTING.temperature in temperatures else temperatures[0],
            description="temperature",
            **wide,
        )
        self.m = widgets.IntSlider(
            value=min(10, self._most_m), min=2, max=self._most_m, description="programs m", **wide
        )
        self.n = widgets.SelectionSlider(
            options=[(f"{stop:,}", stop) for stop in _steps(most_n)],
            value=max(stop for stop in _steps(most_n) if stop <= PAPER_SETTING.n),
            description="inputs n",
            **wide,
        )
        self._chart, self._table = widgets.Image(format="svg+xml"), widgets.HTML()
        for control in (self.model, self.temperature, self.m, self.n):
            control.observe(self._follow, names="value")
        self._follow()

    def _follow(self, _: object = None) -> None:
        """Compute the setting that the sliders name and show it."""
        at = {"temperature": self.temperature.value, "m": self.m.value, "n": self.n.value}
        models = [model for _, model in self.model.options]
        found = {model: self._row(model, **at) for model in models}
        self.frame = pl.DataFrame([row for row in found.values() if row], schema=_SCHEMA).fill_nan(None).sort("model")
        left_out = [display_name(model) for model, row in found.items() if row is None]
        self.notes: tuple[str, ...] = (f"not recorded at this setting: {', '.join(left_out)}",) if left_out else ()
        sizes = [m for m in _SIZES if m <= self._most_m]
        curve = [self._row(self.model.value, **{**at, "m": m}) for m in sizes]
        drawn = _draw(
            self.frame,
            pl.DataFrame([row for row in curve if row], schema=_SCHEMA).fill_nan(None),
            model=self.model.value,
            m=self.m.value,
            most_m=self._most_m,
        )
        self._drawn = titled(drawn, self._title(), self._says(), _WHAT_TO_SEE)
        self._chart.value = chart_bytes(self._drawn, ".svg")
        self._table.value = self._shown._repr_html_()

    def _row(self, model: str, *, temperature: float, m: int, n: int) -> dict[str, Any] | None:
        """Return the measures of one setting, None where it is not recorded whole; computed once."""
        key = (model, temperature, m, n)
        if key not in self._rows:
            tasks = whole_rows(self._pool, [(model, temperature)], m=m, n=n, tasks=self._tasks)
            setting = {"benchmark": self._pool.benchmark, "model": model, "temperature": temperature, "m": m, "n": n}
            self._rows[key] = None if tasks is None else setting | {
                name: value for name, value in summary(tasks).items() if name in _SCHEMA
            }  # fmt: skip
        return self._rows[key]

    def _title(self) -> str:
        return (
            f"{display_name(self.model.value)} among {self.frame.height} models on {self._pool.benchmark}: "
            f"m = {self.m.value}, n = {self.n.value:,}, temperature {self.temperature.value:g}"
        )

    def _says(self) -> str:
        """Return the numbers of the chosen model in a sentence."""
        name, own = display_name(self.model.value), self.frame.filter(model=self.model.value)
        if own.is_empty():
            return f"{name} is not recorded at this setting: move a slider back."
        row = own.row(0, named=True)
        return (
            f"{name} (ring): error {in_percent(row['mean_error'])}, incoherence {in_percent(row['mean_incoherence'])}; "
            f"{in_percent(row['detection_rate'])} of its erroneous tasks show as a disagreement."
        )

    @property
    def _shown(self) -> Table:
        rows = self.frame.sort("mean_error", "mean_incoherence", "model", nulls_last=True)
        return Table(rows.select("model", *SHOWN, "n_tasks"), notes=self.notes)

    def __repr__(self) -> str:
        """Return the numbers of the moment as text."""
        return f"{self._title()}\n{self._shown!r}"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widgets, and beside them a picture for readers that run nothing."""
        sliders = [widgets.HBox([self.model, self.temperature]), widgets.HBox([self.m, self.n])]
        box = widgets.VBox([*sliders, self._chart, self._table])
        data, metadata = picture(self._drawn)
        return {**data, **box._repr_mimebundle_(), "text/plain": repr(self)}, metadata


def _steps(most: int) -> list[int]:
    """Return the stops of the slider of inputs: 1, 2, 5, 10, ... and all of them."""
    stops = [a * 10**k for k in range(len(str(most))) for a in (1, 2, 5)]
    return sorted({*(stop for stop in stops if stop <= most), most})


def _draw(ranked: pl.DataFrame, curve: pl.DataFrame, *, model: str, m: int, most_m: int) -> Any:
    """Draw the models of ``ranked`` with a ring around ``model``, and its measures against m, with a line at ``m``.

    ``curve``: rows of the one model along m. ``most_m``: where the axis of m ends, the same for all models.
    """
    right = _draw_curve(curve, m, most_m)
    points = ranked.drop_nulls(["mean_error", "mean_incoherence"])
    if points.is_empty():
        return styled(right)
    left = draw_ranking(points, width=430, height=330)
    left.config = alt.Undefined
    ring = alt.Chart(points.filter(model=model).select("mean_incoherence", "mean_error"))
    ring = ring.mark_point(size=170, strokeWidth=2, filled=False, color="black", opacity=1)
    left.layer.append(ring.encode(x="mean_incoherence:Q", y="mean_error:Q"))
    return styled(alt.hconcat(left, right, spacing=30).resolve_scale(color="independent", shape="independent"))


def _draw_curve(curve: pl.DataFrame, m: int, most_m: int) -> Any:
    long = curve.unpivot(list(_LINES), index="m", variable_name="measure", value_name="value").drop_nulls("value")
    rows = long.with_columns(pl.col("measure").replace_strict(_LINES, return_dtype=pl.String))
    ticks = [tick for tick in (2, 5, 10, 20, 50, 100) if tick <= most_m]
    scale = {"type": "log", "domain": [1.8, most_m * 1.1], "nice": False}
    x = axis(alt.X, "m", title="programs per task (m)", scale=scale, format="~g", values=ticks)
    up = partial(axis, alt.Y, "value", title="share (detected: of the erroneous tasks)", ends=(0, 1))
    shown = legend(3, symbolOpacity=1, symbolStrokeWidth=0)
    look = channels("measure", lines_of(list(_LINES.values()), of_models=False), shown)
    chosen = dashed_line(pl.DataFrame({"m": [m]}), x=x)
    layers = line_layers(rows, x, up, look, tooltip=["measure", "m", "value"])
    return alt.layer(chosen, *layers).properties(title="the model by number of programs", width=260, height=330)
