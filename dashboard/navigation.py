"""The pages, and links to them that keep the choices."""

import importlib
from typing import Any

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dashboard import state

REGISTERED = ("overview", "tasks", "task", "ablation", "check", "signals")
"""Module in ``views`` = path in the URL; the order of the links."""


def pages() -> dict[str, StreamlitPage]:
    """Return the pages by their names, the first of them the one that opens."""
    views = {name: importlib.import_module(f"dashboard.views.{name}") for name in REGISTERED}
    return {
        name: st.Page(view.draw, title=view.TITLE, url_path=name, default=name == REGISTERED[0])
        for name, view in views.items()
    }


def show_links(here: StreamlitPage) -> None:
    """Write the links to every page at the top of the sidebar; the one to the page that is open changes nothing."""
    with st.sidebar:
        for page in pages().values():
            parameters = state.everything() if page.title == here.title else state.shared()
            st.page_link(page, label=page.title, query_params=parameters)


def show_link(name: str, label: str, **changes: Any) -> None:
    """Write a link to a page with the choices that all pages share, and with ``changes`` (parameter = value).

    ``label`` is Markdown to Streamlit: our own text only, never a name from a store.
    """
    st.page_link(pages()[name], label=label, query_params=state.shared(**changes))


def go(name: str, **changes: Any) -> None:
    """Open a page as its link would."""
    st.switch_page(pages()[name], query_params=state.shared(**changes))
