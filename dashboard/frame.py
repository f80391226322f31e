"""What every page has: its title, the choices that all pages share, and the source of its numbers."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import streamlit as st

from dashboard import data, permissions, sharing, state, text
from dashboard.data import Choice, Source
from difftrust_core.base.records import Reading, References
from difftrust_core.datasets.audits import tasks_left_out
from difftrust_core.metrics.equality import EQUALITIES

Settings = Literal["row", "folded"]


def open_page(
    title: str,
    about: str,
    *,
    can_hide_reference: bool = False,
    names_left_out: bool = True,
    settings: Settings = "row",
) -> Choice:
    """Write a page's title and the choices that pages share; return what is chosen.

    ``title`` and ``about`` are our own text, Markdown allowed. ``can_hide_reference``: the page supports
    ``Choice.blind``, so the switch is shown. ``names_left_out``: name the models that were not executed on n inputs;
    this counts all models. ``settings``: the choices stand in a row, or behind a button that says them. Raises NoStore
    or BadStore, saying what to do.
    """
    st.title(title, anchor=False)
    if about:
        st.markdown(about)
    opened = data.open_source()
    with st.container(horizontal=True, vertical_alignment="bottom", key="settings"):
        chosen = _show_settings(opened, can_hide_reference, settings)
        sharing.show_copy_link()
        sharing.show_save_report(chosen)
    text.show_small(source(chosen))
    left_out = chosen.left_out() if names_left_out else []
    if left_out:
        names = ", ".join(map(text.model_name, left_out))
        text.show_line(f"Left out because some programs were not executed on {chosen.n:,} inputs: {names}")
    return chosen


def open_page_without_store(title: str, about: str = "") -> None:
    """Write the title of a page that shows nothing of a store, and a button that copies its link."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(title, anchor=False, width="content")
        sharing.show_copy_link()
    if about:
        st.markdown(about)


class _Widgets(NamedTuple):
    """What settings are chosen with."""

    select: Callable[..., Any]
    slide: Callable[..., Any]
    radio: Callable[..., Any]
    switch: Callable[..., Any]


_DRAWN = _Widgets(st.selectbox, st.select_slider, st.radio, st.toggle)
_UNSEEN = _Widgets(state.unseen, state.unseen, state.unseen, state.unseen_switch)


def _show_settings(opened: Source, can_hide_reference: bool, settings: Settings) -> Choice:
    if settings == "row":
        return _choose(opened, can_hide_reference, _DRAWN, rest=st.popover)
    said = _choose(opened, can_hide_reference, _UNSEEN)
    with st.popover(short(said), icon=":material/tune:", help="Change the settings of this page."):
        return _choose(opened, can_hide_reference, _DRAWN)


def _choose(
    opened: Source, can_hide_reference: bool, by: _Widgets, *, rest: Callable[[str], Any] | None = None
) -> Choice:
    """Return what the URL says, and write what changes it. ``rest``: makes the place of what few change."""
    names = data.benchmarks(opened)
    benchmark = state.choose_one(
        "Benchmark", names, name="benchmark", show=by.select, format_func=text.one_line, width=150,
        help="A benchmark is a set of tasks. All numbers of the page are over its tasks.",
    )  # fmt: skip
    policies = data.inputs_there(opened)
    inputs = None
    if len(policies) > 1:
        inputs = state.choose_one(
            "Inputs", policies, name="inputs", show=by.select, format_func=FILTERS.__getitem__, width=210,
            help="Input filter: which inputs count. What lies outside a task's domain, the task never allowed: a "
            "program that differs from the reference there is not wrong.",
        )  # fmt: skip
    temperature, m, n = _choose_sizes(replace(opened, reading=Reading(inputs=inputs)), benchmark, by)
    with rest("More") if rest else nullcontext():
        equality = state.choose_one(
            "Outcome comparison", EQUALITIES, name="equality", show=by.radio, format_func=COMPARISONS.__getitem__,
            help="Tolerant, as in the paper: numbers may differ by 0.1 %, and a list equals a tuple. Strict: Python's "
            "equality, and types must match.",
        )  # fmt: skip
        is_audited = any(tasks_left_out(name, References.AUDITED) for name in names) and state.choose_switch(
            "Leave out faulty references", name="audited", show=by.switch,
            help="Leave out tasks whose reference was judged wrong, or whose description admits several answers.",
        )  # fmt: skip
        blind = can_hide_reference and state.choose_switch(
            "Hide the reference", name="blind", show=by.switch, help="Hide everything that needs the right outcomes."
        )
    references = References.AUDITED if is_audited else References.PUBLISHED
    read = replace(opened, reading=Reading(inputs=inputs, references=references))
    return Choice(
        source=read,
        benchmark=benchmark,
        temperature=temperature,
        m=m,
        n=n,
        equality=equality,
        validity=read.store.settings().validity,
        blind=blind,
    )


