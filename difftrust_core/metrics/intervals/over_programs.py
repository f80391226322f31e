"""Intervals over programs: what the LLM itself does, of which these m programs are a sample.

They hold for other programs and other inputs alike, so they are wider than those over inputs, mostly much wider.

Where all m programs behave alike, calibrated limits are at least the exact ones of a coder with two behaviours: the
other one has a share of at most w = 1 - delta^(1/m) (Theorem 4.3, programs instead of inputs), and I <= 2 w (1 - w).
"""

import math
from typing import Final, Literal

import numpy as np

from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimators import Counts, Labels, disagreement_per_input
from difftrust_core.metrics.intervals.bounds import Floats, Limits, beta_of_mean, chernoff
from difftrust_core.metrics.intervals.coder_model import sample_incoherence
from difftrust_core.metrics.intervals.interval import Interval, checked_confidence

Method = Literal["calibrated", "chernoff"]
METHODS: Final = ("calibrated", "chernoff")
"""Right on average over coders like the recorded ones (docs/calibration.md); guaranteed for every coder, and wide."""
DRAWS: Final = 10_000
"""Coders sampled; the ends of an interval move by about 1 % of its width with another seed."""


def incoherence_interval_over_programs(
    labels: Labels,
    counts: Counts,
    *,
    confidence: float = 0.95,
    method: Method = "calibrated",
    seed: int = 0,
    draws: int = DRAWS,
) -> Interval:
    """Return the interval for the LLM's own I (Eq. 8) from m of its programs on n inputs.

    calibrated: quantiles of I over the coders that could have written them. chernoff: the U-statistic is a mean of
    averages over min(floor(m/2), n) disjoint pairs, each on an input of its own. Raises TooFewCandidates if m < 2,
    Undefined if n = 0, WrongUsage for another confidence or method.
    """
    per_input, m = disagreement_per_input(labels, counts), int(counts.sum())
    alpha = (1 - checked_confidence(confidence)) / 2
    if method not in METHODS:
        raise WrongUsage(f"method is one of {', '.join(METHODS)}, got {method!r}")
    if method == "chernoff":
        low, high = _guaranteed_limits(per_input, m, alpha=alpha)
    else:
        rng = np.random.default_rng(seed)
        low, high = _calibrated_limits(*_behaviours(labels, counts), per_input, alpha=alpha, draws=draws, rng=rng)
    return Interval(
        estimate=float(per_input.mean()),
        low=low,
        high=high,
        confidence=confidence,
        method=method,
        covers="programs",
        statement=_statement("incoherence", m, len(per_input), "within the limits"),
    )


def error_lower_bound_over_programs(labels: Labels, counts: Counts, *, confidence: float = 0.95) -> Interval:
    """Return [low, 1] for the LLM's own E, whatever the right outcomes are: no reference is needed.

    I is bounded from below first, then E >= 1 - sqrt(1 - I), which is at least I/2 and holds for the LLM's own E and
    I but not for D of a fixed pool of programs. One-sided, guaranteed (chernoff). Raises as for incoherence.
    """
    per_input, m = disagreement_per_input(labels, counts), int(counts.sum())
    low, _ = _guaranteed_limits(per_input, m, alpha=1 - checked_confidence(confidence))
    return Interval(
        estimate=_least_error(float(per_input.mean())),
        low=_least_error(low),
        high=1.0,
        confidence=confidence,
        method="chernoff",
        covers="programs",
        statement=_statement("error", m, len(per_input), "at least the lower limit"),
    )


def _least_error(incoherence: float) -> float:
    """Return 1 - sqrt(1 - I). E I(x) <= E[1 - (1 - e)^2] <= 1 - (1 - E)^2, by Jensen."""
    return 1 - math.sqrt(1 - incoherence)


def _guaranteed_limits(per_input: Floats, m: int, *, alpha: float) -> Limits:
    return chernoff(float(per_input.mean()), min(m // 2, len(per_input)), alpha=alpha)


def _calibrated_limits(
    sizes: Floats, distances: Floats, per_input: Floats, *, alpha: float, draws: int, rng: np.random.Generator
) -> Limits:
    drawn = sample_incoherence(sizes, distances, draws=draws, rng=rng)
    low, high = _quantiles(drawn, per_input, alpha, rng)
    if len(sizes) == 1:
        other = min(0.5, 1 - (2 * alpha) ** (1 / int(sizes.sum())))
        return 0.0, max(high, 2 * other * (1 - other))
    return low, high


def _quantiles(drawn: Floats, per_input: Floats, alpha: float, rng: np.random.Generator) -> Limits:
    """Return the quantiles of ``drawn`` when the n inputs are a sample too: each scatters as a mean over n does."""
    concentration = float(sum(beta_of_mean(per_input)))
    scattered = rng.beta(drawn * concentration + 1e-9, (1 - drawn) * concentration + 1e-9)
    low, high = np.quantile(scattered, [alpha, 1 - alpha])
    return float(low), float(high)


def _behaviours(labels: Labels, counts: Counts) -> tuple[Floats, Floats]:
    """Return how many programs have each behaviour, the most frequent first, and how far any two of them are apart.

    Neither row order nor class names change the order.
    """
    k: dict[bytes, int] = {}
    first: dict[bytes, int] = {}
    for row, count in enumerate(counts.tolist()):
        if count:
            behaviour = labels[row].tobytes()
            k[behaviour] = k.get(behaviour, 0) + count
            first.setdefault(behaviour, row)
    rows, sizes = labels[list(first.values())], np.array(list(k.values()), dtype=np.float64)
    distances = np.array([(rows != row).mean(axis=1) for row in rows])
    order = np.lexsort((distances @ sizes, -sizes))
    return sizes[order], distances[np.ix_(order, order)]


def _statement(what: str, m: int, n: int, claim: str) -> str:
    return (
        f"The {what} of the LLM itself on this task, over all programs and inputs of which these {m:,} and {n:,} are a "
        f"sample, is {claim}."
    )
