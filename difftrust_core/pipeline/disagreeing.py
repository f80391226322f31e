"""For two programs that disagree: the smallest input that shows it, both outcomes, and their diff; and nothing else."""

import difflib
from collections.abc import Sequence

from difftrust_core.equality import Forms, Policy, classify
from difftrust_core.pipeline.check_inputs import Accepts, Jury
from difftrust_core.pipeline.check_records import Outcome
from difftrust_core.pipeline.languages import around_of, preamble_of, source_of
from difftrust_core.records import Kind
from difftrust_core.sandbox import OutcomeTable, Sandbox
from difftrust_core.shrinking import Shrunk, shrink
from difftrust_core.tasks import Task

_STARTS = 5
"""So many inputs are tried as a start, shortest first: one may disagree by chance alone."""
_CPU = 2.0
"""CPU seconds that a pair may take; what is left untried then is not known to agree."""


class Duel:
    """Two programs of one task on any inputs: where they differ when compared with each other alone."""

    def __init__(self, task: Task, programs: tuple[str, str], sandbox: Sandbox, *, equality: Policy, jury: Jury):
        self._task, self._programs, self._sandbox = task, programs, sandbox
        self._equality, self._jury, self._forms = equality, jury, Forms()
        self._cpu = 0.0

    def outcomes(self, inputs: Sequence[str]) -> list[tuple[Outcome, Outcome]]:
        """Return what the two do on each input."""
        table = OutcomeTable.empty(len(inputs))
        self._sandbox.load(preamble_of(self._task), inputs, table)
        runs = [self._sandbox.run(source_of(self._task, code), self._task.entry_point) for code in self._programs]
        self._cpu += sum(run.cpu for run in runs)
        ids = [run.outcome_ids.tolist() for run in runs]
        return [(row[a], row[b]) for row, a, b in zip(table.rows, *ids, strict=True)]

    def differ(self, inputs: Sequence[str]) -> list[bool | None]:
        """Return where the two differ on a valid input; None where that was not found out in the time there is."""
        if self._cpu > _CPU:
            return [None] * len(inputs)
        found = [self._differ(*pair) for pair in self.outcomes(inputs)]
        split = [i for i, differs in enumerate(found) if differs]
        if split:
            for i, valid in zip(split, self._jury.valid([inputs[i] for i in split]).tolist(), strict=True):
                found[i] = valid
        return found

    def _differ(self, one: Outcome, other: Outcome) -> bool | None:
        if Kind.SKIPPED in (one[0], other[0]):
            return None
        first, second = classify([one, other], policy=self._equality, forms=self._forms)
        return first != second

    def smallest(self, starts: Sequence[str], known: Sequence[str], accepts: Accepts) -> Shrunk | None:
        """Return the smallest input found on which the two differ; None if none does when it is tried again.

        ``starts``: inputs on which they differed. ``known``: small ones on which others differ, which may do as well.
        """
        few = sorted([*sorted(starts, key=_length)[:_STARTS], *known], key=_length)
        for start, differs in zip(few, self.differ(few), strict=True):
            if differs:
                return shrink(start, self.differ, accepts=accepts, around=around_of(self._task))
        return None


def _length(arguments: str) -> tuple[int, str]:
    return len(arguments), arguments


def unified_diff(first: str, second: str, names: tuple[str, str]) -> str:
    """Return the diff of two program texts."""
    lines = difflib.unified_diff(first.splitlines(), second.splitlines(), *names, lineterm="", n=2)
    return "\n".join(lines)
