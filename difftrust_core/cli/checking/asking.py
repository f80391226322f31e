"""`difftrust check --ask`: questions in a terminal, or answered by the lines of standard input."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from difftrust_core.base.text import printable
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from difftrust_core.checks.questions.asking import Asking, Question

_MOST_SHOWN = 160
"""Characters of a call or an outcome."""


def ask(asking: "Asking") -> None:
    """Ask until nothing is left to ask; an empty line, end of file or Ctrl-C ends it and keeps what was answered."""
    while (question := asking.question()) is not None:
        for line in question_lines(question, asking.most):
            typer.echo(line, err=True)
        try:
            text = input()
        except (EOFError, KeyboardInterrupt):
            break
        if not text.strip():
            break
        try:
            asking.answer(text)
        except WrongUsage as e:
            typer.echo(str(e), err=True)
    for line in settled_lines(asking):
        typer.echo(line, err=True)


def question_lines(question: "Question", most: int) -> Iterator[str]:
    """Yield a question as people read it."""
    from difftrust_core.checks.questions.asking import FORM

    yield ""
    yield f"Question {question.number} of at most {most}; {_programs(question.n_left)} left"
    yield f"  {_cut(question.call)}" + ("   (the docstring does not say whether this is allowed)" * question.doubt)
    for option in question.options:
        yield f"    {option.letter}: {_cut(option.outcome)}   {_programs(len(option.candidates))}"
    yield f"What is right? {FORM}; an empty line ends the questions"


def settled_lines(asking: "Asking") -> Iterator[str]:
    """Yield what the answers settled, and how to say them again."""
    n = len(asking.answers)
    if not n:
        yield "nothing was answered" if asking.board.asked else "nothing to ask: no input splits the programs that work"
        return
    said = f"{n} answer{'s'[n == 1 :]}"
    if not asking.n_left:
        yield f"{said}: every program contradicts one of them, so none is right; sample more, or from another model"
    else:
        rest = "which do the same on all inputs that ran" if asking.is_settled else "which still differ"
        yield f"{said}: {_programs(asking.n_left)} left, {rest}: {_cut(', '.join(asking.survivors))}"
    options = [*(("--example", pin) for pin in asking.pins), *(("--assume", text) for text in asking.conditions)]
    yield from repeat_lines(options)


def repeat_lines(options: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield command line options that say the answers again."""
    import shlex

    if options:
        yield "the same answers as options: " + " ".join(f"{name} {shlex.quote(text)}" for name, text in options)


def _programs(n: int) -> str:
    return f"{n} program{'s'[n == 1 :]}"


def _cut(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
