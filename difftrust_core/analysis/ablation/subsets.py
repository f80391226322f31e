"""Exact expectations over every choice of m' recorded candidates, without resampling."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from difftrust_core.analysis.ablation.counting import Class


@dataclass(frozen=True, kw_only=True)
class OverSubsets:
    """Expectations over all choices of the given numbers of candidates, each equally likely; NaN where undefined."""

    p_detected: float
    """Probability that the chosen candidates disagree on some input, or one does not load. App. D."""
    p_erroneous: float
    """Probability that one of them differs from the reference on some input."""
    undetected_error: float
    """Mean of E where nothing is detected, and 0 elsewhere: divide sums of it by sums of 1 - p_detected."""


UNDEFINED = OverSubsets(p_detected=math.nan, p_erroneous=math.nan, undetected_error=math.nan)


def over_subsets(classes: Sequence[Class], shares: Sequence[int], *, n: int) -> OverSubsets:
    """Return the expectations over all choices of ``shares[i]`` candidates of coder i, on n inputs.

    1 - sum_c prod_i C(K_ci, m_i) / prod_i C(M_i, m_i) over the classes c that load, in whole numbers up to one
    division; for one coder whose programs all load this is ``tally.detection_at``. NaN for fewer than two candidates in
    all, or more than a coder has; errors are NaN without a reference.
    """
    if not classes:
        return UNDEFINED
    pools = [sum(sizes) for sizes in zip(*(c.sizes for c in classes), strict=True)]
    choices = _choices(pools, shares)
    if not choices or sum(shares) < 2:
        return UNDEFINED
    alike = [_choices(c.sizes, shares) for c in classes]
    known = all(c.wrong >= 0 for c in classes)
    right = sum(ways for c, ways in zip(classes, alike, strict=True) if c.wrong == 0)
    quiet = [ways * c.loads for c, ways in zip(classes, alike, strict=True)]
    wrong = sum(ways * c.wrong for c, ways in zip(classes, quiet, strict=True))
    return OverSubsets(
        p_detected=(choices - sum(quiet)) / choices,
        p_erroneous=(choices - right) / choices if known else math.nan,
        undetected_error=wrong / (choices * n) if known else math.nan,
    )


def _choices(sizes: Sequence[int], shares: Sequence[int]) -> int:
    return math.prod(math.comb(size, share) for size, share in zip(sizes, shares, strict=True))
