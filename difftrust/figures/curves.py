"""Curves of rates against one another: a panel a benchmark, a line a model, signal or way to check."""

from functools import partial
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.figures.style import (
    BAND,
    COLOURS,
    GREY,
    LETTERS,
    SHARE,
    Line,
    axis,
    channels,
    legend,
    line_layers,
    lines_of,
    panels,
    styled,
    tips,
)
from difftrust.research.coders import MEAN
from difftrust.research.selection import BEST, RANDOM
from difftrust.tables.names import display_name, with_display_names

FAMILIES: Final = ("behaviour", "structure", "text", "length")
"""Of signals, in the order of their colours."""
COLOUR_OF: Final = dict(zip(FAMILIES, COLOURS, strict=False))
_STEP: Final = 0.05
_ENDS: Final = {"": "pass@1", "_low": "95 % interval, from", "_high": "to"}


def draw_mixtures(table: pl.DataFrame) -> Any:
    """Draw rates against the number of models that the programs come from, a panel a benchmark, a line a measure.

    ``table``: benchmark, n_models, measure (what the line is called), value; measures keep their order.
    """
    measures = table["measure"].unique(maintain_order=True).to_list()
    look = channels("measure", lines_of(measures, of_models=False), legend(1))
    x = alt.X("n_models:O", title="number of models that wrote the programs", axis=alt.Axis(labelAngle=0))
    up = partial(axis, alt.Y, "value", title="share of tasks", ends=(0, 1.04))

    def panel(rows: pl.DataFrame) -> Any:
        layers = line_layers(rows, x, up, look, tooltip=rows.columns)
        for first, dy in ((0, -11), (1, 13)):  # of neighbouring lines, one has its numbers above and one below
            own = alt.Chart(rows.filter(pl.col("measure").is_in(measures[first::2]))).mark_text(dy=dy, fontSize=10)
            layers.append(own.encode(x=x, y=up(), color=look["color"], text=alt.Text("value:Q", format=".0%")))
        return alt.layer(*layers)

    return panels(table, "benchmark", panel, width=340, height=280)


def draw_risk_coverage(table: pl.DataFrame) -> Any:
    """Draw risk against coverage, a panel a benchmark, a line a model, its first point, where all agree, marked.

    ``table``: one row a (benchmark, model, threshold): coverage, risk, risk_low, risk_high, n_answered, n_wrong. Of a
    single model the exact interval is a band.
    """
    table = with_display_names(table).sort("benchmark", "model", "coverage")
    names = table["model"].unique().sort().to_list()
    most = float(table["risk_high" if len(names) == 1 else "risk"].max() or 0.0)  # type: ignore[arg-type]
    look = channels("model", lines_of(names, of_models=False), legend(symbolOpacity=1, symbolStrokeWidth=0))
    x = axis(alt.X, "coverage", title="tasks answered (% of all tasks)", ends=(0, 1))
    ends, clamped = (0.0, min(1.0, 1.05 * most + 0.01)), {"clamp": True}
    title = "wrong answers (% of the tasks answered)"
    shares = dict.fromkeys(("coverage", "risk", "risk_low", "risk_high"), SHARE)
    tooltip = tips("model", threshold=".3~g", **shares, n_wrong=None, n_answered=None)

    def up(column: str = "risk") -> Any:
        return axis(alt.Y, column, title=title, ends=ends, scale=clamped)

    def panel(rows: pl.DataFrame) -> Any:
        *lines, _ = line_layers(
            rows, x, up, look, tooltip=tooltip, band="risk" if len(names) == 1 else "", order="coverage:Q"
        )
        first = alt.Chart(rows.group_by("model", maintain_order=True).first())
        marks = {name: channel for name, channel in look.items() if name != "strokeDash"}
        return alt.layer(
            *lines, first.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=up(), tooltip=tooltip, **marks)
        )

    return panels(table, "benchmark", panel, width=360, height=320)


def draw_policies(table: pl.DataFrame) -> Any:
    """Draw detection against false alarms, a panel a benchmark, a line a family of policies.

    ``table``: the columns of the price list, of which what is undefined (null) is left out. The dollars per 1,000 tasks
    stand at the point of a family that detects most.
    """
    known = table.drop_nulls(["false_alarms", "detection"])
    families = known["family"].unique(maintain_order=True).to_list()
    most = min(1.0, 1.15 * max(known["false_alarms"].to_list(), default=1.0) + 0.02)
    look = channels("family", lines_of(families, of_models=False), legend(2))
    x = axis(alt.X, "false_alarms", title="false alarms (% of the right programs)", ends=(0, most))
    up = partial(axis, alt.Y, "detection", title="detection (% of the wrong programs)", ends=(0, 1))
    tooltip = [name for name in table.columns if name not in ("benchmark", "family")]

    def panel(rows: pl.DataFrame) -> Any:
        priced = alt.Chart(_most_detecting(rows)).mark_text(align="left", dx=7, dy=4, fontSize=10, color=GREY)
        layers = line_layers(rows, x, up, look, tooltip=tooltip)
        return alt.layer(*layers, priced.encode(x=x, y=up(), text="text:N"))

    return panels(known, "benchmark", panel, width=400, height=340, columns=2)


