"""The first page: the explorer of tasks, which computes each setting in the browser."""

from urllib.parse import parse_qsl

import streamlit as st

from dashboard import data, frame, navigation, state, text
from dashboard.handed_out import PATH, embedded, is_served
from difftrust.explorer.home import inputs_there, script, style

TITLE = "Explore"
_KEPT = ("store", "equality", "audited", "blind")
"""Parameters that choose what the server hands out; the explorer reads and writes the others."""
_explorer = st.components.v2.component(
    "explorer", html='<div class="difftrust-home"></div>', css=style(), js=script("export default showInStreamlit;")
)


def draw() -> None:
    """Draw the page."""
    st.html(f'<h1 class="unseen">{TITLE}</h1>')
    opened = data.open_source()
    base = st.get_option("server.baseUrlPath").strip("/")
    below = f"/{base}" if base else ""
    _explorer(
        key="explorer",
        data={
            "benchmarks": data.benchmarks(opened),
            "inputs": inputs_there(opened.store),
            "stores": _other_stores() if is_served() else [],
            "keep": list(_KEPT),
            "address": f"{below}{PATH}",
            "cubes": None if is_served() else embedded(st.query_params.to_dict()),
            "version": [str(opened.version), *(state.read_text(name) for name in _KEPT)],
        },
        on_address_change=_follow,
    )
    chosen = frame.choose_below(opened)
    text.show_small(frame.source(chosen))


def _other_stores() -> list[dict[str, str]]:
    """Return the stores that the one of the page can be compared with."""
    here = data.store_path()
    return [{"id": name, "words": navigation.store_title(name)} for name, path in data.stores().items() if path != here]


def _follow() -> None:
    """Take the address that the explorer has written, so that links to other pages keep what is chosen."""
    st.query_params.from_dict(dict(parse_qsl(st.session_state["explorer"]["address"])))
