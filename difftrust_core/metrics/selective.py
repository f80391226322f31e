"""Answer only where a signal says so: coverage, risk, and a threshold that keeps the risk below a bound.

``score`` is (n_tasks,): more of it means an error is more likely. ``wrong`` is (n_tasks,) bool: whether the answer is.
A task is answered if its score is at most a threshold. *Coverage* is the share of tasks answered, *risk* the share of
wrong answers among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import bdtr, bdtrc

from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.intervals.bounds import clopper_pearson
from difftrust_core.metrics.intervals.interval import checked_confidence

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
SPLITS: Final = 1000
NONE: Final = -1
"""Stands for no threshold: nothing is answered."""
ANSWERED: Final[dict[str, Any]] = {
    **{"n_answered": pl.Int64, "n_wrong": pl.Int64, "coverage": pl.Float64},
    **{"risk": pl.Float64, "risk_low": pl.Float64, "risk_high": pl.Float64},
}


def answered(score: Floats, wrong: Bools, threshold: float | None, *, confidence: float = 0.95) -> dict[str, Any]:
    """Return coverage and risk at one threshold, by the names of ANSWERED; with threshold None nothing is answered.

    ``risk_low`` and ``risk_high`` are exact (Clopper-Pearson), over tasks; without an answer risk and its interval are
    None. Raises WrongUsage without a task.
    """
    if not len(score):
        raise WrongUsage("coverage needs a task, got none; choose another benchmark or model")
    chosen = np.zeros(len(score), dtype=bool) if threshold is None else score <= threshold
    n_answered, n_wrong = int(chosen.sum()), int(wrong[chosen].sum())
    values: tuple[float | None, ...] = (None, None, None)
    if n_answered:
        tail = (1 - checked_confidence(confidence)) / 2
        values = (n_wrong / n_answered, *clopper_pearson(n_wrong, n_answered, alpha=tail))
    return dict(zip(ANSWERED, (n_answered, n_wrong, n_answered / len(score), *values), strict=True))


def risk_coverage(score: Floats, wrong: Bools, *, confidence: float = 0.95) -> pl.DataFrame:
    """Return the curve of risk against coverage: a row for each distinct score, strict to loose.

    Columns: threshold and those of ANSWERED. El-Yaniv & Wiener 2010.
    """
    rows = [{"threshold": t, **answered(score, wrong, t, confidence=confidence)} for t in np.unique(score).tolist()]
    return pl.DataFrame(rows, schema={"threshold": pl.Float64, **ANSWERED})


def p_values(n_answered: Ints, n_wrong: Ints, alpha: float) -> Floats:
    """Return P(Binomial(n_answered, alpha) <= n_wrong): small where a risk above alpha is unlikely.

    A valid p-value of "the risk is above alpha" for tasks drawn independently; 1 where nothing is answered.
    """
    p: Floats = bdtr(n_wrong.astype(np.float64), n_answered, alpha)
    return p


def loosest(n_answered: Ints, n_wrong: Ints, *, alpha: float, delta: float) -> Ints:
    """Return the index of the last threshold accepted, NONE if even the first is not: (...,).

    ``n_answered``, ``n_wrong``: (..., n_thresholds), counted on calibration tasks, strict to loose. Fixed-sequence
    testing: each threshold is tested at level delta, and the first that fails ends the sequence, so that nothing has to
    be paid for testing many. With thresholds that were fixed beforehand, and calibration tasks drawn independently from
    those to come, the probability that the risk at the returned one is above alpha is at most delta. Angelopoulos,
    Bates, Candes, Jordan & Lei 2021, Learn then Test, section 4.2.
    """
    _check_level("alpha", alpha)
    _check_level("delta", delta)
    passed = p_values(n_answered, n_wrong, alpha) <= delta
    last: Ints = np.logical_and.accumulate(passed, axis=-1).sum(axis=-1) + NONE
    return last


def counts_at(score: Floats, wrong: Bools, thresholds: Sequence[float]) -> tuple[Bools, Bools]:
    """Return which tasks are answered, and which of them wrongly, at each threshold: (n_tasks, n_thresholds) twice."""
    is_answered = score[:, np.newaxis] <= np.asarray(thresholds)
    return is_answered, is_answered & wrong[:, np.newaxis]


def guaranteed_threshold(
    score: Floats, wrong: Bools, thresholds: Sequence[float], *, alpha: float, delta: float
) -> float | None:
    """Return the loosest threshold at which the risk is at most alpha, with probability 1 - delta; None: none is.

    ``thresholds``: ascending, chosen without looking at these tasks. The rest as in ``loosest``.
    """
    is_answered, is_wrong = counts_at(score, wrong, thresholds)
    index = int(loosest(is_answered.sum(axis=0), is_wrong.sum(axis=0), alpha=alpha, delta=delta))
    return None if index == NONE else thresholds[index]


@dataclass(frozen=True, kw_only=True, eq=False)
class Splits:
    """Random halves of the same tasks: a threshold from the one, kept on the other. Arrays of one element a split."""

    chosen: Ints
    """Index of the threshold, or NONE."""
    n_answered: Ints
    """Held-out tasks answered."""
    n_wrong: Ints
    """Wrong ones of these."""
    n_held_out: int


def over_splits(
    score: Floats,
    wrong: Bools,
    thresholds: Sequence[float],
    *,
    alpha: float,
    delta: float,
    splits: int = SPLITS,
    seed: int = 0,
) -> Splits:
    """Return what ``guaranteed_threshold`` of a random half of the tasks does on the other half, many times.

    Raises WrongUsage if there are fewer than two tasks.
    """
    n_tasks = len(score)
    if n_tasks < 2:
        raise WrongUsage(f"splitting into halves needs two tasks, got {n_tasks}; choose a larger benchmark")
    halves = np.tile(np.arange(n_tasks) < n_tasks // 2, (splits, 1))
    calibration = np.random.default_rng(seed).permuted(halves, axis=1).astype(np.float64)  # products of floats are fast
    both = counts_at(score, wrong, thresholds)
    here = [(calibration @ one).astype(np.int64) for one in both]
    chosen = loosest(*here, alpha=alpha, delta=delta)
    held_out = [one.sum(axis=0) - own for one, own in zip(both, here, strict=True)]
    n_answered, n_wrong = (np.where(chosen == NONE, 0, own[np.arange(splits), chosen]) for own in held_out)
    return Splits(chosen=chosen, n_answered=n_answered, n_wrong=n_wrong, n_held_out=n_tasks - n_tasks // 2)


def share_broken(chosen: Ints, score: Floats, wrong: Bools, thresholds: Sequence[float], *, alpha: float) -> float:
    """Return the share of ``chosen`` at which the risk of these tasks is above alpha; NONE breaks nothing."""
    is_answered, is_wrong = counts_at(score, wrong, thresholds)
    above = is_wrong.sum(axis=0) > alpha * is_answered.sum(axis=0)
    return float((above[chosen] & (chosen != NONE)).mean())


def share_rejected(n_answered: Ints, n_wrong: Ints, *, alpha: float, level: float = 0.05) -> float:
    """Return how often so many wrong answers say, by an exact test at ``level``, that the risk is above alpha."""
    p = np.where(n_wrong > 0, bdtrc(np.maximum(n_wrong - 1, 0).astype(np.float64), n_answered, alpha), 1.0)
    return float((p <= level).mean())


def _check_level(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise WrongUsage(f"{name} lies between 0 and 1, got {value}; 0.1 is usual")
