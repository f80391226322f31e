"""One task: from its matrix of outcome classes to what its measures are made of, input by input, and nothing else.

Throughout, ``labels`` is a (n_behaviours, n) integer array: equal labels on an input (a column) mean equal
outcomes on it. ``counts`` is (n_behaviours,): how many of the m candidates have that behaviour; zeros are
allowed, so one matrix serves every coder. ``reference`` is the row of the reference's behaviour, None where
there is no reference. The first n inputs are ``labels[:, :n]``. k_c is the number of candidates in class c on
an input, k_ref the number that agree with the reference.

Equations are those of Valentin et al., "Incoherence as Oracle-less Measure of Error in LLM-Based Code
Generation" (AAAI 2026). Every estimate speaks of these m programs and n inputs; none holds an interval.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from difftrust_core.estimators.tally import Estimates, Histograms, Tallies, any_of, detection_at, estimates_of
from difftrust_core.exceptions import TooFewCandidates, Undefined

Labels = npt.NDArray[np.integer[Any]]
Counts = npt.NDArray[np.integer[Any]]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def class_counts(labels: Labels, counts: Counts) -> Ints:
    """Return k_c: (n, n_classes) int64, the candidates in each class on each input; rows sum to m.

    Raises TooFewCandidates if m = 0, Undefined if n = 0.
    """
    _ = _checked(labels, counts)
    present = counts > 0
    rows = _small(labels[present], max(32, len(labels)))
    n, n_classes = rows.shape[1], int(rows.max()) + 1
    cells = rows + np.arange(n) * n_classes
    weights = np.repeat(counts[present].astype(np.float64), n)
    k = np.bincount(cells.ravel(), weights, minlength=n * n_classes)
    return k.astype(np.int64).reshape(n, n_classes)


def error_per_input(labels: Labels, counts: Counts, reference: int | None) -> Floats:
    """Return e_i = 1 - k_ref/m: (n,) in [0, 1]. Eq. 9 before its mean over inputs.

    Raises Undefined without a reference or if n = 0, TooFewCandidates if m = 0.
    """
    m = _checked(labels, counts)
    return _wrong(labels, counts, reference) / m


def error(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return E, the mean of e_i, in [0, 1]. Eq. 9. Raises as ``error_per_input``."""
    m = _checked(labels, counts)
    return _ratio(_wrong(labels, counts, reference), m)


def disagreement_per_input(labels: Labels, counts: Counts) -> Floats:
    """Return D_i = 1 - sum_c k_c(k_c - 1) / (m(m - 1)): (n,) in [0, 1].

    The U-statistic over two distinct candidates, unbiased for Eq. 8. Raises TooFewCandidates if m < 2,
    Undefined if n = 0.
    """
    m = _pairable(labels, counts)
    return _disagreeing(labels, counts) / (m * (m - 1))


def incoherence(labels: Labels, counts: Counts) -> float:
    """Return I, the mean of D_i, in [0, 1]. Eq. 8. Raises as ``disagreement_per_input``."""
    m = _pairable(labels, counts)
    return _ratio(_disagreeing(labels, counts), m * (m - 1))


def incoherence_v(labels: Labels, counts: Counts) -> float:
    """Return the mean of V_i = 1 - sum_c (k_c/m)^2, in [0, 1). Eq. 10. Raises as ``disagreement_per_input``."""
    m = _pairable(labels, counts)
    return _ratio(_disagreeing(labels, counts), m * m)


def p_detected(labels: Labels, counts: Counts) -> float:
    """Return 1 - prod_i (1 - D_i): detection as the published pipeline samples it, one random pair per input.

    Raises as ``disagreement_per_input``.
    """
    m = _pairable(labels, counts)
    return float(any_of(_histogram(_disagreeing(labels, counts)), np.array([m * (m - 1)]))[0])


