"""Count all tasks of a benchmark in one pass, in whole numbers, and compute the measures of one setting of them.

A setting: coders, any m and n. Expected over every choice of m' recorded candidates too, exactly, without resampling.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.base.records import Coder, Detection, Kind
from difftrust_core.estimates.pool import Flat, Members, Pool, ranges, starts
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.aggregate import (
    detection_rate,
    mean_error,
    mean_incoherence,
    pass_at_1,
    spearman,
    undetected_mean_error,
)
from difftrust_core.metrics.estimates import Histograms, Ints, Tallies, estimates_of
from difftrust_core.store.schemas import SCHEMAS

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
    return _Counting(flat, counts, inputs).counts_of_tasks()


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

    A *slot* is one class of one column.
    """

    def __init__(self, flat: Flat, counts: Ints, inputs: Ints):
        self.flat, self.counts, self.inputs = flat, counts, inputs
        self.total = counts.sum(axis=0)
        self.m = np.bincount(flat.task_of_row, self.total, minlength=flat.n_tasks).astype(np.int64)
        self.place = np.cumsum(self.m > 0) - 1
        """Task -> its place among those that have candidates."""
        self.weights, self.width = flat.weights(inputs)  # of each task the first columns are used
        self.rows = np.flatnonzero(self.total)
        task = flat.task_of_row[self.rows]
        lengths = self.width[task]
        self.column = ranges(flat.first_column[task], lengths)
        self.row = np.repeat(self.rows, lengths)
        self.cell = ranges(flat.first_cell[self.rows], lengths)
        self.label = flat.cells[self.cell]
        self.differs = np.flatnonzero(self.label != flat.reference_label[self.column])
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
        slot = starts(self.flat.n_labels)[self.column] + self.label
        k = np.bincount(slot, total, minlength=int(self.flat.n_labels.sum()))
        alike = np.bincount(self.column, total * k[slot], minlength=n_columns)
        wrong = np.bincount(self.column[self.differs], total[self.differs], minlength=n_columns)
        m = self.m[self.flat.task_of_column]
        wrong *= self.flat.has_reference[self.flat.task_of_column]
        return self._histograms(m * m - alike.astype(np.int64)), self._histograms(wrong.astype(np.int64))

    def _histograms(self, values: Ints) -> Histograms:
        met = (values > 0) & (self.weights > 0) & (self.m[self.flat.task_of_column] > 0)
        limit = int(values.max(initial=0)) + 1
        keys = self.place[self.flat.task_of_column[met]] * limit + values[met]
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


@dataclass(frozen=True, kw_only=True)
class OverSubsets:
    """Expectations over all choices of the given numbers of candidates, each equally likely; NaN where undefined."""

    p_detected: float
    """Probability that the chosen candidates disagree on some input, or one does not load. App. D."""
    p_erroneous: float
    """Probability that one of them differs from the reference on some input."""
    undetected_error: float
    """Mean of E where nothing is detected, and 0 elsewhere: divide sums of it by sums of 1 - p_detected."""


UNDEFINED = OverSubsets(p_detected=math.nan, p_erroneous=math.nan, undetected_error=math.nan)


def over_subsets(classes: Sequence[Class], shares: Sequence[int], *, n: int) -> OverSubsets:
    """Return the expectations over all choices of ``shares[i]`` candidates of coder i, on n inputs.

    1 - sum_c prod_i C(K_ci, m_i) / prod_i C(M_i, m_i) over the classes c that load, in whole numbers up to one
    division; for one coder whose programs all load this is 1 - sum_c C(K_c, m) / C(M, m). NaN for fewer than two
    candidates in all, or more than a coder has; errors are NaN without a reference.
    """
    if not classes:
        return UNDEFINED
    pools = [sum(sizes) for sizes in zip(*(c.sizes for c in classes), strict=True)]
    choices = _choices(pools, shares)
    if not choices or sum(shares) < 2:
        return UNDEFINED
    alike = [_choices(c.sizes, shares) for c in classes]
    known = all(c.wrong >= 0 for c in classes)
    right = sum(ways for c, ways in zip(classes, alike, strict=True) if c.wrong == 0)
    quiet = [ways * c.loads for c, ways in zip(classes, alike, strict=True)]
    wrong = sum(ways * c.wrong for c, ways in zip(classes, quiet, strict=True))
    return OverSubsets(
        p_detected=(choices - sum(quiet)) / choices,
        p_erroneous=(choices - right) / choices if known else math.nan,
        undetected_error=wrong / (choices * n) if known else math.nan,
    )


def _choices(sizes: Sequence[int], shares: Sequence[int]) -> int:
    return math.prod(math.comb(size, share) for size, share in zip(sizes, shares, strict=True))


