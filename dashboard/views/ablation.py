"""How the results change with programs, inputs, temperature and models, and what each setting costs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from dashboard import downloads, frame, prefetch, state, text, theme
from dashboard.components import missing
from dashboard.data import Choice, Source, kept
from dashboard.downloads import Drawn
from dashboard.elements import heading, in_row
from difftrust.figures.ablations import domains_of, draw_ablation, draw_costs
from difftrust.figures.style import lines_of
from difftrust.tables.grid import recorded, settings_frame
from difftrust.tables.names import rewrite
from difftrust.tables.render import in_dollars
from difftrust.tables.sentences import LOWER_BOUND
from difftrust_core.base.records import Coder, Detection
from difftrust_core.estimates.measures import shares

TITLE = "Ablation"
_ABOUT = (
    "How the results change with the number of programs and inputs, the temperature and the model. Several models form "
    "a **mixture**: the m programs are drawn from them evenly."
)
_MS = (2, 3, 5, 10, 20, 50, 100)
_NS = (1, 10, 100, 1_000, 10_000, 100_000)
_ALONE = 3
"""Models of a mixture that are drawn beside it."""
_RULES = {
    "published": (Detection.AS_PUBLISHED, "", "one random pair per input disagrees (as in the paper)"),
    "pairs": (Detection.ALL_PAIRS, "_all_pairs", "any two programs disagree on any input"),
}
"""Rule -> detection, the end of the names of its measures, words."""
_WITHOUT_REFERENCE = "mean_incoherence"
_CARDS = {
    "Detection rate": "detection_rate",
    "Mean error": "mean_error",
    "Mean incoherence": "mean_incoherence",
    "Error of undetected tasks": "undetected_mean_error",
}
_BY_RULE = ("detection_rate", "undetected_mean_error")
"""Measures that depend on the rule."""
_AGAINST = {"m": "By number of programs", "n": "By number of inputs", "temperature": "By temperature"}
_RESAMPLES = 500
_HIDDEN = (
    "The reference is hidden, so errors, detection rates and what they cost are not shown. Incoherence needs no "
    "reference."
)
_BORDERS = ("solid", "dashed", "dotted", "double")
"""What the lines of one colour look like in the legend."""
Series = tuple[tuple[str, ...], ...]
"""The models of each line: several are a mixture."""


@dataclass(frozen=True, kw_only=True)
class Panels:
    """The charts against one thing that varies."""

    table: pl.DataFrame
    charts: Mapping[str, Drawn]
    """Measure -> chart; none where it needs a reference that is not there."""
    whole: Callable[[], Any]
    """Makes them as one chart, for a file."""


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, _ABOUT, can_hide_reference=True, names_left_out=False)
    with in_row():
        models = _choose_models(chosen)
        rule = "published" if chosen.blind else _choose_rule()
    _show_point(chosen, models, rule)
    lines = [(model,) for model in models[:_ALONE]] if len(models) in range(2, _ALONE + 1) else []
    series = (tuple(models), *lines)
    measures = _measures(chosen, rule)
    _show_all(chosen, series, measures)
    if not chosen.blind:
        _show_costs(chosen, series, _of_rule("detection_rate", rule), _curves(chosen, series, "m"))
    missing.show_missing(chosen, models)
    prefetch.STEPS.expect(step for each in chosen.one_step_away() for step in _steps(each, series, measures))


def _varied(chosen: Choice) -> list[str]:
    """Return what the curves vary: the temperature only where there are several."""
    return [vary for vary in _AGAINST if vary != "temperature" or len(chosen.held.temperatures) > 1]


def _steps(chosen: Choice, series: Series, measures: tuple[str, ...]) -> list[Callable[[], object]]:
    """Return the steps that compute all numbers of the page for this choice."""
    curves = [partial(_curve, chosen, models, vary) for vary in _varied(chosen) for models in series]
    return [*curves, partial(_drawn, chosen, series, measures)]


def _choose_models(chosen: Choice) -> list[str]:
    usual = [chosen.usual_model]
    found = state.choose_several("Models", chosen.models, name="model", default=usual, format_func=text.model_name)
    return found or usual


def _choose_rule() -> str:
    return state.choose_one(
        "A task is detected if", tuple(_RULES), name="rule", show=st.radio, horizontal=True,
        format_func=lambda name: _RULES[name][2],
    )  # fmt: skip


def _of_rule(measure: str, rule: str) -> str:
    """Return the column of a measure by this rule."""
    return f"{measure}{_RULES[rule][1]}" if measure in _BY_RULE else measure


def _coders(models: Sequence[str], temperature: float) -> tuple[Coder, ...]:
    return tuple((model, temperature) for model in models)


@kept(most=4_096)
def _setting(source: Source, where: tuple[str, str], coders: tuple[Coder, ...], point: tuple[int, int]) -> pl.DataFrame:
    """Return one setting as a row, or no row where it is not recorded. ``where``: benchmark, equality."""
    pool = source.pool(*where)
    if any(coder not in pool.members for coder in coders):
        return settings_frame(pool, coders[:1], [], resamples=_RESAMPLES)
    return settings_frame(pool, coders, [point], resamples=_RESAMPLES)


def _settings(
    chosen: Choice, models: Sequence[str], points: Sequence[tuple[int, int]], temperature: float | None = None
) -> pl.DataFrame:
    coders = _coders(models, chosen.temperature if temperature is None else temperature)
    where = (chosen.benchmark, chosen.equality)
    return pl.concat([_setting(chosen.source, where, coders, point) for point in points])


def _show_point(chosen: Choice, models: list[str], rule: str) -> None:
    """Write the measures of the chosen setting, or why there are none."""
    found = _settings(chosen, models, [(chosen.m, chosen.n)])
    if found.is_empty():
        text.show_sentence(_why_not(chosen, models))
        return
    point = found.row(0, named=True)
    cost = in_dollars(point["cost_usd"], point["cost_usd_is_lower_bound"])
    cards = {label: _of_rule(name, rule) for label, name in _CARDS.items()}
    with st.container(horizontal=True):  # the range is the card's own second line: half as many elements on the page
        for label, name in cards.items():
            if not chosen.blind or name == _WITHOUT_REFERENCE:
                value, low, high = (_spelled(point[key]) for key in (name, f"{name}_low", f"{name}_high"))
                text.show_metric(label, value, f"95 %: {low} to {high}")
        text.show_metric("Cost", cost, f"{point['n_tasks']:,} tasks × {chosen.m}")
    said = ["Below each measure: its 95 % interval over tasks."]
    if point["cost_usd_is_lower_bound"]:
        said.append(f"{LOWER_BOUND}.")
    rate, undetected = (point[_of_rule(name, rule)] for name in _BY_RULE)
    if chosen.blind:
        said.insert(0, _HIDDEN)
    elif rate is not None and undetected is not None:
        said.insert(
            0,
            f"With {chosen.m} programs per task on {chosen.n:,} inputs, disagreement detects **{rate:.0%}** of the "
            f"erroneous tasks; undetected tasks are wrong on **{undetected:.1%}** of inputs.",
        )
    st.markdown(" ".join(said))


def _spelled(value: float | None) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:.1%}"


def _why_not(chosen: Choice, models: Sequence[str]) -> str:
    """Return why the chosen setting is not recorded, and what is."""
    coders = _coders(models, chosen.temperature)
    if chosen.m < len(coders):
        return f"A mixture of {len(coders)} models needs at least {len(coders)} programs per task; m is {chosen.m}."
    for coder, share in zip(coders, shares(chosen.m, len(coders)), strict=True):
        there = recorded(chosen.pool, coder)
        if there < share:
            name = text.model_name(coder[0])
            return f"Not recorded: {share} programs of {name} per task, only {there}. Choose fewer, or run more below."
    reach = min(chosen.pool.reach(coder) for coder in coders)
    names = ", ".join(map(text.model_name, models))
    return (
        f"Not recorded: {chosen.n:,} inputs for every program of {names}; all were executed on {reach:,}. "
        "Choose fewer, or run more below."
    )


def _curves(chosen: Choice, series: Sequence[tuple[str, ...]], vary: str) -> pl.DataFrame:
    """Return the points of the curves of all models and mixtures, their names as they may be shown."""
    return rewrite(pl.concat([_curve(chosen, models, vary) for models in series]), ["model"], text.one_line)


def _measures(chosen: Choice, rule: str) -> tuple[str, ...]:
    """Return the columns that are drawn against what varies."""
    if chosen.blind:
        return (_WITHOUT_REFERENCE,)
    return (_of_rule("detection_rate", rule), "mean_error", _WITHOUT_REFERENCE)


@kept(most=256)
def _drawn(chosen: Choice, series: Series, measures: tuple[str, ...]) -> dict[str, Panels]:
    """Return the charts of each thing that varies, below one another, on axes that all of them share."""
    tables = {vary: _curves(chosen, series, vary).rename({"model": "coder"}) for vary in _varied(chosen)}
    domains = domains_of(list(tables.values()), measures)
    made = {}
    for vary, table in tables.items():
        marked = {"m": chosen.m, "n": chosen.n, "temperature": chosen.temperature}[vary]
        ticks = sorted({value for models in series for value in _grid(chosen, models, vary)})
        draw = partial(
            draw_ablation, table, x=vary, series="coder", among=_names(series), chosen=marked, ticks=ticks,
            domains=domains,
        )  # fmt: skip
        known = [measure for measure in measures if not table[measure].is_null().all()]
        charts = {name: Drawn(draw(measures=(name,), has_legend=False, height=_HEIGHT)) for name in known}
        made[vary] = Panels(table=table, charts=charts, whole=partial(draw, measures=measures))
    return made


def _show_all(chosen: Choice, series: Series, measures: tuple[str, ...]) -> None:
    """Draw each measure against m, n and the temperature: one axis a row, one legend for all."""
    heading("Each measure by programs, inputs and temperature")
    _show_legend(series)
    panels = _drawn(chosen, series, measures)
    for place, (vary, shown) in zip(st.columns(len(panels)), panels.items(), strict=True):
        with place:
            _show_curves(chosen, vary, measures, shown)


def _show_legend(series: Sequence[tuple[str, ...]]) -> None:
    """Write which line is which, once for all charts."""
    shown = lines_of(_names(series))
    pieces = []
    for name, line in shown.items():
        colour = theme.for_page({"colour": line.colour}, is_dark=theme.is_dark())["colour"]
        border = f"border-top:3px {_BORDERS[line.turn % len(_BORDERS)]} {colour}"
        pieces.append(f'<span style="{_STROKE};{border}"></span>{text.escaped(text.model_name(name))}')
    pieces += ["shaded: 95 % interval over tasks", "dashed and ringed: the chosen setting"]
    items = "".join(f'<span style="white-space:normal">{piece}</span>' for piece in pieces)
    st.html(f'<p dir="ltr" style="margin:0;display:flex;flex-wrap:wrap;gap:0.2rem 1.4rem">{items}</p>')


_STROKE = "display:inline-block;width:1.8rem;margin-right:0.4rem;vertical-align:middle"


def _show_curves(chosen: Choice, vary: str, measures: tuple[str, ...], shown: Panels) -> None:
    """Draw the measures against m, n or the temperature, a line a model or mixture, one below the other."""
    st.markdown(f"**{_AGAINST[vary]}**")
    if shown.table.is_empty():
        st.markdown("No point of these curves is recorded.")
        return
    for measure in measures:
        if measure in shown.charts:
            downloads.show_chart(shown.charts[measure], None, name=f"{measure}-against-{vary}")
        else:
            st.markdown("This needs a reference.")
    about = "These charts in one file, and their data."
    downloads.show_downloads(shown.whole, _for_file(chosen, shown.table), name=f"against-{vary}", about=about)


_HEIGHT = 165


def _for_file(chosen: Choice, table: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of a chart, without those that need the reference where it is hidden."""
    needing = [name for name in table.columns if any(part in name for part in ("error", "detection"))]
    return table.drop(needing) if chosen.blind else table


