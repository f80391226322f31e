"""Count programs that load only without what follows their entry point as not loading."""

from dataclasses import replace

import numpy as np

from difftrust_core.analysis.ablation.compact import MISSING, CompactTask, Ints
from difftrust_core.analysis.ablation.pool import Members, Pool
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import WrongUsage


def strictly_loaded(pool: Pool) -> Pool:
    """Return the pool in which trimmed programs do not load: on every input they have one outcome of their own.

    Raises WrongUsage if it is not known which programs were trimmed.
    """
    if any((members.trimmed < 0).any() for members in pool.members.values()):
        raise WrongUsage(
            f"--load strict needs to know which programs were trimmed, and these results of {pool.benchmark} do not "
            "hold it; use a store that was executed, or --load trimmed"
        )
    concerned = {task for members in pool.members.values() for task in members.task[members.trimmed > 0].tolist()}
    tasks = tuple(_with_failure(task) if i in concerned else task for i, task in enumerate(pool.tasks))
    failure = np.array([len(task.kinds) for task in pool.tasks], dtype=np.int64)
    return replace(pool, tasks=tasks, members={coder: _moved(own, failure) for coder, own in pool.members.items()})


def _with_failure(task: CompactTask) -> CompactTask:
    """Return the task with one more row, the last: a program that does not load."""
    labels = {}
    for equality, matrix in task.labels.items():
        highest = np.where(matrix == MISSING, 0, matrix).max(axis=0, keepdims=True)
        labels[equality] = np.concatenate([matrix, highest + 1]).astype(matrix.dtype)
    kinds = np.concatenate([task.kinds, np.full((1, task.kinds.shape[1]), Kind.LOAD_ERROR, dtype=task.kinds.dtype)])
    return replace(task, labels=labels, kinds=kinds, reach=np.append(task.reach, len(task.pattern_of_input)))


def _moved(members: Members, failure: Ints) -> Members:
    """Return the members, those trimmed with the row of the failure."""
    return replace(members, row=np.where(members.trimmed > 0, failure[members.task], members.row))