KIND_COLUMNS: Final = {
    "n_values": Kind.VALUE,
    "n_exceptions": Kind.EXCEPTION,
    "n_timeouts": Kind.TIMEOUT,
    "n_skipped": Kind.SKIPPED,
    "n_memory": Kind.MEMORY,
    "n_crashes": Kind.CRASH,
    "n_load_errors": Kind.LOAD_ERROR,
    "n_unsupported": Kind.UNSUPPORTED,
    "n_forged": Kind.FORGED,
}
TASK_SCHEMA: Final[dict[str, Any]] = {
    "benchmark": pl.String,
    **SCHEMAS["estimates"],
    "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cost_usd": pl.Float64,
    "cost_usd_is_lower_bound": pl.Boolean,
}
"""Columns of ``ablation``: those of the estimates, and what the candidates cost."""
SUBSET_SCHEMA: Final[dict[str, Any]] = {
    "m_recorded": pl.UInt32,
    "p_detected_subsets": pl.Float64,
    "p_erroneous_subsets": pl.Float64,
    "undetected_error_subsets": pl.Float64,
}
"""Further columns of ``ablation``: expectations over all choices of m among the ``m_recorded`` candidates."""


Filter = Callable[[pl.DataFrame], pl.DataFrame]
"""Takes the rows of the tasks that count, by their benchmark and task_id."""
keep_all: Filter = pl.DataFrame.clone


