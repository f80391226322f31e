"""Two programs beside each other, every score in both directions; and nothing else."""

from dataclasses import dataclass

import polars as pl

from difftrust_core.exceptions import WrongUsage
from difftrust_core.structure.comparison import MEASURES, Programs
from difftrust_core.structure.options import DEFAULT, Options


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoCompared:
    """``frame``: score, first_to_second, second_to_first, one row for each of MEASURES."""

    frame: pl.DataFrame
    has_error: tuple[bool, bool]
    """Whether each of the two does not parse whole."""


def compare_two(first: str, second: str, options: Options = DEFAULT) -> TwoCompared:
    """Return every score of two programs. Raises WrongUsage if one is too long to parse."""
    programs = Programs([first, second], options)
    errors = [tree.has_error for tree in programs.trees if tree is not None]
    if len(errors) < 2:
        raise WrongUsage("a program longer than 1 MiB is not parsed; compare shorter ones")
    programs.edit([[0, 1]])
    scores = programs.scores([0, 1])
    scores["exact_match"] += float(first == second) * (1 - scores["exact_match"])
    rows = [(name, float(scores[name][0, 1]), float(scores[name][1, 0])) for name in MEASURES]
    frame = pl.DataFrame(rows, schema=["score", "first_to_second", "second_to_first"], orient="row")
    return TwoCompared(frame=frame, has_error=(errors[0], errors[1]))
