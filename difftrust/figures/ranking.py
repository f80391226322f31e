"""Coders by two measures, a labelled point a model: error against incoherence, ranks and shares (Figure 1)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import altair as alt
import polars as pl

from difftrust.figures.style import FAMILY_COLOURS, GREY, LETTERS, PALE, SHARES, axis, panels, tips, title_of
from difftrust.tables.names import family_of, rewrite, with_display_names
from difftrust.tables.render import in_percent

_BOUNDS: Final = {
    ("mean_incoherence", "mean_error"): (0.5, "impossible: E < I / 2"),
    ("found", "erroneous"): (1.0, "flagged = erroneous"),
    ("found_rank", "erroneous_rank"): (1.0, "same rank"),
}
"""(x, y) -> slope of the line to compare with, and what stands below it."""
_IN_TOOLTIP: Final = {
    "mean_error": "error [95 %]",
    "mean_incoherence": "incoherence [95 %]",
    "detection_rate": "detected",
    "silent_rate": "wrong, all agree",
    "found": "flagged",
    "erroneous": "erroneous",
}
"""Measure -> what a tooltip calls it."""
_SAID: Final = "said_"
"""How columns begin that hold the text of a measure."""
_MARGIN: Final = 6.0
PICKED: Final = "picked"
"""The selection of a chart whose points can be clicked."""
WIDTHS: Final = (160, 210, 270, 350, 450, 580, 750, 1000)
"""Widths, in pixels, that names are placed for on a page; a place holds up to the next."""


def draw_ranking(
    table: pl.DataFrame,
    *,
    x: str = "mean_incoherence",
    y: str = "mean_error",
    width: int = 430,
    height: int = 380,
    is_fluid: bool = False,
) -> Any:
    """Draw measure ``y`` against ``x``, one point a (benchmark, model) of ``benchmark.table_4``, a panel a benchmark.

    A colour a family. Names stand where they cover nothing; a name without room is left out, and said on hovering.
    Columns <measure>_low and <measure>_high, where there are any, become crosses. The line is the bound E = I / 2
    (I <= 2E), the region below it shaded; for found and erroneous (``coders.coder_measures``), and for their ranks,
    equality. ``is_fluid``: names are placed for every width of the page, in a chart of one benchmark, and points can be
    clicked: PICKED says the ``id`` of the model, where the table has such a column, else the model.
    """
    coders = table.filter(pl.col("model") != "mean").drop_nulls([x, y])
    coders = coders if "id" in coders.columns else coders.with_columns(id="model")
    coders = rewrite(coders.with_columns(family="id"), ["family"], family_of)
    coders = with_display_names(_with_tooltips(coders))
    families = sorted(set(coders["family"]))
    known = [FAMILY_COLOURS.get(family, GREY) for family in families]
    colour = alt.Color("family:N", scale=alt.Scale(domain=families, range=known), legend=None)
    tooltip = tips(
        *("benchmark", "model"),
        *(f"{_SAID}{name}: {title}" for name, title in _IN_TOOLTIP.items() if name in coders.columns),
    )

    def panel(points: pl.DataFrame) -> Any:
        across, up = (_axis(channel, name, points) for channel, name in ((alt.X, x), (alt.Y, y)))
        dots = alt.Chart(points).mark_point(
            filled=True, size=70, opacity=1, cursor="pointer" if is_fluid else "default"
        )
        dots = dots.encode(x=across, y=up, color=colour, tooltip=tooltip)
        if is_fluid:
            dots = dots.add_params(alt.selection_point(name=PICKED, fields=["id"]))
        names = _names(points, (x, y), WIDTHS if is_fluid else (width,), height)
        return alt.layer(*_bound(points, (x, y)), *_crosses(points, (x, y), colour), *names, dots)

    made = panels(coders, "benchmark", panel, width=width, height=height)
    if is_fluid:
        made.title = alt.Undefined
    return made


def _with_tooltips(coders: pl.DataFrame) -> pl.DataFrame:
    """Add what a tooltip says of each measure, as text: 7.2 % [5.1, 10.3]."""
    said = {}
    for name in _IN_TOOLTIP:
        if name in coders.columns:
            ends = [end for end in (f"{name}_low", f"{name}_high") if end in coders.columns]
            said[_SAID + name] = [in_percent(*row) for row in coders.select(name, *ends).iter_rows()]
    return coders.with_columns(pl.Series(name, texts, dtype=pl.String) for name, texts in said.items())


def _end(points: pl.DataFrame, measure: str) -> float:
    """Return the value at the end of an axis that begins at 0, with room for the names."""
    names = [name for name in (measure, f"{measure}_high") if name in points.columns]
    highest = points.select(pl.max_horizontal(pl.col(names).max())).item()
    return float(max(highest or 0.0, 0.01) * 1.06)


def _axis(channel: Any, measure: str, points: pl.DataFrame) -> Any:
    drawn: dict[str, Any] = {"format": SHARES, "tickCount": 6}
    if measure.endswith("_rank"):
        drawn = {"format": "d", "tickMinStep": 1}
    return axis(channel, measure, title=title_of(measure), ends=(0.0, _end(points, measure)), **drawn)


def _names(points: pl.DataFrame, axes: tuple[str, str], widths: Sequence[int], height: int) -> list[Any]:
    """Return the names, a halo below each, and the lines from points to names that stand apart."""
    rows = points.sort(*axes, descending=True)
    x, y = axes
    places = [(a / _end(rows, x), 1 - b / _end(rows, y)) for a, b in rows.select(x, y).iter_rows()]
    corner = text_width(_BOUNDS[axes][1]) + 2 * _MARGIN if axes in _BOUNDS else 0.0
    schema = {name: pl.String if name == "align" else pl.Float64 for name in Label._fields}
    parts = []
    for start, end in pairwise((*widths, 100_000)):
        orders = [
            place_labels(places[::step], rows["model"].to_list()[::step], (start, height), corner=corner)[::step]
            for step in (1, -1)
        ]
        labels = min(orders, key=lambda found: found.count(None))
        offsets = pl.DataFrame([label or (None,) * len(schema) for label in labels], schema=schema, orient="row")
        here = pl.DataFrame({"from_width": [0 if start == widths[0] else start], "to_width": [end]})
        parts.append(rows.select("model", *axes).hstack(offsets).join(here, how="cross"))
    placed = alt.Chart(pl.concat(parts).drop_nulls("dx"))
    if len(widths) > 1:
        placed = placed.transform_filter("datum.from_width <= width && width < datum.to_width")
    spot = {name: alt.expr(f"datum.{name}") for name in ("dx", "dy", "align")}
    look: Any = {"baseline": "middle", "fontSize": LABEL_SIZE, "aria": False, **spot}
    at = {"x": f"{x}:Q", "y": f"{y}:Q"}
    lines = placed.transform_filter("isValid(datum.line_dx)").mark_rule(
        color=GREY, strokeWidth=0.7, aria=False, x2Offset=alt.expr("datum.line_dx"), y2Offset=alt.expr("datum.line_dy")
    )
    return [
        lines.encode(**at, x2=x, y2=y),
        placed.mark_text(**look, stroke="white", strokeWidth=3, strokeJoin="round").encode(**at, text="model:N"),
        placed.mark_text(**look, color=LETTERS).encode(**at, text="model:N"),
    ]


def _bound(points: pl.DataFrame, axes: tuple[str, str]) -> list[Any]:
    """Return the line to compare with, the region below it, and what stands in the corner there."""
    if axes not in _BOUNDS:
        return []
    (x, y), (slope, words) = axes, _BOUNDS[axes]
    right = _end(points, x)
    end = min(right, _end(points, y) / slope)
    line = [(0.0, 0.0), (end, end * slope)]
    at = {"x": f"{x}:Q", "y": f"{y}:Q"}

    def chart(rows: list[tuple[float, float]]) -> Any:
        return alt.Chart(pl.DataFrame(rows, schema=[x, y], orient="row"))

    shade = chart([*line, (right, end * slope)]).mark_area(color=PALE, clip=True, aria=False).encode(**at)
    corner = chart([(right, 0.0)]).mark_text(
        text=words, align="right", baseline="bottom", color=LETTERS, fontSize=LABEL_SIZE, dx=-_MARGIN, dy=-_MARGIN
    )
    return [
        *([shade] if words.startswith("impossible") else []),
        chart(line).mark_line(color=GREY, strokeDash=[4, 4], clip=True, aria=False).encode(**at),
        corner.encode(**at),
    ]


def _crosses(points: pl.DataFrame, axes: tuple[str, str], colour: alt.Color) -> list[Any]:
    """Return the intervals, where the table has them."""
    x, y = axes
    pale = alt.Chart(points).mark_rule(opacity=0.3, strokeWidth=1.5, aria=False).encode(color=colour)
    bars = {
        f"{x}_low": pale.encode(x=f"{x}_low:Q", x2=f"{x}_high:Q", y=f"{y}:Q"),
        f"{y}_low": pale.encode(x=f"{x}:Q", y=f"{y}_low:Q", y2=f"{y}_high:Q"),
    }
    return [bar for low, bar in bars.items() if low in points.columns]


LABEL_SIZE: Final = 12
"""Pixels of the letters of a name."""
_HALF: Final = 7.5
"""Half the height of a name."""
_DOT: Final = 5.5
_CORNER: Final = 24
"""Height of the text in the corner."""
_THIN: Final = frozenset("ijlI.,:;'|! ()[]-tfr/")

Spot = tuple[int, float, float]
"""Where a name may stand: right (1), left (-1) or in the middle (0) of its point, the gap between, pixels down."""
_BESIDE: Final[tuple[Spot, ...]] = ((1, 7, 0), (-1, 7, 0), (0, 0, -13), (0, 0, 13))
_AWAY = [(side, gap, down) for gap in (7, 30, 60) for down in range(-84, 85, 14) for side in (1, -1) if gap + down != 7]
SPOTS: Final[tuple[Spot, ...]] = (*_BESIDE, *sorted(_AWAY, key=lambda spot: spot[1] + 1.5 * abs(spot[2])))


class Label(NamedTuple):
    """Where a name stands: pixels from its point to the name's end or middle, and to where a line to it ends."""

    dx: float
    dy: float
    align: str
    line_dx: float | None
    line_dy: float | None
    """None where the name stands right beside its point."""


