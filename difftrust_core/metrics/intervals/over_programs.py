"""Intervals over programs: what the LLM itself does, of which these m programs are a sample.

They hold for other programs and other inputs alike, so they are wider than those over inputs, mostly much wider.

A behaviour with a share of w stays unseen with probability (1 - w)^m, however wrong it is. So the upper calibrated
limit is at least that of the programs at hand and one more behaviour, unlike them on every input, whose share is the
largest that stays unseen so often: (1 - w)^2 I + 2 w (1 - w), w = 1 - delta^(1/m) (Theorem 4.3, programs instead of
inputs). Where all m programs behave alike, delta is the interval's risk, else twice that.
"""

import math
from dataclasses import dataclass
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
UNSEEN: Final = 2.0
"""How likely a behaviour may be to stay unseen and still be reckoned with, in risks of the interval: 10 % at 95 %."""
DRAWS: Final = 10_000
"""Coders sampled; the ends of an interval move by about 1 % of its width with another seed."""


@dataclass(frozen=True, kw_only=True)
class _Sample:
    """The m programs, each behaviour once, in an order that neither row order nor class names change."""

    labels: Labels
    counts: Floats
    distances: Floats

    @property
    def m(self) -> int:
        return int(self.counts.sum())


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
    per_input = disagreement_per_input(labels, counts)
    alpha = (1 - checked_confidence(confidence)) / 2
    low, high = _incoherence_limits(labels, counts, per_input, alpha=alpha, method=method, seed=seed, draws=draws)
    return _interval(per_input, (low, high), "incoherence", confidence=confidence, method=method, m=int(counts.sum()))


def error_lower_bound_over_programs(
    labels: Labels,
    counts: Counts,
    *,
    confidence: float = 0.95,
    method: Method = "chernoff",
    seed: int = 0,
    draws: int = DRAWS,
) -> Interval:
    """Return [low, 1] for the LLM's own E, whatever the right outcomes are: no reference is needed.

    I is bounded from below first, then E >= 1 - sqrt(1 - I), which is at least I/2 and holds for the LLM's own E and
    I but not for D of a fixed pool of programs. One-sided; certified with ``chernoff``. Raises as for incoherence.
    """
    per_input = disagreement_per_input(labels, counts)
    alpha = 1 - checked_confidence(confidence)
    low, _ = _incoherence_limits(labels, counts, per_input, alpha=alpha, method=method, seed=seed, draws=draws)
    return Interval(
        estimate=_least_error(float(per_input.mean())),
        low=_least_error(low),
        high=1.0,
        confidence=confidence,
        method=method,
        covers="programs",
        statement=_statement("error", int(counts.sum()), len(per_input), "at least the lower limit"),
    )


def _least_error(incoherence: float) -> float:
    """Return 1 - sqrt(1 - I). E I(x) <= E[1 - (1 - e)^2] <= 1 - (1 - E)^2, by Jensen."""
    return 1 - math.sqrt(1 - incoherence)


def _incoherence_limits(
    labels: Labels,
    counts: Counts,
    per_input: Floats,
    *,
    alpha: float,
    method: Method,
    seed: int,
    draws: int,
) -> Limits:
    if _checked_method(method) == "chernoff":
        return chernoff(float(per_input.mean()), min(int(counts.sum()) // 2, len(per_input)), alpha=alpha)
    sample, rng = _sample_of(labels, counts), np.random.default_rng(seed)
    drawn = sample_incoherence(sample.counts, sample.distances, draws=draws, rng=rng)
    low, high = _quantiles(drawn, per_input, alpha, rng)
    agree = len(sample.counts) == 1
    risk = min(1.0, 2 * alpha * (1 if agree else UNSEEN))
    other = min(0.5, 1 - risk ** (1 / sample.m))
    seen = float(per_input.mean())
    return 0.0 if agree else low, max(high, (1 - other) ** 2 * seen + 2 * other * (1 - other))


def _quantiles(drawn: Floats, per_input: Floats, alpha: float, rng: np.random.Generator) -> Limits:
    """Return the quantiles of ``drawn`` when the n inputs are a sample too: each scatters as a mean over n does."""
    concentration = float(sum(beta_of_mean(per_input)))
    scattered = rng.beta(drawn * concentration + 1e-9, (1 - drawn) * concentration + 1e-9)
    low, high = np.quantile(scattered, [alpha, 1 - alpha])
    return float(low), float(high)


def _sample_of(labels: Labels, counts: Counts) -> _Sample:
    """Return each behaviour of the candidates once, the most frequent first."""
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
    return _Sample(labels=rows[order], counts=sizes[order], distances=distances[np.ix_(order, order)])


def _interval(per_input: Floats, limits: Limits, what: str, *, confidence: float, method: Method, m: int) -> Interval:
    return Interval(
        estimate=float(per_input.mean()),
        low=limits[0],
        high=limits[1],
        confidence=confidence,
        method=method,
        covers="programs",
        statement=_statement(what, m, len(per_input), "within the limits"),
    )


def _statement(what: str, m: int, n: int, claim: str) -> str:
    return (
        f"The {what} of the LLM itself on this task, over all programs and inputs of which these {m:,} and {n:,} are a "
        f"sample, is {claim}."
    )


def _checked_method(method: str) -> str:
    if method not in METHODS:
        raise WrongUsage(f"method is one of {', '.join(METHODS)}, got {method!r}")
    return method
