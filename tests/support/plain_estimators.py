"""Every measure of one task from its whole matrix: what the counting of the core is compared with.

``labels``, ``counts`` and ``reference`` as in ``difftrust_core.metrics.estimators``.
"""

import numpy as np

from difftrust_core.metrics.estimators import (
    Counts,
    Floats,
    Ints,
    Labels,
    agreeing,
    checked,
    disagreeing_pairs,
    pairable,
)
from difftrust_core.metrics.tally import Estimates, Histograms, Tallies, any_of, detection_at, estimates_of


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


def estimate(labels: Labels, counts: Counts, reference: int | None, *, load_failures: int = 0) -> Estimates:
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
            load_failures=np.array([load_failures]),
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
