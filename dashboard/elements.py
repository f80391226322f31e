"""Elements that pages are made of: headings, rows of widgets, tables of measures."""

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl
import streamlit as st

from difftrust.tables.page_table import MEASURES, Measure, heading_of, shown_value

_BOUND = "_is_lower_bound"


def heading(title: str) -> None:
    """Write the title of a part of a page."""
    st.subheader(title, anchor=False)


def in_row(key: str | None = None, *, align: str = "bottom", **drawn: Any) -> Any:
    """Return a container whose elements stand beside one another, as many as fit; for ``with``."""
    return st.container(horizontal=True, vertical_alignment=align, key=key, **drawn)  # type: ignore[arg-type]


def show_table(
    table: pl.DataFrame,
    about: Mapping[str, Measure] | None = None,
    *,
    bars: Collection[str] = (),
    rows: int = 17,
    absent: int = 0,
    **drawn: Any,
) -> Any:
    """Write a table as the report and notebooks have it, in words; it is sorted by the numbers behind them.

    Columns x_low, x_high and x_is_lower_bound stand in the cells of x. ``about``: what is known of columns that
    ``page_table.MEASURES`` lacks; ``bars``: shares drawn as bars; ``rows`` are seen at once; the last ``absent`` are
    greyed, not recorded. Return what Streamlit does.
    """
    names = [name for name in table.columns if not name.endswith(("_low", "_high", _BOUND))]
    known, styler = about or {}, table.select(names).to_pandas().style
    for place, row in enumerate(table.iter_rows(named=True)):
        is_absent = place >= table.height - absent
        for name in set(names) - set(bars):
            unknown = "not recorded" if is_absent else "unknown" if "usd" in name else "undefined"
            words = _in_words(name, row, known.get(name)) or unknown
            styler.format(lambda _, words=words: words, subset=([place], [name]), na_rep=words)
        if is_absent:
            styler.set_properties(subset=([place], names), color="gray")
    columns = {name: _column(name, table, known.get(name), name in bars) for name in names}
    height = 38 + 35 * min(table.height, rows)
    return st.dataframe(styler, hide_index=True, column_config=columns, height=height, **drawn)


def _in_words(name: str, row: Mapping[str, Any], about: Measure | None) -> str:
    said = shown_value(name, row[name], (row.get(f"{name}_low"), row.get(f"{name}_high")), about)
    return f"≥ {said}" if said and row.get(f"{name}{_BOUND}") else said


def _column(name: str, table: pl.DataFrame, about: Measure | None, is_bar: bool) -> Any:
    title, meaning, _ = about or MEASURES.get(name) or Measure(heading_of(name))
    if is_bar:  # all are shares: one scale
        return st.column_config.ProgressColumn(
            title, help=meaning, format="percent", min_value=0.0, max_value=1.0, width=110
        )
    if not table.schema[name].is_numeric():
        return st.column_config.TextColumn(title, help=meaning or None, pinned=name == table.columns[0])
    has_ends = f"{name}_low" in table.columns
    title = f"{title} [95 %]" if has_ends else title
    return st.column_config.NumberColumn(title, help=meaning or None, width=140 if has_ends else None)