def p_erroneous(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return 1 - prod_i (1 - e_i): an error seen as published, one random candidate per input.

    Raises as ``error_per_input``.
    """
    m = _checked(labels, counts)
    return float(any_of(_histogram(_wrong(labels, counts, reference)), np.array([m]))[0])


def detected(labels: Labels, counts: Counts) -> bool:
    """Return whether any two candidates disagree on any input. Raises as ``disagreement_per_input``."""
    _ = _pairable(labels, counts)
    return len(functional_classes(labels, counts)) > 1


def functional_classes(labels: Labels, counts: Counts) -> tuple[int, ...]:
    """Return K_1 >= K_2 >= ...: how many candidates share each behaviour over the n inputs; they sum to m.

    App. D. Raises TooFewCandidates if m = 0, Undefined if n = 0.
    """
    _ = _checked(labels, counts)
    sizes: dict[bytes, int] = {}
    for row, count in zip(labels, counts.tolist(), strict=True):
        if count:
            behaviour = row.tobytes()
            sizes[behaviour] = sizes.get(behaviour, 0) + count
    return tuple(sorted(sizes.values(), reverse=True))


def functional_incoherence(labels: Labels, counts: Counts) -> float:
    """Return 1 - sum_c K_c(K_c - 1) / (m(m - 1)), in [0, 1]. App. D. Raises as ``disagreement_per_input``."""
    _ = _pairable(labels, counts)
    return detection_at(functional_classes(labels, counts), 2)


def functional_error(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return the share of candidates that differ from the reference on some input. App. D.

    Raises as ``error_per_input``.
    """
    m = _checked(labels, counts)
    return (m - _right(labels, counts, reference)) / m


def pass_at_1_candidates(labels: Labels, counts: Counts, reference: int | None) -> float:
    """Return the share of candidates that agree with the reference on all n inputs; pass@1 is its mean over tasks.

    Eq. 11. Raises as ``error_per_input``.
    """
    m = _checked(labels, counts)
    return _right(labels, counts, reference) / m


def estimate(labels: Labels, counts: Counts, reference: int | None) -> Estimates:
    """Return all measures of one task and coder at once; what m or a missing reference leaves undefined is NaN.

    Raises TooFewCandidates if m = 0, Undefined if n = 0, BrokenInvariant if I <= 2E does not hold exactly.
    """
    m, n = _checked(labels, counts), labels.shape[1]
    sizes = np.array(functional_classes(labels, counts))
    unknown = np.zeros(0, dtype=np.int64)
    right = 0 if reference is None else _right(labels, counts, reference)
    found = estimates_of(
        Tallies(
            m=np.array([m]),
            n=np.array([n]),
            n_classes=np.array([len(sizes)]),
            alike=np.array([(sizes * (sizes - 1)).sum()]),
            disagreeing=_histogram(_disagreeing(labels, counts)),
            has_reference=np.array([reference is not None]),
            wrong=_histogram(unknown if reference is None else _wrong(labels, counts, reference)),
            right=np.array([right]),
        )
    )
    return Estimates(**{name: np.asarray(values).tolist()[0] for name, values in found.items()})


def _checked(labels: Labels, counts: Counts) -> int:
    """Return m."""
    if labels.ndim != 2 or counts.shape != labels.shape[:1]:
        raise ValueError(
            f"labels must be (n_behaviours, n) and counts (n_behaviours,), got {labels.shape}, {counts.shape}"
        )
    if labels.shape[1] == 0:
        raise Undefined("every measure is a mean over inputs and needs n >= 1, got n = 0; generate inputs first")
    if counts.size and int(counts.min()) < 0:
        raise ValueError(f"counts must be >= 0, got {int(counts.min())}")
    m = int(counts.sum())
    if m == 0:
        raise TooFewCandidates("a measure needs m >= 1 candidates, got 0; generate some with -m")
    return m


def _pairable(labels: Labels, counts: Counts) -> int:
    m = _checked(labels, counts)
    if m < 2:
        raise TooFewCandidates(f"incoherence needs m >= 2 candidates, got {m}; generate more with -m")
    return m


def _agreeing(labels: Labels, reference: int | None) -> npt.NDArray[np.bool_]:
    """Return where each behaviour agrees with the reference's: (n_behaviours, n)."""
    if reference is None:
        raise Undefined("error needs the behaviour of a reference, got none; use incoherence, which needs none")
    if not 0 <= reference < len(labels):
        raise ValueError(f"reference must be a row of labels, 0..{len(labels) - 1}, got {reference}")
    same: npt.NDArray[np.bool_] = labels == labels[reference]
    return same


def _wrong(labels: Labels, counts: Counts, reference: int | None) -> Ints:
    """Return m - k_ref: (n,), the candidates that differ from the reference on each input."""
    wrong = counts.astype(np.float64) @ ~_agreeing(labels, reference)  # floats: exact here, and faster
    return wrong.astype(np.int64)


def _right(labels: Labels, counts: Counts, reference: int | None) -> int:
    """Return how many candidates agree with the reference on every input."""
    return int(counts[_agreeing(labels, reference).all(axis=1)].sum())


def _disagreeing(labels: Labels, counts: Counts) -> Ints:
    """Return m^2 - sum_c k_c^2: (n,), the ordered pairs of candidates that differ on each input."""
    present = counts > 0
    rows, m = labels[present], int(counts.sum())
    disagreeing = np.zeros(rows.shape[1], dtype=np.int64)
    split = (rows != rows[0]).any(axis=0)  # few inputs are: on most, all candidates agree
    if split.any():
        k = class_counts(rows[:, split], counts[present])
        disagreeing[split] = m * m - (k * k).sum(axis=1)
    return disagreeing


def _small(rows: Labels, limit: int) -> Ints:
    """Return the labels themselves if all are in 0..limit-1, else their ranks within each column."""
    if int(rows.min()) >= 0 and int(rows.max()) < limit:
        return rows.astype(np.int64)
    order = rows.argsort(axis=0)
    ordered = np.take_along_axis(rows, order, axis=0)
    ranks = np.zeros(rows.shape, dtype=np.int64)
    np.put_along_axis(ranks, order[1:], (ordered[1:] != ordered[:-1]).cumsum(axis=0), axis=0)
    return ranks


def _ratio(numerators: Ints, denominator: int) -> float:
    """Return the mean over inputs of numerators / denominator, rounded once."""
    return int(numerators.sum()) / (denominator * len(numerators))


def _histogram(numerators: Ints) -> Histograms:
    values, inputs = np.unique(numerators[numerators > 0], return_counts=True)
    return Histograms(task=np.zeros(len(values), dtype=np.int64), value=values, inputs=inputs)
