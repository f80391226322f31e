"""A board as JSON: what is asked, and what answers leave, is the same after it was read again."""

import json
from dataclasses import replace
from typing import Any

import pytest

from difftrust.check.outcomes import Answers
from difftrust.questions.asking import Asking
from difftrust.questions.board import Asked, Board, board_as_json, board_of_json
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.equality import Comparison, Equality

BOARD = Board(
    entry_point="f",
    codes=("one", "two", "three"),
    names=(("a", "b"), ("c",), ("d",)),
    asked=(
        Asked(arguments="(1,)", outcomes=((Kind.VALUE, "1.0"), (Kind.VALUE, "1.04"), (Kind.VALUE, "2.0"))),
        Asked(
            arguments="(-1,)",
            outcomes=((Kind.EXCEPTION, "UnicodeDecodeError"), (Kind.VALUE, "-1"), (Kind.VALUE, "-1")),
            doubt=True,
            condition="x >= 0",
        ),
    ),
    answers=Answers(Comparison(Equality.VALUE, tolerance=0.1), ["ValueError"]),
)


def written() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(board_as_json(BOARD)))
    return read


def test_a_board_knows_of_what_kind_a_method_is_and_one_without_it_is_read() -> None:
    board = replace(BOARD, entry_point="Box.area", kind="property")
    assert board_of_json(board_as_json(board)).call("(Box(1),)") == "Box(1).area"
    older = {name: value for name, value in board_as_json(board).items() if name != "kind"}
    assert board_of_json(older).call("(Box(1),)") == "Box(1).area()"


def test_what_was_answered_of_an_object_that_was_used_before_is_no_example() -> None:
    used = replace(BOARD.asked[0], arguments="(AfterCalls(Box(), [add(1)]),)")
    for asked, pins in ((used, ()), (replace(used, arguments="(Box(),)"), ("Box().size() == 1.0",))):
        asking = Asking(replace(BOARD, entry_point="Box.size", asked=(asked,)))
        asking.answer("1.0")
        assert asking.pins == pins


def test_a_board_is_read_as_it_was_written() -> None:
    again = board_of_json(written())
    assert (again.codes, again.names, again.asked) == (BOARD.codes, BOARD.names, BOARD.asked)
    assert board_as_json(again) == board_as_json(BOARD)
    for said in (["1.0"], ["2.0"], ["either", "not allowed"], ["1.0", "raises ValueError"]):
        one, other = Asking(BOARD), Asking(again)
        for answer in said:
            assert one.question() == other.question()
            one.answer(answer)
            other.answer(answer)
        assert (one.survivors, one.program, one.pins) == (other.survivors, other.program, other.pins)
    asking = Asking(again)
    asking.answer("1")  # within the tolerance of 0.1
    assert asking.survivors == ("a", "b", "c")


@pytest.mark.parametrize("key", ["codes", "names", "asked", "equality", "documented"])
def test_what_no_check_wrote_is_refused(key: str) -> None:
    for wrong in (None, 7):
        with pytest.raises(WrongUsage):
            Asking(board_of_json({**written(), key: wrong})).question()
    with pytest.raises(WrongUsage, match="as a check writes them"):
        board_of_json(None)
