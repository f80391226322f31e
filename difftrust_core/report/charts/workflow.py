"""The pipeline as boxes and arrows, with the counts of a run (Figure 2)."""

import math
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.aggregate import mean_error, mean_incoherence
from difftrust_core.report.charts.style import COLOURS, GREY, styled
from difftrust_core.report.names import display_name

STAGES = {"stage": pl.String, "title": pl.String, "count": pl.String, "detail": pl.String}
"""Columns of ``workflow_stages``."""


def workflow_stages(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return one row a stage of ``charts.draw_workflow``: what it is, how many, and one or two lines more.

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
_ARROWS: Final = (
    ("tasks", "programs"),
    ("tasks", "inputs"),
    ("programs", "outcomes"),
    ("inputs", "outcomes"),
    ("outcomes", "disagreeing"),
    ("outcomes", "reference"),
    ("reference", "found"),
    ("disagreeing", "found"),
)
_ORACLE: Final = ("reference", "found")
"""Stages that need the reference: they judge the measure, and are no part of it."""
_WIDTH, _HEIGHT = 200.0, 92.0
_ACROSS, _DOWN = 254.0, 150.0
_MARGIN = 12.0


def draw_workflow(stages: pl.DataFrame) -> Any:
    """Draw the pipeline: one box a stage of ``stages``, arrows between them.

    ``stages``: stage (tasks, programs, inputs, outcomes, disagreeing, reference, found), title, count and detail, texts
    each; a stage that is not there has no box. Boxes that need the reference are of another colour.
    """
    placed = [(*_PLACES[row["stage"]], row) for row in stages.iter_rows(named=True)]
    boxes = pl.DataFrame(
        [
            {
                "left": _MARGIN + column * _ACROSS,
                "right": _MARGIN + column * _ACROSS + _WIDTH,
                "top": _MARGIN + row * _DOWN,
                "bottom": _MARGIN + row * _DOWN + _HEIGHT,
                "middle": _MARGIN + column * _ACROSS + _WIDTH / 2,
                "needs": "needs the reference" if stage["stage"] in _ORACLE else "needs no reference",
                **stage,
            }
            for column, row, stage in placed
        ]
    )
    size = 2 * _MARGIN + 3 * _ACROSS + _WIDTH, 2 * _MARGIN + _DOWN + _HEIGHT
    chart = alt.layer(*_arrows(boxes, size), *_boxes(boxes, size)).properties(width=size[0], height=size[1])
    return styled(chart).configure_view(stroke=None)


def _axes(size: tuple[float, float]) -> tuple[alt.X, alt.Y]:
    """Return axes in pixels from the upper left corner, unseen."""
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, size[0]], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[size[1], 0], nice=False))
    return x, y


def _boxes(boxes: pl.DataFrame, size: tuple[float, float]) -> list[Any]:
    x, y = _axes(size)
    kinds = ["needs no reference", "needs the reference"]
    colour = alt.Color(
        "needs:N",
        scale=alt.Scale(domain=kinds, range=list(COLOURS[:2])),
        legend=alt.Legend(title=None, orient="bottom", symbolType="square"),
    )
    corners = boxes.with_columns(x="left", y="top")
    rect = alt.Chart(corners).mark_rect(fillOpacity=0.1, strokeWidth=1.5, cornerRadius=5)
    layers: list[Any] = [
        rect.encode(x=x, y=y, x2="right:Q", y2="bottom:Q", fill=colour, stroke=colour, tooltip=["title", "count"])
    ]
    for name, dy, size_, weight, colour_ in (
        ("title", 19, 12, "bold", "black"),
        ("count", 43, 17, "bold", "black"),
        ("detail", 65, 11, "normal", "#444444"),
    ):
        mark = alt.Chart(boxes.with_columns(x="middle", y=pl.col("top") + dy, text=pl.col(name).str.split("\n")))
        text = mark.mark_text(fontSize=size_, fontWeight=weight, color=colour_, lineHeight=14, baseline="middle")  # type: ignore[arg-type]
        layers.append(text.encode(x=x, y=y, text="text:N"))
    return layers


def _arrows(boxes: pl.DataFrame, size: tuple[float, float]) -> list[Any]:
    x, y = _axes(size)
    of = {row["stage"]: row for row in boxes.iter_rows(named=True)}
    lines, heads = [], []
    for start, end in _ARROWS:
        if start in of and end in of:
            (x1, y1), (x2, y2), angle = _ends(of[start], of[end])
            lines.append({"x": x1, "y": y1, "x2": x2, "y2": y2})
            heads.append({"x": x2, "y": y2, "angle": angle})
    if not lines:
        return []
    rule = alt.Chart(pl.DataFrame(lines)).mark_rule(color=GREY, strokeWidth=1.6)
    point = alt.Chart(pl.DataFrame(heads)).mark_point(shape="triangle", filled=True, size=90, color=GREY, opacity=1)
    return [
        rule.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"),
        point.encode(x=x, y=y, angle=alt.Angle("angle:Q", scale=alt.Scale(domain=[0, 360], range=[0, 360]))),
    ]


def _ends(start: dict[str, Any], end: dict[str, Any]) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return where an arrow starts and ends, and the angle of its head, in degrees clockwise from up."""
    head = 5.0
    if start["left"] == end["left"]:
        return (start["middle"], start["bottom"]), (end["middle"], end["top"] - head), 180.0
    shift = 0.0 if start["top"] == end["top"] else (18.0 if start["top"] < end["top"] else -18.0)
    y1 = (start["top"] + start["bottom"]) / 2 + shift
    y2 = (end["top"] + end["bottom"]) / 2 - shift
    run, fall = end["left"] - head - start["right"], y2 - y1
    return (start["right"], y1), (end["left"] - head, y2), 90.0 + math.degrees(math.atan2(fall, run))
