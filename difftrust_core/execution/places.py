"""Where inputs lie: inside a task's domain, outside its declared types, or within these and outside the domain."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.records import Kind
from difftrust_core.base.task import Task
from difftrust_core.languages.language import language_of
from difftrust_core.sandbox.host import Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable


class Place(StrEnum):
    """Where an input lies."""

    DOMAIN = "domain"
    """The task allows it."""
    TYPES = "types"
    """It does not fit the declared types."""
    OUTSIDE = "outside"
    """It fits the types, and the domain's condition does not hold."""


class Places:
    """Tells where inputs of one task lie; the domain's condition runs in ``sandbox``. Raises BadTask if it is none."""

    def __init__(self, task: Task, sandbox: Sandbox):
        self._domain = language_of(task).domain(task)
        self._task, self._sandbox = task, sandbox

    @property
    def has_domain(self) -> bool:
        """Whether somebody has said what the task allows."""
        return self._domain is not None

    def inside(self, inputs: Sequence[str]) -> NDArray[np.bool_]:
        """Tell which inputs lie inside; all where there is no domain."""
        return np.array([place in (None, Place.DOMAIN) for place in self.of(inputs)], dtype=bool)

    def of(self, inputs: Sequence[str]) -> list[Place | None]:
        """Return where each input lies; None where there is no domain."""
        if self._domain is None:
            return [None] * len(inputs)
        fits = [self._domain.fits(text) for text in inputs]
        found: list[Place | None] = [Place.DOMAIN if fit else Place.TYPES for fit in fits]
        asked = [i for i, fit in enumerate(fits) if fit] if self._domain.predicate else []
        if asked:
            table = OutcomeTable.empty(len(asked))
            self._sandbox.load(language_of(self._task).preamble(self._task), [inputs[i] for i in asked], table)
            run = self._sandbox.run(self._domain.predicate, "inside")
            for i, row, outcome_id in zip(asked, table.rows, run.outcome_ids.tolist(), strict=True):
                if row[outcome_id][0] != Kind.VALUE:
                    found[i] = Place.OUTSIDE
        return found
