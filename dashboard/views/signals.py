"""What may tell where an error is without a reference, and how well each does."""

from collections.abc import Sequence

import polars as pl
import streamlit as st

from dashboard import data, downloads, frame, state, text
from dashboard.data import Choice, Version
from difftrust_core.charts import auroc_drawing, correlations_drawing, roc_drawing
from difftrust_core.exceptions import NoStore
from difftrust_core.signals import (
    SIGNALS,
    added_table,
    auroc_table,
    behaviour_signals,
    correlation_table,
    roc_table,
    signals,
)
from difftrust_core.store import Store

TITLE = "Signals"
_ABOUT = (
    "Without a reference, what points at the tasks that a model gets wrong? Each signal ranks all pairs of model and "
    "task. **AUROC**: how often a pair with an error stands above one without; 0.5 is chance, 1 is perfect."
)
_RESAMPLES = 500
_KEPT = 64
_FROM = {"behaviour": "what programs do", "structure": "syntax trees", "text": "text", "length": "length"}
Where = tuple[str, float, int, int, str]


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, _ABOUT)
    everything = _signals(chosen)
    models = state.choose_several(
        "Models",
        sorted(everything["model"].unique()),
        name="model",
        placeholder="All models",
        format_func=text.one_line,
    )
    rows = everything.filter(pl.col("model").is_in(models)) if models else everything
    erroneous = int((rows["error"] > 0).sum())
    if not erroneous or erroneous == rows.height:
        st.info("A signal can only be judged where some tasks are right and some are wrong; choose more models.")
        return
    place = (chosen.version, str(chosen.store.root), (*_where(chosen), *models))
    found = _aurocs(rows, *place)
    _say(rows, found, erroneous)
    left, right = st.columns(2)
    with left:
        st.subheader("Which one finds errors", anchor=False)
        downloads.show_chart(auroc_drawing(found), found, name="auroc")
    with right:
        st.subheader("At every threshold", anchor=False)
        _show_roc(_rocs(rows, *place), found)
    _show_table(found)
    _show_added(rows, place)
    st.subheader("Which ones say the same", anchor=False)
    st.markdown("Pearson's correlation over pairs of model and task.")
    table = _correlations(rows, *place)
    downloads.show_chart(correlations_drawing(table), table, name="correlations")


def _where(chosen: Choice) -> Where:
    return chosen.benchmark, chosen.temperature, chosen.m, chosen.n, chosen.equality


def _signals(chosen: Choice) -> pl.DataFrame:
    """Return a row a (model, task); say what is not there of the structural signals, and how to get it."""
    rows, remedy = _rows(chosen.store, chosen.version, str(chosen.store.root), _where(chosen))
    if remedy:
        text.show_small(f"Without structural signals: {remedy.replace('`', '')}")
    return rows


@st.cache_resource(max_entries=_KEPT, show_spinner="Counting …")
def _rows(_store: Store, version: Version, root: str, where: Where) -> tuple[pl.DataFrame, str]:
    del version, root
    benchmark, temperature, m, n, equality = where
    try:
        found = signals(_store, temperature=temperature, m=m, n=n, equality=equality).filter(benchmark=benchmark)
        if not found.is_empty():
            return found, ""
        remedy = f"none for {benchmark} at this temperature and m."
    except NoStore as e:
        remedy = str(e)
    pool = data.pool(_store, benchmark, equality)
    executed = behaviour_signals(pool, temperature=temperature, m=m, n=n)
    absent = [signal.column for signal in SIGNALS if signal.column not in executed.columns]
    return executed.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in absent), remedy


@st.cache_resource(max_entries=_KEPT, show_spinner="Comparing signals …")
def _aurocs(_rows: pl.DataFrame, version: Version, root: str, where: tuple[object, ...]) -> pl.DataFrame:
    del version, root, where
    return auroc_table(_rows, resamples=_RESAMPLES).sort("auroc", descending=True, maintain_order=True)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _rocs(_rows: pl.DataFrame, version: Version, root: str, where: tuple[object, ...]) -> pl.DataFrame:
    del version, root, where
    return roc_table(_rows)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _correlations(_rows: pl.DataFrame, version: Version, root: str, where: tuple[object, ...]) -> pl.DataFrame:
    del version, root, where
    return correlation_table(_rows)


@st.cache_resource(max_entries=_KEPT, show_spinner="Joining signals …")
def _added(_rows: pl.DataFrame, version: Version, root: str, where: tuple[object, ...]) -> pl.DataFrame:
    del version, root, where
    known = [s.column for s in SIGNALS if _rows[s.column].cast(pl.Float64).is_finite().any()]
    return added_table(_rows, known[:1], known[1:], resamples=_RESAMPLES)


def _say(rows: pl.DataFrame, found: pl.DataFrame, erroneous: int) -> None:
    best = found.row(0, named=True)
    st.markdown(
        f"**{erroneous:,} of {rows.height:,}** pairs of model and task hold an error. **{best['title']}** finds them "
        f"best: AUROC {best['auroc']:.3f} [{best['low']:.3f}, {best['high']:.3f}], 95 % over tasks."
    )


def _show_roc(curves: pl.DataFrame, found: pl.DataFrame) -> None:
    titles = found["title"].to_list()
    best_of_each = found.unique("family", keep="first", maintain_order=True)["title"].to_list()
    chosen: Sequence[str] = state.choose_several("Signals drawn", titles, name="signal", default=best_of_each)
    shown = curves.filter(pl.col("title").is_in(chosen))
    if not shown.is_empty():
        downloads.show_chart(roc_drawing(shown), shown, name="roc")


def _show_table(found: pl.DataFrame) -> None:
    with st.expander("As a table"):
        numbers = {name: st.column_config.NumberColumn(format="%.3f") for name in ("auroc", "low", "high")}
        table = found.drop("signal").with_columns(pl.col("family").replace(_FROM).alias("family"))
        st.dataframe(table, hide_index=True, column_config=numbers | {"n_rows": "pairs", "family": "from"})


def _show_added(rows: pl.DataFrame, place: tuple[Version, str, tuple[object, ...]]) -> None:
    if not state.choose_switch("What does each add to incoherence?", name="added"):
        return
    table = _added(rows, *place).sort("gain", descending=True)
    st.markdown(
        "Both joined in a regression that has not seen the task. **gain**: its AUROC less that of incoherence alone; "
        "an interval that holds 0 shows no gain. Length is the control: what is no better adds nothing of its own."
    )
    numbers = {n: st.column_config.NumberColumn(format="%.3f") for n in ("auroc", "gain", "low", "high")}
    st.dataframe(table.drop("base"), hide_index=True, column_config=numbers)
