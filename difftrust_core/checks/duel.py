"""Two programs on any inputs: the smallest input on which they still do what they did."""

from collections.abc import Callable, Sequence

from difftrust_core.base.records import Kind, Outcome
from difftrust_core.checks.programs import Executor
from difftrust_core.languages.language import language_of
from difftrust_core.languages.python.shrink import Shrunk, shrink

Shows = Callable[[Outcome, Outcome], bool | None]
"""Whether the outcomes of the two show what is to be kept; None where that is not known."""
Keeps = Callable[[Sequence[str]], list[bool]]
_STARTS = 5
"""So many inputs are tried as a start, shortest first: one may disagree by chance alone."""
_CPU = 2.0
"""CPU seconds that a pair may take; what is left untried then is not known to agree."""


class Duel:
    """Two programs of one task, and what of them is to be seen on an input that ``keeps`` lets pass."""

    def __init__(self, executor: Executor, codes: tuple[str, str], shows: Shows, keeps: Keeps):
        self._executor, self._codes, self._shows, self._keeps = executor, codes, shows, keeps
        self._cpu = 0.0

    def outcomes(self, arguments: str) -> tuple[Outcome, Outcome]:
        """Return what the two do on one input."""
        ((one, other),) = self._executor.run(self._codes, [arguments]).rows
        return one, other

    def show(self, inputs: Sequence[str]) -> list[bool | None]:
        """Return on which inputs it is seen; None where that was not found out in the time there is."""
        if self._cpu > _CPU:
            return [None] * len(inputs)
        ran = self._executor.run(self._codes, inputs)
        self._cpu += sum(run.cpu for run in ran.runs)
        found = [None if Kind.SKIPPED in (a[0], b[0]) else self._shows(a, b) for a, b in ran.rows]
        seen = [i for i, shown in enumerate(found) if shown]
        if seen:
            for i, kept in zip(seen, self._keeps([inputs[i] for i in seen]), strict=True):
                found[i] = kept
        return found

    def smallest(self, starts: Sequence[str], known: Sequence[str], accepts: Callable[[str], bool]) -> Shrunk | None:
        """Return the smallest input found on which it is seen; None if on none it is when it is tried again.

        ``starts``: inputs on which it was seen. ``known``: small ones that may do as well.
        """
        few = sorted([*sorted(starts, key=_length)[:_STARTS], *known], key=_length)
        for start, shown in zip(few, self.show(few), strict=True):
            if shown:
                task = self._executor.task
                return shrink(start, self.show, accepts=accepts, around=language_of(task).around(task))
        return None


def _length(arguments: str) -> tuple[int, str]:
    return len(arguments), arguments
