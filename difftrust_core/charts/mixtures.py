"""The same programs, or the same money, spent on one model or on several; and nothing else."""

from typing import Any

import altair as alt
import polars as pl

from difftrust_core.charts.style import COLOURS, side_by_side, styled


def draw_mixtures(table: pl.DataFrame, *, width: int = 340, height: int = 280) -> Any:
    """Draw rates against the number of models that the programs come from, a panel a benchmark, a line a measure.

    ``table``: benchmark, n_models, measure (what the line is called), value; measures keep their order.
    """
    names = table["benchmark"].unique().sort().to_list()
    measures = table["measure"].unique(maintain_order=True).to_list()
    panels = [
        _panel(table.filter(pl.col("benchmark") == name), measures).properties(title=name, width=width, height=height)
        for name in names
    ]
    return styled(side_by_side(panels))


def _panel(table: pl.DataFrame, measures: list[str]) -> Any:
    colour = alt.Color(
        "measure:N",
        scale=alt.Scale(domain=measures, range=list(COLOURS[: len(measures)])),
        legend=alt.Legend(title=None, orient="bottom", columns=1),
    )
    encoding: dict[str, Any] = {
        "x": alt.X("n_models:O", title="models that the programs come from", axis=alt.Axis(labelAngle=0)),
        "y": alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1.04], nice=False), axis=alt.Axis(format=".1f")),
        "color": colour,
    }
    base = alt.Chart(table)
    texts = [  # of neighbouring lines, one has its numbers above and one below
        alt.Chart(table.filter(pl.col("measure").is_in(measures[first::2])))
        .mark_text(dy=dy, fontSize=10)
        .encode(x=encoding["x"], y=encoding["y"], color=colour, text=alt.Text("value:Q", format=".2f"))
        for first, dy in ((0, -11), (1, 13))
    ]
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=encoding["x"], y=encoding["y"], color=colour, tooltip=table.columns
    )
    return alt.layer(base.mark_line(strokeWidth=2).encode(**encoding), points, *texts)
