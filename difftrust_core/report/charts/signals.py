"""How well each signal finds errors (ROC curves, AUROC), and how the signals correlate."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import COLOURS, GREY, SHARE, SHARES, colour_of, styled
from difftrust_core.report.charts.template import Drawing, drawing, named

FAMILIES = ("behaviour", "structure", "text", "length")
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3], [10, 4], [4, 1, 1, 1]]


def roc_drawing(curves: pl.DataFrame) -> Drawing:
    """Draw ``signals.roc_table``, a colour and a dash for each signal; the diagonal is chance."""
    diagonal = pl.DataFrame({"false_positive_rate": [0.0, 1.0], "true_positive_rate": [0.0, 1.0]})
    names = curves["title"].unique(maintain_order=True).to_list()
    return drawing(_roc, {"curves": curves, "diagonal": diagonal}, names=tuple(names))


def _roc(*, names: tuple[str, ...]) -> Any:
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(format=SHARES)
    x = alt.X("false_positive_rate:Q", title="false positives (% of correct tasks flagged)", scale=scale, axis=axis)
    y = alt.Y("true_positive_rate:Q", title="true positives (% of erroneous tasks flagged)", scale=scale, axis=axis)
    dashes = alt.Scale(domain=list(names), range=[_DASHES[i % len(_DASHES)] for i in range(len(names))])
    lines = (
        alt.Chart(named("curves"))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            order=alt.Order("true_positive_rate:Q"),
            color=colour_of("title", names, title="signal", sort=list(names)),
            strokeDash=alt.StrokeDash("title:N", title="signal", scale=dashes, sort=list(names)),
            tooltip=[
                alt.Tooltip("title:N"),
                alt.Tooltip("false_positive_rate:Q", format=SHARE),
                alt.Tooltip("true_positive_rate:Q", format=SHARE),
            ],
        )
    )
    chance = alt.Chart(named("diagonal")).mark_line(color=GREY, strokeWidth=1).encode(x=x, y=y)
    return styled(alt.layer(chance, lines).properties(width=380, height=380))


def auroc_drawing(table: pl.DataFrame) -> Drawing:
    """Draw AUROC and its interval, a row of ``signals.auroc_table`` each, best first; the line at 0.5 is chance."""
    lowest = table.select(pl.min_horizontal(pl.col("auroc", "low")).min()).item()
    return drawing(
        _auroc,
        {"signals": table, "chance": pl.DataFrame({"auroc": [0.5]})},
        names=tuple(table.sort("auroc", descending=True)["title"].to_list()),
        lowest=min(0.4, lowest or 0.4),
        families=tuple(name for name in FAMILIES if name in set(table["family"])),
    )


def _auroc(*, names: tuple[str, ...], lowest: float, families: tuple[str, ...]) -> Any:
    scale = alt.Scale(domain=[lowest, 1.0], zero=False, nice=False)
    y = alt.Y("title:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=220))
    colours = dict(zip(FAMILIES, COLOURS, strict=False))
    shown = alt.Scale(domain=list(families), range=[colours[name] for name in families])
    colour = alt.Color("family:N", scale=shown, title="computed from")
    base = alt.Chart(named("signals")).encode(y=y, color=colour)
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("auroc:Q", title="AUROC (bars: 95 % intervals over tasks)", scale=scale),
        tooltip=[
            alt.Tooltip("title:N"),
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("auroc", "low", "high")),
            alt.Tooltip("n_rows:Q"),
        ],
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"))
    line = alt.Chart(named("chance")).mark_rule(color=GREY, strokeDash=[4, 4])
    chance = line.encode(x=alt.X("auroc:Q", scale=scale))
    return styled(alt.layer(chance, bars, dots).properties(width=420, height=22 * len(names)))


_CORRELATION_COLOURS = ("#5AA9DC", "#FFFFFF", "#F0883E")
"""Of -1, 0 and 1: blue and orange so pale that black numbers can be read on them, contrast 8 and more."""


def correlations_drawing(table: pl.DataFrame) -> Drawing:
    """Draw ``signals.correlation_table``: orange together, blue against each other, white not at all."""
    names = table["a"].unique(maintain_order=True).to_list()
    return drawing(_correlations, {"pairs": table}, names=tuple(names))


def _correlations(*, names: tuple[str, ...]) -> Any:
    order, size = list(names), 34 * len(names)
    base = alt.Chart(named("pairs")).encode(
        x=alt.X("b:N", sort=order, title=None, axis=alt.Axis(labelAngle=-45, labelLimit=200, labelOverlap=False)),
        y=alt.Y("a:N", sort=order, title=None, axis=alt.Axis(labelLimit=200)),
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=list(_CORRELATION_COLOURS), interpolate="rgb")
    cells = base.mark_rect().encode(
        color=alt.Color("r:Q", scale=scale, title="Pearson's r"),
        tooltip=[alt.Tooltip("a:N"), alt.Tooltip("b:N"), alt.Tooltip("r:Q", format=".3f")],
    )
    numbers = base.mark_text(fontSize=10, color="black").encode(text=alt.Text("r:Q", format=".2f"))
    return styled(alt.layer(cells, numbers).properties(width=size, height=size))
