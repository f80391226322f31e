"""Measures against m, n or temperature, the chosen point marked (Table 3), and against dollars."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.series import Look, encodings, lines_of, look_of, shape_encoding
from difftrust_core.report.charts.style import GREY, SHARE, SHARES, side_by_side, styled, title_of
from difftrust_core.report.charts.template import Drawing, drawing, named
from difftrust_core.report.names import display_name, with_display_names
from difftrust_core.report.render import in_dollars

Domains = Mapping[str, tuple[float, float]]
"""Measure -> the ends of its axis."""
_CURVES = ("detection_rate", "mean_error", "mean_incoherence")
_ALIKE = ("mean_error", "mean_incoherence")
"""Measures whose axes are one, so that their heights can be compared."""
_LOGARITHMIC = ("m", "n")
_POINT = "chosen"
COST = "cost"
_MODELS = ("model", "coder")
"""Columns that name models; others name benchmarks."""
_BAND = 0.14
_STEP = 0.05


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


def ablation_drawing(
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
) -> Drawing:
    """Draw each measure against the column ``x`` (m, n or temperature): a panel a measure, a line a ``series``.

    ``table``: one row a (series, x), e.g. ``ablation.curves``. Columns <measure>_low and <measure>_high become a band,
    published_<measure> diamonds. ``among``: all names that have lines of their own, those of ``series`` unless given.
    ``chosen``: the value of x that is marked. ``ticks``: where the axis has numbers, at the values of x unless given.
    ``domains``: of charts beside this one, that share their axes (``domains_of``).
    """
    names = table[series].unique().sort().to_list()
    data = {} if chosen is None else {_POINT: pl.DataFrame({x: [float(chosen)]})}
    shown = [measure for measure in measures if table[measure].is_not_null().any()]
    table = with_cost(table)
    for measure in shown:
        rows = table.select(*_told(x, measure, table.columns), series)
        data[measure] = rows = with_display_names(rows.drop_nulls(measure), series)
        if chosen is not None:
            data[f"{_POINT}_{measure}"] = rows.filter(pl.col(x) == chosen)
    lines = lines_of(among or names, of_models=series in _MODELS)
    ends = domains or domains_of([table], shown)
    return drawing(
        _shape,
        data,
        x=x,
        measures=tuple((measure, ends[measure]) for measure in shown),
        columns=tuple(table.columns),
        series=(series, look_of(lines, names, [display_name(name) for name in names])),
        has_chosen=chosen is not None,
        has_legend=has_legend,
        ticks=tuple(_apart(sorted(set(table[x].to_list() if ticks is None else ticks)), x)),
        height=height,
    )


def _shape(
    *,
    x: str,
    measures: tuple[tuple[str, tuple[float, float]], ...],
    columns: tuple[str, ...],
    series: tuple[str, Look],
    has_chosen: bool,
    has_legend: bool,
    ticks: tuple[float, ...],
    height: int,
) -> Any:
    scale = alt.Scale(type="log", nice=False) if x in _LOGARITHMIC else alt.Scale(zero=False, padding=12)
    across = alt.X(f"{x}:Q", title=title_of(x), scale=scale, axis=alt.Axis(values=list(ticks), format=",~g"))
    legend = _legend(series[1]) if has_legend else None
    panels = []
    for measure, ends in measures:
        numbers = [_tooltip(name, measure) for name in _told(x, measure, columns)]
        tooltip = [alt.Tooltip(f"{series[0]}:N"), *numbers]
        panel = _panel((measure, ends), across, (series, legend, tooltip), columns, has_chosen)
        panel.width, panel.height = 260, height
        panels.append(panel)
    return styled(side_by_side(panels))


def _panel(
    measured: tuple[str, tuple[float, float]],
    across: alt.X,
    said: tuple[tuple[str, Look], alt.Legend | None, list[alt.Tooltip]],
    columns: tuple[str, ...],
    has_chosen: bool,
) -> Any:
    (measure, ends), (series, legend, tooltip) = measured, said
    up, lines = share_axis(measure, ends), encodings(*series, legend=legend)
    colour, shape = {"color": lines["color"]}, shape_encoding(*series)
    base = alt.Chart(named(measure))
    layers: list[Any] = []
    if f"{measure}_low" in columns:
        band = base.transform_filter(f"isValid(datum.{measure}_low)").mark_area(opacity=_BAND, line=False)
        layers.append(band.encode(y=share_axis(f"{measure}_low", ends), y2=alt.Y2(f"{measure}_high:Q"), **colour))
    if has_chosen:
        layers.append(alt.Chart(named(_POINT)).mark_rule(color=GREY, strokeDash=[4, 4]))
        marked = alt.Chart(named(f"{_POINT}_{measure}")).mark_point(size=190, strokeWidth=2, filled=False)
        layers.append(marked.encode(y=up, **colour))
    layers.append(base.mark_line(strokeWidth=2).encode(y=up, **lines))
    layers.append(base.mark_point(filled=True, size=55, opacity=1).encode(y=up, tooltip=tooltip, **colour, **shape))
    if f"published_{measure}" in columns:
        published = base.mark_point(shape="diamond", size=80, filled=False, strokeWidth=1.5, opacity=1)
        layers.append(published.encode(y=share_axis(f"published_{measure}", ends), tooltip=tooltip, **colour))
    made = alt.LayerChart(layer=layers, encoding=alt.Encoding(x=across))
    about: dict[str, Any] = {"subtitle": "diamonds: published values"} if f"published_{measure}" in columns else {}
    made.title = alt.Title(title_of(measure), fontWeight="normal", **about)
    return made


def share_axis(measure: str, ends: tuple[float, float]) -> alt.Y:
    """Return the axis of a share; its title stands above the panel, where it can be read and is never cut."""
    scale = alt.Scale(domain=list(ends), nice=False)
    return alt.Y(f"{measure}:Q", title=None, scale=scale, axis=alt.Axis(format=SHARES, tickCount=5))


def _told(x: str, measure: str, columns: Sequence[str]) -> list[str]:
    """Return the columns whose numbers a point tells."""
    return [name for name in (x, *_numbers_of(measure), COST) if name in columns]


def _numbers_of(measure: str) -> tuple[str, ...]:
    return (measure, f"{measure}_low", f"{measure}_high", f"published_{measure}")


_ENDS: Final = {"_low": "95 % interval, from", "_high": "to"}


def _tooltip(name: str, measure: str) -> alt.Tooltip:
    """Return how a point tells a column: the measure as a share, others with thousands apart, the cost in words."""
    if name == COST:
        return alt.Tooltip(f"{COST}:N")
    title = _ENDS.get(name.removeprefix(measure), name.replace("_", " "))
    return alt.Tooltip(f"{name}:Q", title=title, format=SHARE if name in _numbers_of(measure) else ",~g")


def with_cost(table: pl.DataFrame) -> pl.DataFrame:
    """Return ``table`` with the column ``cost``: its dollars as text, where it has any."""
    if "cost_usd" not in table.columns:
        return table
    pairs = table.select("cost_usd", "^cost_usd_is_lower_bound$").iter_rows()
    return table.with_columns(pl.Series(COST, [in_dollars(*pair) for pair in pairs], dtype=pl.String))


def _legend(look: Look) -> alt.Legend:
    across = 1 if len(look) > 1 and sum(len(name) for name, _, _ in look) > 32 else 4  # a panel is narrow
    return alt.Legend(
        title=None, orient="bottom", columns=across, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3
    )


def _apart(ticks: list[float], x: str) -> list[float]:
    """Return the ticks of a logarithmic axis that lie a factor of 1.6 apart, so that their numbers do not touch."""
    kept: list[float] = []
    for tick in ticks:
        if x not in _LOGARITHMIC or not kept or tick >= 1.6 * kept[-1]:
            kept.append(tick)
    return kept
