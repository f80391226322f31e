"""Where two texts part: the pieces are the text, and those marked are not in the other."""

from hypothesis import given
from hypothesis import strategies as st

from difftrust.text import (
    MOST_PIECES,
    as_cell,
    marked_difference,
    marked_program,
    printable,
)


def test_only_what_differs_is_marked() -> None:
    assert marked_difference("[1, 22, 3]", "[1, 24, 3]") == [("[1, ", False), ("22", True), (", 3]", False)]
    assert marked_difference("same", "same") == [("same", False)]
    assert marked_difference("[]", "") == [("[]", True)]
    assert marked_difference("", "[]") == [("", True)]
    assert marked_difference("[1, 3]", "[1, 2, 3]") == [("[1, ", False), ("", True), ("3]", False)]
    # Long texts are marked between their equal ends.
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


def test_a_renamed_variable_is_no_difference_but_a_text_is() -> None:
    first = 'def f(xs, k):\n    total = 0\n    for x in xs[:k]:\n        total += x\n    return total, "x"\n'
    other = first.replace("xs", "ys").replace("total", "s").replace("for x", "for é").replace("+= x", "+= é")
    assert not any(marked for _, marked in marked_program(first, other))
    swapped = other.replace("ys[:k]", "ys[k:]").replace('"x"', '"é"')
    assert [piece for piece, marked in marked_program(first, swapped) if marked and piece] == ["k", "x"]
    assert "".join(piece for piece, _ in marked_program(first, swapped)) == first


def test_what_could_steer_a_terminal_is_escaped_and_nothing_lost():
    assert printable("a\x1b[2J\n\u202e\t漢") == "a\\x1b[2J\\n\\u202e\\t漢"
    assert [as_cell(text) for text in ("=1", "\n=1", "＝1", "－a", "＠x")] == ["'=1", "'\n=1", "'＝1", "'－a", "'＠x"]
    assert [as_cell(text) for text in ("-1", "+2.5", "-.5e-3", "a=1", "")] == ["-1", "+2.5", "-.5e-3", "a=1", ""]
    assert [as_cell(text) for text in ("-1a", "@x", "\tx", "-", "-e")] == ["'-1a", "'@x", "'\tx", "'-", "'-e"]
