"""How well each signal finds errors: ROC curves, and AUROC with its interval."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.style import COLOURS, GREY, colour_of, styled

FAMILIES = ("behaviour", "structure", "text", "length")
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3], [10, 4], [4, 1, 1, 1]]


def draw_roc(curves: pl.DataFrame) -> Any:
    """Draw ``signals.roc_table``, a colour and a dash for each signal; the diagonal is chance."""
    diagonal = pl.DataFrame({"false_positive_rate": [0.0, 1.0], "true_positive_rate": [0.0, 1.0]})
    x = alt.X("false_positive_rate:Q", title="share of right tasks that are flagged", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("true_positive_rate:Q", title="share of erroneous tasks that are flagged", scale=alt.Scale(domain=[0, 1]))
    names = curves["title"].unique(maintain_order=True).to_list()
    dashes = alt.Scale(domain=names, range=[_DASHES[i % len(_DASHES)] for i in range(len(names))])
    lines = (
        alt.Chart(curves)
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            order="true_positive_rate:Q",
            color=colour_of("title", names, title="signal", sort=names),
            strokeDash=alt.StrokeDash("title:N", title="signal", scale=dashes, sort=names),
            tooltip=["title", "false_positive_rate", "true_positive_rate"],
        )
    )
    chance = alt.Chart(diagonal).mark_line(color=GREY, strokeWidth=1).encode(x=x, y=y)
    return styled(alt.layer(chance, lines).properties(width=380, height=380))


def draw_auroc(table: pl.DataFrame) -> Any:
    """Draw AUROC and its interval, a row of ``signals.auroc_table`` each, best first; the line at 0.5 is chance."""
    order = table.sort("auroc", descending=True)["title"].to_list()
    lowest = table.select(pl.min_horizontal(pl.col("auroc", "low").fill_nan(None)).min()).item()
    scale = alt.Scale(domain=[min(0.4, lowest or 0.4), 1.0], zero=False, nice=False)
    y = alt.Y("title:N", sort=order, title=None, axis=alt.Axis(labelLimit=220))
    base = alt.Chart(table).encode(y=y, color=_family_colour(table))
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("auroc:Q", title="AUROC for an error on the task (95 % over tasks)", scale=scale),
        tooltip=["title", "auroc", "low", "high", "n_rows"],
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    line = alt.Chart(pl.DataFrame({"auroc": [0.5]})).mark_rule(color=GREY, strokeDash=[4, 4])
    chance = line.encode(x=alt.X("auroc:Q", scale=scale))
    return styled(alt.layer(chance, bars, dots).properties(width=420, height=22 * table.height))


def _family_colour(rows: pl.DataFrame) -> alt.Color:
    there = [(name, colour) for name, colour in zip(FAMILIES, COLOURS, strict=False) if name in set(rows["family"])]
    scale = alt.Scale(domain=[name for name, _ in there], range=[colour for _, colour in there])
    return alt.Color("family:N", scale=scale, title="from")
