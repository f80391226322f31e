"""How well each signal finds errors: ROC curves, and AUROC with its interval."""

import altair as alt
import polars as pl

COLOURS = {"behaviour": "#0072B2", "structure": "#D55E00", "text": "#CC79A7", "length": "#009E73"}
"""Okabe and Ito's, one a family of signals."""
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3], [10, 4], [4, 1, 1, 1]]


def draw_roc(curves: pl.DataFrame) -> alt.LayerChart:
    """Draw ``signals.roc_table``: colour says the family, dashes the signal; the diagonal is chance."""
    diagonal = pl.DataFrame({"false_positive_rate": [0.0, 1.0], "true_positive_rate": [0.0, 1.0]})
    x = alt.X("false_positive_rate:Q", title="share of right tasks that are flagged", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("true_positive_rate:Q", title="share of erroneous tasks that are flagged", scale=alt.Scale(domain=[0, 1]))
    names = curves.select("title", "family").unique(maintain_order=True)
    lines = (
        alt.Chart(curves)
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            order="true_positive_rate:Q",
            color=_family_colour(names, legend=None),
            strokeDash=alt.StrokeDash("title:N", title="signal", scale=_dashes(names), sort=names["title"].to_list()),
            tooltip=["title", "false_positive_rate", "true_positive_rate"],
        )
    )
    chance = alt.Chart(diagonal).mark_line(color="#888", strokeDash=[4, 4]).encode(x=x, y=y)
    chart: alt.LayerChart = alt.layer(chance, lines).properties(width=380, height=380).configure(background="white")
    return chart


def draw_auroc(table: pl.DataFrame) -> alt.LayerChart:
    """Draw AUROC and its interval, a row of ``signals.auroc_table`` each, best first; the line at 0.5 is chance."""
    order = table.sort("auroc", descending=True)["title"].to_list()
    y = alt.Y("title:N", sort=order, title=None, axis=alt.Axis(labelLimit=220))
    base = alt.Chart(table).encode(y=y, color=_family_colour(table, legend=alt.Legend(title="from")))
    scale = alt.Scale(domain=[min(0.4, float(table["low"].fill_nan(0.5).min())), 1.0], nice=False)  # type: ignore[arg-type]
    tooltip = ["title", "auroc", "low", "high", "n_rows"]
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("auroc:Q", title="AUROC for an error on the task (95 % over tasks)", scale=scale), tooltip=tooltip
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    chance = alt.Chart(pl.DataFrame({"auroc": [0.5]})).mark_rule(color="#888", strokeDash=[4, 4]).encode(x="auroc:Q")
    chart: alt.LayerChart = (
        alt.layer(chance, bars, dots).properties(width=420, height=22 * table.height).configure(background="white")
    )
    return chart


def _family_colour(rows: pl.DataFrame, *, legend: alt.Legend | None) -> alt.Color:
    there = [family for family in COLOURS if family in set(rows["family"])]
    scale = alt.Scale(domain=there, range=[COLOURS[family] for family in there])
    return alt.Color("family:N", scale=scale, legend=legend)


def _dashes(names: pl.DataFrame) -> alt.Scale:
    titles = names["title"].to_list()
    return alt.Scale(domain=titles, range=[_DASHES[i % len(_DASHES)] for i in range(len(titles))])
