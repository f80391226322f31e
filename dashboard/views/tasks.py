"""Every task of a benchmark as a point, to find those worth a look."""

import streamlit as st

from dashboard import frame

TITLE = "Tasks"


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, "Every task: how often programs disagree, and how often they are wrong.")
    st.dataframe(chosen.estimates().select("model", "task_id", "error", "incoherence"), hide_index=True)
