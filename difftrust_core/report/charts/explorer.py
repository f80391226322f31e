"""What the sliders of a notebook move: all models by error and incoherence, and one model by its number of programs."""

from collections.abc import Callable, Hashable
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.ranking import ranking_drawing
from difftrust_core.report.charts.style import FONT_SIZE, GREY, SHARES, colour_of
from difftrust_core.report.charts.template import Drawing, drawing, named

LINES: Final = {"detection_rate": "detected", "mean_error": "error", "mean_incoherence": "incoherence"}
"""Measure -> what its line is called."""
_RANKING = (430, 330)
_CURVE = (260, 330)


def explorer_drawing(ranked: pl.DataFrame, curve: pl.DataFrame, *, model: str, m: int, most_m: int) -> Drawing:
    """Draw the models of ``ranked`` with a ring around ``model``, and its measures against m, with a line at ``m``.

    ``ranked``: a row a model of ``Explorer.frame``; ``curve``: rows of the one model along m. ``most_m``: where the
    axis of m ends, the same for all models.
    """
    points = ranked.drop_nulls(["mean_error", "mean_incoherence"])
    width, height = _RANKING
    left = ranking_drawing(points, width=width, height=height) if len(points) else None
    long = curve.unpivot(list(LINES), index="m", variable_name="measure", value_name="value").drop_nulls("value")
    data = {
        **({} if left is None else left.data),
        "ring": points.filter(model=model).select("mean_incoherence", "mean_error"),
        "curve": long.with_columns(pl.col("measure").replace_strict(LINES, return_dtype=pl.String)),
        "m": pl.DataFrame({"m": [m]}),
    }
    ranking = None if left is None else (left.shape, left.options)
    return drawing(_shape, data, ranking=ranking, most_m=most_m)


def _shape(*, ranking: tuple[Callable[..., Any], tuple[tuple[str, Hashable], ...]] | None, most_m: int) -> Any:
    curve = _curve(most_m)
    if ranking is None:
        return curve
    make, options = ranking
    left = make(**dict(options))
    look, left.config = left.config, alt.Undefined
    ring = alt.Chart(named("ring")).mark_point(size=170, strokeWidth=2, filled=False, color="black", opacity=1)
    left.layer.append(ring.encode(x=alt.X("mean_incoherence:Q"), y=alt.Y("mean_error:Q")))
    both = alt.hconcat(left, curve, spacing=30).resolve_scale(color="independent", shape="independent")
    both.config = look
    return both


def _curve(most_m: int) -> Any:
    width, height = _CURVE
    ticks = [tick for tick in (2, 5, 10, 20, 50, 100) if tick <= most_m]
    across = alt.X(
        "m:Q",
        title="programs per task (m)",
        scale=alt.Scale(type="log", domain=[1.8, most_m * 1.1], nice=False),
        axis=alt.Axis(values=ticks, format="~g"),
    )
    up = alt.Y(
        "value:Q",
        title="share (detected: of the erroneous tasks)",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=SHARES, labelFontSize=FONT_SIZE),
    )
    legend = alt.Legend(title=None, orient="bottom", columns=3, symbolOpacity=1, symbolStrokeWidth=0)
    base = alt.Chart(named("curve")).encode(
        x=across, y=up, color=colour_of("measure", list(LINES.values()), legend=legend)
    )
    chosen = alt.Chart(named("m")).mark_rule(color=GREY, strokeDash=[4, 4]).encode(x=across)
    layers = alt.layer(chosen, base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=45, opacity=1))
    return layers.properties(title="the model by number of programs", width=width, height=height)
