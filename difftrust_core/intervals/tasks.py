"""Intervals over tasks: what a benchmark's table would show on other tasks like these; the bootstrap.

A statistic is computed from how often each task is drawn, for all resamples at once: ``weights`` is (resamples,
n_tasks), row sums n_tasks. The measures are those of ``benchmark``; on weights of 1 they are equal to them.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from difftrust_core.benchmark import AS_PUBLISHED, MEASURES, Detection
from difftrust_core.exceptions import WrongUsage
from difftrust_core.intervals.bounded import Floats, Limits
from difftrust_core.intervals.record import Interval, checked_confidence, undefined

Statistic = Callable[[pl.DataFrame, Floats], Floats]
"""(tasks, weights (resamples, n_tasks)) -> (resamples,), NaN where it is undefined."""
RESAMPLES: Final = 2000
_TIE: Final = 1e-12
_ROUNDING: Final = 1e-6
_FEWEST: Final = 3
_WEIGHTED: Final = (*MEASURES, "pass_at_1", "found", "erroneous")


def statistic_of(measure: str, *, detection: Detection = AS_PUBLISHED) -> Statistic:
    """Return the weighted form of a measure of ``benchmark``: one of MEASURES, pass_at_1, found or erroneous.

    Raises WrongUsage for another measure.
    """
    if measure == "spearman":
        return _spearman
    if measure not in _WEIGHTED:
        raise WrongUsage(f"a measure is one of {', '.join(_WEIGHTED)}, got {measure!r}")
    return lambda tasks, weights: _ratio(*_terms(tasks, measure, detection), weights)


def bootstrap_tasks(
    estimates: pl.DataFrame,
    statistic: Statistic,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of a statistic of one coder over tasks: BCa bootstrap, resampling whole tasks.

    ``estimates``: one row a task. NaN where the statistic is undefined. Raises WrongUsage for another confidence.
    Efron 1987, with the t-quantiles that Hesterberg 2015 advises for few tasks.
    """
    n_tasks = estimates.height
    weights = task_weights(n_tasks, resamples=resamples, seed=seed)
    return _interval(lambda w: statistic(estimates, w), weights, confidence=confidence, n_tasks=n_tasks)


