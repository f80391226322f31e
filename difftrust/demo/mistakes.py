"""How programs of each language go wrong, as the simulated coders know it."""

import ast
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

from difftrust.demo.bugs import mistakes
from difftrust.demo.paraphrase import VARIATIONS
from difftrust.demo.rewrite import program_text
from difftrust_core.base.task import Task
from difftrust_core.languages.registry import language_of


class Bugs(Protocol):
    """How programs of one task go wrong, for the simulated coders. A program is a tree or a text, as suits them."""

    def reference(self) -> Any:
        """Return the task's right program."""
        ...

    def mistakes(self, program: Any) -> Mapping[str, Sequence[Callable[[], Any]]]:
        """Return every mistake that a coder could make in a program, by its kind: what makes the broken program."""
        ...

    def habits(self, draws: random.Random) -> Sequence[tuple[Callable[[Any], Any], float]]:
        """Return rewrites that change no behaviour, and the share of a coder's programs that each is applied to."""
        ...

    def text(self, program: Any) -> str:
        """Return the program as a coder writes it."""
        ...

    def cut(self, text: str, draws: random.Random) -> str:
        """Return the beginning of a program's text, up to where a reply stopped."""
        ...


@runtime_checkable
class KnowsBugs(Protocol):
    """A language whose adapter knows how its programs go wrong; of every other one this is known as of Python."""

    def bugs(self, task: Task) -> Bugs:
        """Return what simulated coders know of a task, which has a reference."""
        ...


def bugs_of(task: Task) -> Bugs:
    """Return what simulated coders know of the task, which has a reference."""
    language = language_of(task)
    return language.bugs(task) if isinstance(language, KnowsBugs) else PythonBugs(task)


class PythonBugs:
    """The mistakes of ``bugs`` and the words of ``paraphrase``, on syntax trees."""

    mistakes = staticmethod(mistakes)
    text = staticmethod(program_text)

    def __init__(self, task: Task):
        self._task = task

    def reference(self) -> ast.Module:
        """Return the task's right program."""
        return ast.parse(self._task.reference or "")

    def habits(self, draws: random.Random) -> Sequence[tuple[Callable[[Any], Any], float]]:
        """Return the rewrites of ``paraphrase``."""
        return [(partial(vary, preamble=self._task.preamble), draws.random()) for vary in VARIATIONS]

    def cut(self, text: str, draws: random.Random) -> str:
        """Return a beginning that does not parse."""
        for end in range(draws.randrange(len(text) // 2, len(text)), 0, -1):
            try:
                _ = ast.parse(text[:end])
            except SyntaxError:
                return text[:end]
        return text[: len("def")]
