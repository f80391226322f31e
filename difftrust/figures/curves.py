"""Curves of measures against one another, against settings (Table 3) and against money; a panel a benchmark."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import altair as alt
import numpy as np
import polars as pl

from difftrust.figures.style import (
    BAND,
    COLOURS,
    FONT_SIZE,
    GREY,
    LETTERS,
    SHARE,
    Line,
    axis,
    channels,
    dashed_line,
    legend,
    line_layers,
    lines_of,
    panels,
    side_by_side,
    styled,
    tips,
    title_of,
)
from difftrust.research.coders import MEAN
from difftrust.research.selection import BEST, RANDOM
from difftrust.tables.grid import CURVES
from difftrust.tables.names import display_name, with_display_names
from difftrust.tables.render import in_dollars

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


_ALIKE: Final = ("mean_error", "mean_incoherence")
"""Measures whose axes are one, so that their heights can be compared."""
_LOGARITHMIC: Final = ("m", "n")
_COST: Final = "cost"


def draw_ablation(table: pl.DataFrame, *, x: str = "m", chosen: float | None = None) -> Any:
    """Draw each measure against the column ``x`` (m, n or temperature): a panel a measure, a line a benchmark.

    ``table``: one row a (benchmark, x), as ``grid.curves``. Columns <measure>_low and <measure>_high become a band,
    published_<measure> diamonds. ``chosen``: the value of x that is marked.
    """
    shown = [name for name in CURVES if name in table.columns and table[name].is_not_null().any()]
    look = channels(
        "benchmark",
        lines_of(table["benchmark"].unique().sort().to_list(), of_models=False),
        legend(symbolType="stroke", symbolStrokeWidth=3),
    )
    scale = {"type": "log", "nice": False} if x in _LOGARITHMIC else {"zero": False, "padding": 12}
    across = axis(alt.X, x, title=title_of(x), scale=scale, format=",~g", values=_apart(sorted(set(table[x])), x))
    table = _with_cost(table)
    panels = []
    for measure in shown:
        numbers = (measure, f"{measure}_low", f"{measure}_high", f"published_{measure}")
        told = [name for name in (x, *numbers, _COST) if name in table.columns]
        rows = table.select(*told, "benchmark").drop_nulls(measure)
        up = partial(_share_axis, measure, _ends(table, measure))
        tooltip = tips("benchmark", *told[len(told) - (_COST in told) :], **_tellable(told, measure))
        layers = line_layers(rows, across, up, look, tooltip=tooltip, band=measure)
        if chosen is not None:
            ring = alt.Chart(rows.filter(pl.col(x) == chosen)).mark_point(size=190, strokeWidth=2, filled=False)
            rule = dashed_line(pl.DataFrame({x: [float(chosen)]}), x=across)
            layers = [rule, ring.encode(x=across, y=up(), color=look["color"]), *layers]
        if has_published := numbers[-1] in told:
            published = alt.Chart(rows).mark_point(shape="diamond", size=80, filled=False, strokeWidth=1.5, opacity=1)
            layers.append(published.encode(x=across, y=up(numbers[-1]), tooltip=tooltip, color=look["color"]))
        panel = alt.layer(*layers).properties(width=260, height=240)
        about: dict[str, Any] = {"subtitle": "diamonds: published values"} if has_published else {}
        panels.append(panel.properties(title=alt.Title(title_of(measure), fontWeight="normal", **about)))
    return styled(side_by_side(panels))


def _ends(table: pl.DataFrame, measure: str) -> tuple[float, float]:
    """Return the ends of a measure's axis: rates to 1, error and incoherence to the same end."""
    if measure not in _ALIKE:
        return 0.0, 1.0
    names = [f"{start}{name}{end}" for name in _ALIKE for start, end in (("", ""), ("", "_high"), ("published_", ""))]
    there = pl.col([name for name in names if name in table.columns]).cast(pl.Float64).fill_nan(None)
    most = table.select(pl.max_horizontal(there.max())).item() or 0.0
    return 0.0, min(1.0, math.ceil(max(most, _STEP) / _STEP) * _STEP)


def _share_axis(measure: str, ends: tuple[float, float], column: str = "") -> Any:
    """Return the axis of a share; its title stands above the panel, where it can be read and is never cut."""
    return axis(alt.Y, column or measure, title=None, ends=ends, tickCount=5)


def _tellable(told: Sequence[str], measure: str) -> dict[str, tuple[str, str]]:
    """Return how a point tells its numbers: the measure as a share, others with thousands apart."""
    ends = {f"{measure}_low": "95 % interval, from", f"{measure}_high": "to"}
    return {
        name: (ends.get(name, name.replace("_", " ")), SHARE if measure in name else ",~g")
        for name in told
        if name != _COST
    }


def _with_cost(table: pl.DataFrame) -> pl.DataFrame:
    """Return ``table`` with the column ``cost``: its dollars as text, where it has any."""
    if "cost_usd" not in table.columns:
        return table
    pairs = table.select("cost_usd", "^cost_usd_is_lower_bound$").iter_rows()
    return table.with_columns(pl.Series(_COST, [in_dollars(*pair) for pair in pairs], dtype=pl.String))


