"""The script that Streamlit runs: it draws the page of the URL, or says what is wrong with the store."""

import importlib
import logging
import sys
from pathlib import Path

sys.path[:0] = [folder for folder in [str(Path(__file__).resolve().parents[1])] if folder not in sys.path]

import streamlit as st

from dashboard import frame, navigation, state, theme
from difftrust_core.exceptions import DifftrustError


def draw(name: str, path: str) -> None:
    """Draw a page, reached by a path; its code is loaded when it is drawn."""
    view = importlib.import_module(f"dashboard.views.{name}")
    if path == name or not hasattr(view, "PARTS"):  # not one expression: Streamlit would print what it returns
        view.draw()
    else:
        view.draw(path)


st.set_page_config(page_title="difftrust", layout="wide", initial_sidebar_state="collapsed")
theme.set_style()
page = st.navigation(list(navigation.pages(draw).values()), position="hidden")
state.show_in_url()
navigation.show_header(page)
try:
    page.run()
except DifftrustError as e:
    frame.show_refusal(e)
except (OSError, MemoryError) as e:  # a store that goes away or is damaged under our hands
    logging.getLogger(__name__).exception("a page could not be drawn")
    frame.show_refusal(e)
