"""Every choice of m' of the recorded candidates at once: exact expectations, no resampling."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from difftrust_core.ablation.counting import Class


@dataclass(frozen=True, kw_only=True)
class OverSubsets:
    """Expectations over all choices of the given numbers of candidates, each equally likely; NaN where undefined."""

    p_detected: float
    """Probability that the chosen candidates disagree on some input. App. D."""
    p_erroneous: float
    """Probability that one of them differs from the reference on some input."""
    undetected_error: float
    """Mean of E where the choice disagrees nowhere, and 0 elsewhere: divide sums of it by sums of 1 - p_detected."""


UNDEFINED = OverSubsets(p_detected=math.nan, p_erroneous=math.nan, undetected_error=math.nan)


def over_subsets(classes: Sequence[Class], shares: Sequence[int], *, n: int) -> OverSubsets:
    """Return the expectations over all choices of ``shares[i]`` candidates of coder i, on n inputs.

    1 - sum_c prod_i C(K_ci, m_i) / prod_i C(M_i, m_i), in whole numbers up to one division; for one coder this is
    ``estimators.detection_at``. NaN for fewer than two candidates in all, or more than a coder has; errors are NaN
    without a reference.
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
    wrong = sum(ways * c.wrong for c, ways in zip(classes, alike, strict=True))
    return OverSubsets(
        p_detected=(choices - sum(alike)) / choices,
        p_erroneous=(choices - right) / choices if known else math.nan,
        undetected_error=wrong / (choices * n) if known else math.nan,
    )


def over_models(classes: Sequence[Class], *, n_models: int, each: int, n: int) -> OverSubsets:
    """Return the expectations over all choices of ``n_models`` of the coders, and of ``each`` candidates of each.

    Every choice of coders is equally likely, and so is every choice of their candidates. Exact: the sum over choices of
    coders is an elementary symmetric polynomial in C(K_ci, each) / C(M_i, each). NaN as in ``over_subsets``.
    """
    pools = [sum(sizes) for sizes in zip(*(c.sizes for c in classes), strict=True)]
    if not 1 <= n_models <= len(pools) or min(pools) < each or n_models * each < 2:
        return UNDEFINED
    total = math.comb(len(pools), n_models)
    alike = [
        _elementary(
            [Fraction(math.comb(k, each), math.comb(m, each)) for k, m in zip(c.sizes, pools, strict=True)], n_models
        )
        / total
        for c in classes
    ]
    known = all(c.wrong >= 0 for c in classes)
    right = sum(p for c, p in zip(classes, alike, strict=True) if c.wrong == 0)
    wrong = sum(p * c.wrong for c, p in zip(classes, alike, strict=True))
    return OverSubsets(
        p_detected=float(1 - sum(alike)),
        p_erroneous=float(1 - right) if known else math.nan,
        undetected_error=float(wrong / n) if known else math.nan,
    )


def _elementary(terms: Sequence[Fraction], degree: int) -> Fraction:
    """Return the sum over all choices of ``degree`` terms of their product."""
    sums = [Fraction(1)] + [Fraction(0)] * degree
    for term in terms:
        if term:
            sums = [sums[0]] + [sums[d] + term * sums[d - 1] for d in range(1, degree + 1)]
    return sums[degree]


def _choices(sizes: Sequence[int], shares: Sequence[int]) -> int:
    return math.prod(math.comb(size, share) for size, share in zip(sizes, shares, strict=True))
