"""A table as a page shows it: shares in percent, headings in words, the main numbers first, published values below."""

import html
import math
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from difftrust_core.report.measures import PUBLISHED, heading_of, measure_of
from difftrust_core.report.render import cell, in_dollars, in_percent

_BOUND: Final = "_is_lower_bound"
_LAST: Final = ("tasks", "n_tasks", "n_rows", "n_coherent", "n_erroneous", "with_example")
"""Columns that say on how much the others rest."""
_SETTINGS: Final = ("value", "m", "n", "temperature", "bound", "threshold")
"""Columns of settings: as many decimals as they have."""
_VARIED: Final = {"query_budget_m": "m", "temperature_t": "temperature", "test_inputs_n": "n"}
"""What a part of Table 3 varies -> what to call it."""
_STYLE: Final = "text-align: {side}; vertical-align: top"


@dataclass(frozen=True, kw_only=True)
class _Column:
    """One column of the page: its name in the frame, and the columns that its cells hold too."""

    name: str
    heading: str
    has_ends: bool
    has_bound: bool
    published: str | None
    is_number: bool

    def text(self, row: dict[str, Any]) -> str:
        """Return the cell of a row as HTML."""
        name = self.name
        ends = (row[f"{name}_low"], row[f"{name}_high"]) if self.has_ends else (None, None)
        text = shown_value(name, row[name], ends)
        if self.has_bound and text and row[f"{name}{_BOUND}"]:
            text = f"≥ {text}"
        text = html.escape(text)
        if self.published is not None and row[self.published] is not None:
            said = html.escape(shown_value(name, row[self.published]))
            text += f'<br><span style="opacity: 0.75">published {said}</span>' if said else ""
        return text


def page_table(frame: pl.DataFrame) -> str:
    """Return ``frame`` as HTML. Columns x_low, x_high, x_is_lower_bound and published_x stand in the cells of x."""
    columns = _columns(frame)
    heads = "".join(_cell("th", column, html.escape(column.heading)) for column in columns)
    rows = [
        "<tr>" + "".join(_cell("td", column, column.text(row)) for column in columns) + "</tr>"
        for row in frame.iter_rows(named=True)
    ]
    return "\n".join(("<table>", f"<thead><tr>{heads}</tr></thead>", "<tbody>", *rows, "</tbody>", "</table>"))


def page_columns(frame: pl.DataFrame) -> list[str]:
    """Return the columns of ``frame`` that the page has, in its order."""
    return [column.name for column in _columns(frame)]


def _cell(tag: str, column: _Column, text: str) -> str:
    return f'<{tag} style="{_STYLE.format(side="right" if column.is_number else "left")}">{text}</{tag}>'


def _columns(frame: pl.DataFrame) -> list[_Column]:
    there = set(frame.columns)
    held = {
        f"{name}{end}" for name in there for end in ("_low", "_high", _BOUND)
    } | {f"{PUBLISHED}{name}" for name in there}  # fmt: skip
    varied = frame["varied"].unique().to_list() if {"varied", "value"} <= there else []
    left_out = {"varied"} if len(varied) == 1 and varied[0] in _VARIED else set()
    names = [name for name in frame.columns if name not in held | left_out]
    return [
        _Column(
            name=name,
            heading=_VARIED[varied[0]] if name == "value" and left_out else heading_of(name),
            has_ends={f"{name}_low", f"{name}_high"} <= there,
            has_bound=f"{name}{_BOUND}" in there,
            published=f"{PUBLISHED}{name}" if f"{PUBLISHED}{name}" in there else None,
            is_number=frame.schema[name].is_numeric(),
        )
        for name in sorted(names, key=_place)
    ]


def _place(name: str) -> int:
    """Return where a column stands: what names the row, the measures, dollars, and on how much they rest."""
    if name in _LAST:
        return 3
    return 2 if "usd" in name else 1 if measure_of(name) is not None else 0


def shown_value(column: str, value: Any, ends: tuple[float | None, float | None] = (None, None)) -> str:
    """Return a value as a page has it: 7.2 % [6.1, 8.4], 0.712, 1,000 or $3.70; what is undefined is empty."""
    if not isinstance(value, float):
        is_count = isinstance(value, int) and not isinstance(value, bool)
        return f"{value:,}" if is_count else cell(value, "html")
    if math.isnan(value):
        return ""
    low, high = ends
    measure = measure_of(column)
    is_share = column.startswith("share") if measure is None else measure.is_share
    if column in _SETTINGS or column.startswith("median"):
        return f"{value:,g}"
    if "usd" in column:
        return in_dollars(value) if value >= 1 else f"${value:.4g}"
    text, digits = (in_percent(value), 1) if is_share else (f"{value:.3f}", 3)
    if low is None or high is None:
        return text
    scale = 100 if is_share else 1
    return f"{text} [{scale * low:.{digits}f},\N{NO-BREAK SPACE}{scale * high:.{digits}f}]"
