"""Elements that pages are made of: headings, rows of widgets, tables, buttons that step through a list."""

from typing import Any

import streamlit as st


def heading(title: str) -> None:
    """Write the title of a part of a page."""
    st.subheader(title, anchor=False)


def in_row(key: str | None = None, *, align: str = "bottom", **drawn: Any) -> Any:
    """Return a container whose elements stand beside one another, as many as fit; for ``with``."""
    return st.container(horizontal=True, vertical_alignment=align, key=key, **drawn)  # type: ignore[arg-type]


def show_table(table: Any, columns: Any = None, *, rows: int | None = None, **drawn: Any) -> Any:
    """Write a table, ``rows`` of it seen at once (None: as Streamlit has it); return what Streamlit does."""
    if rows is not None:
        drawn["height"] = 38 + 35 * min(len(table), rows)
    return st.dataframe(table, hide_index=True, column_config=columns, **drawn)


def pick_row(table: Any, columns: Any, *, key: str, **drawn: Any) -> int | None:
    """Write a table of which a row can be selected; return the place of the one that is."""
    # Not a cell: the Tab key would select one, and open a page unasked.
    event = show_table(table, columns, on_select="rerun", selection_mode="single-row", key=key, **drawn)
    return next(iter(event["selection"]["rows"]), None)
