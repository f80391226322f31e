"""Signals that may find errors without a reference, and how well each does."""

from collections.abc import Sequence

import polars as pl
import streamlit as st

from dashboard import downloads, frame, state, text
from dashboard.data import Choice, kept, why
from dashboard.elements import heading, show_table
from difftrust.figures.curves import draw_roc
from difftrust.figures.heat_maps import draw_correlations
from difftrust.figures.interval_bars import draw_auroc
from difftrust.research.signals import (
    SIGNALS,
    Signal,
    added_table,
    auroc_table,
    behaviour_signals,
    by_title,
    correlation_table,
    measured,
    roc_table,
    signals,
)
from difftrust_core.exceptions import NoStore

TITLE = "Signals"
_ABOUT = (
    "Which signal finds the tasks that a model gets wrong, without a reference? Each signal ranks all pairs of model "
    "and task. **AUROC**: how often a pair with an error ranks above one without; 0.5 is chance, 1 is perfect."
)
_HIDDEN = (
    "The reference is hidden. AUROC and ROC curves compare each signal with the error, which needs the reference, so "
    "only the signals' correlation with one another is shown."
)
_RESAMPLES = 500
_AUROC = (pl.col("auroc"), pl.col("low").alias("auroc_low"), pl.col("high").alias("auroc_high"))
_FROM = {"behaviour": "behaviour of programs", "structure": "syntax trees", "text": "text", "length": "length"}


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, _ABOUT, can_hide_reference=True)
    everything = _signals(chosen)
    models = state.choose_several(
        "Models",
        sorted(everything["model"].unique()),
        name="model",
        placeholder="All models",
        format_func=text.model_name,
    )
    asked = (chosen, tuple(models))
    if chosen.blind:
        st.info(_HIDDEN)
    else:
        _show_compared(*asked)
    _show_correlations(chosen, _correlations(*asked, chosen.blind))


def _show_compared(chosen: Choice, models: tuple[str, ...]) -> None:
    """Write how well each signal finds errors."""
    rows = _rows(chosen, models)
    if why := _not_comparable(rows):
        st.info(why)
        return
    found, curves = _compared(chosen, models)
    _say(rows, found)
    heading("AUROC by signal")
    downloads.show_chart(draw_auroc(found), found, name="auroc")
    _show_signals(found)
    left, right = st.columns(2, gap="medium")
    with left:
        heading("ROC curves")
        _show_roc(curves, found)
    with right:
        heading("What each signal adds to incoherence")
        _show_added(chosen, models)


def _not_comparable(rows: pl.DataFrame) -> str:
    """Return why signals cannot be compared with the error, "" where they can."""
    if not rows["error"].count():
        return "Signals are compared with the error, which is known only where a task has a reference."
    if (rows["error"].drop_nulls() > 0).n_unique() < 2:
        return "Signals are compared where some tasks are right and some are wrong; choose more models."
    return ""


def _show_correlations(chosen: Choice, correlations: pl.DataFrame) -> None:
    heading("Correlation between signals")
    if correlations.is_empty():
        st.markdown("No signal is measured for these models.")
        return
    st.markdown(
        "Pearson's correlation over all pairs of model and task. Signals near 1 or -1 carry the same information"
        + ("." if chosen.blind else "; the first row is the error itself.")
    )
    downloads.show_chart(draw_correlations(correlations), correlations, name="correlations")


def _signals(chosen: Choice) -> pl.DataFrame:
    """Return one row per (model, task); say which structural signals are missing, and how to get them."""
    rows, remedy = _all_rows(chosen)
    if remedy:
        text.show_small(f"Without structural signals: {remedy.replace('`', '')}")
    return rows


