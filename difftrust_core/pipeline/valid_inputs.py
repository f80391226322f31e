"""The inputs of one range of positions that the store's validity policy keeps, and nothing else."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from difftrust_core.inputs import MAX_ATTEMPTS, sample_input
from difftrust_core.pipeline.jobs import ChunkJob, Program
from difftrust_core.records import Kind
from difftrust_core.sandbox import OutcomeTable, Sandbox
from difftrust_core.store import REFERENCE


def sample_valid_inputs(job: ChunkJob, sandbox: Sandbox) -> tuple[list[str], list[int]]:
    """Return the chunk's inputs and how many attempts each took, by the store's validity policy.

    ``reference`` keeps what the reference returns a value on (as published), ``quorum`` what at least half of the
    candidates do, ``all`` everything. After 100 attempts, or a program's whole CPU time, an unchanged seed input is
    taken, unchecked (its attempts are then 101).
    """
    task, seed = job.task, job.settings.seed
    seeds = task.arguments()
    positions = range(job.start, job.stop)
    texts = [""] * len(positions)
    attempts = [0] * len(positions)
    pending: NDArray[np.int64] = np.arange(len(positions))
    cpu_left = job.limits.program_cpu * max(1.0, len(positions) / 1000)
    for attempt in range(MAX_ATTEMPTS + 1):
        if cpu_left <= 0:  # a reference that hangs on what is drawn would hang a hundred times
            attempt = MAX_ATTEMPTS
        drawn = [
            sample_input(task.task_id, seeds, seed=seed, position=positions[i], attempt=attempt)
            for i in pending.tolist()
        ]
        for i, text in zip(pending.tolist(), drawn, strict=True):
            texts[i], attempts[i] = text, attempt + 1
        if job.settings.validity == "all" or attempt == MAX_ATTEMPTS:
            break
        valid, cpu = _valid(job, drawn, sandbox)
        cpu_left -= cpu
        pending = pending[~valid]
        if not len(pending):
            break
    return texts, attempts


def _valid(job: ChunkJob, inputs: Sequence[str], sandbox: Sandbox) -> tuple[NDArray[np.bool_], float]:
    """Return on which inputs the policy's programs return a value, and the CPU seconds of the slowest of them."""
    task = job.task
    jury = job.jury
    if job.settings.validity == "reference":
        jury = (Program(tree_id=REFERENCE, code=task.reference or ""),)
    table = OutcomeTable.empty(len(inputs))
    sandbox.load(task.preamble, inputs, table)
    votes, slowest = np.zeros(len(inputs)), 0.0
    for program in jury:
        run = sandbox.run(program.code, task.entry_point)
        slowest = max(slowest, run.cpu)
        values = [table.rows[i][code][0] is Kind.VALUE for i, code in enumerate(run.outcome_ids.tolist())]
        votes += program.n_candidates * np.array(values)
    enough: NDArray[np.bool_] = 2 * votes >= sum(program.n_candidates for program in jury)
    return enough, slowest
