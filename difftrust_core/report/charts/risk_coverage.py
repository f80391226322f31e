"""Share of wrong answers against share of tasks answered, as answering gets looser."""

from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import COLOURS, SHARE, SHARES, colour_of, shape_of, side_by_side, styled
from difftrust_core.report.names import with_display_names

_DASHES: Final = ((1, 0), (5, 3), (2, 2), (8, 3))
"""Told apart where colours repeat, like SHAPES."""


def draw_risk_coverage(table: pl.DataFrame) -> Any:
    """Draw risk against coverage, a panel a benchmark, a line a model, its first point, where all agree, marked.

    ``table``: one row a (benchmark, model, threshold): coverage, risk, risk_low, risk_high, n_answered, n_wrong. Of a
    single model the exact interval is a band.
    """
    table = with_display_names(table)
    names = table["model"].unique().sort().to_list()
    most = float(table["risk_high" if len(names) == 1 else "risk"].max() or 0.0)  # type: ignore[arg-type]
    panels = [
        _panel(part, names, min(1.0, 1.05 * most + 0.01)).properties(title=str(benchmark), width=360, height=320)
        for (benchmark,), part in table.sort("benchmark", "model", "coverage").group_by(
            "benchmark", maintain_order=True
        )
    ]
    return styled(side_by_side(panels))


def _panel(table: pl.DataFrame, names: list[str], most: float) -> Any:
    legend = alt.Legend(title=None, orient="bottom", columns=4, symbolOpacity=1, symbolStrokeWidth=0)
    dashes = [_DASHES[i // len(COLOURS) % len(_DASHES)] for i in range(len(names))]
    x = alt.X(
        "coverage:Q",
        title="tasks answered (% of all tasks)",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=SHARES),
    )
    title = "wrong answers (% of the tasks answered)"
    y = alt.Y(
        "risk:Q", title=title, scale=alt.Scale(domain=[0, most], nice=False, clamp=True), axis=alt.Axis(format=SHARES)
    )
    tooltip = [
        alt.Tooltip("model:N"),
        alt.Tooltip("threshold:Q", format=".3~g"),
        *[alt.Tooltip(f"{name}:Q", format=SHARE) for name in ("coverage", "risk", "risk_low", "risk_high")],
        alt.Tooltip("n_wrong:Q"),
        alt.Tooltip("n_answered:Q"),
    ]
    base = alt.Chart(table).encode(x=x, color=colour_of("model", names, legend=legend))
    first = base.properties(data=table.group_by("model", maintain_order=True).first())
    layers = [
        base.mark_line(strokeWidth=1.6).encode(
            y=y,
            order="coverage:Q",
            strokeDash=alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
        ),
        first.mark_point(filled=True, size=60, opacity=1).encode(
            y=y, shape=shape_of("model", names, legend=legend), tooltip=tooltip
        ),
    ]
    if len(names) == 1:
        low = alt.Y("risk_low:Q", title=title)
        layers.insert(0, base.mark_area(opacity=0.15, line=False).encode(y=low, y2="risk_high:Q"))
    return alt.layer(*layers)
