"""Every measure of one task from its whole matrix: what the counting of the core is compared with.

``labels``, ``counts`` and ``reference`` as in ``difftrust_core.metrics.estimates``.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from difftrust_core.metrics.estimates import (
    Counts,
    Histograms,
    Ints,
    Labels,
    Tallies,
    disagreeing_pairs,
    estimates_of,
    number_of_candidates,
)


def functional_classes(labels: Labels, counts: Counts) -> tuple[int, ...]:
    """Return K_1 >= K_2 >= ...: how many candidates share each behaviour over the n inputs; they sum to m.

    App. D. Raises TooFewCandidates if m = 0, Undefined if n = 0.
    """
    _ = number_of_candidates(labels, counts)
    sizes: dict[bytes, int] = {}
    for row, count in zip(labels, counts.tolist(), strict=True):
        if count:
            behaviour = row.tobytes()
            sizes[behaviour] = sizes.get(behaviour, 0) + count
    return tuple(sorted(sizes.values(), reverse=True))


def detection_at(sizes: Sequence[int], m_prime: int) -> float:
    """Return 1 - sum_c C(K_c, m') / C(m, m'): the share of the subsets of m' candidates that hold a disagreement.

    ``sizes``: the functional classes K_c, m = sum of K_c. Exact: no resampling, integers up to one division.
    """
    subsets = math.comb(sum(sizes), m_prime)
    return (subsets - sum(math.comb(size, m_prime) for size in sizes)) / subsets


def estimate(labels: Labels, counts: Counts, reference: int | None, *, load_failures: int = 0) -> dict[str, Any]:
    """Return all measures of one task and coder by name; what m or a missing reference leaves undefined is NaN.

    Raises TooFewCandidates if m = 0, Undefined if n = 0, BrokenInvariant if I <= 2E does not hold exactly.
    """
    m, n = number_of_candidates(labels, counts), labels.shape[1]
    sizes = np.array(functional_classes(labels, counts))
    unknown = np.zeros(0, dtype=np.int64)
    agrees = labels == labels[reference or 0]  # where each behaviour does with the reference's: (n_behaviours, n)
    found = estimates_of(
        Tallies(
            m=np.array([m]),
            n=np.array([n]),
            n_classes=np.array([len(sizes)]),
            alike=np.array([(sizes * (sizes - 1)).sum()]),
            load_failures=np.array([load_failures]),
            disagreeing=_histogram(disagreeing_pairs(labels, counts)),
            has_reference=np.array([reference is not None]),
            wrong=_histogram(unknown if reference is None else counts @ ~agrees),
            right=np.array([0 if reference is None else counts[agrees.all(axis=1)].sum()]),
        )
    )
    return {name: np.asarray(values).tolist()[0] for name, values in found.items()}


def _histogram(numerators: Ints) -> Histograms:
    values, inputs = np.unique(numerators[numerators > 0], return_counts=True)
    return Histograms(task=np.zeros(len(values), dtype=np.int64), value=values, inputs=inputs)
