"""A table as text: for the screen, for Markdown, for LaTeX, as CSV or JSON."""

import json
import math
from collections.abc import Iterator
from datetime import date
from typing import Any

import polars as pl
from tabulate import tabulate

from difftrust.tables.names import rewrite
from difftrust.text import as_cell, json_value, printable, shorten
from difftrust_core.exceptions import WrongUsage

_STYLES = {"text": "simple", "markdown": "github", "latex": "latex_booktabs", "html": "html"}
_AS_IT_IS = str.maketrans({"|": "\\|", "\\": "\\\\", "<": "&lt;", "&": "&amp;"})
"""In Markdown: no cell ends early, no element begins; nor does a link or a picture."""
_MAX_CELL = 200
_A_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_BOUND = "_is_lower_bound"


def render(frame: pl.DataFrame, style: str) -> str:
    """Return ``frame`` as text. Numbers are rounded to four places; csv and json are exact.

    Characters that could steer a terminal are escaped everywhere; json loses nothing by that. In csv, texts that a
    spreadsheet would compute begin with an apostrophe. Raises WrongUsage for dates that Python does not have.
    """
    _require_dates(frame)
    if style == "json":
        return json.dumps([json_value(row) for row in frame.iter_rows(named=True)], indent=1)
    if style == "csv":
        return _csv(frame)
    rows = [[cell(value, style) for value in row] for row in frame.iter_rows()]
    numeric = [frame.schema[name].is_numeric() for name in frame.columns]
    made: str = tabulate(
        rows,
        headers=[cell(name, style) for name in frame.columns],
        tablefmt=_STYLES[style],
        disable_numparse=True,
        colalign=["right" if n else "left" for n in numeric] if rows else None,
    )
    return made


def _require_dates(frame: pl.DataFrame) -> None:
    """Raise WrongUsage for a date out of Python's years, or infinite, over which polars panics."""
    first, last = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))
    for name in frame.columns:
        for moments in _moments(frame[name]):
            units = 86_400 * _A_SECOND[moments.dtype.time_unit] if isinstance(moments.dtype, pl.Datetime) else 1
            if not (moments.to_physical() // units).is_between(first, last).all():
                raise WrongUsage(f"column {name} has dates out of the years 1 to 9999; cast it to VARCHAR")


def _moments(column: pl.Series) -> Iterator[pl.Series]:
    """Yield the dates and times of a column, those inside its lists, structs and maps too."""
    if isinstance(column.dtype, getattr(pl, "Map", ())):  # older versions of polars have lists of structs instead
        yield from _moments(column.map.entries())
    elif isinstance(column.dtype, pl.List | pl.Array):
        yield from _moments(column.explode())
    elif isinstance(column.dtype, pl.Struct):
        for part in column.struct.unnest():
            yield from _moments(part)
    elif isinstance(column.dtype, pl.Date | pl.Datetime):
        yield column


def for_reading(frame: pl.DataFrame) -> pl.DataFrame:
    """Return ``frame`` with what belongs together in one text column: x and its interval, x and x_is_lower_bound.

    As ``0.123 [0.101, 0.145]`` and ``≥ 3.7000``; where no x is a lower bound, x stays a number.
    """
    shown, merged = {}, []
    for name in frame.columns:
        ends = [f"{name}_low", f"{name}_high"]
        if set(ends) <= set(frame.columns):
            shown[name] = [in_brackets(*row) for row in frame.select(name, *ends).iter_rows()]
            merged += ends
        elif name.endswith(_BOUND) and frame[name].any():
            bounded = name.removesuffix(_BOUND)
            rows = frame.select(bounded, name).iter_rows()
            shown[bounded] = [f"{'≥ ' if is_bound else ''}{cell(x, 'text')}" for x, is_bound in rows]
    texts = [pl.Series(name, spelled, dtype=pl.String) for name, spelled in shown.items()]
    return frame.with_columns(texts).drop(pl.selectors.ends_with(_BOUND), *merged)


def in_dollars(usd: float | None, is_lower_bound: bool | None = None) -> str:
    """Return a cost as text: $1,234.50, with ≥ if it is a lower bound, or unknown."""
    return "unknown" if usd is None or math.isnan(usd) else f"{'≥ ' if is_lower_bound else ''}${usd:,.2f}"


def in_brackets(x: float | None, low: float | None, high: float | None) -> str:
    """Return a value and the ends of its interval as text; what is undefined is called so."""
    if x is None:
        return "undefined"
    ends = "" if low is None or high is None else f" [{low:.3f}, {high:.3f}]"
    return f"{x:.3f}{ends}"


def in_percent(share: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return a share and its 95 % interval as people read it: 7.2 % [5.1, 10.3]; undefined where there is none."""
    if share is None or math.isnan(share):
        return "undefined"
    said = f"{100 * share:.1f} %"
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return said
    return f"{said} [{100 * low:.1f}, {100 * high:.1f}]"


def _csv(frame: pl.DataFrame) -> str:
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    nested = [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Binary]
    flat = rewrite(frame, texts, lambda text: as_cell(printable(text, "\n\t")))
    flat = rewrite(flat, nested, lambda value: as_cell(json.dumps(json_value(value))))
    # A statement may name a column as it likes.
    return flat.rename(lambda name: as_cell(printable(name, "\t"))).write_csv().rstrip("\n")


def cell(value: Any, style: str) -> str:
    """Return one value as text, numbers rounded to four places, what could steer a terminal escaped."""
    if value is None:
        return ""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else f"{value:.4f}"
    text = shorten(printable(str(json_value(value))), _MAX_CELL)
    if style == "latex":  # which knows no ≥ outside of formulas
        text = text.replace("≥", "at least")
    return text.translate(_AS_IT_IS).replace("](", "]\\(") if style == "markdown" else text
