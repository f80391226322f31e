"""A chart on the page, and below it the chart as SVG and PNG and its data as CSV."""

import threading
from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from typing import Any

import altair as alt
import polars as pl
import streamlit as st

from dashboard import text, theme
from difftrust_core.base.text import as_cell
from difftrust_core.report.charts.export import chart_bytes
from difftrust_core.report.charts.template import Drawing
from difftrust_core.store.schemas import rewrite

_LOCK = threading.RLock()
"""Altair keeps its theme and how data is written in one place for the whole process; charts are written under this."""
_SHAPES = 512


def show_chart(
    drawing: Drawing,
    table: pl.DataFrame | None,
    *,
    name: str,
    stretch: bool = True,
    selection: str | None = None,
    on_select: Callable[[Any], None] | None = None,
) -> None:
    """Draw a chart, with buttons to download it and its data, ``table``; None: the caller writes the buttons.

    ``name``: of the files, unique on the page. ``stretch``: to the width of the page; a chart of panels never is.
    ``selection``: the name of the chart's selection parameter; ``on_select`` is told what is selected whenever a click
    or a box changes it: a list of points' fields, or of a box {field: [low, high]}.
    """
    shape, key = _shape(drawing.shape, drawing.options, theme.is_dark()), f"chart:{name}"
    width: Any = "content" if theme.has_panels(shape) or not stretch else "stretch"
    told: Any = "ignore" if selection is None or on_select is None else partial(_tell, key, selection, on_select)
    # Named data: the browser keeps a chart whose shape is the same, and moves its marks.
    spec = {**shape, "datasets": dict(drawing.data)}
    st.vega_lite_chart(spec=spec, width=width, key=key, on_select=told, selection_mode=selection)
    if table is not None:
        show_downloads(lambda: drawing, table, name=name)


@lru_cache(maxsize=_SHAPES)
def _shape(shape: Callable[..., Any], options: tuple[tuple[str, Hashable], ...], is_dark: bool) -> dict[str, Any]:
    """Return the Vega-Lite of a chart for the page, its tables named only; never changed, for all sessions share it."""
    with _LOCK, alt.theme.enable("none"):  # the page has a look of its own
        # Not checked against the schema: the tests of the charts do.
        spec: dict[str, Any] = shape(**dict(options)).to_dict(validate=False)
    return theme.for_page(spec, is_dark=is_dark)


def _tell(key: str, selection: str, on_select: Callable[[Any], None]) -> None:
    on_select(st.session_state[key]["selection"].get(selection))


@st.fragment
def show_downloads(make: Callable[[], Drawing], table: pl.DataFrame, *, name: str, about: str | None = None) -> None:
    """Write a button that opens to three: the chart that ``make`` returns as svg and png, its data as csv.

    ``about``: what these are, where it is not plain. The three are on the page while it is open, and files are made
    when they are asked for: each element of a page costs every change of it milliseconds.
    """
    with st.popover(
        "Download", key=f"download:{name}", type="tertiary", icon=":material/download:", on_change="rerun", help=about
    ) as opened:
        if opened.open:
            _show_buttons(make(), table, name)


def _show_buttons(drawing: Drawing, table: pl.DataFrame, name: str) -> None:
    made: tuple[tuple[str, Callable[[], bytes], str], ...] = (
        ("svg", partial(as_picture, drawing, ".svg"), "image/svg+xml"),
        ("png", partial(as_picture, drawing, ".png"), "image/png"),
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


def as_picture(drawing: Drawing, suffix: str) -> bytes:
    """Return the chart on white as ``.svg`` or ``.png``."""
    with _LOCK, alt.data_transformers.disable_max_rows():
        return chart_bytes(drawing.chart(), suffix)


def as_csv(table: pl.DataFrame) -> bytes:
    """Return the data as CSV; control characters of others' text made visible, no formulas, list columns joined."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    lists = [name for name, kind in table.schema.items() if kind == pl.List]
    spelled = table.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists)
    return rewrite(spelled, [*texts, *lists], lambda cell: as_cell(text.visible(cell))).write_csv().encode()
