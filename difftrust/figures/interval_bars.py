"""A row a model or signal, a dot for its value and a bar for its interval."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.figures.curves import COLOUR_OF, FAMILIES
from difftrust.figures.style import (
    Line,
    axis,
    channels,
    dashed_line,
    legend,
    lines_of,
    panels,
    styled,
    tips,
    title_of,
    titled_figure,
)
from difftrust.results import Figure
from difftrust.tables.names import display_name, with_display_names
from difftrust.tables.readings import READINGS
from difftrust.tables.request import TableRequest, estimates_for
from difftrust_core.exceptions import NoStore
from difftrust_core.metrics.intervals import false_trust

ROW: Final = 24
"""Pixels of a signal's row, in the chart of AUROC and in that of correlations."""
LABELS: Final = 170
"""Pixels of a signal's name."""


def draw_auroc(table: pl.DataFrame) -> Any:
    """Draw AUROC and its interval, a row of ``signals.auroc_table`` each, best first; the line at 0.5 is chance.

    A column ``meaning``, where there is one, is told with the numbers.
    """
    least = table.select(pl.min_horizontal(pl.col("auroc", "low")).min()).item()
    ends = (min(0.4, least or 0.4), 1.0)
    title = "AUROC (bars: 95 % over tasks; 0.5 is chance)"
    x = axis(alt.X, "auroc", title=title, ends=ends, format=".1f", tickCount=6)
    names = table.sort("auroc", descending=True)["title"].to_list()
    y = alt.Y("title:N", sort=names, title=None, axis=alt.Axis(labelLimit=LABELS))
    lines = {family: Line(COLOUR_OF[family], 0) for family in FAMILIES if family in set(table["family"])}
    base = alt.Chart(table).encode(y=y, **channels("family", lines, legend(2, "top", symbolType="circle")))
    tooltip = tips(
        *("title: signal", *(["meaning"] if "meaning" in table.columns else [])),
        auroc=("AUROC", ".3f"),
        low=("95 % interval, from", ".3f"),
        high=("to", ".3f"),
        n_rows=("pairs of model and task", ","),
    )
    chance = dashed_line(pl.DataFrame({"auroc": [0.5]}), x=x)
    bars = base.mark_rule(strokeWidth=2).encode(x=axis(alt.X, "low", title=title, ends=ends), x2="high:Q")
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, tooltip=tooltip)
    return styled(alt.layer(chance, bars, dots).properties(width=420, height=ROW * len(names)))


def draw_false_trust(table: pl.DataFrame, *, rows: str = "model", colour: str = "m", step: int = 11) -> Any:
    """Draw the share of erroneous tasks among those without a disagreement: a row a ``rows``, a panel a benchmark.

    ``table``: one row a (benchmark, rows, colour) of ``metrics.intervals.false_trust``: p_erroneous with
    p_erroneous_low and p_erroneous_high, n_coherent and n_erroneous, which stand at the right. Rows are in
    order of their first colour. Raises NoStore if nothing is known of any such task.
    """
    table = table.filter(pl.col("n_coherent") > 0)
    if table.is_empty():
        raise NoStore("there is nothing to draw: no task has a reference and programs that all agree; execute more")
    table = with_display_names(table) if rows == "model" else table
    kinds = table[colour].unique().sort().cast(pl.String).to_list()
    shown = legend(title=title_of(colour)) if len(kinds) > 1 else None
    look = channels("_colour", lines_of(kinds, of_models=False), shown)["color"]
    title = "erroneous tasks (% of the tasks where all programs agree)"
    tooltip = [rows, colour, "p_erroneous", "p_erroneous_low", "p_erroneous_high", "n_erroneous", "n_coherent"]

    def panel(part: pl.DataFrame) -> Any:
        there = part.with_columns(
            pl.col(colour).cast(pl.String).alias("_colour"), text=pl.format("{} of {}", "n_erroneous", "n_coherent")
        )
        first = there.filter(pl.col(colour) == pl.col(colour).min().over(rows)).sort("p_erroneous", rows)
        order = sorted(set(there[rows])) if part[rows].dtype.is_numeric() else first[rows].unique(maintain_order=True)
        name = None if rows == "model" else title_of(rows)
        y = alt.Y(
            f"{rows}:N", scale=alt.Scale(paddingInner=0.12), sort=list(order), title=name, axis=alt.Axis(labelLimit=0)
        )
        beside = alt.YOffset("_colour:N", scale=alt.Scale(domain=kinds, paddingOuter=0.15))
        base = alt.Chart(there).encode(y=y, yOffset=beside, color=look)
        ends = (0.0, min(1.0, float(there["p_erroneous_high"].max()) * 1.25 + 0.02))  # type: ignore[arg-type]
        x = axis(alt.X, "p_erroneous", title=title, ends=ends)
        return alt.layer(
            base.mark_rule(strokeWidth=1.6).encode(x=alt.X("p_erroneous_low:Q", title=title), x2="p_erroneous_high:Q"),
            base.mark_point(filled=True, size=45, opacity=1).encode(x=x, tooltip=list(dict.fromkeys(tooltip))),
            base.mark_text(align="left", dx=5, fontSize=9).encode(x="p_erroneous_high:Q", text="text:N"),
        )

    return panels(table, "benchmark", panel, width=360, height=alt.Step(step, **{"for": "offset"}))


def false_trust_figure(frame: pl.DataFrame, models: str | Sequence[str], *, temperature: float) -> Figure:
    """Return how often tasks are wrong although all programs agree, by what varies in ``frame``: n, m or the model."""
    varied = "n" if frame["n"].n_unique() > 1 else "m" if frame["m"].n_unique() > 1 else "model"
    layout: dict[str, Any] = {"rows": varied, "colour": "model", "step": 22} if varied != "model" else {}
    chart = draw_false_trust(frame, **layout)
    named = ", ".join(map(display_name, (models,) if isinstance(models, str) else models)) or "all models"
    at = [f"{name} = {frame[name].sort()[-1]:,}" for name in ("m", "n") if name != varied]
    notes = ("share of the tasks on which all programs agree that are wrong; 95 % Clopper-Pearson, over tasks",)
    return titled_figure(
        chart,
        frame,
        f"Wrong although all programs agree, {named}: {', '.join(at)}, temperature {temperature:g}",
        "A point further left: agreement is worth more. Bars: 95 % intervals over tasks.",
        notes=notes,
    )


def draw_readings(request: TableRequest) -> Figure:
    """Return how often a task is wrong although all programs agree, by model, in the three readings."""
    parts = [
        false_trust(estimates_for(replace(request, reading=reading))[0]).with_columns(reading=pl.lit(name))
        for name, reading in READINGS.items()
    ]
    frame = pl.concat(parts)
    said = "erroneous tasks among those where all programs agree; bars: 95 % Clopper-Pearson intervals over tasks"
    return titled_figure(
        draw_false_trust(frame, colour="reading", step=9),
        frame,
        "Wrong although all programs agree, by model and reading: m = 10, n = 1,000, temperature 0.6",
        "A point is a model, its bar the 95 % interval over tasks. Inputs outside the domain and faulty references "
        "account for most of what the first reading calls wrong.",
        notes=(said,),
    )
