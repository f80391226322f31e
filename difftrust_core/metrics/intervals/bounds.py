"""Limits for the mean of independent values in [0, 1], from a sample of them.

``alpha`` is what a limit may miss: each end of a two-sided 95 % interval has alpha = 0.025.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import Undefined

Floats = npt.NDArray[np.float64]
Limits = tuple[float, float]
_LEAST, _MOST = 1e-300, 1 - 1e-16


def checked_values(values: npt.NDArray[Any]) -> Floats:
    """Return ``values`` as floats. Raises Undefined without any, ValueError unless all lie in [0, 1]."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not found.size:
        raise Undefined(f"an interval needs one disagreement for each of n >= 1 draws, got shape {found.shape}")
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"each disagreement lies in [0, 1], got {float(found.min())} to {float(found.max())}")
    return found


_HALVINGS = 60


def hoeffding(mean: float, n: int, *, alpha: float) -> Limits:
    """Return mean -+ sqrt(ln(1/alpha) / 2n), within [0, 1]. Guaranteed. Hoeffding 1963, theorem 1; Theorem 4.2."""
    half_width = math.sqrt(math.log(1 / alpha) / (2 * n))
    return max(0.0, mean - half_width), min(1.0, mean + half_width)


def chernoff(mean: float, n: int, *, alpha: float) -> Limits:
    """Return the means mu with n kl(mean, mu) <= ln(1/alpha): guaranteed, and far narrower near 0 and 1.

    kl(a, b) = a ln(a/b) + (1-a) ln((1-a)/(1-b)). A mean of 0 gives 1 - alpha^(1/n), as Theorem 4.3 does.
    Hoeffding 1963, equation 2.1.
    """
    budget = math.log(1 / alpha) / n

    def excess(mu: float) -> float:
        below = mean * math.log(mean / mu) if mean > 0 else 0.0
        above = (1 - mean) * math.log((1 - mean) / (1 - mu)) if mean < 1 else 0.0
        return below + above - budget

    return _crossing(excess, mean, _LEAST), _crossing(excess, mean, _MOST)


def _crossing(excess: Callable[[float], float], mean: float, end: float) -> float:
    """Return where ``excess``, negative at the mean, becomes 0 on the way to ``end``; else that end, 0 or 1."""
    if excess(end) <= 0:
        return float(round(end))
    inside, outside = (mean if 0 < mean < 1 else 1 - end), end
    for _ in range(_HALVINGS):  # scipy.optimize does it in fewer steps, but takes half a second to load
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if excess(middle) > 0 else (middle, outside)
    return inside


def clopper_pearson(successes: int, trials: int, *, alpha: float) -> Limits:
    """Return the exact limits of a probability after ``successes`` in ``trials``. Clopper & Pearson 1934."""
    from scipy.special import betaincinv

    low = float(betaincinv(successes, trials - successes + 1, alpha)) if successes else 0.0
    high = float(betaincinv(successes + 1, trials - successes, 1 - alpha)) if successes < trials else 1.0
    return low, high


def binomial_limits(successes: int, trials: int, *, alpha: float) -> Limits:
    """Return what ``clopper_pearson`` does to about nine digits, without SciPy, which takes long to load."""
    k = np.arange(trials + 1)
    factorials = np.array([math.lgamma(i + 1) for i in range(trials + 1)])
    choose = factorials[-1] - factorials - factorials[::-1]

    def excess(p: float, chosen: slice) -> float:
        likely = choose[chosen] + k[chosen] * math.log(p) + (trials - k[chosen]) * math.log1p(-p)
        return alpha - float(np.exp(likely).sum())

    mean = successes / trials
    low = _crossing(lambda p: excess(p, slice(successes, None)), mean, _LEAST)
    return low, _crossing(lambda p: excess(p, slice(successes + 1)), mean, _MOST)


def beta_of_mean(values: Floats) -> tuple[float, float]:
    """Return (a, b) of a beta distribution that says where the mean of what ``values`` were drawn from may lie.

    To the sample are added half an observation of 0 and half of its largest value (of 1 where all are equal); the
    mean and variance of the Bayesian bootstrap of that are the beta's. On zeros and ones it is Jeffreys' interval;
    on values with few distinct non-zero ones it keeps that interval's coverage (docs/calibration.md).
    """
    n = len(values)
    largest = float(values.max())
    largest = largest if values.min() < largest else 1.0
    mean = (float(values.sum()) + 0.5 * largest) / (n + 1)
    square = (float(values @ values) + 0.5 * largest**2) / (n + 1)
    concentration = mean * (1 - mean) * (n + 2) / (square - mean**2) - 1
    return mean * concentration, (1 - mean) * concentration
