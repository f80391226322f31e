"""Where two texts part: the pieces are the text, and those marked are not in the other."""

from hypothesis import given
from hypothesis import strategies as st

from difftrust_core.base.text import MOST_PIECES, marked_difference


def test_only_what_differs_is_marked() -> None:
    assert marked_difference("[1, 22, 3]", "[1, 24, 3]") == [("[1, ", False), ("22", True), (", 3]", False)]
    assert marked_difference("same", "same") == [("same", False)]
    assert marked_difference("[]", "") == [("[]", True)]
    assert marked_difference("", "[]") == [("", True)]
    assert marked_difference("[1, 3]", "[1, 2, 3]") == [("[1, ", False), ("", True), ("3]", False)]


def test_long_texts_are_marked_between_their_equal_ends() -> None:
    text, other = "a " * MOST_PIECES + "x" + " b" * 5, "a " * MOST_PIECES + "y" + " b" * 5
    assert marked_difference(text, other) == [("a " * MOST_PIECES, False), ("x", True), (" b" * 5, False)]
    shorter = "a " * MOST_PIECES + " b" * 5
    assert marked_difference(shorter, text) == [("a " * MOST_PIECES, False), ("", True), (" b" * 5, False)]
    assert marked_difference(text, text) == [(text, False)]


@given(st.text(max_size=40), st.text(max_size=40))
def test_the_pieces_are_the_text(text: str, other: str) -> None:
    pieces = marked_difference(text, other)
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, _ in marked_difference(text, text)] == [text] * bool(text)
    assert not any(marked for _, marked in marked_difference(text, text))
    assert any(marked for _, marked in pieces) == (text != other)
    assert all(piece or marked for piece, marked in pieces)
