"""Count all tasks of a benchmark in one pass, for any candidates and any n, in whole numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from difftrust_core.analysis.ablation.compact import Ints
from difftrust_core.analysis.ablation.pool import Columns, Flat, Members, Pool, ranges, starts
from difftrust_core.base.records import Coder, Kind
from difftrust_core.metrics.tally import Histograms, Tallies

_MOST_COUNTERS = 16
"""A key: sums are kept in an array that long, a counter each; of sparser keys they are found by sorting."""


@dataclass(frozen=True, kw_only=True)
class Class:
    """A functional class: candidates with one behaviour over the n inputs."""

    sizes: tuple[int, ...]
    """K_c of each coder."""
    wrong: int
    """Inputs on which it differs from the reference; -1 without one."""
    loads: bool = True
    """Whether its programs load: those that do not are a failure that is seen, whether they agree or not."""


@dataclass(frozen=True, kw_only=True)
class TaskCount:
    """The functional classes of one task."""

    task: int
    m: int
    n: int
    classes: tuple[Class, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts:
    """What was counted of the tasks that have candidates: arrays, an element or row a task or a functional class."""

    task: Ints
    """Index of each task among all of the benchmark."""
    tallies: Tallies
    kinds: Ints
    """(n_tasks, n_kinds): (candidate, input) outcomes of each ``Kind``, in its order."""
    task_of_class: Ints
    """Place of each class's task here, ascending; the classes of a task by the first behaviour of each."""
    sizes: Ints
    """(n_classes, n_coders): K_c of each coder."""
    wrong: Ints
    """Inputs on which each class differs from the reference; -1 without one."""
    loads: NDArray[np.bool_]
    """Whether the programs of each class load."""

    def tasks(self) -> list[TaskCount]:
        """Return the functional classes task by task."""
        of_task: list[list[Class]] = [[] for _ in self.task]
        columns = (self.task_of_class, self.sizes, self.wrong, self.loads)
        for at, sizes, wrong, loads in zip(*(c.tolist() for c in columns), strict=True):
            of_task[at].append(Class(sizes=tuple(sizes), wrong=wrong, loads=loads))
        numbers = (self.task.tolist(), self.tallies.m.tolist(), self.tallies.n.tolist(), of_task)
        return [TaskCount(task=t, m=m, n=n, classes=tuple(c)) for t, m, n, c in zip(*numbers, strict=True)]


def count(pool: Pool, coders: Sequence[Coder], *, m: Sequence[int | None], n: int | None) -> Counts:
    """Return the counts of each task on its first n inputs, for the first ``m[i]`` candidates of each coder together.

    Left out are tasks on which some of the candidates, or the reference, were not executed that far. m[i] = None: all
    there are; n = None: each task as far as all of its candidates were. Raises WrongUsage for an unknown coder.
    """
    flat = pool.flat
    chosen = [pool.of(coder).first(share) for coder, share in zip(coders, m, strict=True)]
    counts = np.array([_per_row(flat, members) for members in chosen]).reshape(-1, len(flat.reach))
    reached = _reached(flat, counts.sum(axis=0))
    inputs = reached if n is None else np.where(reached >= n, n, 0)
    counts[:, inputs[flat.task_of_row] == 0] = 0
    return _Counting(flat, pool.columns_of(coders), counts, inputs).counts_of_tasks()


def _per_row(flat: Flat, members: Members) -> Ints:
    return np.bincount(flat.first_row[members.task] + members.row, minlength=len(flat.reach))


def _reached(flat: Flat, counts: Ints) -> Ints:
    """Return how many inputs all candidates of a task, and its reference, were executed on; 0 without candidates."""
    present = counts > 0
    reached = np.where(flat.has_reference, flat.reference_reach, flat.n_inputs)
    np.minimum.at(reached, flat.task_of_row[present], flat.reach[present])
    return np.where(np.bincount(flat.task_of_row[present], minlength=flat.n_tasks) > 0, reached, 0)


def summed(keys: Ints, weights: Ints, limit: int) -> tuple[Ints, Ints]:
    """Return the distinct keys, below ``limit`` and in their order, and the sum of the weights, above 0, of each."""
    if limit > _MOST_COUNTERS * len(keys):
        found, which = np.unique(keys, return_inverse=True)
        return found, np.bincount(which, weights, minlength=len(found)).astype(np.int64)
    sums = np.bincount(keys, weights, minlength=limit)
    found = np.flatnonzero(sums)
    return found, sums[found].astype(np.int64)


