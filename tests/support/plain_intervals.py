"""Intervals over inputs that no command uses: what those over programs, and Hoeffding's, are compared with."""

from dataclasses import replace
from typing import Literal

from scipy.special import betaincinv

from difftrust.task_intervals import beta_of_mean, chernoff, incoherence_interval_over_inputs
from difftrust_core.metrics.estimates import Floats, Interval, Limits

Method = Literal["calibrated", "chernoff", "hoeffding"]


def interval_over_inputs(disagreement_per_input: Floats, *, method: Method = "calibrated") -> Interval:
    """Return a 95 % interval for I of these programs from D_i: (n,) in [0, 1]."""
    found = incoherence_interval_over_inputs(disagreement_per_input)
    if method == "hoeffding":
        return found
    if method == "chernoff":
        limits = chernoff(found.estimate, len(disagreement_per_input), alpha=0.025)
    else:
        limits = calibrated(disagreement_per_input, alpha=0.025)
    return replace(found, low=limits[0], high=limits[1], method=method)


def calibrated(values: Floats, *, alpha: float) -> Limits:
    """Return limits that cover the mean nearly as often as they say; the quantiles of ``beta_of_mean``.

    Where all values are 0, or all 1, the one limit that says something is exact (Theorem 4.3) and takes 2 alpha.
    """
    n = len(values)
    if values.max() == 0:
        return 0.0, 1 - (2 * alpha) ** (1 / n)
    if values.min() == 1:
        return (2 * alpha) ** (1 / n), 1.0
    a, b = beta_of_mean(values)
    return float(betaincinv(a, b, alpha)), float(betaincinv(a, b, 1 - alpha))
