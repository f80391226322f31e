"""Measures against m, n or temperature, the chosen point marked (Table 3)."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.figures.style import (
    SHARE,
    axis,
    channels,
    dashed_line,
    legend,
    line_layers,
    lines_of,
    side_by_side,
    styled,
    tips,
    title_of,
)
from difftrust.tables.render import in_dollars

_CURVES: Final = ("detection_rate", "mean_error", "mean_incoherence")
_ALIKE: Final = ("mean_error", "mean_incoherence")
"""Measures whose axes are one, so that their heights can be compared."""
_LOGARITHMIC: Final = ("m", "n")
_COST: Final = "cost"
_STEP: Final = 0.05


def draw_ablation(table: pl.DataFrame, *, x: str = "m", chosen: float | None = None) -> Any:
    """Draw each measure against the column ``x`` (m, n or temperature): a panel a measure, a line a benchmark.

    ``table``: one row a (benchmark, x), as ``grid.curves``. Columns <measure>_low and <measure>_high become a band,
    published_<measure> diamonds. ``chosen``: the value of x that is marked.
    """
    shown = [name for name in _CURVES if name in table.columns and table[name].is_not_null().any()]
    look = channels(
        "benchmark",
        lines_of(table["benchmark"].unique().sort().to_list(), of_models=False),
        legend(symbolType="stroke", symbolStrokeWidth=3),
    )
    scale = {"type": "log", "nice": False} if x in _LOGARITHMIC else {"zero": False, "padding": 12}
    across = axis(alt.X, x, title=title_of(x), scale=scale, format=",~g", values=_apart(sorted(set(table[x])), x))
    table = _with_cost(table)
    panels = []
    for measure in shown:
        numbers = (measure, f"{measure}_low", f"{measure}_high", f"published_{measure}")
        told = [name for name in (x, *numbers, _COST) if name in table.columns]
        rows = table.select(*told, "benchmark").drop_nulls(measure)
        up = partial(_share_axis, measure, _ends(table, measure))
        tooltip = tips("benchmark", *told[len(told) - (_COST in told) :], **_tellable(told, measure))
        layers = line_layers(rows, across, up, look, tooltip=tooltip, band=measure)
        if chosen is not None:
            ring = alt.Chart(rows.filter(pl.col(x) == chosen)).mark_point(size=190, strokeWidth=2, filled=False)
            rule = dashed_line(pl.DataFrame({x: [float(chosen)]}), x=across)
            layers = [rule, ring.encode(x=across, y=up(), color=look["color"]), *layers]
        if has_published := numbers[-1] in told:
            published = alt.Chart(rows).mark_point(shape="diamond", size=80, filled=False, strokeWidth=1.5, opacity=1)
            layers.append(published.encode(x=across, y=up(numbers[-1]), tooltip=tooltip, color=look["color"]))
        panel = alt.layer(*layers).properties(width=260, height=240)
        about: dict[str, Any] = {"subtitle": "diamonds: published values"} if has_published else {}
        panels.append(panel.properties(title=alt.Title(title_of(measure), fontWeight="normal", **about)))
    return styled(side_by_side(panels))


def _ends(table: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Return the ends of a measure's axis: rates to 1, error and incoherence to the same end."""
    if measure not in _ALIKE:
        return 0.0, 1.0
    names = [f"{start}{name}{end}" for name in _ALIKE for start, end in (("", ""), ("", "_high"), ("published_", ""))]
    found = [table[name].cast(pl.Float64).fill_nan(None).max() for name in names if name in table.columns]
    most = max((float(value) for value in found if isinstance(value, float)), default=0.0)
    return 0.0, min(1.0, math.ceil(max(most, _STEP) / _STEP) * _STEP)


def _share_axis(measure: str, ends: tuple[float, float], column: str = "") -> Any:
    """Return the axis of a share; its title stands above the panel, where it can be read and is never cut."""
    return axis(alt.Y, column or measure, title=None, ends=ends, tickCount=5)


def _tellable(told: Sequence[str], measure: str) -> dict[str, tuple[str, str]]:
    """Return how a point tells its numbers: the measure as a share, others with thousands apart."""
    ends = {f"{measure}_low": "95 % interval, from", f"{measure}_high": "to"}
    return {
        name: (ends.get(name, name.replace("_", " ")), SHARE if measure in name else ",~g")
        for name in told
        if name != _COST
    }


def _with_cost(table: pl.DataFrame) -> pl.DataFrame:
    """Return ``table`` with the column ``cost``: its dollars as text, where it has any."""
    if "cost_usd" not in table.columns:
        return table
    pairs = table.select("cost_usd", "^cost_usd_is_lower_bound$").iter_rows()
    return table.with_columns(pl.Series(_COST, [in_dollars(*pair) for pair in pairs], dtype=pl.String))


def _apart(ticks: list[float], x: str) -> list[float]:
    """Return the ticks of a logarithmic axis that lie a factor of 1.6 apart, so that their numbers do not touch."""
    kept: list[float] = []
    for tick in ticks:
        if x not in _LOGARITHMIC or not kept or tick >= 1.6 * kept[-1]:
            kept.append(tick)
    return kept
