"""Questions about single inputs: which is asked, what an answer means, who is left."""

from collections import Counter
from pathlib import Path

import pytest

from difftrust.check.check import check_to_ask
from difftrust.check.options import CheckOptions, PreparedCheck
from difftrust.check.prepare import candidates_of
from difftrust.questions.asking import EITHER, NOT_ALLOWED, Answer, Asking
from difftrust.questions.board import Board
from difftrust.source.function import load_stub
from difftrust_core.base.records import Candidate, Kind
from difftrust_core.exceptions import WrongUsage

STUB = '''
def middle(values: list[int]) -> int:
    """Return the middle one of the values in order, the smaller one of two. Raises ValueError without values."""
'''
RIGHT = """
def middle(values):
    if not values:
        raise ValueError
    return sorted(values)[(len(values) - 1) // 2]
"""
CODES = {
    "right": RIGHT,
    "also": RIGHT.replace("sorted(values)", "(sorted(values) + [])"),
    "larger": RIGHT.replace("(len(values) - 1) // 2", "len(values) // 2"),
    "larger2": RIGHT.replace("(len(values) - 1) // 2", "len(values) >> 1"),
    "unsorted": RIGHT.replace("sorted(values)", "list(values)"),
    "zero": RIGHT.replace("raise ValueError", "return 0"),
    "broken": "def middle(values):\n    return nothing",
}


def made(folder: Path, stub: str, name: str, codes: dict[str, str]) -> tuple[Board, list[Candidate]]:
    path = folder / "stub.py"
    path.write_text(stub)
    loaded = load_stub(f"{path}::{name}", candidates=tuple(codes.values()))
    found = candidates_of(codes, loaded.task)
    _, board = check_to_ask(PreparedCheck(function=loaded, candidates=found, options=CheckOptions(n=120)))
    return board, found


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    return made(tmp_path_factory.mktemp("asking"), STUB, "middle", CODES)[0]


def right_on(board: Board, arguments: str) -> str:
    """Return what the right program does on an input, as an answer."""
    place = next(i for i, names in enumerate(board.names) if "right" in names)
    kind, text = next(each.outcomes[place] for each in board.asked if each.arguments == arguments)
    return f"raises {text}" if kind == Kind.EXCEPTION else text


def test_the_first_question_splits_most_evenly_and_is_small(board: Board) -> None:
    question = Asking(board).question()
    assert (question.number, question.n_left) == (1, 6)
    sizes = [len(option.candidates) for option in question.options]
    weights = []
    for labels in (board.answers.classify(each.outcomes) for each in board.asked if not each.doubt):
        said = Counter(label for label, names in zip(labels, board.names, strict=True) for _ in names)
        weights.append(sum(size**2 for size in said.values()))
    assert sum(size**2 for size in sizes) == min(weights)
    assert len(question.arguments) <= len("([-1, -2, 0, 0],)")
    assert [option.letter for option in question.options] == list("abcdef")[: len(sizes)]
    assert all("broken" not in names for names in board.names)


def test_truthful_answers_leave_the_right_program(board: Board) -> None:
    asking = Asking(board)
    while (question := asking.question()) is not None:
        asking.answer(right_on(board, question.arguments))
        assert "right" in asking.survivors
    assert set(asking.survivors) == {"right", "also"}
    assert asking.is_settled
    assert asking.program in (CODES["right"], CODES["also"])
    assert len(asking.answers) <= 3
    assert any(pin.startswith("middle([") and " == " in pin for pin in asking.pins)


def test_a_letter_a_value_and_an_exception_are_answers(board: Board) -> None:
    for option in Asking(board).question().options:  # type: ignore[union-attr]
        by_letter, by_answer = Asking(board), Asking(board)
        by_letter.answer(option.letter)
        by_answer.answer(option.answer)
        assert by_letter.survivors == by_answer.survivors
        assert set(by_letter.survivors) == set(option.candidates)
    asking = Asking(board)
    asking.answer("12345678")
    assert (asking.n_left, asking.survivors, asking.program) == (0, (), None)
    assert asking.question() is None


def test_either_and_not_allowed_drop_nobody_and_are_not_asked_again(board: Board) -> None:
    asking = Asking(board, most=50)
    seen = set()
    while (question := asking.question()) is not None:
        assert question.arguments not in seen
        seen.add(question.arguments)
        asking.answer(EITHER if len(seen) % 2 else NOT_ALLOWED)
    assert asking.n_left == 6
    assert asking.pins == ()


