"""What a check says about incoherence and error, in numbers and in words."""

import numpy as np

from difftrust.check.report import Interval
from difftrust.task_intervals import (
    at_most_after_no_disagreement,
    error_lower_bound_over_programs,
    incoherence_interval_over_inputs,
    incoherence_interval_over_programs,
    proportion_interval,
)
from difftrust_core.metrics.estimates import Counts, Floats, Labels

LEVEL = 0.95
COVERS = "the choice of inputs, given these programs"


def input_interval(disagreement: Floats, m: int) -> Interval:
    """Return an interval for I, over the draw of inputs, given these m programs.

    ``disagreement``: (n,), D_i of each input. Without any disagreement: Theorem 4.3, I <= 1 - delta^(1/n). Else the
    better of two, each at half the risk: Hoeffding's (Theorem 4.2), and the exact binomial one for the share p of
    inputs with a disagreement, since 2/m <= D_i <= 1 on these, so that 2p/m <= I <= p.
    """
    n, delta = len(disagreement), 1 - LEVEL
    hits = int(np.count_nonzero(disagreement))
    if not hits:
        return Interval(low=0.0, high=at_most_after_no_disagreement(n, delta), level=LEVEL, covers=COVERS)
    mean = incoherence_interval_over_inputs(disagreement, confidence=1 - delta / 2)
    share = proportion_interval(hits, n, confidence=1 - delta / 2)
    low = max(mean.low, 2 / m * share.low)
    return Interval(low=low, high=min(mean.high, share.high), level=LEVEL, covers=COVERS)


def exact_interval(incoherence: float) -> Interval:
    """Return what is known of I where all inputs were run: itself."""
    return Interval(low=incoherence, high=incoherence, level=LEVEL, covers="all inputs that are allowed")


def statement(disagreement: Floats, interval: Interval, subject: str) -> str:
    """Return what is certain, and what is certain at the interval's level."""
    n, hits = len(disagreement), int(np.count_nonzero(disagreement))
    if not hits and interval.high == 0:
        return (
            f"No disagreement on any of the {n} inputs that the types and the domain allow. "
            "This does not show that the programs are right: all may make the same mistake."
        )
    if hits:
        return (
            f"The programs disagree on {hits} of {n} inputs: on each of these that has one answer, a program is wrong. "
            f"{at_least(interval)} of the results of {subject} are wrong if all of them have one "
            f"({interval.level:.0%} confidence, over {interval.covers}; E >= I/2)."
        )
    return (
        f"No disagreement in {n} inputs: the incoherence of {subject} is at most {interval.high:.4f} "
        f"({interval.level:.0%} confidence, over {interval.covers}). "
        "This does not show that the programs are right: all may make the same mistake."
    )


def at_least(interval: Interval) -> str:
    """Return the least share of wrong results, half the incoherence, as ``At least 14.8 %``."""
    return f"At least {50 * interval.low:.3g} %"


def witness_statement(n_differing: int, n_witnesses: int) -> str:
    """Return what a disagreement that only witnesses show is worth."""
    return (
        f"The programs disagree on {n_differing} of {n_witnesses} witnesses, inputs given or sought: if the function "
        "allows these, at least one program is wrong. They are not drawn at random, so the incoherence does not count "
        "them."
    )


def of_the_coder(labels: Labels, counts: Counts, source: str) -> str:
    """Return what these programs say of new ones from the same ``source``: another question, and a wider interval."""
    least = error_lower_bound_over_programs(labels, counts, confidence=LEVEL)
    between = incoherence_interval_over_programs(labels, counts, confidence=LEVEL)
    return (
        f"new programs {source}: incoherence {between}, error at least {least.low:.4f} "
        f"({LEVEL:.0%} confidence, over the choice of programs)"
    )