class _Box(NamedTuple):
    """What is taken: from ``left`` to ``right`` pixels from a point at a share of the width, and from top to bottom."""

    across: float
    left: float
    right: float
    top: float
    bottom: float


def text_width(text: str) -> float:
    """Return how wide a name is at most, in pixels, in the sans-serif letters of pages and pictures."""
    return LABEL_SIZE * sum(0.42 if letter in _THIN else 0.7 if letter.isupper() else 0.64 for letter in text)


def place_labels(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    size: tuple[float, float],
    *,
    corner: float,
) -> list[Label | None]:
    """Return where the name of each point stands in a chart of this (width, height), None where there is no room.

    ``points``: shares of the width and of the height, from the upper left. The places hold at every greater width, for
    points only move apart. ``corner``: pixels that a text takes in the lower right. The first free spot is taken.
    """
    width, height = size
    taken = [_Box(x, -_DOT, _DOT, y * height - _DOT, y * height + _DOT) for x, y in points]
    taken.append(_Box(1.0, -corner, 0.0, height - _CORNER, height))
    found: list[Label | None] = []
    for (x, y), name in zip(points, names, strict=True):
        width_of_name = text_width(name)
        for side, gap, dy in SPOTS:
            dx, middle = side * gap, y * height + dy
            left = dx - width_of_name * (1 - side) / 2
            box = _Box(x, left, left + width_of_name, middle - _HALF, middle + _HALF)
            if _is_inside(box, size) and not any(_touch(box, other, width) for other in taken):
                end = (dx, dy - _HALF * ((dy > 0) - (dy < 0))) if (side, gap, dy) in _AWAY else (None, None)
                found.append(Label(dx, dy, ("center", "left", "right")[side], *end))
                taken.append(box)
                break
        else:
            found.append(None)
    return found


def _is_inside(box: _Box, size: tuple[float, float]) -> bool:
    start = box.across * size[0]
    return start + box.left >= 0 and start + box.right <= size[0] and box.top >= 0 and box.bottom <= size[1]


def _touch(one: _Box, other: _Box, width: float) -> bool:
    """Tell whether two boxes overlap at this width, or would at a greater one."""
    first, last = sorted((one, other))
    is_beside = first.across * width + first.right <= last.across * width + last.left
    return not is_beside and one.top < other.bottom and other.top < one.bottom
