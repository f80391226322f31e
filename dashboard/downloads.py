"""A chart on the page, and beside it the chart as svg and png and its data as csv; and nothing else."""

import io
from typing import Any

import altair as alt
import polars as pl
import streamlit as st

from dashboard import text

PNG_SCALE = 2


def show_chart(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart,
    table: pl.DataFrame,
    *,
    name: str,
    select: str | None = None,
) -> Any:
    """Draw a chart over the whole width, with a menu to download it; return what is selected in it, if anything.

    ``name``: of the files, unique on the page. ``table``: the chart's data. ``select``: the name of the chart's
    selection parameter that a click or lasso sets; the answer is then the list of the chosen points' fields.
    """
    drawn = _without_background(chart)
    if select is None:
        st.altair_chart(drawn, width="stretch", key=f"chart:{name}")
        picked = None
    else:
        event = st.altair_chart(drawn, width="stretch", key=f"chart:{name}", on_select="rerun", selection_mode=[select])
        picked = event["selection"].get(select)
    show_downloads(chart, table, name=name)
    return picked


def show_downloads(chart: Any, table: pl.DataFrame, *, name: str) -> None:
    """Write the menu: the chart as svg and png, its data as csv. Files are made when they are asked for."""
    with st.popover("Download", icon=":material/download:"):
        st.download_button("Chart as SVG", lambda: as_svg(chart), f"{name}.svg", "image/svg+xml", on_click="ignore")
        st.download_button("Chart as PNG", lambda: as_png(chart), f"{name}.png", "image/png", on_click="ignore")
        st.download_button("Data as CSV", lambda: as_csv(table), f"{name}.csv", "text/csv", on_click="ignore")


def as_svg(chart: Any) -> bytes:
    """Return the chart as SVG on white."""
    made = io.StringIO()
    with alt.data_transformers.disable_max_rows():
        chart.save(made, format="svg")
    return made.getvalue().encode()


def as_png(chart: Any) -> bytes:
    """Return the chart as PNG on white, twice its size."""
    made = io.BytesIO()
    with alt.data_transformers.disable_max_rows():
        chart.save(made, format="png", scale_factor=PNG_SCALE)
    return made.getvalue()


def as_csv(table: pl.DataFrame) -> bytes:
    """Return the data as CSV; control characters of others' text made visible, list columns joined."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    lists = [name for name, kind in table.schema.items() if kind == pl.List]
    spelled = table.with_columns(
        *[pl.col(name).map_elements(text.visible, return_dtype=pl.String) for name in texts],
        *[pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists],
    )
    return spelled.write_csv().encode()


def _without_background(chart: Any) -> Any:
    """Return the chart with the page's own background: white is for files."""
    if isinstance(chart.config, alt.Config):
        chart = chart.copy()
        chart.config = alt.Config(**{k: v for k, v in chart.config.to_dict().items() if k != "background"})
    return chart
