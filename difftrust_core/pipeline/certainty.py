"""What the inputs of a check allow to say about incoherence and error, in numbers and in words; and nothing else."""

import numpy as np

from difftrust_core.estimators import Counts, Floats, Labels
from difftrust_core.intervals import (
    at_most_after_no_disagreement,
    error_lower_bound_over_programs,
    incoherence_interval_over_inputs,
    incoherence_interval_over_programs,
    proportion_interval,
)
from difftrust_core.pipeline.check_records import Interval

LEVEL = 0.95
COVERS = "the choice of inputs, given these programs"


def input_interval(disagreement: Floats, m: int, *, level: float = LEVEL) -> Interval:
    """Return an interval for I, over the draw of inputs, given these m programs.

    ``disagreement``: (n,), D_i of each input. Without any disagreement: Theorem 4.3, I <= 1 - delta^(1/n). Else the
    better of two, each at half the risk: Hoeffding's (Theorem 4.2), and the exact binomial one for the share p of
    inputs with a disagreement, since 2/m <= D_i <= 1 on these, so that 2p/m <= I <= p.
    """
    n, delta = len(disagreement), 1 - level
    hits = int(np.count_nonzero(disagreement))
    if not hits:
        return Interval(low=0.0, high=at_most_after_no_disagreement(n, delta), level=level, covers=COVERS)
    mean = incoherence_interval_over_inputs(disagreement, confidence=1 - delta / 2, method="hoeffding")
    share = proportion_interval(hits, n, confidence=1 - delta / 2)
    low = max(mean.low, 2 / m * share.low)
    return Interval(low=low, high=min(mean.high, share.high), level=level, covers=COVERS)


def statement(disagreement: Floats, interval: Interval, subject: str) -> str:
    """Return what is certain, and what is certain at the interval's level."""
    n, hits = len(disagreement), int(np.count_nonzero(disagreement))
    if hits:
        return (
            f"A disagreement proves an error: on {hits} of {n} inputs at least one program is wrong. "
            f"The error of {subject} is E >= I/2 >= {interval.low / 2:.4f} "
            f"(at {interval.level:.0%}, over {interval.covers})."
        )
    return (
        f"No disagreement in {n} inputs: the incoherence of {subject} is at most {interval.high:.4f} "
        f"(at {interval.level:.0%}, over {interval.covers}; Theorem 4.3). "
        "It proves no program right: all may share one error."
    )


def of_the_coder(labels: Labels, counts: Counts, subject: str) -> str:
    """Return what these programs say of others by the same coder: another question, and a wider interval."""
    least = error_lower_bound_over_programs(labels, counts, confidence=LEVEL)
    between = incoherence_interval_over_programs(labels, counts, confidence=LEVEL)
    return (
        f"of further programs by whoever wrote {subject}: incoherence {between}, error at least {least.low:.4f} "
        f"(at {LEVEL:.0%}, over the choice of programs)"
    )