@pytest.mark.parametrize("text", ["", "raises", "raises 1", "[1", "z", "1 +", "either way"])
def test_what_is_no_answer_is_refused_and_asked_again(board: Board, text: str) -> None:
    asking = Asking(board)
    before = asking.question()
    with pytest.raises(WrongUsage, match="expected a letter, a value"):
        asking.answer(text)
    assert asking.question() == before


def test_a_conversation_is_taken_up(board: Board) -> None:
    first = Asking(board)
    first.answer("b")
    again = Asking(board, [Answer(arguments=a.arguments, said=a.said) for a in first.answers])
    assert again.question() == first.question()
    assert again.survivors == first.survivors
    with pytest.raises(WrongUsage, match="expected an input of these"):
        Asking(board, [Answer(arguments="(1,)", said="either")])


def test_inputs_that_may_not_be_allowed_come_last_and_leave_with_their_condition(tmp_path: Path) -> None:
    stub = 'def area(width: int, height: int) -> int:\n    """Return the area of a rectangle."""\n'
    codes = {
        "plain": "def area(width, height):\n    return width * height",
        "absolute": "def area(width, height):\n    return abs(width * height)",
        "half": "def area(width, height):\n    return width * height // (1 + (width > 9))",
    }
    board, _ = made(tmp_path, stub, "area", codes)
    asking = Asking(board)
    first = asking.question()
    assert not first.doubt
    asking.answer("a")
    assert set(asking.survivors) == {"plain", "absolute"}
    doubted = asking.question()
    assert doubted.doubt
    asking.answer(NOT_ALLOWED)
    assert asking.conditions
    assert " >= 0" in asking.conditions[0]


def test_effects_are_shown_and_a_plain_value_answers_for_the_value(tmp_path: Path) -> None:
    stub = 'def tidy(values: list[int]) -> list[int]:\n    """Return the values in order."""\n'
    codes = {
        "copy": "def tidy(values):\n    return sorted(values)",
        "inplace": "def tidy(values):\n    values.sort()\n    return values",
        "reverse": "def tidy(values):\n    return sorted(values)[::-1]",
    }
    board, _ = made(tmp_path, stub, "tidy", codes)
    asking = Asking(board)
    question = asking.question()
    assert any("changes its argument" in option.outcome for option in question.options)
    asking.answer(str(sorted(eval(question.arguments)[0])))
    assert set(asking.survivors) == {"copy", "inplace"}


EITHER_WAY = {
    "effects": {
        "copy": "def tidy(values):\n    return sorted(values)",
        "inplace": "def tidy(values):\n    values.sort()\n    return values",
    },
    "a list and an iterator": {
        "list": "def tidy(values):\n    return sorted(values)",
        "iterator": "def tidy(values):\n    yield from sorted(values)",
    },
}


@pytest.mark.parametrize("codes", EITHER_WAY.values(), ids=EITHER_WAY)
def test_a_letter_means_the_outcome_of_its_candidates_alone(codes: dict[str, str], tmp_path: Path) -> None:
    stub = 'def tidy(values: list[int]) -> list[int]:\n    """Return the values in order."""\n'
    board, _ = made(tmp_path, stub, "tidy", codes)
    for option in Asking(board).question().options:  # type: ignore[union-attr]
        asking = Asking(board)
        asking.answer(option.letter)
        assert asking.survivors == option.candidates
        again = Asking(board, asking.answers)
        assert (again.survivors, again.is_settled, again.is_same) == (option.candidates, True, True)
    asking = Asking(board)
    while (question := asking.question()) is not None:
        asking.answer(str(sorted(eval(question.arguments)[0])))  # a value alone: either is right
    assert set(asking.survivors) == {*codes}
    assert not asking.is_same


def test_an_iterator_is_answered_and_pinned_by_its_items(tmp_path: Path) -> None:
    stub = 'def tidy(values: list[int]) -> "Iterator[int]":\n    """Yield them in order."""\n'
    codes = {
        "sorted": "def tidy(values):\n    yield from sorted(values)",
        "reverse": "def tidy(values):\n    yield from sorted(values)[::-1]",
    }
    board, _ = made(tmp_path, stub, "tidy", codes)
    items = str(sorted(eval(Asking(board).question().arguments)[0]))  # type: ignore[union-attr]
    for answer in (items, f"iterator({items})"):
        asking = Asking(board)
        asking.answer(answer)
        assert asking.survivors == ("sorted",)
        assert [pin.partition(" == ")[2] for pin in asking.pins] == [items]
