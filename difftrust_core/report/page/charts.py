"""Charts of a page: interactive where scripts run, pictures of them in print; nothing of it asks a network."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.export import chart_bytes
from difftrust_core.report.charts.ranking import ranking_drawing
from difftrust_core.report.page.subject import Subject

WIDE, NARROW = 940, 350
"""Pixels of the paper that a chart is drawn for."""
_SNIPPET: Final = "window.vegaEmbed = vegaEmbed;"
DARK: Final = {
    "white": "#14171d", "#FFFFFF": "#14171d", "black": "#FAFAFA", "#000000": "#FAFAFA", "#0072B2": "#3C9FDE",
    "#8C6D31": "#C9A75A", "#444444": "#C8C8C8", "#767676": "#A0A0A0", "#BBBBBB": "#4A4F5C", "#E2E2E2": "#2A2E39",
    "#EFEFEF": "#262A34", "#DCE3EA": "#2A3140",
}  # fmt: skip
"""Colour on white paper -> colour on a dark page."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One chart in two widths, and a picture of the wide one."""

    name: str
    title: str
    about: str
    specs: dict[str, Any]
    """``wide`` and ``narrow``: Vega-Lite."""
    picture: str
    """SVG as a data URL."""


@cache
def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert

    return str(vl_convert.javascript_bundle(_SNIPPET))


def digest(script: str) -> str:
    """Return the hash by which a Content-Security-Policy allows a script, and none else."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def ranking_chart(subject: Subject) -> Chart | None:
    """Return error against incoherence, a point a model; None without a reference."""
    points = subject.table.drop_nulls(["mean_error", "mean_incoherence"])
    if points.is_empty():
        return None
    sizes = {"wide": (WIDE - 90, 430), "narrow": (NARROW - 80, 330)}
    with alt.data_transformers.disable_max_rows():
        made = {
            name: _drawn(points, subject.benchmark, width=width, height=height)
            for name, (width, height) in sizes.items()
        }
        svg = chart_bytes(made["wide"], ".svg")
        specs = {name: chart.to_dict() for name, chart in made.items()}
    return Chart(
        name="ranking",
        title="Models by error and incoherence",
        about="Up: how often a program is wrong. Right: how often two programs disagree, which needs no reference. "
        "Bars are 95 % intervals over tasks. Point at a model for its numbers.",
        specs=specs,
        picture=f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}",
    )


def _drawn(points: pl.DataFrame, benchmark: str, *, width: int, height: int) -> alt.TopLevelMixin:
    table = points if "benchmark" in points.columns else points.with_columns(benchmark=pl.lit(benchmark))
    made: alt.TopLevelMixin = ranking_drawing(table, width=width, height=height).chart()
    return made