class _Counting:
    """One pass over the cells of the behaviours that are present.

    A *column* here is one of those that stand for all, numbered as in ``Columns``; a *slot* is one class of one column.
    """

    def __init__(self, flat: Flat, columns: Columns, counts: Ints, inputs: Ints):
        self.flat, self.counts, self.inputs = flat, counts, inputs
        self.total = counts.sum(axis=0)
        self.m = np.bincount(flat.task_of_row, self.total, minlength=flat.n_tasks).astype(np.int64)
        self.place = np.cumsum(self.m > 0) - 1
        """Task -> its place among those that have candidates."""
        weights, self.width = flat.weights(inputs)
        self.weights = np.bincount(columns.stands_in, weights, minlength=len(columns.first)).astype(np.int64)
        self.task_of_column = flat.task_of_column[columns.first]
        within = columns.first - flat.first_column[self.task_of_column]
        is_used = within < self.width[self.task_of_column]  # the first ones of each task
        used = np.bincount(self.task_of_column, is_used, minlength=flat.n_tasks).astype(np.int64)
        begin = starts(np.bincount(self.task_of_column, minlength=flat.n_tasks))
        self.reference_label = flat.reference_label[columns.first]
        self.n_labels = flat.n_labels[columns.first]
        self.rows = np.flatnonzero(self.total)
        task = flat.task_of_row[self.rows]
        lengths = used[task]
        self.column = ranges(begin[task], lengths)
        self.row = np.repeat(self.rows, lengths)
        self.cell = flat.first_cell[self.row] + within[self.column]
        self.label = flat.cells[self.cell]
        self.differs = np.flatnonzero(self.label != self.reference_label[self.column])
        """The cells here in which a row differs from the reference; anything where there is none."""

    def counts_of_tasks(self) -> Counts:
        flat, task = self.flat, np.flatnonzero(self.m)
        has_reference = flat.has_reference[task]
        disagreeing, wrong = self._per_column()
        task_of_class, sizes, wrong_inputs, loads = self._classes()
        k = sizes.sum(axis=1)

        def per_task(values: Ints) -> Ints:
            return np.bincount(task_of_class, values, minlength=len(task)).astype(np.int64)

        tallies = Tallies(
            m=self.m[task],
            n=self.inputs[task],
            n_classes=per_task(np.ones_like(k)),
            alike=per_task(k * (k - 1)),
            load_failures=per_task(k * ~loads),
            disagreeing=disagreeing,
            has_reference=has_reference,
            wrong=wrong,
            right=per_task(k * (wrong_inputs == 0)),
        )
        kinds = self._kinds()[task]
        return Counts(
            task=task,
            tallies=tallies,
            kinds=kinds,
            task_of_class=task_of_class,
            sizes=sizes,
            wrong=wrong_inputs,
            loads=loads,
        )

    def _per_column(self) -> tuple[Histograms, Histograms]:
        """Return on how many inputs how many ordered pairs differ, and how many candidates are wrong."""
        n_columns = len(self.weights)
        total = self.total.astype(np.float64)[self.row]  # floats: exact here, and faster
        slot = starts(self.n_labels)[self.column] + self.label
        k = np.bincount(slot, total, minlength=int(self.n_labels.sum()))
        alike = np.bincount(self.column, total * k[slot], minlength=n_columns)
        wrong = np.bincount(self.column[self.differs], total[self.differs], minlength=n_columns)
        m = self.m[self.task_of_column]
        wrong *= self.flat.has_reference[self.task_of_column]
        return self._histograms(m * m - alike.astype(np.int64)), self._histograms(wrong.astype(np.int64))

    def _histograms(self, values: Ints) -> Histograms:
        met = (values > 0) & (self.weights > 0) & (self.m[self.task_of_column] > 0)
        limit = int(values.max(initial=0)) + 1
        keys = self.place[self.task_of_column[met]] * limit + values[met]
        found, inputs = summed(keys, self.weights[met], self.flat.n_tasks * limit)
        task, value = np.divmod(found, limit)
        return Histograms(task=task, value=value, inputs=inputs)

    def _kinds(self) -> Ints:
        n_kinds, n_tasks = len(Kind), self.flat.n_tasks
        kinds = self.flat.kinds[self.cell]
        rare = np.flatnonzero(kinds != Kind.VALUE)  # the others are values
        row, weights = self.row[rare], self.weights[self.column[rare]]
        key = self.flat.task_of_row[row] * n_kinds + kinds[rare]
        made = np.bincount(key, self.total[row] * weights, minlength=n_tasks * n_kinds).astype(np.int64)
        of_task = made.reshape(n_tasks, n_kinds)
        of_task[:, Kind.VALUE] = self.m * self.inputs - of_task.sum(axis=1)
        return of_task

    def _classes(self) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
        """Return the task, sizes, wrong inputs of each functional class and whether it loads: ``Counts``' columns.

        A class: rows that are equal on every column that the n inputs use.
        """
        flat, rows = self.flat, self.rows
        inputs = self.weights[self.column[self.differs]]
        wrong = np.bincount(self.row[self.differs], inputs, minlength=len(flat.reach)).astype(np.int64)
        wrong[~flat.has_reference[flat.task_of_row]] = -1
        _, first, which = np.unique(flat.classes(self.width)[rows], return_index=True, return_inverse=True)
        order = np.argsort(first)
        sizes = [np.bincount(which, counts[rows], minlength=len(first)).astype(np.int64) for counts in self.counts]
        leaders = rows[first[order]]  # of the candidates at hand
        return (
            self.place[flat.task_of_row[leaders]],
            np.stack(sizes, axis=1)[order],
            wrong[leaders],
            flat.loads[leaders],
        )
