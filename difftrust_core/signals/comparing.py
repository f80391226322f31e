"""Signals beside each other: AUROC with intervals, ROC curves, correlations, what one adds to another; nothing else."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata

from difftrust_core.exceptions import WrongUsage
from difftrust_core.signals.auroc import auroc, auroc_difference, auroc_interval, roc, task_numbers
from difftrust_core.signals.table import SIGNALS, Signal

Floats = NDArray[np.float64]
FOLDS: Final = 10
_RIDGE: Final = 1e-3
_STEPS: Final = 25
_STEPS_DRAWN: Final = 100


def score_of(rows: pl.DataFrame, signal: Signal) -> Floats:
    """Return the signal turned so that more of it means an error is more likely."""
    score: Floats = signal.sign * rows[signal.column].cast(pl.Float64).fill_null(math.nan).to_numpy()
    return score


def measured(rows: pl.DataFrame) -> list[Signal]:
    """Return the signals that have a value on some row."""
    return [s for s in SIGNALS if not np.isnan(score_of(rows, s)).all()]


def auroc_table(rows: pl.DataFrame, **options: Any) -> pl.DataFrame:
    """Return one row a signal: signal, title, family, auroc, low, high, n_rows; of ``rows`` of ``signals``.

    AUROC for error > 0, the interval over tasks. ``options``: resamples, seed, confidence.
    """
    made = []
    for signal in measured(rows):
        score = score_of(rows, signal)
        interval = auroc_interval(rows, score, **options)
        made.append(
            {
                "signal": signal.column,
                "title": signal.title,
                "family": signal.family,
                "auroc": interval.estimate,
                "low": interval.low,
                "high": interval.high,
                "n_rows": int((~np.isnan(score)).sum()),
            }
        )
    return pl.DataFrame(made)


def roc_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the ROC curves of all signals: signal, title, family, false_positive_rate, true_positive_rate.

    To be drawn: points within a hundredth of one another are thinned out, ends of longer lines stay.
    """
    erroneous = (rows["error"] > 0).to_numpy()
    found = [
        _thinned(roc(score_of(rows, s), erroneous)).select(
            pl.lit(s.column).alias("signal"), pl.lit(s.title).alias("title"), pl.lit(s.family).alias("family"), "*"
        )
        for s in measured(rows)
    ]
    return pl.concat(found)


def _thinned(curve: pl.DataFrame) -> pl.DataFrame:
    step = ((pl.col("false_positive_rate") + pl.col("true_positive_rate")) * _STEPS_DRAWN).floor()
    is_kept = (step != step.shift(1)) | (step != step.shift(-1))
    return curve.filter(is_kept.fill_null(value=True))


def correlation_table(rows: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return Pearson's r of every ordered pair: a, b (titles), r; over the rows where both have a value.

    ``columns``: which, and in which order; None: error and every signal measured. NaN where one side is constant.
    """
    titles = {"error": "error", "pass_at_1": "pass@1", "pass_at_5": "pass@5"} | {s.column: s.title for s in SIGNALS}
    chosen = columns if columns is not None else ["error", *(s.column for s in measured(rows))]
    floats = rows.select(pl.col(list(chosen)).cast(pl.Float64).fill_nan(None))
    made = [
        {"a": titles[a], "b": titles[b], "r": 1.0 if a == b else _pearson(floats, a, b)} for a in chosen for b in chosen
    ]
    return pl.DataFrame(made, schema={"a": pl.String, "b": pl.String, "r": pl.Float64})


def _pearson(floats: pl.DataFrame, a: str, b: str) -> float:
    r = floats.select(a, b).drop_nulls().select(pl.corr(a, b)).item()
    return math.nan if r is None else float(r)


def added_table(rows: pl.DataFrame, base: Sequence[str], added: Sequence[str], **options: Any) -> pl.DataFrame:
    """Return what each signal of ``added`` brings beside those of ``base``: base, added, auroc, gain, low, high.

    Signals are joined by a logistic regression on their ranks, fitted on nine tenths of the tasks and applied to the
    rest, in turn. ``gain`` is AUROC with the added signal less that without it, over the same tasks.
    """
    rows = rows.filter(pl.all_horizontal(pl.col([*base, *added]).cast(pl.Float64).is_finite()))
    without = joined_score(rows, base)
    made = []
    for name in added:
        score = joined_score(rows, [*base, name])
        gain = auroc_difference(rows, score, without, **options)
        of_score = auroc(score, (rows["error"] > 0).to_numpy())
        made.append(
            {
                **{"base": " + ".join(_title(b) for b in base), "added": _title(name), "auroc": of_score},
                **{"gain": gain.estimate, "low": gain.low, "high": gain.high},
            }
        )
    return pl.DataFrame(made)


def _title(column: str) -> str:
    return next(s.title for s in SIGNALS if s.column == column)


def joined_score(rows: pl.DataFrame, columns: Sequence[str]) -> Floats:
    """Return one score of several signals for each row, from a regression that has not seen the row's task.

    Raises WrongUsage if there are fewer tasks than FOLDS.
    """
    task, n_tasks = task_numbers(rows)
    if n_tasks < FOLDS:
        raise WrongUsage(f"joining signals needs at least {FOLDS} tasks, got {n_tasks}; take more of them")
    erroneous = (rows["error"] > 0).to_numpy().astype(np.float64)
    signed = [score_of(rows, next(s for s in SIGNALS if s.column == name)) for name in columns]
    ranks = np.column_stack([np.ones(len(rows)), *(rankdata(score) / len(rows) - 0.5 for score in signed)])
    fold = np.random.default_rng(0).permutation(n_tasks)[task] % FOLDS
    score = np.zeros(len(rows))
    for held_out in range(FOLDS):
        seen = fold != held_out
        slopes = _fit(ranks[seen], erroneous[seen])[1:]
        # Without intercept and scale, which differ from fold to fold: ties of one signal alone stay ties.
        score[~seen] = ranks[~seen, 1:] @ (slopes / max(float(np.linalg.norm(slopes)), 1e-300))
    return score


def _fit(design: Floats, outcome: Floats) -> Floats:
    """Return the coefficients of a logistic regression, by Newton's method; a touch of ridge keeps them finite."""
    coefficients = np.zeros(design.shape[1])
    ridge = _RIDGE * np.eye(design.shape[1])
    for _ in range(_STEPS):
        p = expit(design @ coefficients)
        gradient = design.T @ (outcome - p) - ridge @ coefficients
        hessian = (design * (p * (1 - p))[:, np.newaxis]).T @ design + ridge
        coefficients += np.linalg.solve(hessian, gradient)
    return coefficients
