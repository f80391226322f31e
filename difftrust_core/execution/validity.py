"""Decide which inputs of a task are kept: drawn until the reference, or a quorum of the candidates, accepts them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.records import Kind, Validity
from difftrust_core.base.task import Task
from difftrust_core.execution.plan import ChunkJob, Program
from difftrust_core.languages.language import MAX_ATTEMPTS, language_of
from difftrust_core.sandbox.host import Sandbox
from difftrust_core.sandbox.outcomes import OutcomeTable
from difftrust_core.store.store import REFERENCE

Accepts = Callable[[str], bool]
_CHECK_CPU = 2.0
"""CPU seconds, for 1,000 inputs, that the slowest program of a check may take to judge inputs; then seed inputs stand
in for the rest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Verdict:
    """``valid``: which inputs are; ``cpu``: seconds of the slowest program; ``disturbed``: one hung or crashed."""

    valid: NDArray[np.bool_]
    cpu: float = 0.0
    disturbed: bool = False


_ALL_VALID = Verdict(valid=np.array(True))


class Jury:
    """Programs that judge inputs: one is valid if at least half of the candidates that load return a value on it.

    Programs that do not load are dropped first and do not count. Without ``programs`` every input is valid.
    ``dismisses``: for which kinds of outcome a program is not run again: LOAD_ERROR; and SKIPPED, given up for its
    timeouts, which still counts and rejects every input from then on.
    """

    def __init__(
        self,
        task: Task,
        programs: Sequence[Program],
        sandbox: Sandbox,
        *,
        dismisses: Collection[Kind] = (Kind.LOAD_ERROR, Kind.SKIPPED),
    ):
        self._task, self._sandbox, self._language = task, sandbox, language_of(task)
        self._voters, self._dismisses = list(programs), dismisses
        self._n_candidates = sum(program.n_candidates for program in programs)
        self.cpu = 0.0
        """CPU seconds of the slowest program so far."""

    def valid(self, inputs: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of the inputs are valid."""
        return self.judge(inputs).valid

    def judge(self, inputs: Sequence[str]) -> Verdict:
        """Run the programs on the inputs and count."""
        votes, slowest, restarts = np.zeros(len(inputs)), 0.0, 0
        if self._voters and inputs:
            table = OutcomeTable.empty(len(inputs))
            self._sandbox.load(self._language.preamble(self._task), inputs, table)
            for program in tuple(self._voters):
                run = self._sandbox.run(self._language.source(self._task, program.code), self._task.entry_point)
                slowest, restarts = max(slowest, run.cpu), restarts + run.restarts
                kinds = np.array([table.rows[i][code][0] for i, code in enumerate(run.outcome_ids.tolist())])
                votes += program.n_candidates * (kinds == Kind.VALUE)
                self._dismiss(program, kinds)
        self.cpu += slowest
        return Verdict(valid=2 * votes >= self._n_candidates, cpu=slowest, disturbed=restarts > 0)

    def _dismiss(self, program: Program, kinds: NDArray[np.int64]) -> None:
        if Kind.LOAD_ERROR in self._dismisses and (kinds == Kind.LOAD_ERROR).all():
            self._n_candidates -= program.n_candidates
            self._voters.remove(program)
        elif Kind.SKIPPED in self._dismisses and (kinds == Kind.SKIPPED).any():
            self._voters.remove(program)


def sample_valid_inputs(job: ChunkJob, sandbox: Sandbox) -> tuple[list[str], list[int]]:
    """Return the chunk's inputs and how many attempts each took, by the store's validity policy.

    ``reference`` keeps what the reference returns a value on (as published), ``quorum`` what at least half of the
    candidates that load do, ``all`` everything. After 100 attempts, or a program's whole CPU time, an unchanged seed
    input is taken, unchecked (its attempts are then 101).
    """
    draw, jury = language_of(job.task).fuzz(job.task, job.settings.seed), _jury_of(job, sandbox)
    n, texts, attempts = job.n, [""] * job.n, [0] * job.n
    pending: NDArray[np.int64] = np.arange(n)
    cpu_left = job.limits.program_cpu * max(1.0, n / 1000)
    attempt, ahead = 0, 1
    while len(pending):
        if cpu_left <= 0:  # a reference that hangs on what is drawn would hang a hundred times
            attempt = MAX_ATTEMPTS
        unchecked = job.settings.validity == Validity.ALL or attempt == MAX_ATTEMPTS
        tried = range(attempt, attempt + 1 if unchecked else min(attempt + ahead, MAX_ATTEMPTS))
        drawn = [[draw(job.start + position, a) for position in pending.tolist()] for a in tried]
        verdict = _ALL_VALID if unchecked else jury.judge([text for of_one in drawn for text in of_one])
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


def _jury_of(job: ChunkJob, sandbox: Sandbox) -> Jury:
    if job.settings.validity == Validity.REFERENCE:
        reference = Program(tree_id=REFERENCE, code=job.task.reference or "")
        return Jury(job.task, (reference,), sandbox, dismisses=())
    return Jury(job.task, job.jury, sandbox, dismisses=(Kind.LOAD_ERROR,))


def sample_inputs(task: Task, *, n: int, seed: int, accepts: Accepts, jury: Jury) -> tuple[list[str], int]:
    """Return the n inputs of a check, and for how many of them an unchanged seed input stands in, unjudged.

    As in ``sample_valid_inputs``, each position tries up to 100 draws. ``accepts`` tells whether an input is within
    the annotated types; a draw outside them is a try as well.
    """
    draw = language_of(task).fuzz(task, seed)
    texts, attempts = [""] * n, [0] * n
    pending = list(range(n))
    while pending:
        over = jury.cpu > _CHECK_CPU * max(1.0, n / 1000)
        for i in pending:
            attempt = MAX_ATTEMPTS if over else attempts[i]
            while True:
                texts[i] = draw(i, attempt)
                attempt += 1
                if attempt > MAX_ATTEMPTS or accepts(texts[i]):
                    break
            attempts[i] = attempt
        judged = [i for i in pending if attempts[i] <= MAX_ATTEMPTS]
        valid = jury.valid([texts[i] for i in judged]).tolist()
        pending = [i for i, good in zip(judged, valid, strict=True) if not good]
    return texts, sum(attempt > MAX_ATTEMPTS for attempt in attempts)
