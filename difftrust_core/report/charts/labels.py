"""Place the names of points so that none covers another, a point or an edge, at any width of the chart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

LABEL_SIZE: Final = 11
"""Pixels of the letters of a name."""
OFFSETS: Final = ("dx", "dy", "line_dx", "line_dy")
WIDTHS: Final = (160, 210, 250, 300, 350, 410, 490, 580, 690, 820, 980, 1170, 1400, 1700)
"""Widths, in pixels, that names are placed for; a place holds up to the next."""
_STEP = 60
"""Pixels of width from one look to the next: fewer than a name and a point are wide together, so none slips through."""
_HEIGHT = LABEL_SIZE * 1.25
_GAP, _DOT = 7.0, 5.5
_BESIDE = 4
"""Places right beside a point, which need no line."""
_ON_LINE = 6
"""Spots of a line that are looked at."""
_AT_ONCE, _LINES = 48, 8
"""Places, and lines, that are looked at together."""
_CORNER = 24
"""Height of the text in the corner."""
_LETTERS = {
    **dict.fromkeys("ijlI.,:;'|! ", 0.34),
    **dict.fromkeys("()[]-tfr/", 0.42),
    **dict.fromkeys("mwMW@%", 1.0),
}
"""Widths of letters in DejaVu Sans, the widest of the usual fonts, as shares of their size; others are ``_USUAL``."""
_CAPITAL, _USUAL = 0.7, 0.62

Box = tuple[float, float, float, float]
"""left, top, right, bottom; in pixels."""
Boxes = npt.NDArray[np.float64]


def text_width(text: str, size: float = LABEL_SIZE) -> float:
    """Return how wide a text is at most, in pixels, in the sans-serif letters of pages and pictures."""
    return size * sum(_LETTERS.get(letter, _CAPITAL if letter.isupper() else _USUAL) for letter in text)


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


def place_at_widths(
    points: pl.DataFrame, frame: Frame, *, x: str, y: str, corner: float = 0.0, widths: Sequence[int] = WIDTHS
) -> pl.DataFrame:
    """Return the names that fit at each width, a row a (width, point): ``place_labels``, from_width and to_width.

    A place holds from one width to the next; the last width is where the others end. ``corner``: pixels that a text
    takes in the lower right corner.
    """
    parts = []
    for start, end in pairwise(widths):
        looks = np.linspace(start, end, 2 + (end - start) // _STEP)
        placed = place_labels(points, [replace(frame, width=float(w)) for w in looks], x=x, y=y, corner=corner)
        first, last = 0 if start == widths[0] else start, 100_000 if end == widths[-1] else end
        parts.append(placed.with_columns(from_width=pl.lit(first), to_width=pl.lit(last)))
    return pl.concat(parts)


def place_labels(points: pl.DataFrame, frames: Sequence[Frame], *, x: str, y: str, corner: float = 0.0) -> pl.DataFrame:
    """Return the points whose name fits, with its place: OFFSETS, in pixels from the point.

    (dx, dy) leads to the middle of the name's left edge; a line leads from the point to (line_dx, line_dy), null where
    the name stands right beside it. In all ``frames`` no name covers a
    point, a name or an edge; one that would is left out. Greedy: each takes the first free place around its point.
    """
    best: list[dict[str, Any]] = []
    for order in ([True, True], [False, False]):
        made = _place(points.sort(x, y, descending=order).to_dicts(), frames, (x, y), corner)
        best = max(best, made, key=len)
        if len(best) == points.height:
            break
    return pl.DataFrame(best, schema=points.schema | dict.fromkeys(OFFSETS, pl.Float64()))


def _place(
    rows: list[dict[str, Any]], frames: Sequence[Frame], axes: tuple[str, str], corner: float
) -> list[dict[str, Any]]:
    """Return the rows that find a place, in this order."""
    at = np.array([[frame.pixels(row[axes[0]], row[axes[1]]) for row in rows] for frame in frames])
    taken = np.empty((len(rows) * (_ON_LINE + 2) + 1, len(frames), 4))
    taken[: len(rows)] = np.concatenate([at - _DOT, at + _DOT], axis=2).swapaxes(0, 1)
    taken[len(rows)] = [(f.width - corner, f.height - _CORNER, f.width, f.height) for f in frames]
    room = np.array([(0.0, 0.0, frame.width, frame.height) for frame in frames])
    n_taken, made = len(rows) + 1, []
    for i, row in enumerate(rows):
        place = _free_place(row["model"], at[:, i], taken[:n_taken], room, own=i)
        if place is None:
            continue
        box, line = place
        taken[n_taken] = box + np.tile(at[:, i], 2)
        n_taken += 1
        if line is not None:
            spots = at[None, :, i] + line[:, None]  # (spots, frames, 2)
            taken[n_taken : n_taken + _ON_LINE] = np.concatenate([spots - 1, spots + 1], axis=2)
            n_taken += _ON_LINE
        end = (None, None) if line is None else (float(line[-1, 0]), float(line[-1, 1]))
        offsets = (float(box[0]), float(box[1] + box[3]) / 2, *end)
        made.append(row | dict(zip(OFFSETS, offsets, strict=True)))
    return made


def _free_place(name: str, at: Boxes, taken: Boxes, room: Boxes, *, own: int) -> tuple[Boxes, Boxes | None] | None:
    """Return the box of a name, from its point, and spots on the line to it, None beside the point; None if none."""
    places, others = _places(text_width(name)), np.delete(taken, own, axis=0)
    for start in range(0, len(places), _AT_ONCE):
        some = places[start : start + _AT_ONCE]
        boxes = some[:, None] + np.tile(at, 2)  # (places, frames, 4)
        inside = ((boxes[..., :2] >= room[:, :2]) & (boxes[..., 2:] <= room[:, 2:])).all(axis=(1, 2))
        across = np.minimum(boxes[:, None, :, 2], taken[..., 2]) > np.maximum(boxes[:, None, :, 0], taken[..., 0])
        down = np.minimum(boxes[:, None, :, 3], taken[..., 3]) > np.maximum(boxes[:, None, :, 1], taken[..., 1])
        free = np.flatnonzero(inside & ~(across & down).any(axis=(1, 2)))
        if start == 0 and len(free) and free[0] < _BESIDE:
            return some[free[0]], None
        for few in np.split(free, range(_LINES, len(free), _LINES)):
            lines = _lines(some[few])
            fine = np.flatnonzero(~_crosses(lines[:, :, None] + at, others))
            if len(fine):
                return some[few[fine[0]]], lines[fine[0]]
    return None


def _lines(boxes: Boxes) -> Boxes:
    """Return spots on the way from the point to the nearest place of each box: (boxes, _ON_LINE, 2)."""
    ends: Boxes = np.clip(0.0, boxes[:, :2], boxes[:, 2:])
    spots: Boxes = ends[:, None] * np.linspace(1 / _ON_LINE, 1, _ON_LINE)[:, None]
    return spots


def _crosses(spots: Boxes, taken: Boxes) -> npt.NDArray[np.bool_]:
    """Tell of lines whether their spots, (lines, spots, frames, 2), lie in what is taken: (lines,)."""
    x, y = spots[:, :, None, :, 0], spots[:, :, None, :, 1]
    across = (x > taken[..., 0] - 1) & (x < taken[..., 2] + 1)
    inside = across & (y > taken[..., 1] - 1) & (y < taken[..., 3] + 1)
    crossed: npt.NDArray[np.bool_] = np.logical_or.reduce(inside, axis=(1, 2, 3))
    return crossed


@cache
def _places(width: float) -> Boxes:
    """Return boxes around a point, the nearest first: (places, 4), in pixels from the point."""
    half = _HEIGHT / 2
    beside = [(_GAP, -half), (-_GAP - width, -half), (-width / 2, -_GAP - _HEIGHT), (-width / 2, _GAP)]
    away = list(_away(width))
    away.sort(key=lambda corner: _distance((*corner, corner[0] + width, corner[1] + _HEIGHT)))
    found = np.array([*beside, *away])
    return np.concatenate([found, found + np.array([width, _HEIGHT])], axis=1)


def _away(width: float) -> Iterable[tuple[float, float]]:
    """Return the upper left corners of places further away."""
    for step in range(-12, 13):
        top = -_HEIGHT / 2 + step * _HEIGHT * 0.8
        for far in (_GAP, 18.0, 36.0, 64.0, 110.0):
            yield far, top
            yield -far - width, top
        yield -width / 2, top


def _distance(box: Box) -> float:
    across = max(box[0], -box[2], 0.0)
    down = max(box[1], -box[3], 0.0)
    return float(np.hypot(across, 1.5 * down)) + (0.0 if across else 4.0)