def _most_detecting(table: pl.DataFrame) -> pl.DataFrame:
    """Return the point of each family that detects most, with its dollars: at all points they would overlap."""
    last = table.sort("detection", maintain_order=True).group_by("family", maintain_order=True).last()
    at_least = pl.when("usd_per_1000_is_lower_bound").then(pl.lit("≥ ")).otherwise(pl.lit(""))
    dollars = pl.format("{}${}", at_least, pl.col("usd_per_1000").round(1))
    return last.drop_nulls("usd_per_1000").with_columns(text=dollars)


def draw_questions(frame: pl.DataFrame) -> Any:
    """Draw pass@1 against answers: a panel a benchmark, a line a model, the mean in black with its interval.

    ``frame``: a row a (benchmark, model, question, answers): pass_at_1 and its ends. Dotted is what a random input
    brings, of the mean; of a single model, its own line has the band and the dots.
    """
    names = frame.filter(pl.col("model") != MEAN)["model"].unique().sort().to_list()
    lines = lines_of(names)
    main = MEAN if MEAN in frame["model"] else names[0]
    colour = LETTERS if main == MEAN else lines[main].colour
    best = frame.filter(question=BEST)
    low, high = (best["pass_at_1"].append(frame.filter(model=main)[f"pass_at_1_{end}"]) for end in ("low", "high"))
    least, most = float(low.min()), float(high.max())  # type: ignore[arg-type]
    ends = (max(0.0, least // _STEP * _STEP), min(1.0, (most // _STEP + 1) * _STEP))
    look = channels("model", lines, legend(5, symbolOpacity=1, symbolStrokeWidth=0))
    numbers = {f"pass_at_1{end}": (said, SHARE) for end, said in _ENDS.items()}
    tooltip = tips("model", "question", answers=None, **numbers)

    def up(column: str = "pass_at_1") -> Any:
        return axis(alt.Y, column, title="pass@1 (% of tasks)", ends=ends)

    def panel(rows: pl.DataFrame) -> Any:
        answers = sorted(rows.filter(question=BEST)["answers"].unique())
        x = axis(alt.X, "answers", title="answers (0: the consensus)", format="d", values=answers, scale={"padding": 8})
        named = with_display_names(rows)
        drawn, chance = (alt.Chart(named.filter(model=display_name(main), question=q)) for q in (BEST, RANDOM))
        band = drawn.mark_area(opacity=BAND, color=colour).encode(x=x, y=up("pass_at_1_low"), y2="pass_at_1_high:Q")
        thick = drawn.mark_line(strokeWidth=3.5 if main == MEAN else 2, color=colour)
        dotted = chance.mark_line(strokeWidth=2.5, strokeDash=[2, 3], color=colour)
        models = named.filter(pl.col("model") != MEAN, question=BEST)
        return alt.layer(
            band,
            *line_layers(models, x, up, look, tooltip=tooltip),
            *(mark.encode(x=x, y=up(), tooltip=tooltip) for mark in (thick, dotted)),
        )

    return panels(frame, "benchmark", panel, width=360, height=340)


def draw_roc(curves: pl.DataFrame) -> Any:
    """Draw ``signals.roc_table``: a colour a family, as in ``draw_auroc``, a dash for each further signal of it.

    The diagonal is chance.
    """
    x = axis(alt.X, "false_positive_rate", title="correct tasks flagged (false positives, %)", ends=(0, 1), tickCount=5)
    y = axis(alt.Y, "true_positive_rate", title="erroneous tasks flagged (true positives, %)", ends=(0, 1), tickCount=5)
    pairs = curves.select("title", "family").unique(maintain_order=True).rows()
    turns = [[family for _, family in pairs[:i]].count(family) for i, (_, family) in enumerate(pairs)]
    lines = {title: Line(COLOUR_OF[family], turn) for (title, family), turn in zip(pairs, turns, strict=True)}
    look = channels("title", lines, legend(2, "top", symbolType="stroke", symbolStrokeWidth=3))
    look.pop("shape", None)
    flagged = {"false_positive_rate": "correct tasks flagged", "true_positive_rate": "erroneous tasks flagged"}
    tooltip = tips("title: signal", **{name: (said, SHARE) for name, said in flagged.items()})
    order = "true_positive_rate:Q"
    drawn = alt.Chart(curves).mark_line(strokeWidth=2).encode(x=x, y=y, order=order, tooltip=tooltip, **look)
    diagonal = pl.DataFrame({name: [0.0, 1.0] for name in flagged})
    chance = alt.Chart(diagonal).mark_line(color=GREY, strokeWidth=1, strokeDash=[4, 4]).encode(x=x, y=y)
    return styled(alt.layer(chance, drawn).properties(width=380, height=380))
