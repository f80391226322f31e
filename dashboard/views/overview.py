"""The models of a benchmark side by side."""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import polars as pl
import streamlit as st

from dashboard import downloads, frame, prefetch, state, text
from dashboard.data import Choice, kept, passed_tests
from difftrust_core.analysis.passed_tests import ALL
from difftrust_core.base.records import References, Validity
from difftrust_core.datasets.published import in_published_set, load_published
from difftrust_core.metrics.aggregate import MEAN
from difftrust_core.metrics.intervals.tables import HIGH, LOW
from difftrust_core.report.charts.models import models_drawing
from difftrust_core.report.charts.ranking import ranking_drawing
from difftrust_core.report.render import in_dollars
from difftrust_core.report.sentences import (
    LOWER_BOUND,
    NEEDS_REFERENCE,
    against_published,
    compare,
    in_words,
    long_intervals,
)
from difftrust_core.store.schemas import rewrite

TITLE = "Overview"
_ABOUT = (
    "Each model wrote several programs for each task. All of them ran on the same inputs. **Error**: how often a "
    "program's result differs from the reference's. **Incoherence**: how often two programs of one model disagree; "
    "it needs no reference, and error is never below half of it."
)
_COLUMNS = {
    "model": ("model", None),
    "tasks": ("tasks", "Tasks measured."),
    "mean_error": ("error", "How often a program's result differs from the reference's, on average over tasks."),
    "mean_incoherence": ("incoherence", "How often two programs of the model disagree, on average over tasks."),
    "detection_rate": ("detected", "Of the tasks on which the model errs, the share detected by disagreement."),
    "undetected_mean_error": ("undetected", "Mean error of the tasks that disagreement does not detect."),
    "pass_at_1": ("pass@1", "Share of programs that are right on every input, on average over tasks."),
    "passed_tests": (
        "pass@1, tests",
        "Share of programs that pass all tests of their task, on average over tasks; the other columns are measured on "
        "other inputs. No bound links it with incoherence there.",
    ),
    "cost_usd": ("cost", "US dollars for all these programs at list prices; ≥ where reasoning was not recorded."),
    "completion_tokens": ("tokens", "Tokens of all these programs."),
}
_BARS = ("mean_error", "mean_incoherence", "detection_rate", "undetected_mean_error", "pass_at_1", "passed_tests")


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, _ABOUT, can_hide_reference=True)
    tasks = chosen.estimates()
    if tasks.is_empty():
        st.info("No model was executed on that many inputs; choose fewer in the sidebar.")
        return
    table, sentences = _compare(chosen)
    for sentence in sentences:
        text.show_sentence(sentence)
    _show_table(table, chosen)
    _show_ranking(tasks, table, chosen)
    _show_intervals(table, chosen)
    prefetch.STEPS.expect(
        step for each in chain(chosen.one_step_away(), chosen.in_other_benchmarks()) for step in steps(each)
    )


def steps(chosen: Choice) -> list[Callable[[], object]]:
    """Return the steps that compute all numbers of the page for this choice."""
    return [*(partial(chosen.of, model) for model in chosen.models), partial(_compare, chosen)]


@kept()
def _compare(chosen: Choice) -> tuple[pl.DataFrame, list[str]]:
    tasks = chosen.estimates()
    table = _with_tests(compare(tasks), tasks, chosen)
    return table, in_words(tasks, table=table, with_reference=not chosen.blind)


def _with_tests(table: pl.DataFrame, tasks: pl.DataFrame, chosen: Choice) -> pl.DataFrame:
    """Add the share of programs that pass all tests, on average over the tasks that are measured."""
    passed = passed_tests(chosen).filter(tests=ALL).join(tasks, on=["model", "task_id"], how="semi")
    means = passed.group_by("model").agg(passed_tests=pl.col("passed").mean())
    return table.join(means, on="model", how="left", maintain_order="left")


def _show_table(table: pl.DataFrame, chosen: Choice) -> None:
    hidden = {*NEEDS_REFERENCE, "passed_tests"} if chosen.blind else set()
    names = [name for name in _COLUMNS if name not in hidden and table[name].null_count() < table.height]
    shown = rewrite(table.select(names), ["model"], text.model_name)
    config = {name: _column(name, shown) for name in names}
    styled = _with_costs(shown, table["cost_usd_is_lower_bound"])
    height = 38 + 35 * min(shown.height, 17)
    st.dataframe(styled, hide_index=True, column_config=config, placeholder="unknown", height=height)
    bounds = f" {LOWER_BOUND}." if table["cost_usd_is_lower_bound"].any() else ""
    text.show_small(f"Click a column header to sort. The last chart of this page shows 95 % intervals.{bounds}")


