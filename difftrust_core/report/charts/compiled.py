"""A drawing as an SVG in tens of milliseconds: its shape is compiled once, then only data and words change."""

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from difftrust_core.report.charts.style import FONT_SIZE
from difftrust_core.report.charts.template import Drawing
from difftrust_core.report.charts.titles import WIDTH, folded, titled

_FONTS: Final = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""Those by which the renderer measures; a browser's own sans-serif may be wider."""


class Compiled:
    """Charts that are drawn again and again; each shape is kept as Vega has it, without data."""

    def __init__(self) -> None:
        self._shapes: dict[Any, dict[str, Any]] = {}

    def vega(self, drawing: Drawing, title: str, *lines: str) -> dict[str, Any]:
        """Return the Vega specification of a drawing under a title."""
        key = (drawing.shape, drawing.options)
        if key not in self._shapes:
            self._shapes[key] = _compile(drawing)
        spec = copy.copy(self._shapes[key])
        spec["data"] = [_filled(table, drawing.data) for table in spec["data"]]
        subtitle = [part for line in lines for part in folded(line, FONT_SIZE, WIDTH)]
        spec["title"] = {**spec["title"], "text": folded(title, 14, WIDTH), "subtitle": subtitle}
        return spec

    def svg(self, drawing: Drawing, title: str, *lines: str) -> bytes:
        """Return the drawing as a picture."""
        import vl_convert

        drawn = vl_convert.vega_to_svg(json.dumps(self.vega(drawing, title, *lines)))
        return re.sub(r'font-family="sans-serif"', f'font-family="{_FONTS}"', drawn).encode()


def _compile(drawing: Drawing) -> dict[str, Any]:
    import vl_convert

    made: dict[str, Any] = vl_convert.vegalite_to_vega(titled(drawing.empty(), "title", "subtitle").to_dict())
    return made


def _filled(table: dict[str, Any], data: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    rows = data.get(table["name"])
    return table if rows is None else {**table, "values": rows.to_dicts()}
