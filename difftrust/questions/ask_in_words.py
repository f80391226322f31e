"""Questions about single inputs in words, asked in a terminal or a notebook, and what the answers settled."""

import html
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from difftrust.text import printable, shorten
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from difftrust.questions.asking import Asking, Question

_MOST_SHOWN = 160
"""Characters of a call or an outcome."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Settled:
    """What answers left of the candidates; ``asking`` holds all of it.

    ``frame``: a row for each answer. ``examples`` and ``assume`` say the same to another ``dt.check``.
    """

    asking: "Asking"

    @property
    def program(self) -> str | None:
        """Return the program of most candidates that contradict no answer, None if none is left."""
        return self.asking.program

    @property
    def survivors(self) -> tuple[str, ...]:
        """Return the candidates that contradict no answer, those of the largest cluster first."""
        return self.asking.survivors

    @property
    def is_settled(self) -> bool:
        """Whether a candidate is left, and all that are left do the same on every input that may be asked about."""
        return self.asking.n_left > 0 and self.asking.is_settled

    @property
    def examples(self) -> tuple[str, ...]:
        """Return the answers that say what is right: ``f(1) == 2``."""
        return self.asking.pins

    @property
    def assume(self) -> tuple[str, ...]:
        """Return conditions that leave out what is not allowed, as far as they are known."""
        return self.asking.conditions

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return the answers: arguments, said."""
        rows = [(answer.arguments, answer.said) for answer in self.asking.answers]
        return pl.DataFrame(rows, schema={"arguments": pl.String, "said": pl.String}, orient="row")

    def __repr__(self) -> str:
        """Return what was answered, and what that settled."""
        return "\n".join((*answer_lines(self.asking), *settled_lines(self.asking)))

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def ask_callable(asking: "Asking", answer: "Callable[[Question], str]") -> None:
    """Put each question to ``answer``; an empty text ends it. Raises WrongUsage for what is no answer."""
    while (question := asking.question()) is not None:
        if not (text := answer(question)).strip():
            return
        asking.answer(text)


def ask_in_words(asking: "Asking", say: Callable[[str], None]) -> None:
    """Ask by lines, until nothing is left; an empty line, end of file or Ctrl-C ends it and keeps what was answered."""
    while (question := asking.question()) is not None:
        for line in question_lines(question, asking.most):
            say(line)
        try:
            text = input()
        except (EOFError, KeyboardInterrupt):
            return
        if not text.strip():
            return
        try:
            asking.answer(text)
        except WrongUsage as e:
            say(str(e))


def question_lines(question: "Question", most: int) -> Iterator[str]:
    """Yield a question as people read it."""
    from difftrust.questions.asking import FORM

    yield ""
    yield f"Question {question.number} of at most {most}; {candidates(question.n_left)} left"
    yield f"  {shown(question.call)}" + ("   (the docstring does not say whether this is allowed)" * question.doubt)
    for option in question.options:
        yield f"    {option.letter}: {shown(option.outcome)}   {candidates(len(option.candidates))}"
    yield f"What is right? {FORM}; an empty line ends the questions"


def answer_lines(asking: "Asking") -> Iterator[str]:
    """Yield what was said of which call."""
    from difftrust.check.spelling import spelled_outcome

    for answer in asking.answers:
        call, said = asking.board.call(answer.arguments), answer.said
        if said.startswith("== "):
            said = f"== {spelled_outcome('value', said.removeprefix('== '), answer.arguments)}"
        yield f"{shown(call)}{' ' if said.startswith(('== ', 'raises ')) else ': '}{shown(said)}"


def settled_lines(asking: "Asking") -> Iterator[str]:
    """Yield what the answers settled, and how to say them again."""
    n = len(asking.answers)
    if not n:
        yield "nothing was answered" if asking.board.asked else "nothing to ask: no input splits the candidates"
        return
    said = f"{n} answer{'s'[n == 1 :]}"
    if not asking.n_left:
        yield f"{said}: every candidate contradicts one of them, so none is right; sample more, or from another model"
    else:
        rest = ", which still differ"
        if asking.is_settled:
            same = ", all doing the same on every input that ran"
            rest = same if asking.is_same else ", which differ only where these answers allow it"
        rest = "" if asking.n_left == 1 else rest
        yield f"{said}: {candidates(asking.n_left)} left{rest}: {shown(', '.join(asking.survivors))}"
    if options := answer_options(asking):
        yield f"the same answers as options: {options}"


def answer_options(asking: "Asking") -> str:
    """Return the answers as options of the command line."""
    options = [*(("--example", pin) for pin in asking.pins), *(("--assume", text) for text in asking.conditions)]
    return " ".join(f"{name} {shlex.quote(printable(text))}" for name, text in options)


def candidates(n: int) -> str:
    """Return "1 candidate", "2 candidates"."""
    return f"{n} candidate{'s'[n == 1 :]}"


def shown(text: str) -> str:
    """Return a text of a candidate as a terminal may show it: harmless, and not too long."""
    return shorten(printable(text), _MOST_SHOWN)
