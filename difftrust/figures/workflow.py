"""The pipeline as boxes and arrows, with the counts of a run (Figure 2)."""

from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.figures.style import COLOURS, GREY, LETTERS, legend, styled
from difftrust.tables.names import display_name
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.aggregate import mean_error, mean_incoherence

STAGES = {"stage": pl.String, "title": pl.String, "count": pl.String, "detail": pl.String}
"""Columns of ``workflow_stages``."""


def workflow_stages(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return one row a stage of ``draw_workflow``: what it is, how many, and one or two lines more.

    ``estimates``: of one coder on one benchmark. Counts by all pairs. Without a reference the stages that need one are
    left out. Raises WrongUsage if there are none, or of several coders.
    """
    coders = estimates.select("benchmark", "model", "temperature").unique()
    if coders.height != 1:
        raise WrongUsage(f"a workflow is that of one coder on one benchmark, got {coders.height}; choose with --model")
    benchmark, model, temperature = coders.row(0)
    coder = f"{display_name(model)}, t = {temperature:g}"
    m, n = int(estimates["m"].max()), int(estimates["n"].max())  # type: ignore[arg-type]
    runs = estimates.select((pl.col("m").cast(pl.Int64) * pl.col("n")).sum()).item()
    disagreeing = estimates.filter("detected").height
    or_fail = " or fail to load" if estimates["n_load_failures"].sum() else ""
    rows = [
        ("tasks", "Tasks", f"{estimates.height:,}", f"{benchmark}: signature,\ndescription, seed inputs"),
        (
            "programs",
            "Sample programs",
            f"{estimates['m'].sum():,}",
            f"{coder}, m = {m}\n{estimates['n_classes'].sum():,} distinct behaviours",
        ),
        ("inputs", "Fuzz inputs", f"{estimates['n'].sum():,}", f"n = {n:,} a task,\nthe same for all programs"),
        ("outcomes", "Run each on each", f"{runs:,}", "outcomes, in a sandbox"),
        (
            "disagreeing",
            "Compare with each other",
            f"{disagreeing:,} tasks",
            f"two programs disagree{or_fail};\nmean incoherence {mean_incoherence(estimates):.3f}",
        ),
    ]
    return pl.DataFrame([*rows, *_judged(estimates, disagreeing)], schema=STAGES, orient="row")


def _judged(estimates: pl.DataFrame, disagreeing: int) -> list[tuple[str, str, str, str]]:
    wrong = estimates.filter(pl.col("error") > 0)
    if estimates["error"].is_null().all():
        return []
    found = wrong.filter("detected").height
    rate = f"{found / wrong.height:.2f}" if wrong.height else "undefined"
    return [
        (
            "reference",
            "Compare with the reference",
            f"{wrong.height:,} tasks",
            f"a program is wrong;\nmean error {mean_error(estimates):.3f}",
        ),
        (
            "found",
            "Wrong and found",
            f"{found:,} tasks",
            f"{rate} of those wrong;\nfalse alarms: {disagreeing - found}",
        ),
    ]


_LEFT: Final = (12.0, 266.0, 520.0, 774.0)
_TOP: Final = (12.0, 162.0)
_WIDTH, _HEIGHT = 200.0, 92.0
_PLACES: Final = {
    "tasks": (0, 0),
    "programs": (1, 0),
    "inputs": (1, 1),
    "outcomes": (2, 0),
    "disagreeing": (3, 0),
    "reference": (2, 1),
    "found": (3, 1),
}
"""Stage -> (column, row) of its box."""
_ORACLE: Final = ("reference", "found")
"""Stages that need the reference: they judge the measure, and are no part of it."""
_ARROWS: Final = (
    ("tasks", "programs", 212, 58, 261, 58, 90),
    ("tasks", "inputs", 212, 76, 261, 190, 157),
    ("programs", "outcomes", 466, 58, 515, 58, 90),
    ("inputs", "outcomes", 466, 190, 515, 76, 23),
    ("outcomes", "disagreeing", 720, 58, 769, 58, 90),
    ("outcomes", "reference", 620, 104, 620, 157, 180),
    ("disagreeing", "found", 874, 104, 874, 157, 180),
    ("reference", "found", 720, 208, 769, 208, 90),
)
"""From one stage to another: where the line starts and ends, and its head's degrees clockwise from up."""
_KINDS: Final = ("needs no reference", "needs the reference")


def draw_workflow(stages: pl.DataFrame) -> Any:
    """Draw the pipeline: one box a stage of ``stages``, arrows between them.

    ``stages``: stage (tasks, programs, inputs, outcomes, disagreeing, reference, found), title, count and detail, texts
    each; a stage that is not there has no box. Boxes that need the reference are of another colour.
    """
    columns, rows = zip(*(_PLACES[stage] for stage in stages["stage"]), strict=True)
    boxes = stages.with_columns(
        pl.Series("x", [_LEFT[column] for column in columns]),
        pl.Series("y", [_TOP[row] for row in rows]),
        pl.Series("needs", [_KINDS[stage in _ORACLE] for stage in stages["stage"]]),
        pl.col("detail").str.split("\n"),
    ).with_columns(right=pl.col("x") + _WIDTH, bottom=pl.col("y") + _HEIGHT)
    names = ("start", "end", "x", "y", "x2", "y2", "angle")
    arrows = pl.DataFrame(_ARROWS, schema=names, orient="row")
    arrows = arrows.filter(pl.col(name).is_in(stages["stage"].to_list()) for name in ("start", "end"))
    width, height = _LEFT[-1] + _WIDTH + _LEFT[0], _TOP[-1] + _HEIGHT + _TOP[0]
    x, x2 = (alt.X(f"{name}:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False)) for name in ("x", "x2"))
    y, y2 = (alt.Y(f"{name}:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False)) for name in ("y", "y2"))
    drawn, lines = alt.Chart(boxes).encode(x=x, y=y), alt.Chart(arrows)
    scale = alt.Scale(domain=list(_KINDS), range=list(COLOURS[:2]))
    colour = alt.Color("needs:N", scale=scale, legend=legend(symbolType="square"))
    turned = alt.Angle("angle:Q", scale=alt.Scale(domain=[0, 360], range=[0, 360]))
    heads = lines.mark_point(shape="triangle", filled=True, size=90, color=GREY, opacity=1)
    look: Any = {"dx": _WIDTH / 2, "lineHeight": 14, "baseline": "middle"}
    layers = [
        lines.mark_rule(color=GREY, strokeWidth=1.6).encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        heads.encode(x=x2, y=y2, angle=turned),
        drawn.mark_rect(fillOpacity=0.1, strokeWidth=1.5, cornerRadius=5).encode(
            x2="right:Q", y2="bottom:Q", fill=colour, stroke=colour, tooltip=["title", "count"]
        ),
        drawn.mark_text(dy=19, fontSize=12, fontWeight="bold", color="black", **look).encode(text="title:N"),
        drawn.mark_text(dy=43, fontSize=17, fontWeight="bold", color="black", **look).encode(text="count:N"),
        drawn.mark_text(dy=65, fontSize=11, color=LETTERS, **look).encode(text="detail:N"),
    ]
    return styled(alt.layer(*layers).properties(width=width, height=height)).configure_view(stroke=None)
