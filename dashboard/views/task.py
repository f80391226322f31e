"""One task: how its programs behave, where they part, and what that proves."""

import streamlit as st

from dashboard import frame, state, text

TITLE = "Task"


def draw() -> None:
    """Draw the page."""
    chosen = frame.open_page(TITLE, "How the programs for one task behave, and where they part.")
    names = sorted({task.task_id for task in chosen.pool.tasks})
    task = state.choose_one("Task", names, name="task", format_func=text.one_line)
    st.dataframe(chosen.estimates().filter(task_id=task), hide_index=True)
