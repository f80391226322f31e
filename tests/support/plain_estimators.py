"""Every measure of one task from its whole matrix: what the counting of the core is compared with.

``labels``, ``counts`` and ``reference`` as in ``difftrust_core.metrics.estimates``.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import TooFewCandidates, Undefined
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


def agreeing(labels: Labels, reference: int | None) -> npt.NDArray[np.bool_]:
    """Return where each behaviour agrees with the reference's: (n_behaviours, n)."""
    if reference is None:
        raise Undefined("error needs the behaviour of a reference, got none; use incoherence, which needs none")
    if not 0 <= reference < len(labels):
        raise ValueError(f"reference must be a row of labels, 0..{len(labels) - 1}, got {reference}")
    same: npt.NDArray[np.bool_] = labels == labels[reference]
    return same


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
    Raises TooFewCandidates unless 2 <= m' <= m.
    """
    m = sum(sizes)
    if not 2 <= m_prime <= m:
        raise TooFewCandidates(f"detection needs 2 <= m' <= m candidates, got m' = {m_prime}, m = {m}")
    subsets = math.comb(m, m_prime)
    return (subsets - sum(math.comb(size, m_prime) for size in sizes)) / subsets


def estimate(labels: Labels, counts: Counts, reference: int | None, *, load_failures: int = 0) -> dict[str, Any]:
    """Return all measures of one task and coder by name; what m or a missing reference leaves undefined is NaN.

    Raises TooFewCandidates if m = 0, Undefined if n = 0, BrokenInvariant if I <= 2E does not hold exactly.
    """
    m, n = number_of_candidates(labels, counts), labels.shape[1]
    sizes = np.array(functional_classes(labels, counts))
    unknown = np.zeros(0, dtype=np.int64)
    right = 0 if reference is None else _right(labels, counts, reference)
    found = estimates_of(
        Tallies(
            m=np.array([m]),
            n=np.array([n]),
            n_classes=np.array([len(sizes)]),
            alike=np.array([(sizes * (sizes - 1)).sum()]),
            load_failures=np.array([load_failures]),
            disagreeing=_histogram(disagreeing_pairs(labels, counts)),
            has_reference=np.array([reference is not None]),
            wrong=_histogram(unknown if reference is None else _wrong(labels, counts, reference)),
            right=np.array([right]),
        )
    )
    return {name: np.asarray(values).tolist()[0] for name, values in found.items()}


def _wrong(labels: Labels, counts: Counts, reference: int | None) -> Ints:
    """Return m - k_ref: (n,), the candidates that differ from the reference on each input."""
    wrong = counts.astype(np.float64) @ ~agreeing(labels, reference)  # floats: exact here, and faster
    return wrong.astype(np.int64)


def _right(labels: Labels, counts: Counts, reference: int | None) -> int:
    """Return how many candidates agree with the reference on every input."""
    return int(counts[agreeing(labels, reference).all(axis=1)].sum())


def _histogram(numerators: Ints) -> Histograms:
    values, inputs = np.unique(numerators[numerators > 0], return_counts=True)
    return Histograms(task=np.zeros(len(values), dtype=np.int64), value=values, inputs=inputs)
