"""What the programs of a check did, as classes of equal outcomes: a row a program, a column an input."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.records import Kind, Outcome
from difftrust_core.checks.answers import Answers
from difftrust_core.checks.programs import Executor, Ran, lacks_package
from difftrust_core.sandbox.host import ProgramRun

_SAYS_NOTHING = (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY)
Classes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrix:
    """The programs on the measured inputs: ``labels`` and ``kinds`` are (n_programs, n), one column an input drawn."""

    inputs: list[str]
    """The distinct ones."""
    labels: Classes
    kinds: Classes
    runs: list[ProgramRun]
    loads: Flags
    load_errors: list[str]
    """In the sandbox's words; empty for a program that loads."""
    lacks_package: Flags
    """It does not load, for it imports a package that is not allowed."""
    outcomes: frozenset[Outcome]
    """The distinct ones, over all inputs and programs that load."""
    labels_of_distinct: Classes
    kinds_of_distinct: Classes

    @property
    def given_up(self) -> Flags:
        """Which programs ran out of their timeouts or crashes."""
        return np.asarray((self.kinds_of_distinct == Kind.SKIPPED).any(axis=1))

    @property
    def works(self) -> Flags:
        """Which programs return a value on some input and were not given up."""
        return np.asarray((self.kinds_of_distinct == Kind.VALUE).any(axis=1) & ~self.given_up)

    @property
    def returns_values(self) -> bool:
        """Whether any program returns a value on any input."""
        return bool((self.kinds_of_distinct == Kind.VALUE).any())

    @property
    def n_returning(self) -> int:
        """On so many distinct inputs some program returns a value."""
        return int((self.kinds_of_distinct == Kind.VALUE).any(axis=0).sum())

    def inputs_that_split(self, one: int, other: int) -> list[str]:
        """Return the distinct inputs on which two programs were run and differ."""
        tried = (self.kinds_of_distinct[[one, other]] != Kind.SKIPPED).all(axis=0)
        differ = self.labels_of_distinct[one] != self.labels_of_distinct[other]
        return [self.inputs[i] for i in np.flatnonzero(differ & tried).tolist()]


Judged = Callable[[Sequence[str]], Ran | None]
"""What is known already of what the programs do on some inputs; None where they are to be run."""


def measure(
    executor: Executor, codes: Sequence[str], inputs: Sequence[str], answers: Answers, *, judged: Judged
) -> Matrix:
    """Run every program on each distinct input, unless it is known, and sort what they did into classes."""
    distinct = list(dict.fromkeys(inputs))
    # Where no input was kept, the seed still tells which programs load.
    ran = judged(distinct) or executor.run(codes, distinct or [executor.task.seed_inputs[0]])
    rows = ran.rows[: len(distinct)]
    labels = np.array([answers.classify(row) for row in rows], dtype=np.int64).reshape(-1, len(codes)).T
    kinds = np.array([[int(kind) for kind, _ in row] for row in rows], dtype=np.int64).reshape(-1, len(codes)).T
    position = {text: i for i, text in enumerate(distinct)}
    which = np.array([position[text] for text in inputs], dtype=np.int64)
    errors = [_load_error([row[p] for row in ran.rows]) for p in range(len(codes))]
    loads = np.array([error is None for error in errors])
    return Matrix(
        inputs=distinct,
        labels=np.ascontiguousarray(labels[:, which]),
        kinds=np.ascontiguousarray(kinds[:, which]),
        runs=ran.runs,
        loads=loads,
        load_errors=[error or "" for error in errors],
        lacks_package=np.array([lacks_package(code, e or "") for code, e in zip(codes, errors, strict=True)]),
        outcomes=frozenset(row[p] for row in rows for p in np.flatnonzero(loads).tolist()),
        labels_of_distinct=np.ascontiguousarray(labels),
        kinds_of_distinct=np.ascontiguousarray(kinds),
    )


def _load_error(outcomes: Sequence[Outcome]) -> str | None:
    """Return why a program does not load, in the sandbox's words; None where it does."""
    return outcomes[0][1] if all(kind == Kind.LOAD_ERROR for kind, _ in outcomes) else None


@dataclass(frozen=True, kw_only=True, eq=False)
class Witnesses:
    """The programs that work on the witnesses; ``labels`` is (n_programs, n_witnesses), -1 for the others."""

    inputs: list[str]
    labels: Classes
    outcomes: frozenset[Outcome]
    n_differing: int
    """Witnesses on which some two programs differ."""

    @classmethod
    def none(cls, n_programs: int) -> Self:
        """Return what is known without a witness."""
        return cls(inputs=[], labels=np.zeros((n_programs, 0), dtype=np.int64), outcomes=frozenset(), n_differing=0)


def run_witnesses(
    executor: Executor,
    codes: Sequence[str],
    working: Sequence[int],
    n_programs: int,
    texts: Sequence[str],
    answers: Answers,
    *,
    judged: Judged,
) -> Witnesses:
    """Run the programs ``working`` on the witnesses, unless it is known what they do.

    One on which a program runs out of time or memory says nothing and is left out.
    """
    if not texts:
        return Witnesses.none(n_programs)
    known = judged(texts)
    rows = [tuple([row[p] for p in working]) for row in known.rows] if known else executor.run(codes, texts).rows
    kept = [(t, row) for t, row in zip(texts, rows, strict=True) if not any(k in _SAYS_NOTHING for k, _ in row)]
    columns = np.array([answers.classify(row) for _, row in kept], dtype=np.int64).reshape(-1, len(working)).T
    labels = np.full((n_programs, len(kept)), -1, dtype=np.int64)
    labels[working] = columns
    return Witnesses(
        inputs=[text for text, _ in kept],
        labels=labels,
        outcomes=frozenset(outcome for _, row in kept for outcome in row),
        n_differing=int((columns != columns[:1]).any(axis=0).sum()),
    )