def paired_difference(
    estimates: pl.DataFrame,
    other: pl.DataFrame,
    statistic: Statistic,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of statistic(estimates) - statistic(other) on the tasks that both have, drawn together.

    Raises WrongUsage if they have no task in common.
    """
    keys = ["benchmark", "task_id"]
    common = estimates.select(keys).join(other.select(keys), on=keys).unique().sort(keys)
    if common.is_empty():
        raise WrongUsage("a paired difference needs tasks that both coders have, got none; choose one benchmark")
    one, two = (common.join(side, on=keys, maintain_order="left", validate="1:1") for side in (estimates, other))
    weights = task_weights(common.height, resamples=resamples, seed=seed)
    return _interval(
        lambda w: statistic(one, w) - statistic(two, w), weights, confidence=confidence, n_tasks=common.height
    )


@lru_cache(maxsize=4)
def task_weights(n_tasks: int, *, resamples: int, seed: int) -> Floats:
    """Return how often each task is drawn in each resample: (resamples, n_tasks), row sums n_tasks; read-only."""
    drawn = np.ones((resamples, 0))
    if n_tasks:
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(n_tasks, np.full(n_tasks, 1 / n_tasks), size=resamples).astype(np.float64)
    drawn.setflags(write=False)
    return drawn


def bca_limits(point: float, resampled: Floats, left_out: Floats, *, confidence: float) -> Limits:
    """Return the bias-corrected and accelerated limits; NaN where too little is defined.

    ``resampled``: (resamples,) the statistic on each resample; ``left_out``: (n_tasks,) without each task.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    defined = resampled[~np.isnan(resampled)]
    jackknife = left_out[~np.isnan(left_out)]
    if math.isnan(point) or len(defined) < 2 or len(jackknife) < 2:
        return math.nan, math.nan
    n = len(jackknife)
    # Ties with the point count half: detection rates of few tasks take few values.
    below = ((defined < point - _TIE).mean() + (defined <= point + _TIE).mean()) / 2
    bias = float(ndtri(np.clip(below, 1 / len(defined), 1 - 1 / len(defined))))
    deviations = jackknife.mean() - jackknife
    spread = float((deviations**2).sum())
    acceleration = float((deviations**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    z = math.sqrt(n / (n - 1)) * stdtrit(n - 1, [(1 - confidence) / 2, (1 + confidence) / 2])
    levels = ndtr(bias + (bias + z) / np.maximum(1 - acceleration * (bias + z), 1e-3))
    low, high = np.quantile(defined, levels)
    return float(low), float(high)


def _interval(values_of: Callable[[Floats], Floats], weights: Floats, *, confidence: float, n_tasks: int) -> Interval:
    said: dict[str, Any] = {"confidence": checked_confidence(confidence), "method": "bca", "covers": "tasks"}
    said["statement"] = (
        f"The value over all tasks of which these {n_tasks:,} are a sample, each task with its own programs and inputs."
    )
    if n_tasks < 2:
        return undefined(**said)
    point = float(values_of(np.ones((1, n_tasks)))[0])
    low, high = bca_limits(point, values_of(weights), values_of(1 - np.eye(n_tasks)), confidence=confidence)
    return Interval(estimate=point, low=low, high=high, **said)


def _terms(tasks: pl.DataFrame, measure: str, detection: Detection) -> tuple[Floats, Floats]:
    """Return a and b of a measure that is sum a / sum b over tasks; both 0 for a task where it is undefined."""
    if measure == "pass_at_1":
        (functional,) = _floats(tasks, "functional_error")
        return _defined(1 - functional, np.ones(len(functional)))
    error, incoherence, found, erroneous = _floats(tasks, "error", "incoherence", "p_detected", "p_erroneous")
    if measure == "mean_error":
        return _defined(error, np.ones(len(error)))
    if measure == "mean_incoherence":
        return _defined(incoherence, np.ones(len(error)))
    if measure in ("found", "erroneous"):
        exact, sampled = (incoherence, found) if measure == "found" else (error, erroneous)
        share = sampled if detection == AS_PUBLISHED else np.where(np.isnan(exact), np.nan, exact > 0)
        return _defined(share, np.ones(len(error)))
    if detection != AS_PUBLISHED:
        both = ~np.isnan(error) & ~np.isnan(incoherence)
        chosen = both & ((error > 0) if measure == "detection_rate" else (incoherence == 0))
        return _defined((incoherence > 0) if measure == "detection_rate" else error, chosen.astype(np.float64))
    if measure == "detection_rate":
        return _defined(found, erroneous)
    return _defined(error, 1 - found)


def _defined(values: npt.NDArray[Any], weights: Floats) -> tuple[Floats, Floats]:
    kept = ~np.isnan(values.astype(np.float64)) & ~np.isnan(weights)
    b = np.where(kept, weights, 0.0)
    return np.where(kept, values, 0.0) * b, b


def _floats(tasks: pl.DataFrame, *names: str) -> list[Floats]:
    return [tasks[name].cast(pl.Float64).to_numpy() for name in names]


def _ratio(a: Floats, b: Floats, weights: Floats) -> Floats:
    below = weights @ b
    ratio: Floats = np.divide(weights @ a, below, out=np.full(len(weights), math.nan), where=below > 0)
    return ratio


def _spearman(tasks: pl.DataFrame, weights: Floats) -> Floats:
    pairs = np.column_stack(_floats(tasks, "error", "incoherence"))
    kept = ~np.isnan(pairs).any(axis=1)
    # Many tasks share one pair, most of all (0, 0); each pair then stands for all of its tasks.
    distinct, which = np.unique(pairs[kept], axis=0, return_inverse=True)
    stands_for = np.zeros((len(pairs), len(distinct)))
    stands_for[np.flatnonzero(kept), which.ravel()] = 1
    mass = weights @ stands_for
    return weighted_correlation(_mean_ranks(distinct[:, 0], mass), _mean_ranks(distinct[:, 1], mass), mass)


def _mean_ranks(values: Floats, mass: Floats) -> Floats:
    """Return the mean rank of each value under each row of ``mass``, its multiplicity: (resamples, n_values)."""
    before = (values[:, None] < values) + 0.5 * (values[:, None] == values)
    ranks: Floats = mass @ before + 0.5
    return ranks


def weighted_correlation(a: Floats, b: Floats, weights: Floats) -> Floats:
    """Return the correlation of each row of a with that of b; NaN with weight below three or a constant side."""
    total = weights.sum(axis=1)
    mean_a, mean_b = (np.einsum("ij,ij->i", weights, side) / np.maximum(total, 1) for side in (a, b))
    covariance, spread_a, spread_b = (
        np.einsum("ij,ij,ij->i", weights, one, two) - total * of_one * of_two
        for one, two, of_one, of_two in ((a, b, mean_a, mean_b), (a, a, mean_a, mean_a), (b, b, mean_b, mean_b))
    )
    # Ranks are multiples of one half: a spread that is not 0 is at least 1/2.
    ok = (total >= _FEWEST) & (spread_a > _ROUNDING) & (spread_b > _ROUNDING)
    spread = np.sqrt(np.where(ok, spread_a * spread_b, 1.0))
    return np.where(ok, covariance / spread, math.nan)
