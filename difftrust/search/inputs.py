"""Where the inputs of a check or a diff come from: one function, so that a better search takes its place here alone.

What keeps inputs inside what a docstring allows stands apart, in ``check.input_filter``.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from difftrust_core.base.task import Task
from difftrust_core.languages.registry import language_of

if TYPE_CHECKING:
    from difftrust.search.drawing import TypedInputs
    from difftrust.types.argument_types import ArgumentTypes


InputSource: TypeAlias = "FuzzedInputs | TypedInputs"
"""A call with a position and an attempt gives an argument tuple, always the same one."""


def check_inputs(
    task: Task,
    types: "ArgumentTypes | None",
    codes: Sequence[str],
    *,
    seed: int,
    columns: Mapping[str, str],
    named: Sequence[str] = (),
    beside: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> InputSource:
    """Return where inputs come from: the types and the seeds, or without types the language's own fuzzing.

    ``codes``: programs, whose literals come up in the inputs as those of the condition do. ``columns``: of frames.
    ``named``: what programs use; its literals come up too. ``beside``: programs that tell only whether NaN and infinite
    floats are to come up. ``texts``: every second text is one of these, or of what the programs match.
    """
    if types is None or task.language != "python":
        return FuzzedInputs(task, types.accepts if types is not None else lambda text: True, seed=seed)
    from difftrust.search.dictionary import dictionary_of, quoted, special_floats
    from difftrust.search.drawing import KnownTexts, TypedInputs, likely_types, texts_by_name
    from difftrust.search.pattern_texts import pattern_texts

    told = [*codes, task.preamble, *named, task.domain.requires if task.domain is not None else ""]
    sure = [*texts, *pattern_texts(told, seed=seed), *quoted(task.description)]
    made = partial(
        TypedInputs,
        types,
        task_id=task.task_id,
        seed=seed,
        texts=KnownTexts(texts_by_name(types, task.seed_inputs), sure),
        dictionary=dictionary_of(told, task.description),
        columns=columns,
        likely=likely_types(types, task.seed_inputs),
        special=special_floats([*told, *beside], task.description),
    )
    first = made(task.seed_inputs)
    more = first.fresh(len(task.seed_inputs)) if sure else []
    return made([*task.seed_inputs, *more]) if more else first


class FuzzedInputs:
    """The inputs of a language's own fuzzing, filtered by what fits the types."""

    def __init__(self, task: Task, accepts: Callable[[str], bool], *, seed: int):
        self._draw = language_of(task).fuzz(task, seed)
        self.accepts = accepts
        """Tells whether an argument tuple fits the types."""

    def __call__(self, position: int, attempt: int) -> str:
        """Return an argument tuple, always the same one for a position and an attempt."""
        return self._draw(position, attempt)

    def exhaustive(self, requires: str) -> list[str] | None:
        """Return None: the types are not known."""
        return None

    @property
    def seeds(self) -> list[str]:
        """None: fuzzing changes all seeds alike."""
        return []

    def favour(self, answered: Sequence[bool]) -> None:
        """Do nothing: fuzzing changes all seeds alike."""

    def learn(self, kept: Sequence[str]) -> None:
        """Do nothing: fuzzing changes the seeds of the task."""
