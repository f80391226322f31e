"""A chart on the page, and below it the chart as SVG and PNG and its data as CSV."""

import pandas  # noqa: F401  isort: skip  (whole, before Altair: while another session loads it, Altair trips over it)
import difftrust.figures  # noqa: F401  isort: skip  (it makes Altair quick to load)

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import altair as alt
import polars as pl
import streamlit as st

from dashboard import theme
from dashboard.elements import in_row
from difftrust.figures.chart_file import chart_bytes
from difftrust.tables.names import rewrite
from difftrust.text import as_cell, visible

_LOCK = threading.RLock()
"""Altair keeps its theme and how data is written in one place for the whole process; charts are written under this."""


class Drawn:
    """A chart, and how pages show it; kept by pages that draw many, for writing one out takes tens of milliseconds."""

    def __init__(self, chart: Any) -> None:
        self.chart = chart
        self._specs: dict[bool, dict[str, Any]] = {}

    def spec(self, *, is_dark: bool) -> dict[str, Any]:
        """Return the Vega-Lite of the chart for the page; never changed, for all sessions share it.

        Its tables are numbered: the browser keeps a chart of which only they change, and moves its marks.
        """
        if is_dark not in self._specs:
            tables: dict[int, tuple[str, Any]] = {}

            def named(table: Any) -> dict[str, str]:
                return {"name": tables.setdefault(id(table), (f"table_{len(tables)}", table))[0]}

            with _LOCK, alt.theme.enable("none"):  # the page has a look of its own
                alt.data_transformers.register("difftrust", named)
                with alt.data_transformers.enable("difftrust"):
                    spec = self.chart.to_dict(validate=False)  # the tests of the charts check it
            self._specs[is_dark] = {**theme.for_page(spec, is_dark=is_dark), "datasets": dict(tables.values())}
        return self._specs[is_dark]


def show_chart(
    drawn: Drawn | alt.TopLevelMixin,
    table: pl.DataFrame,
    *,
    name: str,
    selection: str | None = None,
    on_select: Callable[[Any], None] | None = None,
) -> None:
    """Draw a chart as wide as the page, with buttons to download it and its data, ``table``.

    ``name``: of the files, unique on the page.
    ``selection``: the name of the chart's selection parameter; ``on_select`` is told what is selected whenever a click
    or a box changes it: a list of points' fields, or of a box {field: [low, high]}.
    """
    drawn = drawn if isinstance(drawn, Drawn) else Drawn(drawn)
    spec, key = drawn.spec(is_dark=theme.is_dark()), f"chart:{name}"
    told: Any = "ignore" if selection is None or on_select is None else partial(_tell, key, selection, on_select)
    st.vega_lite_chart(spec=dict(spec), width="stretch", key=key, on_select=told, selection_mode=selection)
    _show_downloads(drawn.chart, table, name=name)


def _tell(key: str, selection: str, on_select: Callable[[Any], None]) -> None:
    on_select(st.session_state[key]["selection"].get(selection))


@st.fragment
def _show_downloads(chart: Any, table: pl.DataFrame, *, name: str) -> None:
    """Write a button that opens to three: the chart as svg and png, its data as csv.

    The three are on the page while it is open, and files are made when they are asked for: each element of a page costs
    every change of it milliseconds.
    """
    with st.popover(
        "Download", key=f"download:{name}", type="tertiary", icon=":material/download:", on_change="rerun"
    ) as opened:
        if opened.open:
            _show_buttons(chart, table, name)


def _show_buttons(chart: Any, table: pl.DataFrame, name: str) -> None:
    made: tuple[tuple[str, Callable[[], bytes], str], ...] = (
        ("svg", partial(as_picture, chart, ".svg"), "image/svg+xml"),
        ("png", partial(as_picture, chart, ".png"), "image/png"),
        ("csv", partial(as_csv, table), "text/csv"),
    )
    with in_row(align="center", gap="small"):
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
    """Return the data as CSV; control characters of others' text made visible, no formulas, list columns joined."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    lists = [name for name, kind in table.schema.items() if kind == pl.List]
    spelled = table.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists)
    return rewrite(spelled, [*texts, *lists], lambda cell: as_cell(visible(cell))).write_csv().encode()
