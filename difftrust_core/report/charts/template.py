"""A chart in two parts: its shape, the same for all data alike, and the data that fill it.

Altair takes tens of milliseconds to make a chart and to write it out, and most of that is its shape. Who draws the same
chart again and again, as the dashboard does, keeps the shape and changes the data.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import altair as alt
import polars as pl


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A chart's shape and its data."""

    shape: Callable[..., Any]
    """Makes the chart, with ``named`` data where the tables will be."""
    options: tuple[tuple[str, Hashable], ...]
    """Arguments of ``shape``: charts of one shape and equal options differ in their data only."""
    data: Mapping[str, pl.DataFrame]
    """Name -> table."""

    def empty(self) -> Any:
        """Return the chart with the names of its tables instead of them."""
        return self.shape(**dict(self.options))

    def chart(self) -> Any:
        """Return the chart with its data, for a file or a notebook."""
        made = self.empty()
        _fill(made, self.data)
        return made


def drawing(shape: Callable[..., Any], data: Mapping[str, pl.DataFrame], **options: Hashable) -> Drawing:
    """Return a chart's shape with its options and data."""
    return Drawing(shape=shape, options=tuple(options.items()), data=data)


@cache
def named(name: str) -> alt.NamedData:
    """Return what stands in a shape for the table of this name; one object, so that Altair sees layers share it."""
    return alt.NamedData(name)


def _fill(part: Any, data: Mapping[str, pl.DataFrame]) -> None:
    if isinstance(part.data, alt.NamedData):
        part.data = data[part.data.name]
    for inner in ("layer", "concat"):
        for each in getattr(part, inner, ()):
            _fill(each, data)
    if isinstance(part, alt.FacetChart):
        _fill(part.spec, data)
