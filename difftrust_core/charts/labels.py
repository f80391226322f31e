"""Names beside points so that none covers another; and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

_LETTER = 0.56
"""Mean width of a letter, in units of the font size."""
_GAP, _DOT = 6.0, 5.0

Box = tuple[float, float, float, float]
"""left, top, right, bottom; in pixels."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The area of a chart: its size in pixels, and the values at its ends."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies, from the left and from the top."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0]) * self.width
        down = (self.y[1] - y) / (self.y[1] - self.y[0]) * self.height
        return across, down

    def values(self, across: float, down: float) -> tuple[float, float]:
        """Return the point at these pixels."""
        x = self.x[0] + across / self.width * (self.x[1] - self.x[0])
        return x, self.y[1] - down / self.height * (self.y[1] - self.y[0])


def place_labels(
    points: pl.DataFrame, frame: Frame, *, x: str, y: str, text: str = "model", font_size: float = 10
) -> pl.DataFrame:
    """Return ``points`` with label_x and label_y, the middle of each label's left edge, and line_x, line_y.

    Greedy, the most crowded points last: of places around its point, ever further away, each label takes the first that
    covers no point, no label and no edge, else the one that covers least. A line leads from the point to (line_x,
    line_y), the label's nearest place; null where the label stands beside its point.
    """
    rows = points.sort(x, y, text, descending=[True, True, False]).to_dicts()
    at = [frame.pixels(row[x], row[y]) for row in rows]
    taken: list[Box] = [(a - _DOT, d - _DOT, a + _DOT, d + _DOT) for a, d in at]
    made: list[dict[str, Any]] = []
    for row, (across, down) in zip(rows, at, strict=True):
        size = len(row[text]) * font_size * _LETTER, font_size * 1.1
        places = list(_places(across, down, size))
        best = _best(places, taken, frame)
        box = places[best]
        taken.append(box)
        ends = frame.values(min(max(across, box[0]), box[2]), min(max(down, box[1]), box[3]))
        label = frame.values(box[0], (box[1] + box[3]) / 2)
        line = ends if best >= _BESIDE else (None, None)
        made.append(row | dict(zip(("label_x", "label_y", "line_x", "line_y"), (*label, *line), strict=True)))
    schema = points.schema | dict.fromkeys(("label_x", "label_y", "line_x", "line_y"), pl.Float64())
    return pl.DataFrame(made, schema=schema)


_BESIDE = 2


def _places(across: float, down: float, size: tuple[float, float]) -> Iterator[Box]:
    """Return boxes around a point, the nearest first."""
    width, height = size
    for step in range(9):
        for sign in (0,) if step == 0 else (-1, 1):
            top = down - height / 2 + sign * step * height * 0.6
            for left in (across + _GAP, across - _GAP - width, across - width / 2):
                beside = left != across - width / 2
                if beside or step >= 2:
                    yield left, top, left + width, top + height
    for far in (2.0, 4.0):
        for left in (across + far * _GAP + 6, across - far * _GAP - 6 - width):
            for step in range(-10, 11):
                top = down - height / 2 + step * height * 0.6
                yield left, top, left + width, top + height


def _best(places: list[Box], taken: list[Box], frame: Frame) -> int:
    """Return the number of the place that costs least, the first of equals."""
    costs: list[int] = []
    for place in places:
        costs.append(round(_cost(place, taken, frame)))
        if costs[-1] <= 0:  # none costs less
            break
    return costs.index(min(costs))


def _cost(box: Box, taken: list[Box], frame: Frame) -> float:
    """Return how many square pixels the box covers of others, and ten times those outside."""
    inside = _overlap(box, (0.0, 0.0, frame.width, frame.height))
    outside = (box[2] - box[0]) * (box[3] - box[1]) - inside
    return sum(_overlap(box, other) for other in taken) + 10 * outside


def _overlap(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
