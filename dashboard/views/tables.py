"""Further tables: what to buy, signals that need no reference, and what every number means."""

import re
from functools import cache
from importlib import import_module

import streamlit as st

from dashboard import frame, state
from difftrust_core.base.files import find_shipped

PARTS = {"plan": "What to buy", "signals": "Signals without a reference", "measures": "What every number means"}
"""Part of the page, a module in ``views`` but the last -> words."""


def draw(path: str = "") -> None:
    """Draw the part that the address names; ``path``: the one where it names none."""
    part = state.choose_one(
        "Table", list(PARTS), name="part", default=path if path in PARTS else next(iter(PARTS)), show=st.radio,
        format_func=PARTS.__getitem__, horizontal=True, label_visibility="collapsed",
    )  # fmt: skip
    if part == "measures":
        frame.open_page_without_store("Measures")
        st.markdown(_measures())
    else:
        import_module(f"dashboard.views.{part}").draw()


@cache
def _measures() -> str:
    """Return the documentation's page on measures without its heading, its links to other files as words."""
    path = find_shipped("docs/measures.md", package="difftrust")
    if not path.is_file():
        return "The page is missing: install difftrust again."
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", path.read_text().partition("\n")[2])
