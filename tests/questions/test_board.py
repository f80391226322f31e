"""A board of questions: the right program is never lost, and a board that was written as JSON is read as it was."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from difftrust.check.outcomes import Answers
from difftrust.questions.asking import EITHER, NOT_ALLOWED, Asking, Question
from difftrust.questions.board import Asked, Board, board_as_json, board_of_json
from difftrust_core.base.records import Kind, Outcome
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


VALUES = (
    *("1", "1.0", "True", "1.0000000001", "nan", "inf", "-0.0", "None", "'a'", "'a\\n'"),
    *("'either'", "'raises KeyError'"),
    *("[1, 2]", "(1, 2)", "{1, 2}", "{'a': 1.0}", "b'x'", "0x" + "f" * 1200, "iterator([1, 2])", "<no literal>"),
    *("Point(x=1, y=2)", "Decimal('1.0')", "Color.RED", "np.array([1.0], dtype='float64')"),
    *("Effects(value=1, arguments=([1, 2],))", "Effects(value=1, printed='hello')"),
    *("1.0003", "1.0006", "1.0009", "1.0012"),  # linked one by one by the paper's equality
)
RAISED = ("ValueError", "UnicodeDecodeError", "KeyError", "Refused", "JSONDecodeError")
OUTCOMES: list[Outcome] = [*((Kind.VALUE, text) for text in VALUES), *((Kind.EXCEPTION, name) for name in RAISED)]


def drawn_board(draw: random.Random) -> Board:
    m, n = draw.randint(2, 8), draw.randint(1, 12)
    few = draw.choice([OUTCOMES, OUTCOMES[-9:], draw.sample(OUTCOMES, 6)])
    return Board(
        entry_point="f",
        codes=tuple(str(p) for p in range(m)),
        names=tuple(tuple(f"{p}-{i}" for i in range(draw.randint(1, 3))) for p in range(m)),
        asked=tuple(
            Asked(
                arguments=f"({i},)",
                outcomes=tuple(draw.choice(few) for _ in range(m)),
                doubt=draw.random() < 0.2,
                condition=draw.choice(["", "x >= 0"]),
            )
            for i in range(n)
        ),
        answers=Answers(Comparison(draw.choice(list(Equality))), draw.choice([[], ["ValueError"]])),
    )


def truthful(draw: random.Random, board: Board, question: Question, place: int) -> str:
    """Return one of the ways to say what the right program does on an input."""
    kind, text = next(each.outcomes[place] for each in board.asked if each.arguments == question.arguments)
    right = board.names[place][0]
    (option,) = [option for option in question.options if right in option.candidates]
    if not option.answer:
        return draw.choice([EITHER, NOT_ALLOWED])
    said = [option.letter, f"raises {text}"] if kind == Kind.EXCEPTION else [option.letter, text, f"  == {text} "]
    return draw.choice([*said, *said, EITHER, NOT_ALLOWED])


@pytest.mark.quick(3)
@pytest.mark.parametrize("seed", range(8))
def test_the_right_program_is_never_dropped(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(50):
        converse(draw, drawn_board(draw))


def converse(draw: random.Random, board: Board) -> None:
    place = draw.randrange(len(board.codes))
    asking = Asking(board, most=draw.choice([1, 5, 20]))
    left = asking.n_left
    while (question := asking.question()) is not None:
        assert sum(len(option.candidates) for option in question.options) == question.n_left == asking.n_left
        assert len(question.options) >= 2
        asking.answer(truthful(draw, board, question, place))
        assert set(board.names[place]) <= set(asking.survivors)
        assert asking.n_left <= left
        left = asking.n_left
    again = Asking(board, asking.answers, most=asking.most)
    assert again.survivors == asking.survivors
    if len(asking.answers) < asking.most and not any(a.said in (EITHER, NOT_ALLOWED) for a in asking.answers):
        assert asking.is_settled
