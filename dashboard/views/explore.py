"""The first page: the explorer of tasks, which computes each setting in the browser."""

from urllib.parse import parse_qsl

import streamlit as st

from dashboard import data, first_page, frame
from dashboard.handed_out import is_served
from difftrust.explorer.home import script, style

TITLE = "Explore"
_FETCHED = """
export default (component) => {
  import(`${window.location.origin}${component.data[0].script}`).then((module) => module.showInStreamlit(component));
};
"""
_explorer = st.components.v2.component(
    "explorer",
    html='<div class="difftrust-home"></div>',
    css=style(),
    js=_FETCHED if is_served() else script("export default showInStreamlit;"),
)


def draw() -> None:
    """Draw the page."""
    st.html(f'<h1 class="unseen">{TITLE}</h1>')
    home = first_page.home_of(st.query_params.to_dict())
    # A list: of a dictionary Streamlit asks pandas, which it loads for it, whether it holds tables.
    _explorer(key="explorer", data=[home], on_address_change=_follow)
    frame.choose_below(data.open_source())


def _follow() -> None:
    """Take the address that the explorer has written, so that links to other pages keep what is chosen."""
    st.query_params.from_dict(dict(parse_qsl(st.session_state["explorer"]["address"])))
