"""Buttons that pass on what is on the screen: its link, and a report in one file."""

from functools import partial

import streamlit as st

from dashboard import data, state
from dashboard.data import Choice

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


def show_copy_link() -> None:
    """Write a button that copies the address of the page, which holds all that is chosen."""
    _copy_link(key="copy_link", width="content", height="content")


def show_save_report(chosen: Choice) -> None:
    """Write a button that makes and downloads the report of what is chosen; not while the reference is hidden.

    On the page of a task it is the report of that task.
    """
    if chosen.blind:
        return
    st.download_button(
        "Save report",
        partial(_report, chosen, state.read_text("task"), tuple(st.query_params.get_all("model"))),
        "difftrust-report.html",
        "text/html",
        on_click="ignore",
        help="One HTML file that opens without a network. It takes some seconds to make.",
    )


def _report(chosen: Choice, task_id: str, models: tuple[str, ...]) -> bytes:
    from difftrust_core.report.page import report_html
    from difftrust_core.report.study import Study

    known = task_id in data.task_names(chosen)
    return report_html(
        Study(store=chosen.store, is_published=chosen.source.is_shipped),
        benchmark=chosen.benchmark,
        temperature=chosen.temperature,
        m=chosen.m,
        n=chosen.n,
        equality=chosen.equality,
        task_id=task_id if known else None,
        models=tuple(model for model in models if model in chosen.models) if known else (),
    )
