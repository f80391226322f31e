"""What every page has: its title, the choices that all pages share, and where its numbers come from."""

from pathlib import Path

import streamlit as st

from dashboard import data, sharing, state, text
from dashboard.data import Choice
from difftrust_core.results import EQUALITIES
from difftrust_core.store import Store

_M, _N = 10, 1_000
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def open_page(title: str, about: str, *, can_hide_reference: bool = False, names_left_out: bool = True) -> Choice:
    """Write a page's title and the choices in the sidebar; return what is chosen.

    ``title`` and ``about`` are words of our own, Markdown allowed. ``can_hide_reference``: the page knows what to do
    with ``Choice.blind``, so the switch is there. ``names_left_out``: say which models were not executed that far;
    that counts all of them. Raises NoStore or BadStore, saying what to do.
    """
    st.title(title, anchor=False)
    st.markdown(about)
    store, version = data.open_store()
    with st.sidebar:
        chosen = _choose(store, version, can_hide_reference)
    _show_source(chosen)
    left_out = chosen.left_out() if names_left_out else []
    if left_out:
        text.show_line(f"Left out, for not every program was executed on {chosen.n:,} inputs: {', '.join(left_out)}")
    return chosen


def _choose(store: Store, version: data.Version, can_hide_reference: bool) -> Choice:
    names = data.benchmarks(store, version, str(store.root))
    benchmark = state.choose_one("Benchmark", names, name="benchmark", format_func=text.one_line)
    held = data.held(store, version, str(store.root), benchmark)
    usual = 0.6 if 0.6 in held.temperatures else held.temperatures[0]
    temperature = state.choose_one("Temperature", held.temperatures, name="t", default=usual, format_func=state.spell)
    counts = range(2, max(held.most_candidates[temperature], 2) + 1)
    inputs = [step for step in _STEPS if step < held.most_inputs] + [held.most_inputs]
    m = state.choose_one("Programs a task (m)", counts, name="m", default=min(_M, counts[-1]), show=st.select_slider)
    n = state.choose_one(
        "Inputs a program (n)", inputs, name="n", default=max(i for i in inputs if i <= max(_N, inputs[0])),
        show=st.select_slider, format_func="{:,}".format,
    )  # fmt: skip
    equality = state.choose_one(
        "Outcomes agree", EQUALITIES, name="equality", show=st.radio, format_func=_EQUALITY_WORDS.__getitem__,
        help="`paper`: numbers within 0.1 %, a list and a tuple. `strict`: Python's equality, with types.",
    )  # fmt: skip
    blind = can_hide_reference and state.choose_switch(
        "Without a reference", name="blind", help="Hide everything that needs to know what is right."
    )
    return Choice(
        store=store,
        version=version,
        benchmark=benchmark,
        temperature=temperature,
        m=m,
        n=n,
        equality=equality,
        validity=store.settings().validity,
        blind=blind,
    )


_EQUALITY_WORDS = {"paper": "as in the paper", "strict": "strictly"}


def source(chosen: Choice) -> str:
    """Return where the numbers of a page come from, in one line."""
    return (
        f"Store {store_name(chosen.store.root)} · {chosen.benchmark} · temperature {chosen.temperature:g} · "
        f"m = {chosen.m} programs · n = {chosen.n:,} inputs · equality {chosen.equality} · "
        f"inputs kept by {chosen.validity} · results of {data.written(chosen.version):%Y-%m-%d %H:%M} UTC"
    )


def store_name(root: Path) -> str:
    """Return the store's folder; its name alone where others may read it."""
    return str(root) if sharing.may_execute() else root.name


def _show_source(chosen: Choice) -> None:
    text.show_small(source(chosen))


def show_refusal(error: Exception) -> None:
    """Write what is wrong with the store and what to do, instead of a page."""
    st.error("This page cannot be shown.")
    text.show_code(str(error), language=None)
    st.markdown(
        "`difftrust dashboard` without `--store` opens the results that come with difftrust. A store of your own is "
        "made by `difftrust demo`, or by `difftrust import` and `difftrust execute`. A damaged file: delete it and run "
        "`difftrust execute` again; then reload this page."
    )
