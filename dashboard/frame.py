"""What every page has: its title, the choices that all pages share, and the source of its numbers."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from dashboard import data, permissions, state, text
from dashboard.data import Choice, Source
from difftrust_core.base.records import Reading, References
from difftrust_core.datasets.audits import tasks_left_out
from difftrust_core.datasets.published import PAPER_SETTING
from difftrust_core.metrics.equality import EQUALITIES

_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def open_page(title: str, about: str, *, can_hide_reference: bool = False, names_left_out: bool = True) -> Choice:
    """Write a page's title and the choices in the sidebar; return what is chosen.

    ``title`` and ``about`` are our own text, Markdown allowed. ``can_hide_reference``: the page supports
    ``Choice.blind``, so the switch is shown. ``names_left_out``: name the models that were not executed on n inputs;
    this counts all models. Raises NoStore or BadStore, saying what to do.
    """
    st.title(title, anchor=False)
    st.markdown(about)
    opened = data.open_source()
    with st.sidebar:
        chosen = _choose(opened, can_hide_reference)
    text.show_small(source(chosen))
    left_out = chosen.left_out() if names_left_out else []
    if left_out:
        names = ", ".join(map(text.model_name, left_out))
        text.show_line(f"Left out because some programs were not executed on {chosen.n:,} inputs: {names}")
    return chosen


def _choose_reading(opened: Source) -> Source:
    """Return the source as it is to be read; nothing is asked where there is one answer."""
    policies = data.inputs_there(opened)
    inputs = None
    if len(policies) > 1:
        inputs = state.choose_one(
            "Inputs", policies, name="inputs", show=st.radio, format_func=FILTERS.__getitem__,
            help="Which inputs count. What lies outside the task's domain, the task never allowed: programs that "
            "differ there are not wrong.",
        )  # fmt: skip
    has_faults = any(tasks_left_out(name, References.AUDITED) for name in data.benchmarks(opened))
    is_audited = has_faults and state.choose_switch(
        "Leave out faulty references",
        name="audited",
        help="Leave out tasks whose reference was judged wrong, or whose description admits several answers.",
    )
    references = References.AUDITED if is_audited else References.PUBLISHED
    return replace(opened, reading=Reading(inputs=inputs, references=references))


def _choose(opened: Source, can_hide_reference: bool) -> Choice:
    opened = _choose_reading(opened)
    names = data.benchmarks(opened)
    benchmark = state.choose_one("Benchmark", names, name="benchmark", format_func=text.one_line)
    held = data.held(opened, benchmark)
    usual = PAPER_SETTING.temperature if PAPER_SETTING.temperature in held.temperatures else held.temperatures[0]
    temperature = state.choose_one("Temperature", held.temperatures, name="t", default=usual, format_func=state.spell)
    counts = range(2, max(held.most_candidates[temperature], 2) + 1)
    inputs = [step for step in _STEPS if step < held.most_inputs] + [held.most_inputs]
    usual_m, usual_n = min(PAPER_SETTING.m, counts[-1]), max(i for i in inputs if i <= max(PAPER_SETTING.n, inputs[0]))
    m = state.choose_one("Programs per task (m)", counts, name="m", default=usual_m, show=st.select_slider)
    n = state.choose_one(
        "Inputs per task (n)", inputs, name="n", default=usual_n, show=st.select_slider, format_func="{:,}".format
    )
    equality = state.choose_one(
        "Outcome comparison", EQUALITIES, name="equality", show=st.radio, format_func=COMPARISONS.__getitem__,
        help="Tolerant, as in the paper: numbers may differ by 0.1 %, and a list equals a tuple. Strict: Python's "
        "equality, and types must match.",
    )  # fmt: skip
    blind = can_hide_reference and state.choose_switch(
        "Hide the reference", name="blind", help="Hide everything that needs the right outcomes."
    )
    return Choice(
        source=opened,
        benchmark=benchmark,
        temperature=temperature,
        m=m,
        n=n,
        equality=equality,
        validity=opened.store.settings().validity,
        blind=blind,
    )


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


def source(chosen: Choice) -> str:
    """Return the source of a page's numbers, in one line."""
    return (
        f"Store {store_name(chosen.store.root)} · {chosen.benchmark} · temperature {chosen.temperature:g} · "
        f"m = {chosen.m} programs · n = {chosen.n:,} inputs · outcome comparison: {COMPARISONS[chosen.equality]} · "
        f"input filter: {FILTERS.get(chosen.validity, chosen.validity)} · "
        f"{'without faulty references · ' if chosen.source.reading.references == References.AUDITED else ''}"
        f"results of {chosen.source.written:%Y-%m-%d %H:%M} UTC"
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
