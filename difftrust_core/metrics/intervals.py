"""Confidence intervals over tasks: what a table of a benchmark would show on other tasks like these.

The bootstrap resamples whole tasks. A statistic is computed from how often each task is drawn, for all resamples at
once: ``weights`` is (resamples, n_tasks), row sums n_tasks. The measures are those of ``aggregate``; on weights of 1
they are equal to them. Limits of a share, where tasks are right or wrong, are exact.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust_core.base.records import Detection
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.aggregate import RATIOS, ratio_terms
from difftrust_core.metrics.estimates import Floats, Interval, Limits, checked_confidence, quotients


def clopper_pearson(successes: int, trials: int, *, alpha: float) -> Limits:
    """Return the exact limits of a probability after ``successes`` in ``trials``. Clopper & Pearson 1934."""
    from scipy.special import betaincinv

    low = float(betaincinv(successes, trials - successes + 1, alpha)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - alpha)) if successes < trials else 1.0
    return low, high


Statistic = Callable[[pl.DataFrame, Floats], Floats]
"""(tasks, weights (resamples, n_tasks)) -> (resamples,), NaN where it is undefined."""
RESAMPLES: Final = 2000
_TIE: Final = 1e-12
_ROUNDING: Final = 1e-6
_FEWEST: Final = 3


def statistic_of(measure: str, *, detection: Detection = Detection.AS_PUBLISHED) -> Statistic:
    """Return the weighted form of a measure: spearman, or one of ``aggregate.RATIOS``.

    Raises WrongUsage for another measure.
    """
    if measure == "spearman":
        return _spearman
    if measure not in RATIOS:
        raise WrongUsage(f"a measure is one of {', '.join(RATIOS)} or spearman, got {measure!r}")
    return lambda tasks, weights: _ratio(*ratio_terms(tasks, measure, detection=detection), weights)


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
    n_tasks, confidence = estimates.height, checked_confidence(confidence)
    point, low, high = math.nan, math.nan, math.nan
    if n_tasks > 1:
        weights = task_weights(n_tasks, resamples=resamples, seed=seed)
        point = float(statistic(estimates, np.ones((1, n_tasks)))[0])
        left_out = statistic(estimates, 1 - np.eye(n_tasks))
        low, high = bca_limits(point, statistic(estimates, weights), left_out, confidence=confidence)
    return Interval(
        estimate=point,
        low=low,
        high=high,
        confidence=confidence,
        method="bca",
        covers="tasks",
        statement=f"The value over all tasks of which these {n_tasks:,} are a sample, each task with its own programs "
        "and inputs.",
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


def _ratio(value: Floats, weight: Floats, weights: Floats) -> Floats:
    """Return sum (value x weight) / sum (weight) over tasks drawn as often as each row of ``weights`` says."""
    kept = ~np.isnan(value) & ~np.isnan(weight)
    b = np.where(kept, weight, 0.0)
    a, below = np.where(kept, value, 0.0) * b, weights @ b
    return quotients(weights @ a, below, below > 0)


def _spearman(tasks: pl.DataFrame, weights: Floats) -> Floats:
    pairs = tasks.select(pl.col("error", "incoherence").cast(pl.Float64)).to_numpy()
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


TRUST_SCHEMA: Final[dict[str, Any]] = {
    "n_tasks": pl.Int64,
    "n_coherent": pl.Int64,
    "n_erroneous": pl.Int64,
    "p_erroneous": pl.Float64,
    "p_erroneous_low": pl.Float64,
    "p_erroneous_high": pl.Float64,
}
"""Further columns of ``false_trust``."""


def false_trust(seen: pl.DataFrame, *, judged: pl.DataFrame | None = None, confidence: float = 0.95) -> pl.DataFrame:
    """Return, per coder and benchmark, P(erroneous | all programs load and agree) with its exact interval.

    ``seen``: estimates (one row a task) of the programs and inputs that were looked at; ``judged``: those that say
    which tasks are erroneous (E > 0), on more inputs for example; the same if left out. Columns: benchmark, model,
    temperature and TRUST_SCHEMA: tasks that have both measures, coherent ones (not ``detected``), erroneous ones among
    these; the share is null, from 0 to 1, without a coherent task. Clopper-Pearson, over tasks. Raises WrongUsage for
    another confidence.
    """
    alpha = (1 - checked_confidence(confidence)) / 2
    coder = ["benchmark", "model", "temperature"]
    keys = [*coder, "task_id"]
    truth = (seen if judged is None else judged).select(*keys, truth="error")
    both = seen.select(*keys, "detected").join(truth, on=keys)
    both = both.drop_nulls(["detected", "truth"])
    coherent = ~pl.col("detected")
    counts = both.group_by(coder).agg(
        n_tasks=pl.len().cast(pl.Int64),
        n_coherent=coherent.sum().cast(pl.Int64),
        n_erroneous=(coherent & (pl.col("truth") > 0)).sum().cast(pl.Int64),
    )
    rows = [
        row | dict(zip(list(TRUST_SCHEMA)[3:], _share(row["n_erroneous"], row["n_coherent"], alpha), strict=True))
        for row in counts.sort(coder).iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema={name: seen.schema[name] for name in coder} | TRUST_SCHEMA).fill_nan(None)


def _share(part: int, whole: int, alpha: float) -> tuple[float, float, float]:
    if whole == 0:
        return float("nan"), 0.0, 1.0
    return part / whole, *clopper_pearson(part, whole, alpha=alpha)