def _apart(ticks: list[float], x: str) -> list[float]:
    """Return the ticks of a logarithmic axis that lie a factor of 1.6 apart, so that their numbers do not touch."""
    kept: list[float] = []
    for tick in ticks:
        if x not in _LOGARITHMIC or not kept or tick >= 1.6 * kept[-1]:
            kept.append(tick)
    return kept


_HEIGHT: Final = 400
_LINE: Final = 15
"""Pixels from one label to the next, at least."""
_TICKS: Final = tuple(digit * 10**power for power in range(-3, 5) for digit in (1, 2, 5))
DOLLARS: Final = "US dollars per 1,000 tasks (logarithmic)"
PROGRAMS: Final = "programs per task"


def draw_spending(
    table: pl.DataFrame,
    *,
    by_price: bool,
    colours: Sequence[tuple[str, str]] = (),
    marked: tuple[float, float] | None = None,
    wish: float | None = None,
    highlighted: str | None = None,
) -> Any:
    """Draw detection against cost: ``table`` has the columns of ``plan.CURVE_SCHEMA``, at least one row.

    Each line is named at the right edge, where names never touch. ``colours``: (series, colour), else eight in turn;
    ``marked``: (cost, detection) of the policy to point at; ``wish``: the detection that is wanted; ``highlighted``:
    the series drawn in full, the others pale.
    """
    names = table["series"].unique(maintain_order=True).to_list()
    palette = [dict(colours).get(name, COLOURS[i % len(COLOURS)]) for i, name in enumerate(names)]
    x = _cost_axis([*table["cost"], *(marked or ())[:1]], by_price)
    y = axis(alt.Y, "detection", title="wrong programs found (%)", ends=(0, 1), tickCount=5)
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=palette), legend=None)
    is_pale = alt.condition(alt.datum.series == highlighted if highlighted else "true", alt.value(1.0), alt.value(0.35))
    width = alt.Size("false_alarms:Q", scale=alt.Scale(domain=[0, 0.3], range=[1.2, 12], clamp=True), legend=None)
    drawn = alt.Chart(table).encode(x=x, y=y, color=colour, opacity=is_pale)
    placed, edge = alt.Chart(_place_names(table)), alt.value("width")
    beside = placed.mark_text(align="left", baseline="middle", dx=14, fontSize=FONT_SIZE, limit=190, color=LETTERS)
    tooltip = tips(
        *("series: line", "policy", "models: others"),
        cost=("dollars per 1,000 tasks" if by_price else PROGRAMS, ",.3~r"),
        detection=("found", SHARE),
        false_alarms=("false alarms", SHARE),
    )
    layers = [
        placed.mark_rule(strokeWidth=0.7, opacity=0.45).encode(x=x, y=y, x2=edge, y2="label:Q", color=colour),
        drawn.mark_trail().encode(size=width, order="cost:Q"),
        drawn.mark_point(filled=True, size=40).encode(tooltip=tooltip),
        placed.mark_point(filled=True, shape="square", size=60, opacity=1, xOffset=6).encode(
            x=edge, y="label:Q", color=colour
        ),
        beside.encode(x=edge, y="label:Q", text="series:N"),
    ]
    if wish is not None:
        layers.insert(0, dashed_line(pl.DataFrame({"detection": [wish]}), y=y))
    if marked:
        ring = alt.Chart(pl.DataFrame([marked], schema=["cost", "detection"], orient="row"))
        layers.append(ring.mark_point(filled=False, size=220, strokeWidth=2.5, color="black").encode(x=x, y=y))
    return styled(alt.layer(*layers).properties(height=_HEIGHT, width=700))


def _cost_axis(costs: Sequence[float], by_price: bool) -> Any:
    """Return the axis of costs: logarithmic, from a tick to a tick, where they are dollars."""
    low, high = min(costs), max(costs)
    if not by_price:
        return axis(alt.X, "cost", title=PROGRAMS, ends=(1.0, max(2.0, high)), format="d", tickMinStep=1)
    low = max((tick for tick in _TICKS if tick <= low), default=low)
    high = min((tick for tick in _TICKS if tick >= high), default=high)
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    return axis(alt.X, "cost", title=DOLLARS, ends=(low, high), scale={"type": "log"}, format="$~r", values=ticks)


def _place_names(table: pl.DataFrame) -> pl.DataFrame:
    """Return where each line ends, and the height at which its name stands: ``label``, at least a line apart."""
    last = table.sort("cost", "detection").group_by("series", maintain_order=True).last().sort("detection", "series")
    apart = _LINE / _HEIGHT
    placed = moved_apart(last["detection"].to_list(), apart)
    down = max(0.0, placed[-1] - 1.0)
    up = max(0.0, apart / 2 - placed[0])
    heights = [value - down + up for value in placed]
    return last.select("series", "cost", "detection").with_columns(label=pl.Series(heights, dtype=pl.Float64))


def moved_apart(wanted: Sequence[float], apart: float) -> list[float]:
    """Return ascending values moved as little as possible (least squares) so that neighbours are this far apart."""
    from scipy.optimize import isotonic_regression

    steps = apart * np.arange(len(wanted))
    return list(isotonic_regression(np.array(wanted) - steps).x + steps)
