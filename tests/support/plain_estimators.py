"""Every measure of one task from its whole matrix: what the counting of the core is compared with.

``labels``, ``counts`` and ``reference`` as in ``difftrust_core.metrics.estimators``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import TooFewCandidates, Undefined
from difftrust_core.metrics.estimators import (
    Counts,
    Floats,
    Ints,
    Labels,
    checked,
    disagreeing_pairs,
    pairable,
)
from difftrust_core.metrics.tally import Histograms, Tallies, any_of, estimates_of


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """All measures of one task and coder; NaN (``detected``: None) where a measure is undefined, never 0."""

    m: int
    """Candidates."""
    n: int
    """Inputs."""
    error: float
    """E, Eq. 9; NaN without a reference, like every error below."""
    incoherence: float
    """I over two distinct candidates, Eq. 8; NaN if m < 2, like every incoherence and detection below."""
    incoherence_v: float
    """I over two candidates drawn with replacement, Eq. 10."""
    p_detected: float
    """Probability that one random pair per input disagrees on some input."""
    p_erroneous: float
    """Probability that one random candidate per input differs from the reference on some input."""
    functional_incoherence: float
    """Probability that two distinct candidates differ in behaviour over the n inputs."""
    functional_error: float
    """Share of the candidates whose behaviour differs from the reference's."""
    n_classes: int
    """Functional classes among the m candidates."""
    detected: bool | None
    """Whether any two candidates disagree on any input."""


def agreeing(labels: Labels, reference: int | None) -> npt.NDArray[np.bool_]:
    """Return where each behaviour agrees with the reference's: (n_behaviours, n)."""
    if reference is None:
        raise Undefined("error needs the behaviour of a reference, got none; use incoherence, which needs none")
    if not 0 <= reference < len(labels):
        raise ValueError(f"reference must be a row of labels, 0..{len(labels) - 1}, got {reference}")
    same: npt.NDArray[np.bool_] = labels == labels[reference]
    return same


def pass_at_1_candidates(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return the share of candidates that agree with the reference on all n inputs; pass@1 is its mean over tasks.

    Eq. 11. Raises as ``error_per_input``.
    """
    m = checked(labels, counts)
    return int(counts[agreeing(labels, reference).all(axis=1)].sum()) / m


def error_per_input(labels: Labels, counts: Counts, reference: int | None) -> Floats:
    """Return e_i = 1 - k_ref/m: (n,) in [0, 1]. Eq. 9 before its mean over inputs.

    Raises Undefined without a reference or if n = 0, TooFewCandidates if m = 0.
    """
    m = checked(labels, counts)
    wrong: Ints = (counts.astype(np.float64) @ ~agreeing(labels, reference)).astype(np.int64)  # floats: exact, faster
    return wrong / m


def error(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return E, the mean of e_i, in [0, 1]. Eq. 9. Raises as ``error_per_input``."""
    m = checked(labels, counts)
    return _ratio(_wrong(labels, counts, reference), m)


def incoherence_v(labels: Labels, counts: Counts) -> float:
    """Return the mean of V_i = 1 - sum_c (k_c/m)^2, in [0, 1). Eq. 10. Raises as ``disagreement_per_input``."""
    m = pairable(labels, counts)
    return _ratio(disagreeing_pairs(labels, counts), m * m)


def p_detected(labels: Labels, counts: Counts) -> float:
    """Return 1 - prod_i (1 - D_i): detection as the published pipeline samples it, one random pair per input.

    Raises as ``disagreement_per_input``.
    """
    m = pairable(labels, counts)
    return float(any_of(_histogram(disagreeing_pairs(labels, counts)), np.array([m * (m - 1)]))[0])


def p_erroneous(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return 1 - prod_i (1 - e_i): an error seen as published, one random candidate per input.

    Raises as ``error_per_input``.
    """
    m = checked(labels, counts)
    return float(any_of(_histogram(_wrong(labels, counts, reference)), np.array([m]))[0])


def detected(labels: Labels, counts: Counts) -> bool:
    """Return whether any two candidates disagree on any input. Raises as ``disagreement_per_input``."""
    _ = pairable(labels, counts)
    return len(functional_classes(labels, counts)) > 1


def functional_classes(labels: Labels, counts: Counts) -> tuple[int, ...]:
    """Return K_1 >= K_2 >= ...: how many candidates share each behaviour over the n inputs; they sum to m.

    App. D. Raises TooFewCandidates if m = 0, Undefined if n = 0.
    """
    _ = checked(labels, counts)
    sizes: dict[bytes, int] = {}
    for row, count in zip(labels, counts.tolist(), strict=True):
        if count:
            behaviour = row.tobytes()
            sizes[behaviour] = sizes.get(behaviour, 0) + count
    return tuple(sorted(sizes.values(), reverse=True))


def functional_incoherence(labels: Labels, counts: Counts) -> float:
    """Return 1 - sum_c K_c(K_c - 1) / (m(m - 1)), in [0, 1]. App. D. Raises as ``disagreement_per_input``."""
    _ = pairable(labels, counts)
    return detection_at(functional_classes(labels, counts), 2)


def functional_error(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return the share of candidates that differ from the reference on some input. App. D.

    Raises as ``error_per_input``.
    """
    m = checked(labels, counts)
    return (m - _right(labels, counts, reference)) / m


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


def estimate(labels: Labels, counts: Counts, reference: int | None) -> Estimates:
    """Return all measures of one task and coder at once; what m or a missing reference leaves undefined is NaN.

    Raises TooFewCandidates if m = 0, Undefined if n = 0, BrokenInvariant if I <= 2E does not hold exactly.
    """
    m, n = checked(labels, counts), labels.shape[1]
    sizes = np.array(functional_classes(labels, counts))
    unknown = np.zeros(0, dtype=np.int64)
    right = 0 if reference is None else _right(labels, counts, reference)
    found = estimates_of(
        Tallies(
            m=np.array([m]),
            n=np.array([n]),
            n_classes=np.array([len(sizes)]),
            alike=np.array([(sizes * (sizes - 1)).sum()]),
            disagreeing=_histogram(disagreeing_pairs(labels, counts)),
            has_reference=np.array([reference is not None]),
            wrong=_histogram(unknown if reference is None else _wrong(labels, counts, reference)),
            right=np.array([right]),
        )
    )
    return Estimates(**{name: np.asarray(values).tolist()[0] for name, values in found.items()})


def _wrong(labels: Labels, counts: Counts, reference: int | None) -> Ints:
    """Return m - k_ref: (n,), the candidates that differ from the reference on each input."""
    wrong = counts.astype(np.float64) @ ~agreeing(labels, reference)  # floats: exact here, and faster
    return wrong.astype(np.int64)


def _right(labels: Labels, counts: Counts, reference: int | None) -> int:
    """Return how many candidates agree with the reference on every input."""
    return int(counts[agreeing(labels, reference).all(axis=1)].sum())


def _ratio(numerators: Ints, denominator: int) -> float:
    """Return the mean over inputs of numerators / denominator, rounded once."""
    return int(numerators.sum()) / (denominator * len(numerators))


def _histogram(numerators: Ints) -> Histograms:
    values, inputs = np.unique(numerators[numerators > 0], return_counts=True)
    return Histograms(task=np.zeros(len(values), dtype=np.int64), value=values, inputs=inputs)
