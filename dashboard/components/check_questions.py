"""Part of the page Check: questions about single inputs. The answers are kept in the URL."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import state, text
from dashboard.components.check_form import keep_answers
from dashboard.components.pasted import named
from dashboard.elements import heading, in_row
from difftrust.questions.ask_in_words import answer_lines, candidates
from difftrust.questions.asking import EITHER, MOST, NOT_ALLOWED, Asking, Option, Question
from difftrust.questions.board import board_of_json
from difftrust_core.exceptions import WrongUsage

ANSWERS = "answer"
"""Of the URL: what was answered, in order."""
_TYPED = "check:typed"
_REFUSED = "check:refused"
_SHOWN = 300
"""Characters of a call or an outcome."""


def show_questions(written: Mapping[str, Any] | None) -> None:
    """Write the next question, and what the answers settled; nothing where no input splits the programs.

    ``written``: the key "questions" of a report, as the command wrote it.
    """
    try:
        asking = Asking(board_of_json(written))
    except WrongUsage:
        return
    said = _take_up(asking)
    question = asking.question()
    if question is None and not said:
        return
    heading("Choose the right outcomes")
    if question is not None:
        _show_question(asking, question, said)
    if said:
        _show_settled(asking)


def _take_up(asking: Asking) -> list[str]:
    """Give the answers in the URL and return them; those from the first on that is none are left out."""
    said: list[str] = []
    for answer in st.query_params.get_all(ANSWERS)[:MOST]:
        try:
            asking.answer(answer[: state.LONGEST])
        except WrongUsage:
            break
        said.append(answer[: state.LONGEST])
    return said


def _show_question(asking: Asking, question: Question, said: Sequence[str]) -> None:
    with st.container(border=True, key="question"):
        doubt = "; the docstring does not say whether this input is allowed" if question.doubt else ""
        left = candidates(question.n_left).replace("candidate", "program")
        st.markdown(f"**Question {question.number} of at most {MOST}**, {left} left{doubt}. What is right here?")
        text.show_code(text.one_line(question.call, most=_SHOWN))
        said_of = [f"{o.letter}: {text.one_line(o.outcome, most=_SHOWN)}   ({_whose(o)})" for o in question.options]
        text.show_code("\n".join(said_of), language=None)
        with in_row():
            for option in question.options:
                if option.answer:
                    _show_button(f"{option.letter} is right", [*said, option.letter])
            _show_button("Not allowed", [*said, NOT_ALLOWED], "The function need not handle this input.")
            _show_button("Either", [*said, EITHER], "Any of these is right here.")
        st.text_input(
            "Something else is right", key=_TYPED, max_chars=state.LONGEST, on_change=_type, args=(asking, said),
            placeholder="[1, 2] or raises ValueError", help="A value as Python writes it, or raises and a name.",
        )  # fmt: skip
        if refused := st.session_state.pop(_REFUSED, ""):
            text.show_sentence(refused)


def _show_button(label: str, said: Sequence[str], about: str | None = None) -> None:
    st.button(label, key=f"answer:{len(said)}:{label}", on_click=state.put, args=(ANSWERS, said), help=about)


def _whose(option: Option) -> str:
    """Return whose an outcome is: their number, and some of their names."""
    n = len(option.candidates)
    return f"{n} program{'s'[n == 1 :]}: {text.one_line(', '.join(map(named, option.candidates)))}"


def _type(asking: Asking, said: Sequence[str]) -> None:
    """Take what was typed, or have the page say what an answer looks like."""
    typed = st.session_state[_TYPED].strip()
    if not typed:
        return
    try:
        asking.answer(typed)
    except WrongUsage as e:
        st.session_state[_REFUSED] = str(e)
        return
    st.session_state[_TYPED] = ""
    state.put(ANSWERS, [*said, typed])


def _start_over() -> None:
    state.put(ANSWERS, None)


def _show_settled(asking: Asking) -> None:
    """Write what was answered and who is left, with buttons that keep it."""
    text.show_code("\n".join(text.one_line(line, most=_SHOWN) for line in answer_lines(asking)))
    left = candidates(asking.n_left).replace("candidate", "program")
    if not asking.n_left:
        st.markdown("Every program contradicts an answer: **none of them is right**. Sample or paste more programs.")
    else:
        same = "" if asking.n_left == 1 else ", which do the same" if asking.is_settled else ", which still differ"
        text.show_sentence(f"{left} left{same}: {', '.join(map(named, asking.survivors))}")
        text.show_code(asking.program or "")
    with in_row():
        if asking.pins or asking.conditions:
            st.button(
                "Keep the answers: check again", key="keep-answers", on_click=_keep,
                args=(asking.pins, asking.conditions),
                help="Writes them into the docstring as examples, and what is not allowed into the assumptions.",
            )  # fmt: skip
        st.button("Start over", key="start-over", on_click=_start_over)


def _keep(pins: tuple[str, ...], conditions: tuple[str, ...]) -> None:
    keep_answers(pins, conditions)
    _start_over()
