"""What the clusters of equal behaviour say without a reference, and pass@k; and nothing else."""

import math
from collections.abc import Sequence
from math import comb

from difftrust_core.exceptions import WrongUsage


def cluster_entropy(sizes: Sequence[int]) -> float:
    """Return the entropy of the behaviour of a random candidate, in bits: 0 where all agree, at most log2 m.

    ``sizes``: candidates of each behaviour. NaN without a candidate.
    """
    m = sum(sizes)
    return math.fsum(-k / m * math.log2(k / m) for k in sizes if k) + 0.0 if m else math.nan


def largest_share(sizes: Sequence[int]) -> float:
    """Return the share of candidates in the largest cluster, in (0, 1]; NaN without a candidate."""
    return max(sizes) / sum(sizes) if sum(sizes) else math.nan


def pass_at_k(m: int, right: int, k: int) -> float:
    """Return pass@k: how likely one of k of the m candidates, drawn without replacement, is right; unbiased.

    1 - C(m - right, k) / C(m, k), Chen et al. 2021. NaN if fewer than k candidates were drawn. Raises WrongUsage if
    k < 1 or ``right`` is no number of m candidates.
    """
    if k < 1 or not 0 <= right <= m:
        raise WrongUsage(f"pass@k needs k >= 1 and 0 <= right <= m, got k = {k}, {right} right of m = {m}")
    return 1 - comb(m - right, k) / comb(m, k) if m >= k else math.nan
