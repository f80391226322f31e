"""Compute ROC and AUROC of a score for tasks with an error, exact with ties.

A score is larger where an error is more likely. Each row is one coder on one task; intervals resample tasks, and with
a task all of its coders, for coders err on the same tasks.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import rankdata

from difftrust_core.metrics.intervals.interval import Interval
from difftrust_core.metrics.intervals.over_tasks import bootstrap_tasks

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def auroc(score: Floats, erroneous: Bools) -> float:
    """Return how often a random erroneous row scores above a random right one, ties counting half; NaN without both.

    Rows whose score is NaN are left out. Mann and Whitney's U over n1 n0.
    """
    kept = ~np.isnan(score)
    ranks, positive = rankdata(score[kept]), erroneous[kept]
    n1, n0 = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)) if n1 and n0 else math.nan


def roc(score: Floats, erroneous: Bools) -> pl.DataFrame:
    """Return the ROC curve: a row for each threshold, from none found to all.

    Columns: false_positive_rate, true_positive_rate. Rows of one score come together, so ties are a straight line.
    """
    kept = ~np.isnan(score)
    order = np.argsort(-score[kept], kind="stable")
    sorted_score, positive = score[kept][order], erroneous[kept][order]
    ends = np.flatnonzero(np.diff(sorted_score, append=np.nan) != 0)
    found, false = (np.concatenate([[0], np.cumsum(side)[ends]]) for side in (positive, ~positive))
    if not (found[-1] and false[-1]):
        return pl.DataFrame(schema={"false_positive_rate": pl.Float64, "true_positive_rate": pl.Float64})
    return pl.DataFrame({"false_positive_rate": false / false[-1], "true_positive_rate": found / found[-1]})


class Contest:
    """A score's wins, task against task: what its AUROC is under any weights of the tasks."""

    def __init__(self, score: Floats, erroneous: Bools, task: Ints, n_tasks: int):
        kept = ~np.isnan(score)
        score, erroneous, task = score[kept], erroneous[kept], task[kept]
        self.positives = np.bincount(task[erroneous], minlength=n_tasks).astype(np.float64)
        self.negatives = np.bincount(task[~erroneous], minlength=n_tasks).astype(np.float64)
        self.wins = np.zeros((n_tasks, n_tasks))
        """(task of the erroneous row, task of the right one)."""
        for other in np.flatnonzero(self.negatives).tolist():
            right = np.sort(score[~erroneous & (task == other)])
            below = np.searchsorted(right, score[erroneous], "left") + np.searchsorted(right, score[erroneous], "right")
            self.wins[:, other] = np.bincount(task[erroneous], below / 2, minlength=n_tasks)

    def auroc(self, weights: Floats) -> Floats:
        """Return AUROC under each row of ``weights`` (resamples, n_tasks), how often each task is drawn."""
        won = ((weights @ self.wins) * weights).sum(axis=1)
        pairs = (weights @ self.positives) * (weights @ self.negatives)
        found: Floats = np.divide(won, pairs, out=np.full(len(weights), math.nan), where=pairs > 0)
        return found


def task_numbers(rows: pl.DataFrame) -> tuple[Ints, int]:
    """Return each row's task as a number, and how many there are."""
    numbers = rows.select(pl.struct("benchmark", "task_id").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    return numbers, int(numbers.max()) + 1 if len(numbers) else 0


def auroc_interval(rows: pl.DataFrame, score: Floats, **options: Any) -> Interval:
    """Return AUROC of ``score`` for error > 0 with its interval over tasks; NaN where it is undefined.

    ``rows``: columns benchmark, task_id, error. ``options``: resamples, seed, confidence of ``bootstrap_tasks``.
    """
    task, n_tasks = task_numbers(rows)
    return _over_tasks(Contest(score, _erroneous(rows), task, n_tasks).auroc, n_tasks, **options)


def auroc_difference(rows: pl.DataFrame, score: Floats, other: Floats, **options: Any) -> Interval:
    """Return AUROC of ``score`` less that of ``other``, on the same resamples of tasks."""
    task, n_tasks = task_numbers(rows)
    one, two = (Contest(s, _erroneous(rows), task, n_tasks) for s in (score, other))
    return _over_tasks(lambda weights: one.auroc(weights) - two.auroc(weights), n_tasks, **options)


def _erroneous(rows: pl.DataFrame) -> Bools:
    return (rows["error"] > 0).to_numpy()


def _over_tasks(statistic: Callable[[Floats], Floats], n_tasks: int, **options: Any) -> Interval:
    one_row_a_task = pl.DataFrame({"task": range(n_tasks)})
    return bootstrap_tasks(one_row_a_task, lambda _, weights: statistic(weights), **options)
