"""Exact expectations over every choice of models, in fractions: mixtures are tested against them."""

import math
from collections.abc import Sequence
from fractions import Fraction

from difftrust_core.analysis.ablation.counting import Class
from difftrust_core.analysis.ablation.subsets import UNDEFINED, OverSubsets


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
    alike = [p * c.loads for c, p in zip(classes, alike, strict=True)]
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
