"""Titles of charts: what is drawn, and below it what to see."""

import textwrap
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import FONT_SIZE

WIDTH: Final = 860
"""Pixels that a title may be wide; with axes a chart then fits the page of a notebook."""
_TITLE_SIZE: Final = 14
_LETTER: Final = 0.52
"""Mean width of a letter, in units of the font size."""
_INK: Final = "#444444"


def titled(chart: Any, title: str, *lines: str, width: int = WIDTH) -> Any:
    """Return the chart under a title and lines that say what to see, each folded to ``width`` pixels."""
    made = chart.copy(deep=False)
    made.title = alt.Title(
        text=folded(title, _TITLE_SIZE, width),
        subtitle=[part for line in lines for part in folded(line, FONT_SIZE, width)],
        anchor="start",
        fontSize=_TITLE_SIZE,
        fontWeight="bold",
        subtitleFontSize=FONT_SIZE,
        subtitleColor=_INK,
        subtitleLineHeight=15,
        subtitlePadding=5,
        offset=12,
    )
    return made


def folded(text: str, size: int, width: int) -> list[str]:
    """Return a text in lines that fit ``width`` pixels in letters of ``size``."""
    return textwrap.wrap(text, max(20, int(width / (size * _LETTER)))) or [""]


def stacked(*charts: Any) -> Any:
    """Return finished charts one below the other, in the look of the first."""
    parts = [chart.copy(deep=False) for chart in charts]
    look = parts[0].config
    for part in parts:
        part.config = alt.Undefined
    made = alt.vconcat(*parts, spacing=26).resolve_scale(color="independent", shape="independent")
    made.config = look
    return made


def sizes_of(frame: pl.DataFrame) -> list[str]:
    """Return in words the m, n and temperature that rows rest on, as far as they have such columns."""
    said = []
    if "m" in frame.columns and frame["m"].count():
        said.append(f"m = {frame['m'].sort()[-1]}")
    for name, written in (("n", "n = {}"), ("temperature", "temperature {}")):
        if name in frame.columns:
            values = frame[name].drop_nulls().unique().sort().to_list()
            ends = list(dict.fromkeys([f"{value:,g}" for value in (*values[:1], *values[-1:])]))
            said += [written.format(" to ".join(ends))] if ends else []
    return said
