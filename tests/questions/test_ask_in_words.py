"""Questions in Python: by a function, by lines of input, in a running event loop; what is shown of the answers."""

import asyncio
import io
from collections.abc import Callable

import pytest

import difftrust as dt
from difftrust.check.outcomes import Answers
from difftrust.questions.ask_in_words import Settled, ask_in_words, question_lines
from difftrust.questions.asking import Asking, Question
from difftrust.questions.board import Asked, Board
from difftrust_core.base.records import Kind
from difftrust_core.metrics.equality import Comparison, Equality


def middle(values: list[int]) -> int:
    """Return the middle one of the sorted values, the smaller one of two."""
    return sorted(values)[len(values) // 2]


def smaller(values: list[int]) -> int:
    return sorted(values)[(len(values) - 1) // 2]


def first(values: list[int]) -> int:
    return values[0] if values else sorted(values)[0]


@pytest.fixture(scope="module")
def check() -> dt.Check:
    async def made() -> dt.Check:  # as in a notebook: a loop runs
        found = dt.check(middle, smaller, first, n=60)
        found.ask(lambda question: "")
        return found

    return asyncio.run(made())


def right(question: Question) -> str:
    call = question.call
    return call.replace("middle(", "").removesuffix(")") and str(smaller(eval(question.arguments)[0]))


@pytest.mark.slow
def test_a_function_answers_and_the_right_program_is_left(check: dt.Check) -> None:
    settled = check.ask(right)
    assert settled.survivors == ("smaller",)
    assert settled.is_settled
    assert "(len(values) - 1) // 2" in (settled.program or "")
    assert settled.frame.columns == ["arguments", "said"]
    assert settled.frame.height == len(settled.examples) >= 1
    assert all(example.startswith("middle([") and " == " in example for example in settled.examples)
    assert "left: smaller" in repr(settled)
    with pytest.raises(dt.DifftrustError, match="expected a letter"):
        check.ask(lambda question: "no answer")
    with pytest.raises(dt.DifftrustError, match="at least one question"):
        check.ask(right, most=0)


@pytest.mark.slow
def test_so_many_questions_are_asked_at_most(check: dt.Check) -> None:
    seen: list[Question] = []

    def either(question: Question) -> str:
        seen.append(question)
        return "either"

    assert check.ask(either, most=2).survivors == check.ask(lambda question: "").survivors
    assert [question.number for question in seen] == [1, 2]


def test_lines_of_input_answer_and_end_of_file_keeps_them(
    check: dt.Check, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("[\neither\n"))
    settled = check.ask()
    said = capsys.readouterr().out
    assert said.count("Question 1 of at most 5; 3 candidates left") == 2
    assert "got '['" in said
    assert settled.frame["said"].to_list() == ["either"]
    assert not settled.is_settled
    assert "3 candidates left, which still differ" in repr(settled)


def test_ctrl_c_ends_and_keeps_what_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter(["a"])

    def typed(*_: object) -> str:
        for line in lines:
            return line
        raise KeyboardInterrupt

    asking = hostile()
    monkeypatch.setattr("builtins.input", typed)
    ask_in_words(asking, lambda line: None)
    assert len(asking.answers) == 1


def hostile() -> Asking:
    texts = ["'<script>alert(1)</script>'", "'\x1b[2J'", "'\u202eabc'"]
    asked = tuple(
        Asked(arguments=f"({n},)", outcomes=tuple((Kind.VALUE, texts[(n + p) % 3 if n else p // 2]) for p in range(3)))
        for n in range(3)
    )
    names = (("a\x1b[2J.py",), ("<b>.py",), ("c.py",))
    answers = Answers(Comparison(Equality.VALUE))
    return Asking(Board(entry_point="f", codes=("1", "2", "3"), names=names, asked=asked, answers=answers))


def test_texts_of_candidates_steer_neither_a_terminal_nor_a_page() -> None:
    asking = hostile()
    question = asking.question()
    assert "\x1b" not in "".join(question_lines(question, 5))
    said: Callable[[Question], str] = lambda question: next(o.letter for o in question.options if "script" in o.outcome)  # noqa: E731
    asking.answer(said(question))
    settled = Settled(asking=asking)
    assert "\x1b" not in repr(settled)
    assert "<script" not in settled._repr_html_()
    assert "&lt;script&gt;" in settled._repr_html_()


def test_what_answers_leave_open_is_not_said_to_be_the_same() -> None:
    asking = hostile()
    while asking.question() is not None:
        asking.answer("either")
    assert asking.is_settled
    assert "3 candidates left, which differ only where these answers allow it" in repr(Settled(asking=asking))


def test_what_nothing_survives_says_what_to_do(check: dt.Check) -> None:
    settled = check.ask(lambda question: "123456789")
    assert (settled.survivors, settled.program, settled.is_settled) == ((), None, False)
    assert "none is right; sample more" in repr(settled)
