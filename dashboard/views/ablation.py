"""How many programs, how many inputs, which temperature, which models: what each would have found, and for how much."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

import polars as pl
import streamlit as st

from dashboard import ahead, data, downloads, frame, state, text
from dashboard.data import Choice, Version
from dashboard.parts import missing
from difftrust_core.ablation import Coder, recorded, settings_frame, shares, whole_rows
from difftrust_core.benchmark import ALL_PAIRS, AS_PUBLISHED, Detection
from difftrust_core.charts import ablation_drawing, costs_drawing
from difftrust_core.frames import rewrite
from difftrust_core.intervals.tasks import bootstrap_tasks, statistic_of
from difftrust_core.store import Store

TITLE = "Ablation"
_ABOUT = (
    "What other numbers of programs and inputs, another temperature or other models would have found. Move the sliders "
    "in the sidebar; several models make a **mixture**: the m programs are drawn from them evenly."
)
_MS = (2, 3, 5, 10, 20, 50, 100)
_NS = (1, 10, 100, 1_000, 10_000, 100_000)
_ALONE = 3
"""Models of a mixture that are drawn beside it."""
_USUAL = "gpt_4o"
_RULES = {
    "published": ("detection_rate", "undetected_mean_error", "one random pair of programs an input, as in the paper"),
    "pairs": ("detection_rate_all_pairs", "undetected_mean_error_all_pairs", "any two programs on any input"),
}
_KEPT = 4_096
_DETECTION: dict[str, Detection] = {"published": AS_PUBLISHED, "pairs": ALL_PAIRS}
_MEASURES = ("mean_error", "mean_incoherence")
_CARDS = {
    "Detection rate": "detection_rate",
    "Mean error": "mean_error",
    "Mean incoherence": "mean_incoherence",
    "Undetected error": "undetected_mean_error",
}
_AGAINST = {"m": "Against programs", "n": "Against inputs", "temperature": "Against temperature"}
_RESAMPLES = 500
Where = tuple[str, tuple[Coder, ...], str]
"""Benchmark, coders, equality."""


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, _ABOUT, names_left_out=False)
    models = _choose_models(chosen)
    rule = state.choose_one(
        "A task is detected by", tuple(_RULES), name="rule", show=st.radio, horizontal=True,
        format_func=lambda name: _RULES[name][2],
    )  # fmt: skip
    rate = _RULES[rule][0]
    _show_point(chosen, models, rule)
    lines = [(model,) for model in models[:_ALONE]] if len(models) in range(2, _ALONE + 1) else []
    series = [tuple(models), *lines]
    against_m = _curves(chosen, series, "m")
    _show_curves(chosen, series, "m", rate, against_m)
    _show_curves(chosen, series, "n", rate, _curves(chosen, series, "n"))
    if len(chosen.held.temperatures) > 1 and state.choose_switch("Against temperature too", name="temperatures"):
        _show_curves(chosen, series, "temperature", rate, _curves(chosen, series, "temperature"))
    _show_costs(chosen, series, rate, against_m)
    missing.show_missing(chosen, models)
    ahead.STEPS.expect(step for each in chosen.one_step_away() for step in _steps(each, series, rule))


def _steps(chosen: Choice, series: Sequence[tuple[str, ...]], rule: str) -> list[Callable[[], object]]:
    """Return what counts all that the page shows of this choice."""
    where = (chosen.store, chosen.version, str(chosen.store.root), _point(chosen, series[0]), rule)
    curves = [partial(_curve, chosen, models, vary) for vary in ("m", "n") for models in series]
    return [partial(_measured, *where), *curves]


def _choose_models(chosen: Choice) -> list[str]:
    usual = _USUAL if _USUAL in chosen.models else chosen.models[0]
    found = state.choose_several("Models", chosen.models, name="model", default=[usual], format_func=text.one_line)
    return found or [usual]


def _coders(models: Sequence[str], temperature: float) -> tuple[Coder, ...]:
    return tuple((model, temperature) for model in models)


@lru_cache(maxsize=_KEPT)
def _setting(root: Path, version: Version, where: Where, point: tuple[int, int]) -> pl.DataFrame:
    """Return one setting as a row, or no row where it is not recorded: each is counted once in this process.

    Asked two dozen times a page: Streamlit's own cache would take longer to find them than to draw them.
    """
    del version
    benchmark, coders, equality = where
    pool = data.pool(Store(root), benchmark, equality)
    if any(coder not in pool.members for coder in coders):
        return settings_frame(pool, coders[:1], [])
    return settings_frame(pool, coders, [point])


def _settings(
    chosen: Choice, models: Sequence[str], points: Sequence[tuple[int, int]], temperature: float | None = None
) -> pl.DataFrame:
    coders = _coders(models, chosen.temperature if temperature is None else temperature)
    where = (chosen.benchmark, coders, chosen.equality)
    return pl.concat([_setting(chosen.store.root, chosen.version, where, point) for point in points])


def _show_point(chosen: Choice, models: list[str], rule: str) -> None:
    """Write the measures of the chosen setting, or why there are none."""
    found = _measured(chosen.store, chosen.version, str(chosen.store.root), _point(chosen, models), rule)
    if found is None:
        text.show_sentence(_why_not(chosen, models))
        return
    point = _settings(chosen, models, [(chosen.m, chosen.n)]).row(0, named=True)
    cost = point["cost_usd"]
    with st.container(horizontal=True):  # the range is the card's own second line: half as many elements on the page
        for label, (value, low, high) in found.items():
            _show_card(label, _spelled(value), f"95 %: {_spelled(low)} to {_spelled(high)}")
        programs = f"{point['n_tasks']:,} tasks × {chosen.m}"
        _show_card("Cost", "unknown" if math.isnan(cost) else f"${cost:,.2f}", programs)
    rate, undetected = (point[name] for name in _RULES[rule][:2])
    said = ["Below each measure is its 95 % interval over tasks."]
    if not math.isnan(rate) and not math.isnan(undetected):
        said.insert(
            0,
            f"With {chosen.m} programs a task on {chosen.n:,} inputs, disagreement points out **{rate:.0%}** of the "
            f"erroneous tasks; the tasks that it does not point out are wrong on **{undetected:.1%}** of inputs.",
        )
    st.markdown(" ".join(said))


def _show_card(label: str, value: str, about: str) -> None:
    st.metric(label, value, about, delta_color="off", delta_arrow="off")


def _point(chosen: Choice, models: Sequence[str]) -> tuple[str, tuple[Coder, ...], str, int, int]:
    return chosen.benchmark, _coders(models, chosen.temperature), chosen.equality, chosen.m, chosen.n


@st.cache_resource(max_entries=256, show_spinner=False)
def _measured(
    _store: Store, version: Version, root: str, where: tuple[str, tuple[Coder, ...], str, int, int], rule: str
) -> dict[str, tuple[float, float, float]] | None:
    """Return label -> (value, low, high), None where the setting is not recorded whole."""
    del version, root
    benchmark, coders, equality, m, n = where
    rows = whole_rows(data.pool(_store, benchmark, equality), coders, m=m, n=n)
    if rows is None:
        return None
    made = {}
    for label, measure in _CARDS.items():
        interval = bootstrap_tasks(rows, statistic_of(measure, detection=_DETECTION[rule]), resamples=_RESAMPLES)
        made[label] = (interval.estimate, interval.low, interval.high)
    return made


def _spelled(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def _why_not(chosen: Choice, models: Sequence[str]) -> str:
    """Return what is recorded where the chosen setting is not."""
    coders = _coders(models, chosen.temperature)
    if chosen.m < len(coders):
        return f"A mixture of {len(coders)} models needs at least as many programs, m = {chosen.m} is fewer."
    for coder, share in zip(coders, shares(chosen.m, len(coders)), strict=True):
        there = recorded(chosen.pool, coder)
        if there < share:
            return f"Not recorded: {share} programs of {coder[0]}, there are {there}. Choose fewer, or run them below."
    reach = min(chosen.pool.reach(coder) for coder in coders)
    return (
        f"Not recorded: {chosen.n:,} inputs for every program of {', '.join(models)}; all of them were executed on "
        f"{reach:,}. Choose fewer, or run them below."
    )


def _curves(chosen: Choice, series: Sequence[tuple[str, ...]], vary: str) -> pl.DataFrame:
    """Return the points of the curves of all models and mixtures, their names as they may be shown."""
    return rewrite(pl.concat([_curve(chosen, models, vary) for models in series]), ["model"], text.one_line)


def _show_curves(chosen: Choice, series: Sequence[tuple[str, ...]], vary: str, rate: str, table: pl.DataFrame) -> None:
    """Draw the measures against m, n or the temperature, a line a model or mixture."""
    table = table.rename({"model": "coder"})
    st.subheader(_AGAINST[vary], anchor=False)
    if table.is_empty():
        st.markdown("Nothing of this is recorded.")
        return
    marked = {"m": chosen.m, "n": chosen.n, "temperature": chosen.temperature}[vary]
    ticks = sorted({value for models in series for value in _grid(chosen, models, vary)})
    draw = partial(
        ablation_drawing, table, x=vary, series="coder", among=_names(series), chosen=marked, ticks=ticks, height=220
    )
    measures = (rate, *_MEASURES)
    for place, measure in zip(st.columns(3), measures, strict=True):
        with place:
            if table[measure].is_nan().all():
                st.markdown("Unknown without a reference.")
            else:
                downloads.show_alone(draw(measures=(measure,)), name=f"{measure}-against-{vary}")
    downloads.show_downloads(
        partial(draw, measures=measures), table, name=f"against-{vary}", about="These charts as one, and their data."
    )


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
    st.subheader("Detection rate against dollars", anchor=False)
    priced = pl.col("cost_usd").is_finite() & (pl.col("cost_usd") > 0)
    if table.filter(priced & pl.col(rate).is_not_nan()).is_empty():
        st.markdown("The price of these programs is not known.")
        return
    unpriced = table.group_by("model", maintain_order=True).agg(priced.any()).filter(~pl.col("cost_usd"))
    if not unpriced.is_empty():
        text.show_line(f"Not drawn, for the price is not known: {', '.join(unpriced['model'])}")
    st.markdown("The number at each point is m.")
    drawing = costs_drawing(table, measure=rate, among=_names(series), chosen=chosen.m)
    downloads.show_chart(drawing, table, name="detection-against-dollars")