def _with_costs(shown: pl.DataFrame, is_lower_bound: pl.Series) -> Any:
    """Return the table with its costs spelled out, lower bounds as such; they are still sorted as numbers."""
    if "cost_usd" not in shown.columns:
        return shown
    spelled = dict(enumerate(map(in_dollars, shown["cost_usd"], is_lower_bound)))
    styler = shown.to_pandas().style
    for row, said in spelled.items():
        styler.format(lambda _, said=said: said, subset=([row], ["cost_usd"]), na_rep="unknown")
    return styler


def _column(name: str, shown: pl.DataFrame) -> Any:
    title, about = _COLUMNS[name]
    if name in _BARS:
        highest = shown[name].max()
        top = max(float(highest), 0.01) if isinstance(highest, int | float) else 1.0
        return st.column_config.ProgressColumn(
            title, help=about, format="percent", min_value=0.0, max_value=top, width=92
        )
    if name == "cost_usd":
        return st.column_config.NumberColumn(title, help=about, width=78)
    if name in ("tasks", "completion_tokens"):
        return st.column_config.NumberColumn(title, help=about, format="localized", width=55 if name == "tasks" else 78)
    return st.column_config.TextColumn(title, help=about, pinned=True, width=145)


def _show_ranking(tasks: pl.DataFrame, table: pl.DataFrame, chosen: Choice) -> None:
    if chosen.blind or table["mean_error"].is_null().all():
        return
    st.subheader("Models by error and incoherence", anchor=False)
    published = load_published("table_4").filter(benchmark=chosen.benchmark)
    as_published = chosen.validity == Validity.REFERENCE and chosen.source.reading.references == References.PUBLISHED
    has_published = as_published and not published.join(tasks, on="model", how="semi").is_empty()
    beside = has_published and state.choose_switch("Compare with the paper", name="published")
    if not beside:
        points = table.select(pl.exclude(f"^.*({LOW}|{HIGH})$"))
        downloads.show_chart(ranking_drawing(points, width=700, height=400), points, name="ranking", stretch=False)
        return
    joined, differences = against_published(in_published_set(tasks), published.drop("model_in_paper"))
    both = _stacked(joined, chosen.benchmark)
    downloads.show_chart(ranking_drawing(both, width=330, height=330), both, name="ranking-published")
    spelled = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in differences.items())
    st.markdown(
        "The paper used m = 10, n = 1,000 and temperature 0.6. Only the published tasks are counted here. "
        f"Mean absolute difference: {spelled}."
    )
    shown = joined.filter(pl.col("model") != MEAN).drop("benchmark", "tasks")
    shown = rewrite(shown, ["model"], text.model_name)
    st.dataframe(shown, hide_index=True, column_config={name: _side(name) for name in shown.columns})


def _side(name: str) -> Any:
    if name == "model":
        return st.column_config.TextColumn("model", pinned=True)
    words = name.removeprefix("published_").replace("_", " ")
    return st.column_config.NumberColumn(f"{words}, paper" if name.startswith("published_") else words, format="%.3f")


def _stacked(joined: pl.DataFrame, benchmark: str) -> pl.DataFrame:
    """Return the store's numbers and below them the paper's, told apart by the column benchmark."""
    measures = ["mean_error", "mean_incoherence", "detection_rate"]
    rows = joined.filter(pl.col("model") != MEAN)
    here = rows.select(pl.lit(benchmark).alias("benchmark"), "model", *measures)
    theirs = rows.select(
        pl.lit(f"{benchmark}, paper").alias("benchmark"),
        "model",
        *[pl.col(f"published_{name}").alias(name) for name in measures],
    )
    return pl.concat([here, theirs.drop_nulls()])


def _show_intervals(table: pl.DataFrame, chosen: Choice) -> None:
    st.subheader("95 % confidence intervals", anchor=False)
    st.markdown(
        "Each bar is a 95 % interval over tasks: the range to expect on other tasks of the same kind. It does not "
        "cover other programs or other inputs."
    )
    intervals = long_intervals(table)
    if chosen.blind:
        intervals = intervals.filter(~pl.col("measure").is_in(NEEDS_REFERENCE))
    downloads.show_chart(models_drawing(intervals), intervals, name="models")