@kept(saying="Computing signals …")
def _all_rows(chosen: Choice) -> tuple[pl.DataFrame, str]:
    temperature, m, n, equality = chosen.temperature, chosen.m, chosen.n, chosen.equality
    try:
        found = signals(chosen.store, temperature=temperature, m=m, n=n, equality=equality, benchmark=chosen.benchmark)
        if not found.is_empty():
            return found, ""
        remedy = f"none for {chosen.benchmark} at this temperature and m."
    except NoStore as e:
        remedy = why(e)
    executed = behaviour_signals(chosen.pool, temperature=temperature, m=m, n=n)
    absent = [signal.column for signal in SIGNALS if signal.column not in executed.columns]
    return executed.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in absent), remedy


def _rows(chosen: Choice, models: tuple[str, ...]) -> pl.DataFrame:
    rows, _ = _all_rows(chosen)
    return rows.filter(pl.col("model").is_in(models)) if models else rows


@kept(saying="Comparing signals …")
def _compared(chosen: Choice, models: tuple[str, ...]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return AUROC, best first, and ROC curves."""
    rows = _rows(chosen, models)
    found = auroc_table(rows, resamples=_RESAMPLES).sort("auroc", descending=True, maintain_order=True)
    meanings = [by_title()[title].meaning for title in found["title"]]
    return found.with_columns(meaning=pl.Series(meanings, dtype=pl.String)), roc_table(rows)


@kept()
def _correlations(chosen: Choice, models: tuple[str, ...], is_blind: bool) -> pl.DataFrame:
    """Return the correlations; where the reference is hidden of the signals alone, without the error."""
    rows = _rows(chosen, models)
    return correlation_table(rows, [signal.column for signal in measured(rows)] if is_blind else None)


@kept(saying="Combining signals …")
def _added(chosen: Choice, models: tuple[str, ...]) -> pl.DataFrame:
    rows = _rows(chosen, models)
    known = [s.column for s in SIGNALS if rows[s.column].cast(pl.Float64).is_finite().any()]
    return added_table(rows, known[:1], known[1:], resamples=_RESAMPLES)


def _say(rows: pl.DataFrame, found: pl.DataFrame) -> None:
    best = found.row(0, named=True)
    st.markdown(
        f"**{int((rows['error'] > 0).sum()):,} of {rows['error'].count():,}** pairs of model and task have an error. "
        f"**{best['title']}** finds them best: "
        f"AUROC {best['auroc']:.3f} [{best['low']:.3f}, {best['high']:.3f}], 95 % over tasks."
    )


def _show_roc(curves: pl.DataFrame, found: pl.DataFrame) -> None:
    titles = found["title"].to_list()
    best_of_each = found.unique("family", keep="first", maintain_order=True)["title"].to_list()
    chosen: Sequence[str] = state.choose_several("Signals shown", titles, name="signal", default=best_of_each)
    shown = curves.filter(pl.col("title").is_in(chosen))
    if not shown.is_empty():
        downloads.show_chart(draw_roc(shown), shown, name="roc")


def _show_signals(found: pl.DataFrame) -> None:
    """Write what each signal measures, beside how well it does."""
    meanings = pl.Series("measures", [_meaning(by_title()[title]) for title in found["title"]], dtype=pl.String)
    table = found.select("title", meanings, *_AUROC, pl.col("family").replace(_FROM), pl.col("n_rows").alias("pairs"))
    show_table(table.rename({"title": "signal", "family": "from"}), rows=20)


def _meaning(signal: Signal) -> str:
    source = f" {signal.source}." if signal.source else ""
    return f"{signal.meaning}. {'High' if signal.sign > 0 else 'Low'}: an error is likely.{source}"


def _show_added(chosen: Choice, models: tuple[str, ...]) -> None:
    if not state.choose_switch("Show", name="added", help="Takes some seconds the first time."):
        return
    table = _added(chosen, models).sort("gain", descending=True)
    st.markdown(
        "Incoherence and the signal together, in a logistic regression that was not fitted on the task. **gain**: its "
        "AUROC minus that of incoherence alone; an interval that includes 0 shows no gain. Length is the control: a "
        "signal that gains no more than length adds nothing of its own."
    )
    show_table(table.select("added", "auroc", "gain", gain_low="low", gain_high="high"))
