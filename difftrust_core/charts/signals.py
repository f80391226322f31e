"""How well each signal finds errors: ROC curves, and AUROC with its interval."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.drawing import Drawing, drawing, drawn, named
from difftrust_core.charts.style import COLOURS, GREY, colour_of, styled

FAMILIES = ("behaviour", "structure", "text", "length")
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3], [10, 4], [4, 1, 1, 1]]


def roc_drawing(curves: pl.DataFrame) -> Drawing:
    """Draw ``signals.roc_table``, a colour and a dash for each signal; the diagonal is chance."""
    diagonal = pl.DataFrame({"false_positive_rate": [0.0, 1.0], "true_positive_rate": [0.0, 1.0]})
    names = curves["title"].unique(maintain_order=True).to_list()
    return drawing(_roc, {"curves": curves, "diagonal": diagonal}, names=tuple(names))


draw_roc = drawn(roc_drawing)


def _roc(*, names: tuple[str, ...]) -> Any:
    x = alt.X("false_positive_rate:Q", title="share of right tasks that are flagged", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("true_positive_rate:Q", title="share of erroneous tasks that are flagged", scale=alt.Scale(domain=[0, 1]))
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
                alt.Tooltip("false_positive_rate:Q"),
                alt.Tooltip("true_positive_rate:Q"),
            ],
        )
    )
    chance = alt.Chart(named("diagonal")).mark_line(color=GREY, strokeWidth=1).encode(x=x, y=y)
    return styled(alt.layer(chance, lines).properties(width=380, height=380))


def auroc_drawing(table: pl.DataFrame) -> Drawing:
    """Draw AUROC and its interval, a row of ``signals.auroc_table`` each, best first; the line at 0.5 is chance."""
    lowest = table.select(pl.min_horizontal(pl.col("auroc", "low").fill_nan(None)).min()).item()
    return drawing(
        _auroc,
        {"signals": table, "chance": pl.DataFrame({"auroc": [0.5]})},
        names=tuple(table.sort("auroc", descending=True)["title"].to_list()),
        lowest=min(0.4, lowest or 0.4),
        families=tuple(name for name in FAMILIES if name in set(table["family"])),
    )


draw_auroc = drawn(auroc_drawing)


def _auroc(*, names: tuple[str, ...], lowest: float, families: tuple[str, ...]) -> Any:
    scale = alt.Scale(domain=[lowest, 1.0], zero=False, nice=False)
    y = alt.Y("title:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=220))
    base = alt.Chart(named("signals")).encode(y=y, color=_family_colour(families))
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("auroc:Q", title="AUROC for an error on the task (95 % over tasks)", scale=scale),
        tooltip=[alt.Tooltip("title:N"), *(alt.Tooltip(f"{name}:Q") for name in ("auroc", "low", "high", "n_rows"))],
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2=alt.X2("high:Q"))
    line = alt.Chart(named("chance")).mark_rule(color=GREY, strokeDash=[4, 4])
    chance = line.encode(x=alt.X("auroc:Q", scale=scale))
    return styled(alt.layer(chance, bars, dots).properties(width=420, height=22 * len(names)))


def _family_colour(families: tuple[str, ...]) -> alt.Color:
    colours = dict(zip(FAMILIES, COLOURS, strict=False))
    scale = alt.Scale(domain=list(families), range=[colours[name] for name in families])
    return alt.Color("family:N", scale=scale, title="from")
