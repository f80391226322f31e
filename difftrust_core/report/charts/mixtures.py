"""Programs of one model or of several, and how often programs that all agree are wrong."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import SHARES, colour_of, side_by_side, styled, title_of
from difftrust_core.report.names import with_display_names


def draw_mixtures(table: pl.DataFrame) -> Any:
    """Draw rates against the number of models that the programs come from, a panel a benchmark, a line a measure.

    ``table``: benchmark, n_models, measure (what the line is called), value; measures keep their order.
    """
    names = table["benchmark"].unique().sort().to_list()
    measures = table["measure"].unique(maintain_order=True).to_list()
    panels = [
        _panel(table.filter(pl.col("benchmark") == name), measures).properties(title=name, width=340, height=280)
        for name in names
    ]
    return styled(side_by_side(panels))


def _panel(table: pl.DataFrame, measures: list[str]) -> Any:
    base = alt.Chart(table).encode(
        x=alt.X("n_models:O", title="number of models that wrote the programs", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "value:Q",
            title="share of tasks",
            scale=alt.Scale(domain=[0, 1.04], nice=False),
            axis=alt.Axis(format=SHARES),
        ),
        color=colour_of("measure", measures, legend=alt.Legend(title=None, orient="bottom", columns=1)),
    )
    texts = [  # of neighbouring lines, one has its numbers above and one below
        base.properties(data=table.filter(pl.col("measure").is_in(measures[first::2])))
        .mark_text(dy=dy, fontSize=10)
        .encode(text=alt.Text("value:Q", format=".0%"))
        for first, dy in ((0, -11), (1, 13))
    ]
    points = base.mark_point(filled=True, size=55, opacity=1).encode(tooltip=table.columns)
    return alt.layer(base.mark_line(strokeWidth=2), points, *texts)


def draw_false_trust(table: pl.DataFrame, *, rows: str = "model", colour: str = "m", step: int = 11) -> Any:
    """Draw the share of erroneous tasks among those without a disagreement: a row a ``rows``, a panel a benchmark.

    ``table``: one row a (benchmark, rows, colour) of ``benchmark.false_trust``: p_erroneous with p_erroneous_low and
    p_erroneous_high, n_coherent and n_erroneous, which stand at the right. Rows are in order of their first colour.
    """
    table = with_display_names(table) if rows == "model" else table
    names = table["benchmark"].unique().sort().to_list()
    kinds = table[colour].unique().sort().to_list()
    panels = [
        _agreement_panel(table.filter(pl.col("benchmark") == name), rows, (colour, kinds), step).properties(
            title=name, width=360, height=alt.Step(step, **{"for": "offset"})
        )
        for name in names
    ]
    return styled(side_by_side(panels))


def _agreement_panel(table: pl.DataFrame, rows: str, colour: tuple[str, list[Any]], step: int) -> Any:
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
        title=None if rows == "model" else title_of(rows),
        axis=alt.Axis(labelLimit=0),
    )
    texts = [str(kind) for kind in kinds]
    legend = alt.Legend(title=title_of(column), orient="bottom") if len(kinds) > 1 else None
    base = alt.Chart(shown).encode(
        y=y,
        yOffset=alt.YOffset("_colour:N", scale=alt.Scale(domain=texts, paddingOuter=0.15)),
        color=colour_of("_colour", texts, legend=legend),
    )
    title = "erroneous tasks (% of the tasks where all programs agree)"
    domain = alt.Scale(domain=[0, min(1.0, float(shown["p_erroneous_high"].max()) * 1.25 + 0.02)], nice=False)  # type: ignore[arg-type]
    x = alt.X("p_erroneous:Q", title=title, scale=domain, axis=alt.Axis(format=SHARES))
    tooltip = [rows, column, "p_erroneous", "p_erroneous_low", "p_erroneous_high", "n_erroneous", "n_coherent"]
    return alt.layer(
        base.mark_rule(strokeWidth=1.6).encode(x=alt.X("p_erroneous_low:Q", title=title), x2="p_erroneous_high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(x=x, tooltip=list(dict.fromkeys(tooltip))),
        base.mark_text(align="left", dx=5, fontSize=9).encode(x="p_erroneous_high:Q", text="text:N"),
    )
