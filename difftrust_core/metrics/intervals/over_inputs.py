"""Intervals over inputs: what these m programs would show on all the inputs that could have been drawn.

They say nothing about the LLM that wrote the programs; ``programs`` does.
"""

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.intervals.bounds import binomial_limits, checked_values, hoeffding
from difftrust_core.metrics.intervals.interval import Interval, checked_confidence


def incoherence_interval_over_inputs(
    disagreement_per_input: npt.NDArray[Any], *, confidence: float = 0.95, method: Literal["hoeffding"] = "hoeffding"
) -> Interval:
    """Return the guaranteed interval for I of these programs from D_i: (n,) in [0, 1], as ``estimators`` has it.

    Raises WrongUsage for another confidence, Undefined if n = 0, ValueError outside [0, 1]. Theorem 4.2 of
    Valentin et al.
    """
    values = checked_values(disagreement_per_input)
    estimate, n = float(values.mean()), len(values)
    low, high = hoeffding(estimate, n, alpha=(1 - checked_confidence(confidence)) / 2)
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        confidence=confidence,
        method=method,
        covers="inputs",
        statement=(
            f"The incoherence of exactly these programs, over all inputs that could have been drawn as these {n:,} "
            "were, is within the limits; nothing is said about other programs of the same LLM."
        ),
    )


def proportion_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Return the exact (Clopper-Pearson) interval of a probability from yes-or-no answers on independent inputs.

    Raises WrongUsage unless 0 <= successes <= trials and trials >= 1.
    """
    if not 0 <= successes <= trials or trials < 1:
        raise WrongUsage(f"a proportion needs 0 <= successes <= trials and trials >= 1, got {successes} of {trials}")
    low, high = binomial_limits(successes, trials, alpha=(1 - checked_confidence(confidence)) / 2)
    return Interval(
        estimate=successes / trials,
        low=low,
        high=high,
        confidence=confidence,
        method="exact",
        covers="inputs",
        statement=f"the probability of which {successes} of {trials} independent draws are a sample",
    )


def at_most_after_no_disagreement(n: int, delta: float) -> float:
    """Return 1 - delta^(1/n): what I is at most, with probability 1 - delta, after n inputs without a disagreement.

    Raises WrongUsage unless n >= 1 and 0 < delta < 1. Theorem 4.3.
    """
    _check_open("delta", delta)
    if n < 1:
        raise WrongUsage(f"a bound needs n >= 1 inputs, got {n}")
    return float(-np.expm1(math.log(delta) / n))


def inputs_for(epsilon: float, delta: float) -> int:
    """Return how many inputs put E and I within epsilon of their true values, each with probability 1 - delta.

    n = ceil(ln(2/delta) / (2 epsilon^2)). Raises WrongUsage unless both lie between 0 and 1. Theorem 4.2.
    """
    _check_open("epsilon", epsilon)
    _check_open("delta", delta)
    return math.ceil(math.log(2 / delta) / (2 * epsilon**2))


def inputs_for_no_disagreement(epsilon: float, delta: float) -> int:
    """Return how many inputs without a disagreement show that I <= epsilon, with probability 1 - delta.

    n = ceil(ln(delta) / ln(1 - epsilon)). Raises as ``inputs_for``. Theorem 4.3.
    """
    _check_open("epsilon", epsilon)
    _check_open("delta", delta)
    return math.ceil(math.log(delta) / math.log1p(-epsilon))


def _check_open(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise WrongUsage(f"{name} lies between 0 and 1, got {value}")
