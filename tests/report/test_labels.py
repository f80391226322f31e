"""Names of points cover nothing, at every width of a chart."""

import polars as pl
import pytest

from difftrust_core.report.charts.labels import WIDTHS, Frame, place_at_widths, place_labels, text_width

HEIGHT = 380
CROWD = [(0.30 + 0.03 * (i % 4), 0.50 + 0.04 * (i // 4), f"a_long_name_{i}") for i in range(16)]
POINTS = pl.DataFrame(CROWD, schema=["x", "y", "model"], orient="row")


def frame(width: float) -> Frame:
    return Frame(width=width, height=HEIGHT, x=(0, 1), y=(0, 1))


def covered(placed: pl.DataFrame, width: float) -> list[tuple[str, str]]:
    """Return the names that cover a point, another name or an edge when the chart is this wide."""
    boxes = []
    for x, y, name, dx, dy in placed.select("x", "y", "model", "dx", "dy").iter_rows():
        across, down = frame(width).pixels(x, y)
        left, middle = across + dx, down + dy
        boxes.append((name, left, middle - 6, left + text_width(name), middle + 6))
    points = [frame(width).pixels(x, y) for x, y, _ in CROWD]
    others = [*boxes, *(("a point", a - 4, d - 4, a + 4, d + 4) for a, d in points)]
    found = [
        (one[0], other[0])
        for i, one in enumerate(boxes)
        for other in others[i + 1 :]
        if min(one[3], other[3]) > max(one[1], other[1]) and min(one[4], other[4]) > max(one[2], other[2])
    ]
    edges = [(name, "an edge") for name, left, _, right, _ in boxes if left < 0 or right > width]
    return found + edges


@pytest.mark.parametrize("width", [600, 900])
def test_names_cover_neither_each_other_nor_points(width: int) -> None:
    placed = place_labels(POINTS, [frame(width)], x="x", y="y")
    assert placed.height == len(CROWD)
    assert covered(placed, width) == []


def test_a_name_without_room_is_left_out() -> None:
    placed = place_labels(POINTS, [frame(120)], x="x", y="y")
    assert 0 < placed.height < len(CROWD)
    assert covered(placed, 120) == []


def test_places_hold_at_every_width_between() -> None:
    placed = place_at_widths(POINTS, frame(700), x="x", y="y")
    for width in range(WIDTHS[0], WIDTHS[-1], 13):
        here = placed.filter(pl.col("from_width") <= width, pl.col("to_width") > width)
        assert here["model"].n_unique() == here.height
        assert covered(here, width) == [], width
        assert here.height >= (15 if width >= 690 else 6 if width >= 210 else 4), width


def test_the_words_in_the_corner_stay_free() -> None:
    last = pl.DataFrame({"x": [0.95], "y": [0.02], "model": ["in the corner"]})
    (row,) = place_labels(last, [frame(400)], x="x", y="y", corner=150).to_dicts()
    right, middle = 380 + row["dx"] + text_width("in the corner"), HEIGHT * 0.98 + row["dy"]
    assert right <= 250 or middle + 6 <= HEIGHT - 24


def test_letters_are_at_most_as_wide_as_said() -> None:
    assert text_width("mmm") > text_width("iii")
    assert text_width("GPT-4o", 22) == 2 * text_width("GPT-4o", 11)