def _names(series: Sequence[tuple[str, ...]]) -> list[str]:
    """Return what the curves are called; in one order, so that each has one colour in all charts."""
    return sorted({text.one_line("+".join(models)) for models in series})


def _curve(chosen: Choice, models: tuple[str, ...], vary: str) -> pl.DataFrame:
    grid = _grid(chosen, models, vary)
    if vary == "temperature":
        return pl.concat([_settings(chosen, models, [(chosen.m, chosen.n)], temperature) for temperature in grid])
    if vary == "m":
        ms = sorted({*grid, *([chosen.m] if grid and len(models) <= chosen.m <= grid[-1] else [])})
        return _settings(chosen, models, [(int(m), chosen.n) for m in ms])
    return _settings(chosen, models, [(chosen.m, int(n)) for n in sorted({*grid, chosen.n})])


def _grid(chosen: Choice, models: tuple[str, ...], vary: str) -> list[float]:
    """Return where a curve has points whatever is chosen."""
    if vary == "temperature":
        return list(chosen.held.temperatures)
    if vary == "n":
        most = chosen.held.most_inputs
        return sorted({n for n in (*_NS, most) if n <= most})
    most = max(recorded(chosen.pool, coder) for coder in _coders(models, chosen.temperature)) * len(models)
    return sorted({m for m in (*_MS, most) if len(models) <= m <= most})


def _show_costs(chosen: Choice, series: Sequence[tuple[str, ...]], rate: str, table: pl.DataFrame) -> None:
    heading("Detection rate by cost")
    priced = pl.col("cost_usd").is_finite() & (pl.col("cost_usd") > 0)
    if table.filter(priced & pl.col(rate).is_not_null()).is_empty():
        st.markdown("The price of these programs is unknown.")
        return
    unpriced = table.group_by("model", maintain_order=True).agg(priced.any()).filter(~pl.col("cost_usd"))
    if not unpriced.is_empty():
        names = ", ".join(map(text.model_name, unpriced["model"]))
        text.show_line(f"Not drawn because the price is unknown: {names}")
    bounded = table.filter("cost_usd_is_lower_bound")["model"].unique(maintain_order=True)
    if not bounded.is_empty():
        names = ", ".join(map(text.model_name, bounded))
        text.show_line(f"Drawn at a lower bound of their cost, because reasoning was not recorded: {names}")
    st.markdown(
        "The numbers at the points are m, the programs per task; lines and shades are those of the charts above."
    )
    drawn = draw_costs(table, measure=rate, among=_names(series), chosen=chosen.m, has_legend=False)
    downloads.show_chart(drawn, table, name="detection-against-dollars")
