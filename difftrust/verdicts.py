"""What a check or a comparison of two versions found, as a notebook and a terminal show it."""

import html
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from difftrust.questions.ask_in_words import Settled, ask_callable, ask_in_words
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from difftrust.check.report import CheckReport
    from difftrust.diff.comparison import DiffReport
    from difftrust.questions.asking import Question
    from difftrust.questions.board import Board
    from difftrust_core.base.records import Outcome


_DISAGREEMENTS = {
    "first": pl.Int64,
    "second": pl.Int64,
    "arguments": pl.String,
    "first_outcome": pl.String,
    "second_outcome": pl.String,
    "n_inputs": pl.Int64,
    "smallest": pl.Boolean,
}
_CHANGES = {
    "arguments": pl.String,
    "old": pl.String,
    "new": pl.String,
    "n_nodes": pl.Int64,
    "smallest": pl.Boolean,
    "expected": pl.Boolean,
}


def _texts(outcomes: "tuple[Outcome, Outcome] | None") -> list[str | None]:
    return [text for _, text in outcomes] if outcomes else [None, None]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Reported:
    """What was found of a function: a report that shows itself."""

    report: "CheckReport | DiffReport"
    where: str | None = None
    """The function of a check as ``module.py::function``; None for function objects."""

    @property
    def verdict(self) -> str:
        """Return coherent, incoherent, disagreement found or undecided; of two versions unchanged or changed."""
        return self.report.verdict

    def __repr__(self) -> str:
        """Return the report as the command line prints it."""
        from difftrust.outputs.report_text import text_of

        return text_of(self.report, self.where)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Check(_Reported):
    """What a check of one function found: ``verdict`` is coherent, incoherent or undecided; ``report`` holds all of it.

    ``frame``: a row for each pair of clusters that disagree, with the smallest input on which they do.
    """

    report: "CheckReport"
    questions: "Callable[[], Board] | None" = None
    """Runs the candidates again and returns what may be asked about."""

    @property
    def consensus(self) -> str | None:
        """Return the program of the largest cluster that returns values, None if there is none."""
        return self.report.consensus

    def ask(self, answer: "Callable[[Question], str] | None" = None, *, most: int = 5) -> Settled:
        """Ask up to ``most`` questions about single inputs; candidates that contradict an answer drop out.

        Each is about the input that splits the candidates left most evenly. ``answer`` gets a question (its ``call``,
        its ``options`` with ``letter``, ``outcome``, ``candidates``) and returns a letter, a value such as "[1, 2]",
        "raises ValueError", "not allowed", "either", or "" to end. Without it you are asked here. The first call runs
        the candidates again. Raises WrongUsage if ``answer`` returns something else, or for ``most`` below 1.

        >>> def middle(values: list[int]) -> int:
        ...     \"\"\"Return the middle one of the sorted values, the smaller one of two.\"\"\"
        ...     return sorted(values)[len(values) // 2]
        >>> def other(values: list[int]) -> int:
        ...     return sorted(values)[(len(values) - 1) // 2]
        >>> dt.check(middle, other, n=100).ask(lambda question: "0").survivors
        ('other',)
        """
        from difftrust.questions.asking import Asking

        if most < 1:
            raise WrongUsage(f"expected at least one question, got most={most}")
        asking = Asking(self._board, most=most)
        if answer is None:
            ask_in_words(asking, print)
        else:
            ask_callable(asking, answer)
        return Settled(asking=asking)

    @cached_property
    def _board(self) -> "Board":
        if self.questions is None:
            raise WrongUsage("expected a check made by dt.check, got one of a report alone; check again")
        return self.questions()

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return the disagreements: clusters first and second, arguments, what each does there, n_inputs."""
        rows = [
            (found.first, found.second, found.arguments, *_texts(found.outcomes), found.n_inputs, found.minimal)
            for found in self.report.disagreements
        ]
        return pl.DataFrame(rows, schema=_DISAGREEMENTS, orient="row")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Diff(_Reported):
    """What a comparison of two versions found: ``verdict`` is unchanged, changed or undecided; ``report`` holds all.

    ``frame``: a row for each change, with the smallest input that shows it.
    """

    report: "DiffReport"

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return the changes: arguments, what the old and the new version do there, n_nodes, smallest, expected."""
        rows = [
            (change.arguments, *_texts(change.outcomes), change.n_nodes, change.minimal, change.expected)
            for change in self.report.changes
        ]
        return pl.DataFrame(rows, schema=_CHANGES, orient="row")
