"""The models of a benchmark side by side."""

from typing import Any

import polars as pl
import streamlit as st

from dashboard import downloads, frame, navigation, state, text
from dashboard.data import Choice, kept, passed_tests
from dashboard.downloads import Drawn
from dashboard.elements import heading, show_table
from difftrust.figures.ranking import PICKED, draw_ranking
from difftrust.research.coders import MEAN
from difftrust.research.passed_tests import ALL
from difftrust.shipped import in_published_set, load_published
from difftrust.tables.interval_columns import HIGH, LOW
from difftrust.tables.names import rewrite
from difftrust.tables.page_table import Measure, page_table
from difftrust.tables.readings import alarm_rates, judge_alarms
from difftrust.tables.request import TableRequest
from difftrust.tables.sentences import (
    DOLLARS,
    LOWER_BOUND,
    NEEDS_REFERENCE,
    SILENT,
    against_published,
    compare,
    headlines,
    in_words,
)
from difftrust_core.base.records import References, Validity

TITLE = "Overview"
_ABOUT = (
    "Where do programs written by LLMs go wrong, and how much of it can one see without a reference? Each model wrote "
    "several programs for each task; all of them ran on the same inputs."
)
_COLUMNS = {
    "tasks": Measure("tasks", "Tasks measured."),
    "precision": Measure(
        "precision",
        "Of the model's alarms (tasks on which two of its programs differ on some input, or one does not load), the "
        "share that are right: a program is wrong on an input that the task allows, and the description does not admit "
        "both answers.",
    ),
    "recall": Measure(
        "recall",
        "Of the tasks on which the model errs, the share with an alarm. It counts every pair of programs; detected is "
        "the same with one random pair of them per input, as in the paper.",
    ),
    SILENT: Measure(
        "wrong, all agree",
        "Share of the tasks that are wrong although all programs of the model agree: no comparison of its own programs "
        "can find these errors.",
    ),
    "passed_tests": Measure(
        "pass@1, tests",
        "Share of programs that pass all tests of their task, on average over tasks; the other columns are measured on "
        "other inputs. No bound links it with incoherence there.",
    ),
    "usd_per_1000": Measure(
        "$ per 1,000 tasks",
        "US dollars for m programs of each of 1,000 tasks, at list prices; ≥ where reasoning was not recorded.",
    ),
}
_BARS = ("pass_at_1", "passed_tests")
_SHOWN = (
    *("model", "tasks", "mean_error", "mean_incoherence", "detection_rate", "precision", "recall", SILENT),
    *(*_BARS, "usd_per_1000"),
)
_HIDDEN = {*NEEDS_REFERENCE, "passed_tests"}
_PICKED = "overview:picked"
"""Of the session: the model of the point that was clicked; its page opens before this one is drawn."""


def draw() -> None:
    """Draw the page."""
    if picked := st.session_state.pop(_PICKED, None):
        navigation.go("explore", model=picked)
    chosen = frame.open_page(TITLE, _ABOUT, can_hide_reference=True)
    tasks = chosen.estimates()
    if tasks.is_empty():
        st.info("No model was executed on that many inputs; choose fewer above.")
        return
    everywhere = {model for models in chosen.held.models.values() for model in models}
    absent = sorted(everywhere - set(chosen.models), key=text.model_name)
    if absent:
        names = ", ".join(map(text.model_name, absent))
        text.show_sentence(f"Not recorded at temperature {chosen.temperature:g}, so not compared: {names}")
    table, sentences = _compare(chosen, chosen.blind)
    table = _without_reference(table) if chosen.blind else table
    known = not chosen.blind and not table["mean_error"].is_null().all()
    text.show_numbers(headlines(table, with_reference=known))
    if known:
        _show_ranking(tasks, table, chosen)
    _show_table(table, absent)
    for sentence in sentences:
        text.show_sentence(sentence)


