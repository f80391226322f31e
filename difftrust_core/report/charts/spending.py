"""What more money finds: detection against dollars, a line a policy or a model, with the false alarms as its width."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust_core.report.charts.style import COLOURS, FONT_SIZE, GREY, SHARE, SHARES, styled
from difftrust_core.report.charts.template import Drawing, drawing, named

HEIGHT: Final = 400
_LINE: Final = 15
"""Pixels from one label to the next, at least."""
_LETTERS: Final = "#444444"
_TICKS: Final = tuple(digit * 10**power for power in range(-3, 5) for digit in (1, 2, 5))
DOLLARS: Final = "US dollars per 1,000 tasks (logarithmic)"
PROGRAMS: Final = "programs per task"


def spending_drawing(
    table: pl.DataFrame,
    *,
    by_price: bool,
    colours: Sequence[tuple[str, str]] = (),
    marked: tuple[float, float] | None = None,
    wish: float | None = None,
    highlighted: str | None = None,
    height: int = HEIGHT,
) -> Drawing:
    """Draw detection against cost: ``table`` has the columns of ``plan.CURVE_SCHEMA``, at least one row.

    Each line is named at the right edge, where names never touch. ``colours``: (series, colour), else eight in turn;
    ``marked``: (cost, detection) of the policy to point at; ``wish``: the detection that is wanted; ``highlighted``:
    the series drawn in full, the others pale.
    """
    names = table["series"].unique(maintain_order=True).to_list()
    given = dict(colours)
    palette = tuple(given.get(name, COLOURS[i % len(COLOURS)]) for i, name in enumerate(names))
    data = {
        "points": table,
        "names": _place_names(table, height),
        "marked": pl.DataFrame(
            [marked or (None, None)], schema={"cost": pl.Float64, "detection": pl.Float64}, orient="row"
        ),
        "wish": pl.DataFrame({"detection": [wish]}, schema={"detection": pl.Float64}),
    }
    lowest, highest = _ends(table, marked, by_price)
    return drawing(
        _shape,
        {name: rows.drop_nulls() if name in ("marked", "wish") else rows for name, rows in data.items()},
        names=tuple(names),
        palette=palette,
        ends=(lowest, highest),
        by_price=by_price,
        highlighted=highlighted,
        height=height,
    )


def _ends(table: pl.DataFrame, marked: tuple[float, float] | None, by_price: bool) -> tuple[float, float]:
    """Return the values at the ends of the axis of costs: ticks of it where it is logarithmic."""
    costs = [*table["cost"], *([marked[0]] if marked else [])]
    low, high = min(costs), max(costs)
    if not by_price:
        return 1.0, max(2.0, high)
    below = [tick for tick in _TICKS if tick <= low]
    above = [tick for tick in _TICKS if tick >= high]
    return below[-1] if below else low, above[0] if above else high


def _place_names(table: pl.DataFrame, height: int) -> pl.DataFrame:
    """Return where each line ends, and the height at which its name stands: ``label``, at least a line apart."""
    last = table.sort("cost", "detection").group_by("series", maintain_order=True).last().sort("detection", "series")
    apart, placed = _LINE / height, moved_apart(last["detection"].to_list(), _LINE / height)
    down = max(0.0, (placed[-1] if placed else 0.0) - 1.0)
    up = max(0.0, apart / 2 - (placed[0] if placed else 1.0))
    heights = [value - down + up for value in placed]
    return last.select("series", "cost", "detection").with_columns(label=pl.Series(heights, dtype=pl.Float64))


def moved_apart(wanted: Sequence[float], apart: float) -> list[float]:
    """Return ascending values moved as little as possible (least squares) so that neighbours are this far apart."""
    blocks: list[tuple[float, int]] = []  # (mean, how many) of values less than their distance apart
    for i, value in enumerate(wanted):
        mean, number = value - i * apart, 1
        while blocks and blocks[-1][0] > mean:
            before, many = blocks.pop()
            mean, number = (mean * number + before * many) / (number + many), number + many
        blocks.append((mean, number))
    means = [mean for mean, number in blocks for _ in range(number)]
    return [mean + i * apart for i, mean in enumerate(means)]


def _shape(
    *,
    names: tuple[str, ...],
    palette: tuple[str, ...],
    ends: tuple[float, float],
    by_price: bool,
    highlighted: str | None,
    height: int,
) -> Any:
    ticks = [tick for tick in _TICKS if ends[0] <= tick <= ends[1]]
    axis = alt.Axis(values=ticks, format="$~r") if by_price else alt.Axis(tickMinStep=1, format="d")
    kind: Any = "log" if by_price else "linear"
    across = alt.X(
        "cost:Q",
        title=DOLLARS if by_price else PROGRAMS,
        scale=alt.Scale(type=kind, domain=list(ends), nice=False),
        axis=axis,
    )
    up = alt.Y(
        "detection:Q",
        title="wrong programs found (%)",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(format=SHARES, tickCount=5),
    )
    colour = alt.Color("series:N", scale=alt.Scale(domain=list(names), range=list(palette)), legend=None)
    is_pale = alt.condition(alt.datum.series == highlighted if highlighted else "true", alt.value(1.0), alt.value(0.35))
    width = alt.Size("false_alarms:Q", scale=alt.Scale(domain=[0, 0.3], range=[1.2, 12], clamp=True), legend=None)
    points = alt.Chart(named("points"))
    placed = alt.Chart(named("names"))
    edge = alt.value("width")
    key = placed.mark_point(filled=True, shape="square", size=60, opacity=1, xOffset=6)
    beside = placed.mark_text(align="left", baseline="middle", dx=14, fontSize=FONT_SIZE, limit=190, color=_LETTERS)
    layers = [
        alt.Chart(named("wish")).mark_rule(color=GREY, strokeDash=[4, 4]).encode(y=alt.Y("detection:Q")),
        placed.mark_rule(strokeWidth=0.7, opacity=0.45).encode(
            x=across, y=up, x2=alt.value("width"), y2=alt.Y2("label:Q"), color=colour
        ),
        points.mark_trail().encode(
            x=across, y=up, size=width, color=colour, opacity=is_pale, order=alt.Order("cost:Q")
        ),
        points.mark_point(filled=True, size=40).encode(
            x=across, y=up, color=colour, opacity=is_pale, tooltip=_tooltip(by_price)
        ),
        key.encode(x=edge, y=alt.Y("label:Q"), color=colour),
        beside.encode(x=edge, y=alt.Y("label:Q"), text=alt.Text("series:N")),
        alt.Chart(named("marked"))
        .mark_point(filled=False, size=220, strokeWidth=2.5, color="black")
        .encode(x=across, y=up),
    ]
    return styled(alt.layer(*layers).properties(height=height, width=700))


def _tooltip(by_price: bool) -> list[Any]:
    return [
        alt.Tooltip("series:N", title="line"),
        alt.Tooltip("policy:N"),
        alt.Tooltip("models:N", title="others"),
        alt.Tooltip("cost:Q", title="dollars per 1,000 tasks" if by_price else "programs per task", format=",.3~r"),
        alt.Tooltip("detection:Q", title="found", format=SHARE),
        alt.Tooltip("false_alarms:Q", title="false alarms", format=SHARE),
    ]