def shares(m: int, n_coders: int) -> list[int]:
    """Return how many of m programs each coder gives: evenly, the first ones one more where m is no multiple."""
    return [m // n_coders + (i < m % n_coders) for i in range(n_coders)]


def ablation(
    pool: Pool, coders: Sequence[Coder], *, m: int | None, n: int | None, subsets: bool = True
) -> pl.DataFrame:
    """Return the measures of each task, for the first ``m`` candidates of ``coders`` on the first ``n`` inputs.

    Several coders make a mixture, itself a coder: the m programs are drawn from them evenly (``shares``). Columns:
    TASK_SCHEMA, and with ``subsets`` SUBSET_SCHEMA, which speaks of every choice of m recorded candidates, not of the
    first m. None: all there are. Tasks on which a candidate was not executed that far are left out; undefined is null.
    They equal the estimates of the whole matrix to the last bit. Raises WrongUsage for a coder that is not there,
    or m or n < 1.
    """
    if not coders or (m is not None and m < len(coders)) or (n is not None and n < 1):
        raise WrongUsage(f"ablations need a coder, m >= the number of coders and n >= 1, got {coders}, {m}, {n}")
    each = [None] * len(coders) if m is None else shares(m, len(coders))
    counts = count(pool, coders, m=each, n=n)
    chosen = [pool.of(coder).first(share) for coder, share in zip(coders, each, strict=True)]
    columns = _coder_columns(pool, coders, counts) | _estimate_columns(counts) | _token_columns(pool, chosen, counts)
    schema = dict(TASK_SCHEMA)
    if subsets:
        columns |= _subset_columns(pool, coders, counts, m=m, n=n)
        schema |= SUBSET_SCHEMA
    return pl.DataFrame({name: columns[name] for name in schema}, schema=schema).fill_nan(None)


def whole_rows(
    pool: Pool,
    coders: Sequence[Coder],
    *,
    m: int | None,
    n: int | None,
    fewer: bool = False,
    subsets: bool = False,
    tasks: Filter = keep_all,
) -> pl.DataFrame | None:
    """Return the rows of ``ablation``, one a task, or None where the setting is not recorded whole.

    Whole: on every task, all that are there of the first m candidates were executed on n inputs, for a mean over fewer
    tasks than other settings have would mislead; and some task has all m of them, unless ``fewer``. ``tasks`` takes
    the rows of the tasks that count.
    """
    if (m is not None and m < len(coders)) or (n is not None and n < 1) or any(c not in pool.members for c in coders):
        return None
    each = [None] * len(coders) if m is None else shares(m, len(coders))
    wanted = {task for coder, share in zip(coders, each, strict=True) for task in pool.tasks_of(coder, m=share)}
    rows = tasks(ablation(pool, coders, m=m, n=n, subsets=subsets))
    counted = tasks(pl.DataFrame({"benchmark": pool.benchmark, "task_id": list(wanted)}))
    is_whole = not rows.is_empty() and rows.height == counted.height and (fewer or rows["m"].max() == m)
    return rows if is_whole else None


def _coder_columns(pool: Pool, coders: Sequence[Coder], counts: Counts) -> dict[str, list[Any]]:
    temperatures = {temperature for _, temperature in coders}
    temperature = temperatures.pop() if len(temperatures) == 1 else None
    n_tasks = len(counts.task)
    return {
        "benchmark": [pool.benchmark] * n_tasks,
        "model": ["+".join(model for model, _ in coders)] * n_tasks,
        "temperature": [temperature] * n_tasks,
        "task_id": [pool.tasks[task].task_id for task in counts.task.tolist()],
    }


def _estimate_columns(counts: Counts) -> dict[str, Any]:
    return estimates_of(counts.tallies) | {name: counts.kinds[:, kind] for name, kind in KIND_COLUMNS.items()}


def _token_columns(pool: Pool, chosen: Sequence[Members], counts: Counts) -> dict[str, list[Any]]:
    """Return sums over the candidates, null where one of them is not known; a price in whole billionths of a dollar."""
    task = np.concatenate([members.task for members in chosen])

    def per_task(name: str) -> list[int | None]:
        values = np.concatenate([getattr(members, name) for members in chosen])
        total = np.bincount(task, values, minlength=len(pool.tasks)).astype(np.int64)
        unknown = np.bincount(task, values < 0, minlength=len(pool.tasks)) > 0
        sums = zip(total[counts.task].tolist(), unknown[counts.task].tolist(), strict=True)
        return [None if missing else value for value, missing in sums]

    cost, bounded = per_task("cost_nanodollars"), per_task("cost_is_lower_bound")
    return {
        "n_nondeterministic": per_task("nondeterministic"),
        "prompt_tokens": per_task("prompt_tokens"),
        "completion_tokens": per_task("completion_tokens"),
        "cost_usd": [None if nano is None else nano / 1e9 for nano in cost],
        "cost_usd_is_lower_bound": [None if x is None else bool(n) for x, n in zip(cost, bounded, strict=True)],
    }


@lru_cache(maxsize=64)
def _counts_of_all(pool: Pool, coders: tuple[Coder, ...], n: int | None) -> dict[int, TaskCount]:
    """Return the counts of each task over all recorded candidates: the same for every m."""
    return {c.task: c for c in count(pool, coders, m=[None] * len(coders), n=n).tasks()}


def _subset_columns(
    pool: Pool, coders: Sequence[Coder], counts: Counts, *, m: int | None, n: int | None
) -> dict[str, list[Any]]:
    of_task = _counts_of_all(pool, tuple(coders), n)
    pools = [of_task.get(task) for task in counts.task.tolist()]
    drawn = counts.tallies.m.tolist() if m is None else [m] * len(pools)
    found = [
        UNDEFINED if p is None else over_subsets(p.classes, shares(k, len(coders)), n=p.n)
        for p, k in zip(pools, drawn, strict=True)
    ]
    columns = {f"{f.name}_subsets": [getattr(each, f.name) for each in found] for f in fields(OverSubsets)}
    return columns | {"m_recorded": [None if p is None else p.m for p in pools]}


def summary(tasks: pl.DataFrame) -> dict[str, float]:
    """Return the aggregate of ``ablation``: one number a measure; NaN where nothing defines it.

    Detection and undetected error three times: as published (one random pair an input, expected value), by all pairs
    of these candidates, and expected over all choices of m recorded ones (sum of p_detected / sum of p_erroneous).
    """
    measures = {
        "n_tasks": float(tasks.height),
        "mean_error": mean_error(tasks),
        "mean_incoherence": mean_incoherence(tasks),
        "spearman": spearman(tasks),
        "pass_at_1": pass_at_1(tasks),
        "detection_rate": detection_rate(tasks),
        "detection_rate_all_pairs": detection_rate(tasks, detection=Detection.ALL_PAIRS),
        "undetected_mean_error": undetected_mean_error(tasks),
        "undetected_mean_error_all_pairs": undetected_mean_error(tasks, detection=Detection.ALL_PAIRS),
        "cost_usd": _known_sum(tasks["cost_usd"]),
        "cost_usd_is_lower_bound": bool(tasks["cost_usd_is_lower_bound"].any()),
    }
    return measures | (_subset_summary(tasks) if "p_detected_subsets" in tasks.columns else {})


def _subset_summary(tasks: pl.DataFrame) -> dict[str, float]:
    names = [name for name in SUBSET_SCHEMA if name != "m_recorded"]
    defined = tasks.select(names).drop_nulls()
    found, erroneous, undetected = defined.sum().row(0)
    n_tasks = defined.height
    return {
        "detection_rate_subsets": found / erroneous if erroneous else math.nan,
        "undetected_mean_error_subsets": undetected / (n_tasks - found) if n_tasks > found else math.nan,
    }


def _known_sum(values: pl.Series) -> float:
    return math.nan if values.has_nulls() or values.is_empty() else math.fsum(values)
