"""All tasks of a benchmark counted in one pass, for any candidates and any n: whole numbers, and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust_core.ablation.compact import Ints
from difftrust_core.ablation.pool import Flat, Members, Pool, ranges
from difftrust_core.estimators import Tally
from difftrust_core.records import Kind

Floats = NDArray[np.float64]
_MOST_COUNTERS = 2_000_000
"""So many sums are kept in an array; beyond, keys are sorted."""


@dataclass(frozen=True, kw_only=True)
class Class:
    """A functional class: candidates with one behaviour over the n inputs."""

    sizes: tuple[int, ...]
    """K_c of each coder."""
    wrong: int
    """Inputs on which it differs from the reference; -1 without one."""


@dataclass(frozen=True, kw_only=True)
class TaskCount:
    """What was counted of one task."""

    task: int
    tally: Tally
    classes: tuple[Class, ...]
    kinds: tuple[int, ...]
    """(candidate, input) outcomes of each ``Kind``, in its order."""


def count(pool: Pool, coders: Sequence[Members], *, n: int | None) -> list[TaskCount]:
    """Return the counts of each task on its first n inputs, for the candidates of all ``coders`` together.

    Left out are tasks on which some of the candidates, or the reference, were not executed that far. n = None: each
    task as far as all of its candidates were.
    """
    flat = pool.flat
    counts = np.array([_per_row(flat, members) for members in coders]).reshape(-1, len(flat.reach))
    reached = _reached(flat, counts.sum(axis=0))
    inputs = reached if n is None else np.where(reached >= n, n, 0)
    counts[:, inputs[flat.task_of_row] == 0] = 0
    return _Counting(flat, counts, inputs).tasks()


def _per_row(flat: Flat, members: Members) -> Ints:
    return np.bincount(flat.first_row[members.task] + members.row, minlength=len(flat.reach))


def _reached(flat: Flat, counts: Ints) -> Ints:
    """Return how many inputs all candidates of a task, and its reference, were executed on; 0 without candidates."""
    present = counts > 0
    reached = np.where(flat.has_reference, flat.reference_reach, flat.n_inputs)
    np.minimum.at(reached, flat.task_of_row[present], flat.reach[present])
    return np.where(np.bincount(flat.task_of_row[present], minlength=flat.n_tasks) > 0, reached, 0)


def _summed(keys: Ints, weights: Ints, limit: int) -> tuple[Ints, Ints]:
    """Return the distinct keys, below ``limit`` and in their order, and the sum of the weights, above 0, of each."""
    if limit > _MOST_COUNTERS:
        found, which = np.unique(keys, return_inverse=True)
        return found, np.bincount(which, weights, minlength=len(found)).astype(np.int64)
    sums = np.bincount(keys, weights, minlength=limit)  # a counter each: faster than sorting
    found = np.flatnonzero(sums)
    return found, sums[found].astype(np.int64)


class _Counting:
    """One pass over the cells of the behaviours that are present."""

    def __init__(self, flat: Flat, counts: Ints, inputs: Ints):
        self.flat, self.counts, self.inputs = flat, counts, inputs
        self.total = counts.sum(axis=0)
        self.m = np.bincount(flat.task_of_row, self.total, minlength=flat.n_tasks).astype(np.int64)
        self.weights, self.width = flat.weights(inputs)
        self.rows = np.flatnonzero(self.total)
        lengths = self.width[flat.task_of_row[self.rows]]
        self.cell = ranges(flat.first_cell[self.rows], lengths)
        self.column = ranges(flat.first_column[flat.task_of_row[self.rows]], lengths)
        self.row = np.repeat(self.rows, lengths)
        self.label = flat.cells[self.cell].astype(np.int64)

    def tasks(self) -> list[TaskCount]:
        disagreeing, wrong = self._per_column()
        kinds = self._kinds()
        classes = self._classes()
        return [self._task(t, disagreeing[t], wrong[t], classes[t], kinds[t]) for t in np.flatnonzero(self.m).tolist()]

    def _task(
        self, task: int, disagreeing: dict[int, int], wrong: dict[int, int], classes: list[Class], kinds: list[int]
    ) -> TaskCount:
        has_reference = bool(self.flat.has_reference[task])
        sizes = [sum(c.sizes) for c in classes]
        tally = Tally(
            m=int(self.m[task]),
            n=int(self.inputs[task]),
            sizes=tuple(sorted(sizes, reverse=True)),
            disagreeing=disagreeing,
            wrong=wrong if has_reference else None,
            right=sum([size for size, c in zip(sizes, classes, strict=True) if c.wrong == 0]),
        )
        return TaskCount(task=task, tally=tally, classes=tuple(classes), kinds=tuple(kinds))

    def _per_column(self) -> tuple[list[dict[int, int]], list[dict[int, int]]]:
        """Return, per task, on how many inputs how many ordered pairs differ, and how many candidates are wrong."""
        flat = self.flat
        slot = flat.first_slot[self.column] + self.label
        k = np.bincount(slot, self.total[self.row], minlength=flat.n_slots)  # floats: exact here, and faster
        m = self.m[flat.task_of_column]
        disagreeing = m * m - np.add.reduceat(k * k, flat.first_slot).astype(np.int64)
        wrong = m - k[flat.first_slot + flat.reference_label].astype(np.int64)
        return self._histograms(disagreeing), self._histograms(wrong)

    def _histograms(self, values: Ints) -> list[dict[int, int]]:
        task_of_column = self.flat.task_of_column
        met = (values > 0) & (self.weights > 0) & (self.m[task_of_column] > 0)
        limit = int(values.max(initial=0)) + 1
        keys, inputs = _summed(task_of_column[met] * limit + values[met], self.weights[met], self.flat.n_tasks * limit)
        found: list[dict[int, int]] = [{} for _ in range(self.flat.n_tasks)]
        for key, times in zip(keys.tolist(), inputs.tolist(), strict=True):
            found[key // limit][key % limit] = times
        return found

    def _kinds(self) -> list[list[int]]:
        n_kinds, n_tasks = len(Kind), self.flat.n_tasks
        key = self.flat.task_of_row[self.row] * n_kinds + self.flat.kinds[self.cell]
        weights = self.total[self.row] * self.weights[self.column]
        made = np.bincount(key, weights, minlength=n_tasks * n_kinds).astype(np.int64)
        rows: list[list[int]] = made.reshape(n_tasks, n_kinds).tolist()
        return rows

    def _classes(self) -> list[list[Class]]:
        """Return each task's functional classes, of rows that are equal on every column that the n inputs use."""
        flat, rows = self.flat, self.rows
        differs = (self.label != flat.reference_label[self.column]) * self.weights[self.column]
        wrong = np.bincount(self.row, differs, minlength=len(flat.reach)).astype(np.int64)
        wrong[~flat.has_reference[flat.task_of_row]] = -1
        _, first, which = np.unique(flat.classes(self.width)[rows], return_index=True, return_inverse=True)
        first = rows[first]  # of the candidates at hand
        sizes = [np.bincount(which, counts[rows], minlength=len(first)).astype(np.int64) for counts in self.counts]
        order = np.argsort(first)
        of_task: list[list[Class]] = [[] for _ in range(flat.n_tasks)]
        columns = (flat.task_of_row[first], wrong[first], np.stack(sizes, axis=1))
        for task, inputs, of_coders in zip(*(column[order].tolist() for column in columns), strict=True):
            of_task[task].append(Class(sizes=tuple(of_coders), wrong=inputs))
        return of_task
