"""What every page has: its title, the choices that all pages share, and the source of its numbers."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from dashboard import data, permissions, state, text
from dashboard.data import Choice, Source
from dashboard.elements import in_row
from dashboard.handed_out import report
from difftrust.explorer.cube import EQUALITIES_IN_WORDS, INPUTS_IN_WORDS, executed_on, input_stops
from difftrust.shipped import PAPER_SETTING, usual_temperature
from difftrust_core.base.records import Reading, References
from difftrust_core.datasets.audits import tasks_left_out
from difftrust_core.metrics.equality import EQUALITIES


def open_page(
    title: str,
    about: str,
    *,
    can_hide_reference: bool = False,
    names_left_out: bool = True,
) -> Choice:
    """Write a page's title and the choices that pages share; return what is chosen.

    ``title`` and ``about`` are our own text, Markdown allowed. ``can_hide_reference``: the page supports
    ``Choice.blind``, so the switch is shown. ``names_left_out``: name the models without m programs executed on n
    inputs; this counts all models. Raises NoStore or BadStore, saying what to do.
    """
    st.title(title, anchor=False)
    if about:
        st.markdown(about)
    opened = data.open_source()
    with in_row("settings"):
        chosen = _choose(opened, can_hide_reference)
        _show_copy_link()
        _show_save_report(chosen)
    text.show_small(source(chosen))
    left_out = chosen.left_out() if names_left_out else []
    if left_out:
        names = ", ".join(map(text.model_name, left_out))
        size = f"{chosen.m} programs executed on {chosen.n:,} inputs of every task"
        text.show_sentence(f"Left out, without {size}: {names}")
    return chosen


def open_page_without_store(title: str, about: str = "") -> None:
    """Write the title of a page that shows nothing of a store, and a button that copies its link."""
    with in_row(align="center"):
        st.title(title, anchor=False, width="content")
        _show_copy_link()
    if about:
        st.markdown(about)


def _choose(opened: Source, can_hide_reference: bool) -> Choice:
    """Return what the URL says, and write what changes it."""
    names = data.benchmarks(opened)
    benchmark = state.choose_one(
        "Benchmark", names, name="benchmark", format_func=text.one_line, width=150,
        help="A benchmark is a set of tasks. All numbers of the page are over its tasks.",
    )  # fmt: skip
    policies = data.inputs_there(opened)
    inputs = None
    if len(policies) > 1:
        inputs = state.choose_one(
            "Inputs", policies, name="inputs", format_func=INPUTS_IN_WORDS.__getitem__, width=210,
            help="Input filter: which inputs count. What lies outside a task's domain, the task never allowed: a "
            "program that differs from the reference there is not wrong.",
        )  # fmt: skip
    temperature, m, n = _choose_sizes(replace(opened, reading=Reading(inputs=inputs)), benchmark)
    with st.popover("More"):
        equality, references, blind = _choose_rules(names, can_hide_reference)
    read = replace(opened, reading=Reading(inputs=inputs, references=references))
    return Choice(
        source=read,
        benchmark=benchmark,
        temperature=temperature,
        m=m,
        n=n,
        equality=equality,
        blind=blind,
    )


def choose_below(opened: Source) -> None:
    """Write what few change, and where the numbers come from, below the explorer, which shows the rest."""
    with st.popover("More"):
        equality, references, _ = _choose_rules(data.benchmarks(opened), True)
    text.show_small(
        f"Store {store_name(opened.root)} · outcome comparison: {EQUALITIES_IN_WORDS[equality]} · "
        f"{_WITHOUT_FAULTY if references == References.AUDITED else ''}executed {executed_on(opened.store)}"
    )


def _choose_rules(names: list[str], can_hide_reference: bool) -> tuple[str, References, bool]:
    """Return how outcomes are compared, which references count, and whether the reference is hidden."""
    equality = state.choose_one(
        "Outcome comparison", EQUALITIES, name="equality", show=st.radio, format_func=EQUALITIES_IN_WORDS.__getitem__,
        help="Tolerant, as in the paper: numbers may differ by 0.1 %, and a list equals a tuple. Strict: Python's "
        "equality, and types must match.",
    )  # fmt: skip
    is_audited = any(tasks_left_out(name, References.AUDITED) for name in names) and state.choose_switch(
        "Leave out faulty references", name="audited",
        help="Leave out tasks whose reference was judged wrong, or whose description admits several answers.",
    )  # fmt: skip
    blind = can_hide_reference and state.choose_switch(
        "Hide the reference", name="blind", help="Hide everything that needs the right outcomes."
    )
    return equality, References.AUDITED if is_audited else References.PUBLISHED, blind


def _choose_sizes(read: Source, benchmark: str) -> tuple[float, int, int]:
    """Return temperature, m and n."""
    held, paper = data.held(read, benchmark), PAPER_SETTING
    temperature = state.choose_one(
        "Temperature", held.temperatures, name="t", format_func=state.spell, width=130, show=st.select_slider,
        default=usual_temperature(held.temperatures),
        help="The sampling temperature: the higher, the more a model's programs differ from one another.",
    )  # fmt: skip
    counts = range(2, max(held.most_candidates[temperature], 2) + 1)
    m = state.choose_one(
        "Programs per task (m)", counts, name="m", default=min(paper.m, counts[-1]), width=160,
        show=st.select_slider,
        help="How many programs of each model are compared with one another. More find more errors.",
    )  # fmt: skip
    steps = input_stops(held.most_inputs)
    n = state.choose_one(
        "Inputs per task (n)", steps, name="n", default=max(step for step in steps if step <= max(paper.n, steps[0])),
        show=st.select_slider, format_func="{:,}".format, width=170,
        help="How many fuzzed inputs each program runs on. More find rarer errors.",
    )  # fmt: skip
    return temperature, m, n


_WITHOUT_FAULTY = "without faulty references · "


def source(chosen: Choice) -> str:
    """Return the source of a page's numbers, in one line."""
    return (
        f"Store {store_name(chosen.store.root)} · {chosen.benchmark} · temperature {chosen.temperature:g} · "
        f"m = {chosen.m} programs · n = {chosen.n:,} inputs · "
        f"outcome comparison: {EQUALITIES_IN_WORDS[chosen.equality]} · "
        f"input filter: {INPUTS_IN_WORDS.get(chosen.validity, chosen.validity)} · "
        f"{_WITHOUT_FAULTY if chosen.source.reading.references == References.AUDITED else ''}"
        f"{'programs by simulated models, no LLM · ' if chosen.is_simulated else ''}"
        f"executed {executed_on(chosen.store)}"
    )


