"""The inputs of a check: within the annotated types and the validity policy, no reference needed; and nothing else."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from difftrust_core.inputs import MAX_ATTEMPTS, sample_input
from difftrust_core.pipeline.jobs import Program
from difftrust_core.pipeline.languages import preamble_of, source_of
from difftrust_core.records import Kind
from difftrust_core.sandbox import OutcomeTable, Sandbox
from difftrust_core.tasks import Task

Accepts = Callable[[str], bool]
_CPU_PER_1000 = 2.0
"""CPU seconds that one program may take to judge inputs; then seed inputs take the places that are left."""


class Jury:
    """The candidates' programs as judges of inputs: at least half of the candidates that load must return a value.

    ``programs`` empty: every input is valid (policy ``all``). A program that was given up for its timeouts has no
    vote from then on, without being run again.
    """

    def __init__(self, task: Task, programs: Sequence[Program], sandbox: Sandbox):
        self._task, self._sandbox = task, sandbox
        self._voters = list(programs)
        self._n_candidates = sum(program.n_candidates for program in programs)
        self.cpu = 0.0
        """CPU seconds of the slowest program so far."""

    def valid(self, inputs: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of the inputs are valid."""
        votes = np.zeros(len(inputs))
        if not self._voters or not inputs:
            return 2 * votes >= self._n_candidates
        table = OutcomeTable.empty(len(inputs))
        self._sandbox.load(preamble_of(self._task), inputs, table)
        slowest = 0.0
        for program in tuple(self._voters):
            run = self._sandbox.run(source_of(self._task, program.code), self._task.entry_point)
            slowest = max(slowest, run.cpu)
            kinds = np.array([table.rows[i][code][0] for i, code in enumerate(run.outcome_ids.tolist())])
            votes += program.n_candidates * (kinds == Kind.VALUE)
            self._dismiss(program, kinds)
        self.cpu += slowest
        enough: NDArray[np.bool_] = 2 * votes >= self._n_candidates
        return enough

    def _dismiss(self, program: Program, kinds: NDArray[np.int64]) -> None:
        if (kinds == Kind.LOAD_ERROR).all():
            self._n_candidates -= program.n_candidates
            self._voters.remove(program)
        elif (kinds == Kind.SKIPPED).any():
            self._voters.remove(program)


def sample_inputs(task: Task, *, n: int, seed: int, accepts: Accepts, jury: Jury) -> tuple[list[str], int]:
    """Return the n inputs of a check, and for how many of them an unchanged seed input stands in, unjudged.

    As in ``sample_valid_inputs``, each position tries up to 100 draws; one outside the types is a try as well.
    """
    seeds = task.arguments()
    texts, attempts = [""] * n, [0] * n
    pending = list(range(n))
    while pending:
        over = jury.cpu > _CPU_PER_1000 * max(1.0, n / 1000)
        for i in pending:
            attempt = MAX_ATTEMPTS if over else attempts[i]
            while True:
                texts[i] = sample_input(task.task_id, seeds, seed=seed, position=i, attempt=attempt)
                attempt += 1
                if attempt > MAX_ATTEMPTS or accepts(texts[i]):
                    break
            attempts[i] = attempt
        judged = [i for i in pending if attempts[i] <= MAX_ATTEMPTS]
        valid = jury.valid([texts[i] for i in judged]).tolist()
        pending = [i for i, good in zip(judged, valid, strict=True) if not good]
    return texts, sum(attempt > MAX_ATTEMPTS for attempt in attempts)
