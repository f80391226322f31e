"""What more money finds: detection against dollars, a line a policy or a model, with the false alarms as its width."""

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import numpy as np
import polars as pl

from difftrust.figures.style import COLOURS, FONT_SIZE, LETTERS, SHARE, axis, dashed_line, styled, tips

HEIGHT: Final = 400
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
    height: int = HEIGHT,
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
    placed, edge = alt.Chart(_place_names(table, height)), alt.value("width")
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
    return styled(alt.layer(*layers).properties(height=height, width=700))


def _cost_axis(costs: Sequence[float], by_price: bool) -> Any:
    """Return the axis of costs: logarithmic, from a tick to a tick, where they are dollars."""
    low, high = min(costs), max(costs)
    if not by_price:
        return axis(alt.X, "cost", title=PROGRAMS, ends=(1.0, max(2.0, high)), format="d", tickMinStep=1)
    low = max((tick for tick in _TICKS if tick <= low), default=low)
    high = min((tick for tick in _TICKS if tick >= high), default=high)
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    return axis(alt.X, "cost", title=DOLLARS, ends=(low, high), scale={"type": "log"}, format="$~r", values=ticks)


def _place_names(table: pl.DataFrame, height: int) -> pl.DataFrame:
    """Return where each line ends, and the height at which its name stands: ``label``, at least a line apart."""
    last = table.sort("cost", "detection").group_by("series", maintain_order=True).last().sort("detection", "series")
    apart = _LINE / height
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
