"""The inputs of one range of positions that the store's validity policy keeps, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust_core.inputs import MAX_ATTEMPTS
from difftrust_core.pipeline.jobs import ChunkJob, Program
from difftrust_core.pipeline.languages import InputSource, preamble_of, source_of
from difftrust_core.records import Kind
from difftrust_core.sandbox import OutcomeTable, Sandbox
from difftrust_core.store import REFERENCE


def sample_valid_inputs(job: ChunkJob, sandbox: Sandbox) -> tuple[list[str], list[int]]:
    """Return the chunk's inputs and how many attempts each took, by the store's validity policy.

    ``reference`` keeps what the reference returns a value on (as published), ``quorum`` what at least half of the
    candidates do, ``all`` everything. After 100 attempts, or a program's whole CPU time, an unchanged seed input is
    taken, unchecked (its attempts are then 101).
    """
    judge = _Judge(job, sandbox)
    n, texts, attempts = job.n, [""] * job.n, [0] * job.n
    pending: NDArray[np.int64] = np.arange(n)
    cpu_left = job.limits.program_cpu * max(1.0, n / 1000)
    attempt, ahead = 0, 1
    while len(pending):
        if cpu_left <= 0:  # a reference that hangs on what is drawn would hang a hundred times
            attempt = MAX_ATTEMPTS
        unchecked = job.settings.validity == "all" or attempt == MAX_ATTEMPTS
        tried = range(attempt, attempt + 1 if unchecked else min(attempt + ahead, MAX_ATTEMPTS))
        drawn = [[judge.draw(position, a) for position in pending.tolist()] for a in tried]
        verdict = _ALL_VALID if unchecked else judge.judge([text for of_one in drawn for text in of_one])
        if len(tried) > 1 and (verdict.disturbed or verdict.cpu >= cpu_left):
            ahead = 1  # as a program that hangs is judged by what it does first, they are tried one by one
            continue
        valid = np.broadcast_to(verdict.valid, len(tried) * len(pending)).reshape(len(tried), -1)
        chosen = np.where(valid.any(axis=0), valid.argmax(axis=0), len(tried) - 1)
        for place, (i, which) in enumerate(zip(pending.tolist(), chosen.tolist(), strict=True)):
            texts[i], attempts[i] = drawn[which][place], tried[which] + 1
        cpu_left -= verdict.cpu
        pending = pending[~valid.any(axis=0)]
        attempt = tried.stop
        if not verdict.disturbed and len(pending):
            ahead = max(1, min(2 * ahead, n // len(pending)))  # few are left: several attempts of each at a time
    return texts, attempts


@dataclass(frozen=True, kw_only=True, eq=False)
class _Verdict:
    """``valid``: which inputs are; ``cpu``: seconds of the slowest program; ``disturbed``: one hung or crashed."""

    valid: NDArray[np.bool_]
    cpu: float = 0.0
    disturbed: bool = False


_ALL_VALID = _Verdict(valid=np.array(True))


class _Judge:
    """The policy's programs on a task's inputs."""

    def __init__(self, job: ChunkJob, sandbox: Sandbox):
        self.job, self.sandbox = job, sandbox
        self._source = InputSource(job.task, job.settings.seed)
        self.jury = job.jury
        if job.settings.validity == "reference":
            self.jury = (Program(tree_id=REFERENCE, code=job.task.reference or ""),)

    def draw(self, position: int, attempt: int) -> str:
        """Return the input of one position of the chunk and one attempt."""
        return self._source.draw(self.job.start + position, attempt)

    def judge(self, inputs: Sequence[str]) -> _Verdict:
        """Run the jury: an input is valid if at least half of its candidates return a value."""
        task = self.job.task
        table = OutcomeTable.empty(len(inputs))
        self.sandbox.load(preamble_of(task), inputs, table)
        votes, slowest, restarts = np.zeros(len(inputs)), 0.0, 0
        for program in self.jury:
            run = self.sandbox.run(source_of(task, program.code), task.entry_point)
            slowest, restarts = max(slowest, run.cpu), restarts + run.restarts
            values = [table.rows[i][code][0] is Kind.VALUE for i, code in enumerate(run.outcome_ids.tolist())]
            votes += program.n_candidates * np.array(values)
        enough: NDArray[np.bool_] = 2 * votes >= sum(program.n_candidates for program in self.jury)
        return _Verdict(valid=enough, cpu=slowest, disturbed=restarts > 0)
