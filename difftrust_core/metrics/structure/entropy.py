"""Compare distributions of symbols, all pairs at once.

Song et al., "Measuring LLM Code Generation Stability via Structural Entropy". P and Q are the relative frequencies of
the symbols of two programs. Matrices are (program, program): row P, column Q.
"""

import math
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from difftrust_core.exceptions import WrongUsage

Floats = NDArray[np.float64]
Variant = Literal["paper", "gibbs"]
VARIANTS: Final = ("paper", "gibbs")
_CELLS = 1 << 22
"""Cells of an array of all pairs made at a time."""


def frequencies(counts: NDArray[np.int64]) -> Floats:
    """Return the relative frequencies of counts (program, symbol). Raises WrongUsage if a program has no symbol."""
    totals = counts.sum(axis=1, keepdims=True)
    if not totals.all():
        raise WrongUsage("a distribution needs a symbol, got a program without any; leave it out")
    shares: Floats = counts / totals
    return shares


def jsd_distance(shares: Floats, *, base: str = "2") -> Floats:
    """Return the Jensen-Shannon divergence of every pair: symmetric, 0 where and only where P = Q.

    At most 1 in base 2, at most ln 2 in base e.
    """
    from scipy.special import rel_entr

    n, n_symbols = shares.shape
    distance = np.zeros((n, n))
    first, second = np.triu_indices(n, 1)
    step = max(1, _CELLS // max(1, n_symbols))
    for at in range(0, len(first), step):
        i, j = first[at : at + step], second[at : at + step]
        p, q = shares[i], shares[j]
        middle = (p + q) / 2
        distance[i, j] = distance[j, i] = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / 2
    limit = math.log(2)
    distance = np.clip(distance, 0, limit)  # rounding only
    return distance / limit if base == "2" else distance


def cross_entropy_similarity(shares: Floats, *, epsilon: float, variant: Variant) -> Floats:
    """Return the structural cross-entropy of every ordered pair; 1 where P = Q.

    ``paper``: H(Q) / H(P, Q), as published: >= 0, and above 1 for some pairs, so it is no similarity.
    ``gibbs``: H(P) / H(P, Q), in [0, 1], and 1 only where P = Q, as long as epsilon is below 1 / (3 symbols of P).
    H(P, Q) = -sum P log Q, with epsilon for Q where Q is 0. The base of the logarithm cancels.
    Raises WrongUsage for another variant.
    """
    from scipy.special import xlogy

    if variant not in VARIANTS:
        raise WrongUsage(f"the variant is one of {', '.join(VARIANTS)}, got {variant!r}")
    entropy = -xlogy(shares, shares).sum(axis=1)
    cross = -shares @ np.log(np.where(shares > 0, shares, epsilon)).T
    above = entropy[np.newaxis, :] if variant == "paper" else entropy[:, np.newaxis]
    numbers: dict[bytes, int] = {}
    which = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in shares])
    equal = which[:, np.newaxis] == which
    similarity: Floats = np.divide(np.broadcast_to(above, cross.shape), cross, out=np.ones_like(cross), where=~equal)
    if variant == "gibbs":
        rounded = (similarity > 1) & (similarity < 1 + 1e-12)
        similarity[rounded] = 1.0
    return similarity
