"""A chart on the page, and beside it the chart as svg and png and its data as csv; and nothing else."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import altair as alt
import polars as pl
import streamlit as st

from dashboard import text, theme
from difftrust_core.charts import chart_bytes

_LOCK = threading.RLock()
"""Altair keeps how data is written in one place for the whole process; every chart is written under this."""


def show_chart(
    chart: Any,
    table: pl.DataFrame,
    *,
    name: str,
    stretch: bool = True,
    selection: str | None = None,
    on_select: Callable[[Any], None] | None = None,
) -> None:
    """Draw a chart, with buttons to download it.

    ``name``: of the files, unique on the page. ``table``: the chart's data. ``stretch``: to the width of the page; a
    chart of panels never is. ``selection``: the name of the chart's selection parameter; ``on_select`` is told what is
    selected whenever a click or a box changes it: a list of points' fields, or of a box {field: [low, high]}.
    """
    drawn, key = theme.for_page(chart), f"chart:{name}"
    panels = isinstance(chart, alt.ConcatChart | alt.HConcatChart | alt.VConcatChart | alt.FacetChart)
    width: Any = "content" if panels or not stretch else "stretch"
    with _LOCK:
        if selection is None or on_select is None:
            st.altair_chart(drawn, width=width, key=key)
        else:
            told = partial(_tell, key, selection, on_select)
            st.altair_chart(drawn, width=width, key=key, on_select=told, selection_mode=[selection])
    show_downloads(chart, table, name=name)


def _tell(key: str, selection: str, on_select: Callable[[Any], None]) -> None:
    on_select(st.session_state[key]["selection"].get(selection))


def show_downloads(chart: Any, table: pl.DataFrame, *, name: str) -> None:
    """Write the buttons: the chart as svg and png, its data as csv. Files are made when they are asked for."""
    made: tuple[tuple[str, Callable[[], bytes], str], ...] = (
        ("svg", partial(as_picture, chart, ".svg"), "image/svg+xml"),
        ("png", partial(as_picture, chart, ".png"), "image/png"),
        ("csv", partial(as_csv, table), "text/csv"),
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for suffix, data, kind in made:
            st.download_button(
                suffix.upper(),
                data,
                f"{name}.{suffix}",
                kind,
                on_click="ignore",
                key=f"{name}.{suffix}",
                type="tertiary",
                icon=":material/download:",
                help=f"Download {'the data' if suffix == 'csv' else 'the chart'} as {suffix.upper()}.",
            )


def as_picture(chart: Any, suffix: str) -> bytes:
    """Return the chart on white as ``.svg`` or ``.png``."""
    with _LOCK, alt.data_transformers.disable_max_rows():
        return chart_bytes(chart, suffix)


def as_csv(table: pl.DataFrame) -> bytes:
    """Return the data as CSV; control characters of others' text made visible, list columns joined."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    lists = [name for name, kind in table.schema.items() if kind == pl.List]
    spelled = table.with_columns(
        *[pl.col(name).map_elements(text.visible, return_dtype=pl.String) for name in texts],
        *[pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists],
    )
    return spelled.write_csv().encode()
