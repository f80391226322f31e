"""Aggregate the estimates of many tasks: means and rates.

``estimates`` is always a table with one row per (benchmark, model, temperature, task_id) and the columns of
``estimates.estimates_of``. A coder is a model at a temperature. Every measure is computed from the tasks where it is
defined; a measure that no task defines is null in a table and NaN as a number, never 0.

Equations are those of Valentin et al., "Incoherence as Oracle-less Measure of Error in LLM-Based Code
Generation" (AAAI 2026).
"""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from difftrust_core.base.records import Detection
from difftrust_core.exceptions import WrongUsage

RATIOS: Final = (
    *("mean_error", "mean_incoherence", "pass_at_1", "found", "erroneous"),
    *("detection_rate", "undetected_mean_error"),
)
"""The measures that are means of a value, each task with a weight."""

Floats = npt.NDArray[np.float64]


def ratio_terms(tasks: pl.DataFrame, measure: str, *, detection: Detection) -> tuple[Floats, Floats]:
    """Return what one of RATIOS is made of: each task's value and its weight, NaN where undefined.

    The measure is the sum of value x weight over the sum of the weights. Raises WrongUsage for another measure or
    detection.
    """
    is_sampled = _is_sampled(detection)

    def of(name: str) -> Floats:
        return tasks[name].cast(pl.Float64).to_numpy()

    def seen(sampled: str, exact: str) -> Floats:
        """Return how likely, or whether, a task shows an error or a disagreement."""
        return of(sampled) if is_sampled else np.where(np.isnan(of(exact)), np.nan, of(exact) > 0)

    found, erroneous = partial(seen, "p_detected", "detected"), partial(seen, "p_erroneous", "error")
    weighted: dict[str, Callable[[], tuple[Floats, Floats]]] = {
        "detection_rate": lambda: (found(), erroneous()),
        "undetected_mean_error": lambda: (of("error"), 1 - found()),
    }
    plain: dict[str, Callable[[], Floats]] = {
        "mean_error": lambda: of("error"),
        "mean_incoherence": lambda: of("incoherence"),
        "pass_at_1": lambda: 1 - of("functional_error"),
        "found": found,
        "erroneous": erroneous,
    }
    if measure in weighted:
        return weighted[measure]()
    if measure not in plain:
        raise WrongUsage(f"a measure is one of {', '.join(RATIOS)}, got {measure!r}")
    return plain[measure](), np.ones(tasks.height)


def ratio(tasks: pl.DataFrame, measure: str, *, detection: Detection = Detection.AS_PUBLISHED) -> float:
    """Return one of RATIOS over tasks; NaN where no task defines it. Raises as ``ratio_terms``."""
    value, weight = ratio_terms(tasks, measure, detection=detection)
    kept = ~np.isnan(value) & ~np.isnan(weight)
    value, weight = value[kept], weight[kept]
    if _is_sampled(detection) and measure in ("detection_rate", "undetected_mean_error"):
        total = float(weight.sum())
        return float(value @ weight) / total if total > 0 else float("nan")
    return mean_of(value[weight > 0])


def mean_error(estimates: pl.DataFrame) -> float:
    """Return the mean of E over tasks, Eq. 9; NaN without a task that has one."""
    return ratio(estimates, "mean_error")


def mean_incoherence(estimates: pl.DataFrame) -> float:
    """Return the mean of I over tasks, Eq. 8; NaN without a task that has one."""
    return ratio(estimates, "mean_incoherence")


def pass_at_1(estimates: pl.DataFrame) -> float:
    """Return pass@1 over n inputs: mean over tasks of the share of candidates right on all of them. Eq. 11."""
    return ratio(estimates, "pass_at_1")


def spearman(estimates: pl.DataFrame) -> float:
    """Return Spearman's rank correlation of error and incoherence over tasks, in [-1, 1].

    NaN with fewer than three tasks or where one of the two is the same for all tasks. Table 4.
    """
    return rank_correlation(estimates, "error", "incoherence")


def detection_rate(estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED) -> float:
    """Return the share of the erroneous tasks that incoherence detects, in [0, 1]; NaN if none is erroneous.

    as-published: sum_d p_erroneous p_detected / sum_d p_erroneous. all-pairs: over tasks with E > 0, the share
    that is ``detected``: I > 0, or a candidate does not load. Raises WrongUsage for another detection. §6.3.
    """
    return ratio(estimates, "detection_rate", detection=detection)


def undetected_mean_error(estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED) -> float:
    """Return the mean error of the tasks that go undetected, in [0, 1]; NaN if all are detected.

    as-published: sum_d E (1 - p_detected) / sum_d (1 - p_detected). all-pairs: mean of E over tasks not ``detected``.
    Raises WrongUsage for another detection. §6.3.
    """
    return ratio(estimates, "undetected_mean_error", detection=detection)


def _is_sampled(detection: str) -> bool:
    if detection not in tuple(Detection):
        raise WrongUsage(f"detection must be one of {', '.join(Detection)}, got {detection!r}")
    return detection == Detection.AS_PUBLISHED


def mean_of(values: Floats) -> float:
    """Return the mean; NaN of nothing."""
    return float(values.mean()) if len(values) else float("nan")


def rank_correlation(table: pl.DataFrame, a: str, b: str) -> float:
    """Return Spearman's rho of two columns, over the rows that have both; NaN of fewer than three or a constant."""
    pairs = table.select(pl.col(a, b).cast(pl.Float64).fill_nan(None)).drop_nulls()
    if pairs.height < 3 or min(pairs.n_unique(a), pairs.n_unique(b)) == 1:
        return float("nan")
    return float(pairs.select(pl.corr(a, b, method="spearman")).item())