def store_name(root: Path) -> str:
    """Return the store's folder; its name alone where others may read it."""
    return str(root) if permissions.may_execute() else root.name


def show_error(what: str, error: Exception) -> None:
    """Show what cannot be done, and why."""
    st.error(what)
    text.show_code(data.why(error), language=None)


def show_refusal(error: Exception) -> None:
    """Show what is wrong with the store and what to do, instead of a page."""
    show_error("This page cannot be shown.", error)
    st.markdown(
        "`difftrust dashboard` without `--store` opens the results that come with difftrust. Make a store of your own "
        "with `difftrust demo`, or with `difftrust import` and `difftrust execute`. If a file is damaged, delete it, "
        "run `difftrust execute` again and reload this page."
    )


_COPY_HTML = '<button type="button"><span aria-live="polite">Copy link</span></button>'
_COPY_CSS = """
button { font: inherit; font-size: 0.9rem; height: 2.5rem; padding: 0 0.8rem; cursor: pointer; white-space: nowrap;
  color: var(--st-text-color); background: transparent; border: 1px solid #80808080; border-radius: 0.5rem; }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
"""
# Outside localhost a page without TLS has no clipboard: then the link is selected in a field for Ctrl-C.
_COPY_JS = """
export default function (component) {
  const button = component.parentElement.querySelector('button'), said = button.querySelector('span');
  const say = words => { said.textContent = words; setTimeout(() => { said.textContent = 'Copy link'; }, 2000); };
  button.onclick = async () => {
    const link = window.location.href;
    try {
      await navigator.clipboard.writeText(link);
      say('Copied');
    } catch (refused) {
      window.prompt('The link to this page', link);
    }
  };
}
"""
_copy_link = st.components.v2.component("copy_link", html=_COPY_HTML, css=_COPY_CSS, js=_COPY_JS)


def _show_copy_link() -> None:
    """Write a button that copies the address of the page, which holds all that is chosen."""
    _copy_link(key="copy_link", width="content", height="content")


def _show_save_report(chosen: Choice) -> None:
    """Write a button that makes and downloads the report of what is chosen; not while the reference is hidden."""
    if chosen.blind:
        return
    st.download_button(
        "Save report",
        partial(
            report, chosen.source, chosen.benchmark,
            temperature=chosen.temperature, m=chosen.m, n=chosen.n, equality=chosen.equality,
        ),
        "difftrust-report.html",
        "text/html",
        on_click="ignore",
        help="One HTML file that opens without a network. It takes some seconds to make.",
    )  # fmt: skip
