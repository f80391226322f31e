"""Place the names of points so that none covers another, a point or an edge, at a width of the chart and all above."""

from collections.abc import Sequence
from typing import Final, NamedTuple

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
    corner: float = 0.0,
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
