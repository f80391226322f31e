"""The pages, and links to them that keep the choices."""

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from dashboard import data, state, text
from dashboard.elements import in_row
from difftrust_core.exceptions import DifftrustError

REGISTERED = ("explore", "overview", "check", "tables")
"""Module in ``views`` = path in the URL; the order of the links."""
_TITLES = {"tables": "Further tables"}
"""What to call a page whose name is not its path, capitalized."""
MOVED = {
    **dict.fromkeys(("tasks", "task", "ablation"), "explore"),
    **dict.fromkeys(("plan", "signals", "measures"), "tables"),
}
"""Paths of pages that others took in: they open those, which read what their addresses say."""
HOME = "home"
"""The page without a path: the first of the others."""
_STORES = {"own": "your store", "paper": "16 LLMs, as published", "starter": "starter tasks, simulated models"}


def pages(draw: Callable[[str, str], None] = lambda *_: None) -> dict[str, StreamlitPage]:
    """Return the pages by their names, and the one that opens under HOME.

    ``draw``: draws the page of a name, as it is reached by a path; links need none.
    """
    first = REGISTERED[0]

    def page(path: str, name: str) -> StreamlitPage:
        title = _TITLES.get(name, name.capitalize())
        return st.Page(partial(draw, name, path), title=title, url_path=path, default=path == HOME)

    return {path: page(path, name) for path, name in {HOME: first, **{n: n for n in REGISTERED}, **MOVED}.items()}


def show_header(here: StreamlitPage) -> None:
    """Write the product's name, links to every page, and the choice of the store.

    The link to the page that is open changes nothing.
    """
    with in_row("header", align="center"):
        st.html('<p class="difftrust-name">difftrust</p>', width="content")
        for name in REGISTERED:
            page = pages()[name]
            is_here = page.title == here.title
            with st.container(key=f"{'here' if is_here else 'link'}-{name}", width="content"):
                parameters = state.everything() if is_here else state.shared()
                st.page_link(pages()[name], label=page.title, query_params=parameters)
        _choose_store()
        st.page_link(_PAPER, label="Paper", icon=":material/open_in_new:")


def _choose_store() -> None:
    try:
        names = list(data.stores())
    except DifftrustError:  # the page says it
        return
    if len(names) > 1:
        state.choose_one(
            "Store", names, name="store", format_func=store_title, label_visibility="collapsed", width=250,
            help="Where the programs and results come from.",
        )  # fmt: skip


def store_title(name: str) -> str:
    """Return what to call a store of the URL."""
    own = data.stores()["own"].name if name == "own" else ""
    return f"{_STORES[name]}: {text.one_line(own, most=30)}" if own else _STORES[name]


def go(name: str, **changes: Any) -> NoReturn:
    """Open a page with ``changes`` (parameter = value) as its link would, which is drawn unseen and then followed.

    Not ``st.switch_page``: it writes the next page's parameters into the history of the one that is left, so that Back
    would lead to a page that nobody saw.
    """
    with st.container(key="go"):
        st.page_link(pages()[name], label=name.capitalize(), query_params=state.shared(**changes))
        _follow(key="follow")
    st.stop()


_FOLLOW_JS = """
export default function () {
  const follow = () => {
    const link = document.querySelector('.st-key-go a');
    if (link) link.click(); else requestAnimationFrame(follow);
  };
  follow();
}
"""
_follow = st.components.v2.component("follow", html="<span></span>", js=_FOLLOW_JS)
_PAPER = "https://doi.org/10.48550/arXiv.2507.00057"