def _without_reference(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table without what needs the reference, and in an order that does not tell of it."""
    return table.select(pl.exclude([f"^{name}.*$" for name in sorted(_HIDDEN)])).sort("mean_incoherence", "model")


@kept()
def _compare(chosen: Choice, blind: bool) -> tuple[pl.DataFrame, list[str]]:
    tasks = chosen.estimates()
    table = _with_alarms(_with_tests(compare(tasks), tasks, chosen), tasks, chosen)
    return table, in_words(tasks, table=table, with_reference=not blind)


def _with_tests(table: pl.DataFrame, tasks: pl.DataFrame, chosen: Choice) -> pl.DataFrame:
    """Add the share of programs that pass all tests, on average over the tasks that are measured."""
    passed = passed_tests(chosen).filter(tests=ALL).join(tasks, on=["model", "task_id"], how="semi")
    means = passed.group_by("model").agg(passed_tests=pl.col("passed").mean())
    return table.join(means, on="model", how="left", maintain_order="left")


def _with_alarms(table: pl.DataFrame, tasks: pl.DataFrame, chosen: Choice) -> pl.DataFrame:
    """Add precision and recall of an alarm, with intervals, where results inside the domain are recorded."""
    inside = chosen.on(Validity.DOMAIN)
    if inside is None:
        return table
    request = TableRequest(store=chosen.source.root)
    rates = alarm_rates(judge_alarms(tasks, inside.estimates()), request)
    ends = [f"{name}{end}" for name in ("precision", "recall") for end in ("", LOW, HIGH)]
    return table.join(rates.select("model", *ends), on="model", how="left", maintain_order="left")


def _show_table(table: pl.DataFrame, absent: list[str]) -> None:
    """Write the models side by side, and below, greyed, those of which nothing is recorded at the temperature."""
    table = table.rename(DOLLARS)
    same = table["tasks"].n_unique() == 1
    names = [name for name in _SHOWN if name in table.columns and table[name].null_count() < table.height]
    names = [name for name in names if name != "tasks" or not same]
    with_ends = (f"{name}{end}" for name in names for end in ("", LOW, HIGH, "_is_lower_bound"))
    models = pl.DataFrame({"model": absent}, schema={"model": pl.String})
    shown = pl.concat([table.select(name for name in with_ends if name in table.columns), models], how="diagonal")
    event = show_table(
        rewrite(shown, ["model"], text.model_name), _COLUMNS, bars=_BARS, absent=len(absent), key="models",
        on_select="rerun", selection_mode="single-row",  # not a cell: the Tab key would select one, and open a page
    )  # fmt: skip
    for picked in event["selection"]["rows"]:
        navigation.go("explore", model=[*table["model"], *absent][picked])
    counted = f"All numbers are over the same {table['tasks'][0]:,} tasks. " if same else ""
    bounds = f" {LOWER_BOUND}." if table["usd_per_1000_is_lower_bound"].any() else ""
    text.show_small(f"{counted}Select a row to see its model's tasks, click a column header to sort.{bounds}")
    text.show_small(
        "In brackets: 95 % confidence intervals over tasks, the range to expect on other tasks of the same kind. They "
        "do not cover other programs or other inputs."
    )


@kept()
def _chart(chosen: Choice) -> tuple[Drawn, pl.DataFrame]:
    """Return the chart of models and its data; placing the names takes longest."""
    table, _ = _compare(chosen, False)
    shown = rewrite(table.with_columns(id="model"), ["model"], text.model_name)
    return Drawn(draw_ranking(shown, width=700, height=380, is_fluid=True)), table


def _show_ranking(tasks: pl.DataFrame, table: pl.DataFrame, chosen: Choice) -> None:
    heading("Models by error and incoherence")
    drawn, data = _chart(chosen)
    downloads.show_chart(drawn, data, name="ranking", selection=PICKED, on_select=_pick)
    text.show_small(
        "A point is a model, its cross the 95 % interval over tasks, its colour the maker's family. Further down: "
        "fewer errors. Further left: its programs agree more, which nobody needs a reference to see. The grey region "
        "is impossible: error is never below half the incoherence. Click a point to see the model's tasks; where a "
        "name has no room, hover over the point."
    )
    published = load_published("table_4").filter(benchmark=chosen.benchmark)
    as_published = chosen.validity == Validity.REFERENCE and chosen.source.reading.references == References.PUBLISHED
    has_published = as_published and not published.join(tasks, on="model", how="semi").is_empty()
    if has_published and state.choose_switch("Compare with the paper", name="published"):
        _show_published(tasks, published)


def _pick(picked: Any) -> None:
    """Remember the model that was clicked; a page cannot be opened from here."""
    if picked and picked[0].get("id"):
        st.session_state[_PICKED] = picked[0]["id"]


def _show_published(tasks: pl.DataFrame, published: pl.DataFrame) -> None:
    joined, differences = against_published(in_published_set(tasks), published.drop("model_in_paper"))
    spelled = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in differences.items())
    st.markdown(
        "The paper used m = 10, n = 1,000 and temperature 0.6. Only the published tasks are counted here. "
        f"Mean absolute difference: {spelled}."
    )
    shown = joined.filter(pl.col("model") != MEAN).drop("benchmark", "tasks")
    st.html(page_table(rewrite(shown, ["model"], text.model_name)))
