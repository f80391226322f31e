"""The models of a benchmark beside one another."""

import streamlit as st

from dashboard import downloads, frame
from difftrust_core.benchmark import table_4
from difftrust_core.charts import draw_ranking

TITLE = "Overview"


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, "Which models err, and how well their disagreements show it.")
    table = table_4(chosen.estimates())
    st.dataframe(table, hide_index=True)
    downloads.show_chart(draw_ranking(table), table, name="ranking")
