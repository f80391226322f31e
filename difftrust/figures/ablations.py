"""Measures against m, n or temperature, the chosen point marked (Table 3), and against dollars."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.figures.labels import place_labels
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
from difftrust.tables.names import with_display_names
from difftrust.tables.render import in_dollars

Domains = Mapping[str, tuple[float, float]]
"""Measure -> the ends of its axis."""
_CURVES: Final = ("detection_rate", "mean_error", "mean_incoherence")
_ALIKE: Final = ("mean_error", "mean_incoherence")
"""Measures whose axes are one, so that their heights can be compared."""
_LOGARITHMIC: Final = ("m", "n")
_COST: Final = "cost"
_MODELS: Final = ("model", "coder")
"""Columns that name models; others name benchmarks."""
_STEP: Final = 0.05
_PADDING: Final = 14
HEIGHT: Final = 300
NARROW: Final = 270
"""Width and height between the axes of dollars on a phone: numbers that fit there fit everywhere."""


def domains_of(tables: Sequence[pl.DataFrame], measures: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the ends of each measure's axis over all tables: rates to 1, error and incoherence to the same end."""
    most = {measure: max((_most(table, measure) for table in tables), default=0.0) for measure in measures}
    alike = max((most[measure] for measure in measures if measure in _ALIKE), default=0.0)
    ends = {measure: alike if measure in _ALIKE else 1.0 for measure in measures}
    return {measure: (0.0, min(1.0, math.ceil(max(end, _STEP) / _STEP) * _STEP)) for measure, end in ends.items()}


def _most(table: pl.DataFrame, measure: str) -> float:
    names = [name for name in (measure, f"{measure}_high", f"published_{measure}") if name in table.columns]
    found = [table[name].cast(pl.Float64).fill_nan(None).max() for name in names]
    return max((float(x) for x in found if isinstance(x, float)), default=0.0)


def draw_ablation(
    table: pl.DataFrame,
    *,
    x: str = "m",
    measures: Sequence[str] = _CURVES,
    series: str = "benchmark",
    among: Sequence[str] | None = None,
    chosen: float | None = None,
    ticks: Sequence[float] | None = None,
    domains: Domains | None = None,
    has_legend: bool = True,
    height: int = 240,
) -> Any:
    """Draw each measure against the column ``x`` (m, n or temperature): a panel a measure, a line a ``series``.

    ``table``: one row a (series, x), e.g. ``grid.curves``. Columns <measure>_low and <measure>_high become a band,
    published_<measure> diamonds. ``among``: all names that have lines of their own, those of ``series`` unless given.
    ``chosen``: the value of x that is marked. ``ticks``: where the axis has numbers, at the values of x unless given.
    ``domains``: of charts beside this one, that share their axes (``domains_of``).
    """
    shown = [measure for measure in measures if table[measure].is_not_null().any()]
    ends = domains or domains_of([table], shown)
    look = _look(table, series, among, legend(symbolType="stroke", symbolStrokeWidth=3) if has_legend else None)
    scale = {"type": "log", "nice": False} if x in _LOGARITHMIC else {"zero": False, "padding": 12}
    values = _apart(sorted(set(table[x].to_list() if ticks is None else ticks)), x)
    across = axis(alt.X, x, title=title_of(x), scale=scale, format=",~g", values=values)
    table = with_cost(with_display_names(table, series))
    panels = []
    for measure in shown:
        numbers = (measure, f"{measure}_low", f"{measure}_high", f"published_{measure}")
        told = [name for name in (x, *numbers, _COST) if name in table.columns]
        rows = table.select(*told, series).drop_nulls(measure)
        up = partial(_share_axis, measure, ends[measure])
        tooltip = tips(series, *told[len(told) - (_COST in told) :], **_tellable(told, measure))
        layers = _lines(rows, across, up, look, (measure, x, chosen), tooltip)
        if has_published := numbers[-1] in told:
            published = alt.Chart(rows).mark_point(shape="diamond", size=80, filled=False, strokeWidth=1.5, opacity=1)
            layers.append(published.encode(x=across, y=up(numbers[-1]), tooltip=tooltip, color=look["color"]))
        panel = alt.layer(*layers).properties(width=260, height=height)
        about: dict[str, Any] = {"subtitle": "diamonds: published values"} if has_published else {}
        panels.append(panel.properties(title=alt.Title(title_of(measure), fontWeight="normal", **about)))
    return styled(side_by_side(panels))


def labels_of(
    rows: pl.DataFrame, measure: str, ends: tuple[float, float], *, chosen: int | None = None, width: float = NARROW
) -> pl.DataFrame:
    """Return the numbers that fit on a chart of this width, no two of them touching: m, cost_usd, measure, shift.

    The chosen one first, then the ends of each line. ``shift``: pixels down from the point.
    """
    costs = pl.col("cost_usd").log()
    inner = width - 2 * _PADDING
    m = pl.col("m")
    is_end = (m == m.min().over("model")) | (m == m.max().over("model"))
    ranked = rows.with_columns(
        across=(_PADDING + (costs - costs.min()) / pl.max_horizontal(costs.max() - costs.min(), 1e-9) * inner) / width,
        down=1 - pl.col(measure) / (ends[1] or 1.0),
        rank=pl.when(m == (chosen or 0)).then(0).when(is_end).then(1),
    ).sort("rank", nulls_last=True, maintain_order=True)
    points = ranked.select("across", "down").rows()
    placed = place_labels(points, list(map(str, ranked["m"])), (width, HEIGHT), spots=((0, 0, -12), (0, 0, 14)))
    shifts = pl.Series("shift", [None if label is None else label.dy for label in placed], dtype=pl.Int64)
    return ranked.select("m", "cost_usd", measure).with_columns(shifts).drop_nulls("shift")


def _look(table: pl.DataFrame, series: str, among: Sequence[str] | None, shown: alt.Legend | None) -> dict[str, Any]:
    names = table[series].unique().sort().to_list()
    lines = lines_of(among or names, of_models=series in _MODELS)
    return channels(series, {name: lines[name] for name in names}, shown)


def _lines(
    rows: pl.DataFrame, x: Any, y: Any, look: Mapping[str, Any], marked: tuple[str, str, Any], tooltip: Any, **line: Any
) -> list[Any]:
    """Return the lines of a measure with their bands, and where something is chosen a rule and rings there."""
    measure, column, chosen = marked
    layers = line_layers(rows, x, y, look, tooltip=tooltip, band=measure, **line)
    if chosen is None:
        return layers
    ring = alt.Chart(rows.filter(pl.col(column) == chosen)).mark_point(size=190, strokeWidth=2, filled=False)
    rule = dashed_line(pl.DataFrame({column: [float(chosen)]}), x=x)
    is_across = x.shorthand.startswith(f"{column}:")
    return [*([rule] if is_across else []), ring.encode(x=x, y=y(), color=look["color"]), *layers]


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


def with_cost(table: pl.DataFrame) -> pl.DataFrame:
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
