"""How often a task without a disagreement is wrong all the same, with exact intervals; and nothing else."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.style import colour_of, side_by_side, styled


def draw_false_trust(
    table: pl.DataFrame, *, rows: str = "model", colour: str = "m", width: int = 360, step: int = 11
) -> Any:
    """Draw the share of erroneous tasks among those without a disagreement: a row a ``rows``, a panel a benchmark.

    ``table``: one row a (benchmark, rows, colour) of ``benchmark.false_trust``: p_erroneous with p_erroneous_low and
    p_erroneous_high, n_coherent and n_erroneous, which stand at the right. Rows are in order of their first colour.
    """
    names = table["benchmark"].unique().sort().to_list()
    kinds = table[colour].unique().sort().to_list()
    panels = [
        _panel(table.filter(pl.col("benchmark") == name), rows, (colour, kinds), step).properties(
            title=name, width=width, height=alt.Step(step, **{"for": "offset"})
        )
        for name in names
    ]
    return styled(side_by_side(panels))


def _panel(table: pl.DataFrame, rows: str, colour: tuple[str, list[Any]], step: int) -> Any:
    column, kinds = colour
    shown = table.filter(pl.col("n_coherent") > 0).with_columns(
        pl.col(column).cast(pl.String).alias("_colour"),
        text=pl.format("{} of {}", "n_erroneous", "n_coherent"),
    )
    numeric = table[rows].dtype.is_numeric()
    first = shown.filter(pl.col(column) == pl.col(column).min().over(rows)).sort("p_erroneous", rows)
    order = sorted(set(shown[rows])) if numeric else first[rows].unique(maintain_order=True).to_list()
    y = alt.Y(
        f"{rows}:N",
        scale=alt.Scale(paddingInner=0.12),
        sort=order,
        title=None if rows == "model" else rows,
        axis=alt.Axis(labelLimit=0),
    )
    texts = [str(kind) for kind in kinds]
    legend = alt.Legend(title=column, orient="bottom") if len(kinds) > 1 else None
    base = alt.Chart(shown).encode(
        y=y,
        yOffset=alt.YOffset("_colour:N", scale=alt.Scale(domain=texts, paddingOuter=0.15)),
        color=colour_of("_colour", texts, legend=legend),
    )
    title = "share of tasks without a disagreement that are erroneous"
    domain = alt.Scale(domain=[0, min(1.0, float(shown["p_erroneous_high"].max()) * 1.25 + 0.02)], nice=False)  # type: ignore[arg-type]
    x = alt.X("p_erroneous:Q", title=title, scale=domain)
    tooltip = [rows, column, "p_erroneous", "p_erroneous_low", "p_erroneous_high", "n_erroneous", "n_coherent"]
    return alt.layer(
        base.mark_rule(strokeWidth=1.6).encode(x=alt.X("p_erroneous_low:Q", title=title), x2="p_erroneous_high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=x, tooltip=list(dict.fromkeys(tooltip))),
        base.mark_text(align="left", dx=5, fontSize=9).encode(x="p_erroneous_high:Q", text="text:N"),
    )