def _choose_sizes(read: Source, benchmark: str, by: _Widgets) -> tuple[float, int, int]:
    """Return temperature, m and n; a slider with one stop is not drawn."""
    held = data.held(read, benchmark)
    temperature = state.choose_one(
        "Temperature", held.temperatures, name="t", default=held.usual_temperature, format_func=state.spell, width=130,
        show=by.slide if len(held.temperatures) > 1 else state.unseen,
        help="The sampling temperature: the higher, the more a model's programs differ from one another.",
    )  # fmt: skip
    counts = held.candidate_counts(temperature)
    m = state.choose_one(
        "Programs per task (m)", counts, name="m", default=held.usual_m(temperature), width=160,
        show=by.slide if len(counts) > 1 else state.unseen,
        help="How many programs of each model are compared with one another. More find more errors.",
    )  # fmt: skip
    steps = held.input_steps
    n = state.choose_one(
        "Inputs per task (n)", steps, name="n", default=held.usual_n,
        show=by.slide if len(steps) > 1 else state.unseen, format_func="{:,}".format, width=170,
        help="How many fuzzed inputs each program runs on. More find rarer errors.",
    )  # fmt: skip
    return temperature, m, n


COMPARISONS: dict[str, str] = {"paper": "tolerant (0.1 %)", "strict": "strict"}
"""Equality -> words."""
FILTERS = {
    "reference": "reference accepts",
    "domain": "inside the task's domain",
    "tests": "the benchmark's tests",
    "quorum": "half of the programs return",
    "all": "none",
}
"""Which inputs are kept -> words."""


def short(chosen: Choice) -> str:
    """Return the settings in a few words of our own."""
    return f"temperature {chosen.temperature:g} · m = {chosen.m} · n = {chosen.n:,}"


def source(chosen: Choice) -> str:
    """Return the source of a page's numbers, in one line."""
    return (
        f"Store {store_name(chosen.store.root)} · {chosen.benchmark} · temperature {chosen.temperature:g} · "
        f"m = {chosen.m} programs · n = {chosen.n:,} inputs · outcome comparison: {COMPARISONS[chosen.equality]} · "
        f"input filter: {FILTERS.get(chosen.validity, chosen.validity)} · "
        f"{'without faulty references · ' if chosen.source.reading.references == References.AUDITED else ''}"
        f"{'programs by simulated models, no LLM · ' if chosen.is_simulated else ''}"
        f"executed {chosen.source.executed}"
    )


def store_name(root: Path) -> str:
    """Return the store's folder; its name alone where others may read it."""
    return str(root) if permissions.may_execute() else root.name


def show_refusal(error: Exception) -> None:
    """Show what is wrong with the store and what to do, instead of a page."""
    st.error("This page cannot be shown.")
    text.show_code(str(error), language=None)
    st.markdown(
        "`difftrust dashboard` without `--store` opens the results that come with difftrust. Make a store of your own "
        "with `difftrust demo`, or with `difftrust import` and `difftrust execute`. If a file is damaged, delete it, "
        "run `difftrust execute` again and reload this page."
    )
