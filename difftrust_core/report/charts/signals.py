"""How well each signal finds errors (ROC curves, AUROC), and how the signals correlate."""

from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.series import DASHES
from difftrust_core.report.charts.style import COLOURS, GREY, SHARE, SHARES, styled
from difftrust_core.report.charts.template import Drawing, drawing, named

FAMILIES: Final = ("behaviour", "structure", "text", "length")
_COLOUR_OF: Final = dict(zip(FAMILIES, COLOURS, strict=False))
_ROW = 24
"""Pixels of a signal's row, in the chart of AUROC and in that of correlations."""
_LABELS = 170
"""Pixels of a signal's name."""


def roc_drawing(curves: pl.DataFrame) -> Drawing:
    """Draw ``signals.roc_table``: a colour a family, as in ``auroc_drawing``, a dash for each further signal of it.

    The diagonal is chance.
    """
    diagonal = pl.DataFrame({"false_positive_rate": [0.0, 1.0], "true_positive_rate": [0.0, 1.0]})
    pairs = curves.select("title", "family").unique(maintain_order=True).rows()
    turns = [[family for _, family in pairs[:i]].count(family) for i, (_, family) in enumerate(pairs)]
    lines = tuple((title, _COLOUR_OF[family], turn) for (title, family), turn in zip(pairs, turns, strict=True))
    return drawing(_roc, {"curves": curves, "diagonal": diagonal}, lines=lines)


def _roc(*, lines: tuple[tuple[str, str, int], ...]) -> Any:
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(format=SHARES, tickCount=5)
    x = alt.X("false_positive_rate:Q", title="correct tasks flagged (false positives, %)", scale=scale, axis=axis)
    y = alt.Y("true_positive_rate:Q", title="erroneous tasks flagged (true positives, %)", scale=scale, axis=axis)
    names = [title for title, _, _ in lines]
    colours = alt.Scale(domain=names, range=[colour for _, colour, _ in lines])
    dashes = alt.Scale(domain=names, range=[list(DASHES[turn % len(DASHES)]) for _, _, turn in lines])
    legend = alt.Legend(title=None, orient="top", columns=2, symbolType="stroke", symbolStrokeWidth=3)
    curves = (
        alt.Chart(named("curves"))
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            order=alt.Order("true_positive_rate:Q"),
            color=alt.Color("title:N", scale=colours, sort=names, legend=legend),
            strokeDash=alt.StrokeDash("title:N", scale=dashes, sort=names, legend=legend),
            tooltip=[
                alt.Tooltip("title:N", title="signal"),
                alt.Tooltip("false_positive_rate:Q", title="correct tasks flagged", format=SHARE),
                alt.Tooltip("true_positive_rate:Q", title="erroneous tasks flagged", format=SHARE),
            ],
        )
    )
    chance = alt.Chart(named("diagonal")).mark_line(color=GREY, strokeWidth=1, strokeDash=[4, 4]).encode(x=x, y=y)
    return styled(alt.layer(chance, curves).properties(width=380, height=380))


def auroc_drawing(table: pl.DataFrame) -> Drawing:
    """Draw AUROC and its interval, a row of ``signals.auroc_table`` each, best first; the line at 0.5 is chance.

    A column ``meaning``, where there is one, is told with the numbers.
    """
    lowest = table.select(pl.min_horizontal(pl.col("auroc", "low")).min()).item()
    return drawing(
        _auroc,
        {"signals": table, "chance": pl.DataFrame({"auroc": [0.5]})},
        names=tuple(table.sort("auroc", descending=True)["title"].to_list()),
        lowest=min(0.4, lowest or 0.4),
        families=tuple(name for name in FAMILIES if name in set(table["family"])),
        has_meaning="meaning" in table.columns,
    )


def _auroc(*, names: tuple[str, ...], lowest: float, families: tuple[str, ...], has_meaning: bool) -> Any:
    scale = alt.Scale(domain=[lowest, 1.0], zero=False, nice=False)
    y = alt.Y("title:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=_LABELS))
    shown = alt.Scale(domain=list(families), range=[_COLOUR_OF[name] for name in families])
    legend = alt.Legend(title=None, orient="top", columns=2, symbolType="circle")
    colour = alt.Color("family:N", scale=shown, legend=legend)
    base = alt.Chart(named("signals")).encode(y=y, color=colour)
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X(
            "auroc:Q",
            title="AUROC (bars: 95 % intervals over tasks; 0.5 is chance)",
            scale=scale,
            axis=alt.Axis(format=".1f", tickCount=6),
        ),
        tooltip=[
            alt.Tooltip("title:N", title="signal"),
            *([alt.Tooltip("meaning:N")] if has_meaning else []),
            alt.Tooltip("auroc:Q", title="AUROC", format=".3f"),
            alt.Tooltip("low:Q", title="95 % interval, from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
            alt.Tooltip("n_rows:Q", title="pairs of model and task", format=","),
        ],
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"))
    line = alt.Chart(named("chance")).mark_rule(color=GREY, strokeDash=[4, 4])
    chance = line.encode(x=alt.X("auroc:Q", scale=scale))
    return styled(alt.layer(chance, bars, dots).properties(width=420, height=_ROW * len(names)))


_CORRELATION_COLOURS = ("#5AA9DC", "#FFFFFF", "#F0883E")
"""Of -1, 0 and 1: blue and orange so pale that black numbers can be read on them, contrast 8 and more."""
_WIDE, _NARROW = 28, 19
"""Pixels of a cell that holds -0.50, and of one that holds -.5."""


def correlations_drawing(table: pl.DataFrame) -> Drawing:
    """Draw ``signals.correlation_table``: orange together, blue against each other, white not at all.

    A cell says r in as many digits as it has room for.
    """
    names = table["a"].unique(maintain_order=True).to_list()
    return drawing(_correlations, {"pairs": table}, names=tuple(names))


def _correlations(*, names: tuple[str, ...]) -> Any:
    order, n = list(names), max(1, len(names))
    base = alt.Chart(named("pairs")).encode(
        x=alt.X("b:N", sort=order, title=None, axis=alt.Axis(labelAngle=-90, labelLimit=_LABELS, labelOverlap=False)),
        y=alt.Y("a:N", sort=order, title=None, axis=alt.Axis(labelLimit=_LABELS, labelOverlap=False)),
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=list(_CORRELATION_COLOURS), interpolate="rgb")
    legend = alt.Legend(title="Pearson's r", orient="top", gradientLength=140, tickCount=3)
    cells = base.mark_rect().encode(
        color=alt.Color("r:Q", scale=scale, legend=legend),
        tooltip=[
            alt.Tooltip("a:N", title="signal"),
            alt.Tooltip("b:N", title="other signal"),
            alt.Tooltip("r:Q", format=".3f"),
        ],
    )
    short = "replace(format(datum.r, '.1f'), '0.', '.')"
    spelled = f"width / {n} >= {_WIDE} ? format(datum.r, '.2f') : width / {n} >= {_NARROW} ? {short} : ''"
    numbers = base.transform_filter("isValid(datum.r)").mark_text(
        fontSize=10, color="black", text=alt.ExprRef(spelled), tooltip=None
    )
    return styled(alt.layer(cells, numbers).properties(width=34 * n, height=_ROW * n))
