"""What every number means: the documentation's page on measures."""

import re
from functools import cache

import streamlit as st

from dashboard import frame
from difftrust_core.base.files import find_shipped

TITLE = "Measures"


def draw() -> None:
    """Draw the page."""
    frame.open_page_without_store(TITLE)
    st.markdown(_words())


@cache
def _words() -> str:
    """Return the page without its heading, its links to other files as words."""
    path = find_shipped("docs/measures.md", package="difftrust")
    if not path.is_file():
        return "The page is missing: install difftrust again."
    body = path.read_text().partition("\n")[2]
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", body)
