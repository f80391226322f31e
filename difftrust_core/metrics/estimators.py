"""Estimate incoherence and error of one task from the outcome classes of its programs.

Throughout, ``labels`` is a (n_behaviours, n) integer array: equal labels on an input (a column) mean equal
outcomes on it. ``counts`` is (n_behaviours,): how many of the m candidates have that behaviour; zeros are
allowed, so one matrix serves every coder. ``reference`` is the row of the reference's behaviour, None where
there is no reference. The first n inputs are ``labels[:, :n]``. k_c is the number of candidates in class c on
an input, k_ref the number that agree with the reference.

Equations are those of Valentin et al., "Incoherence as Oracle-less Measure of Error in LLM-Based Code
Generation" (AAAI 2026). Every estimate is of these m candidates and n inputs.
"""

import math
from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import TooFewCandidates, Undefined, WrongUsage

Labels = npt.NDArray[np.integer[Any]]
Counts = npt.NDArray[np.integer[Any]]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def class_counts(labels: Labels, counts: Counts) -> Ints:
    """Return k_c: (n, n_classes) int64, the candidates in each class on each input; rows sum to m.

    Raises TooFewCandidates if m = 0, Undefined if n = 0.
    """
    _ = checked(labels, counts)
    present = counts > 0
    rows = _small(labels[present], max(32, len(labels)))
    n, n_classes = rows.shape[1], int(rows.max()) + 1
    cells = rows + np.arange(n) * n_classes
    weights = np.repeat(counts[present].astype(np.float64), n)
    k = np.bincount(cells.ravel(), weights, minlength=n * n_classes)
    return k.astype(np.int64).reshape(n, n_classes)


def disagreement_per_input(labels: Labels, counts: Counts) -> Floats:
    """Return D_i = 1 - sum_c k_c(k_c - 1) / (m(m - 1)): (n,) in [0, 1].

    The U-statistic over two distinct candidates, unbiased for Eq. 8. Raises TooFewCandidates if m < 2,
    Undefined if n = 0.
    """
    m = pairable(labels, counts)
    return disagreeing_pairs(labels, counts) / (m * (m - 1))


def incoherence(labels: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> float:
    """Return how often two distinct programs disagree, in [0, 1]: the mean of D_i over the inputs. Eq. 8.

    ``labels``: (m, n) integers, a row a program, a column an input; equal labels in a column are equal outcomes.
    ``counts``: (m,) how many candidates each row stands for; one each if left out. Raises TooFewCandidates if there are
    fewer than two candidates, Undefined without an input, WrongUsage for another shape or type.

    >>> dt.incoherence([[0, 0], [0, 1]])
    0.5
    """
    rows, weights = _arrays(labels, counts)
    m = pairable(rows, weights)
    n_pairs: int = m * (m - 1) * rows.shape[1]
    return int(disagreeing_pairs(rows, weights).sum()) / n_pairs


def error(labels: npt.ArrayLike, reference: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> float:
    """Return how often a program differs from the reference, in [0, 1]: the mean of e_i over the inputs. Eq. 9.

    ``labels`` and ``counts`` as of ``incoherence``; ``reference``: (n,) the label of the right outcome on each input.
    Raises TooFewCandidates without a candidate, Undefined without an input, WrongUsage for another shape or type.

    >>> dt.error([[0, 0], [0, 1]], reference=[0, 0])
    0.25
    """
    rows, weights = _arrays(labels, counts)
    truth = np.asarray(reference)
    m = checked(rows, weights)
    if truth.shape != rows.shape[1:]:
        raise WrongUsage(f"expected a reference of {rows.shape[1]} labels, one an input, got shape {truth.shape}")
    n_cells: int = m * rows.shape[1]
    return int(weights @ (rows != truth).sum(axis=1)) / n_cells


def _arrays(labels: npt.ArrayLike, counts: npt.ArrayLike | None) -> tuple[Labels, Counts]:
    rows = np.asarray(labels)
    if rows.ndim != 2 or not np.issubdtype(rows.dtype, np.integer):
        raise WrongUsage(
            f"expected labels of shape (m, n) in integers, got shape {rows.shape} of {rows.dtype}; give a row a program"
        )
    return rows, np.ones(len(rows), dtype=np.int64) if counts is None else np.asarray(counts)


def checked(labels: Labels, counts: Counts) -> int:
    """Return m. Raises Undefined if n = 0, TooFewCandidates if m = 0, ValueError for other shapes."""
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


def pairable(labels: Labels, counts: Counts) -> int:
    """Return m. Raises TooFewCandidates if m < 2; else as ``checked``."""
    m = checked(labels, counts)
    if m < 2:
        raise TooFewCandidates(f"incoherence needs m >= 2 candidates, got {m}; generate more with -m")
    return m


def disagreeing_pairs(labels: Labels, counts: Counts) -> Ints:
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
