"""Estimate incoherence and error: of one task from labels, of many tasks from counts.

``labels`` is a (n_behaviours, n) integer array: equal labels on an input (a column) mean equal outcomes on it.
``counts`` is (n_behaviours,): how many of the m candidates have that behaviour; zeros are allowed, so one matrix serves
every coder. k_c is the number of candidates in class c on an input, k_ref the number that agree with the reference.

Equations are those of Valentin et al., "Incoherence as Oracle-less Measure of Error in LLM-Based Code
Generation" (AAAI 2026). Every estimate is of these m candidates and n inputs, in whole numbers up to the last division.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import BrokenInvariant, TooFewCandidates, Undefined, WrongUsage

Labels = npt.NDArray[np.integer[Any]]
Counts = npt.NDArray[np.integer[Any]]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def disagreement_per_input(labels: Labels, counts: Counts) -> Floats:
    """Return D_i = 1 - sum_c k_c(k_c - 1) / (m(m - 1)): (n,) in [0, 1].

    The U-statistic over two distinct candidates, unbiased for Eq. 8. Raises TooFewCandidates if m < 2,
    Undefined if n = 0.
    """
    m = number_of_candidates(labels, counts, least=2)
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
    m = number_of_candidates(rows, weights, least=2)
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
    m = number_of_candidates(rows, weights)
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


def number_of_candidates(labels: Labels, counts: Counts, *, least: int = 1) -> int:
    """Return m. Raises Undefined if n = 0, TooFewCandidates if m < ``least``, ValueError for other shapes."""
    if labels.ndim != 2 or counts.shape != labels.shape[:1]:
        raise ValueError(
            f"labels must be (n_behaviours, n) and counts (n_behaviours,), got {labels.shape}, {counts.shape}"
        )
    if labels.shape[1] == 0:
        raise Undefined("every measure is a mean over inputs and needs n >= 1, got n = 0; generate inputs first")
    if (counts < 0).any():
        raise ValueError(f"counts must be >= 0, got {int(counts.min())}")
    m = int(counts.sum())
    if m < least:
        what = "incoherence needs m >= 2 candidates" if least > 1 else "a measure needs m >= 1 candidates"
        raise TooFewCandidates(f"{what}, got {m}; generate more with -m")
    return m


def disagreeing_pairs(labels: Labels, counts: Counts) -> Ints:
    """Return m^2 - sum_c k_c^2: (n,), the ordered pairs of candidates that differ on each input."""
    rows, weights = labels[counts > 0], counts[counts > 0].astype(np.int64)
    disagreeing = np.zeros(rows.shape[1], dtype=np.int64)
    split = (rows != rows[0]).any(axis=0)  # few inputs are: on most, all candidates agree
    rows = rows[:, split]
    for row, weight in zip(rows, weights.tolist(), strict=True):
        disagreeing[split] += weight * (weights @ (rows != row))
    return disagreeing


@dataclass(frozen=True, kw_only=True, eq=False)
class Histograms:
    """On how many inputs of each task each number was met: three arrays of one length, sorted by task, then value."""

    task: Ints
    """Index of the task."""
    value: Ints
    """A number of candidates, or of ordered pairs of them, above 0."""
    inputs: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Tallies:
    """What was counted of one coder's tasks, an element each: all that their measures need."""

    m: Ints
    """Candidates, at least one."""
    n: Ints
    """Inputs, at least one."""
    n_classes: Ints
    """Functional classes."""
    alike: Ints
    """sum_c K_c(K_c - 1), the ordered pairs of candidates of one functional class."""
    load_failures: Ints
    """Candidates that do not load: what needs no oracle to be seen."""
    disagreeing: Histograms
    """m^2 - sum_c k_c^2, the ordered pairs of candidates that differ on an input."""
    has_reference: npt.NDArray[np.bool_]
    wrong: Histograms
    """m - k_ref, the candidates that differ from the reference on an input; nothing of tasks without one."""
    right: Ints
    """Candidates that agree with the reference on every input; 0 without one."""


def estimates_of(tallies: Tallies) -> dict[str, Any]:
    """Return all measures, an element a task, named as docs/measures.md has them; undefined is NaN, ``detected`` None.

    Raises BrokenInvariant if I <= 2E does not hold exactly.
    """
    m, n, known, pairs = tallies.m, tallies.n, tallies.has_reference, tallies.m * (tallies.m - 1)
    paired = pairs > 0
    disagreeing, wrong = _totals(tallies.disagreeing, len(m)), _totals(tallies.wrong, len(m))
    both = paired & known
    seen = (tallies.n_classes > 1) | (tallies.load_failures > 0)
    check_invariants(disagreeing[both], wrong[both], m[both])
    return {
        "m": m,
        "n": n,
        "error": quotients(wrong, m * n, known),
        "incoherence": quotients(disagreeing, pairs * n, paired),
        "incoherence_v": quotients(disagreeing, m * m * n, paired),
        "p_detected": np.where(paired, any_of(tallies.disagreeing, pairs), math.nan),
        "p_erroneous": np.where(known, any_of(tallies.wrong, m), math.nan),
        "functional_incoherence": quotients(pairs - tallies.alike, pairs, paired),
        "functional_error": quotients(m - tallies.right, m, known),
        "n_classes": tallies.n_classes,
        "n_load_failures": tallies.load_failures,
        "detected": [seen if p else None for seen, p in zip(seen.tolist(), paired.tolist(), strict=True)],
    }


def any_of(histograms: Histograms, denominators: Ints) -> Floats:
    """Return 1 - prod_i (1 - v_i / denominator) over the inputs of each task; ``denominators``: an element a task.

    Equal values are multiplied as one power, smallest first, so that the order of the inputs leaves no trace.
    """
    whole = denominators[histograms.task]
    shares = ((whole - histograms.value) / whole).tolist()
    powers = [share**inputs for share, inputs in zip(shares, histograms.inputs.tolist(), strict=True)]
    none = np.ones(len(denominators))
    np.multiply.at(none, histograms.task, powers)  # one after the other, unlike a product
    result: Floats = 1 - none
    return result


def check_invariants(disagreeing: Ints, wrong: Ints, m: Ints) -> None:
    """Check I <= 2E for both forms of I, and that E = 0 implies I = 0, on whole sums over the inputs of each task."""
    # D: disagreeing / (m(m-1)) <= 2 wrong / m. V: disagreeing / m^2 <= 2 wrong / m.
    for form, pairs in (("D", m - 1), ("V", m)):
        broken = np.flatnonzero(disagreeing > 2 * wrong * pairs)
        if len(broken):
            at = broken[0]
            raise BrokenInvariant(
                f"incoherence must be at most twice the error (form {form}), got {disagreeing[at]} disagreeing ordered "
                f"pairs and {wrong[at]} wrong outcomes with m = {m[at]}; please report this as a defect"
            )


def _totals(histograms: Histograms, n_tasks: int) -> Ints:
    """Return the sum over the inputs of each task."""
    return np.bincount(histograms.task, histograms.value * histograms.inputs, minlength=n_tasks).astype(np.int64)


def quotients(numerators: Ints | Floats, denominators: Ints | Floats, defined: npt.NDArray[np.bool_]) -> Floats:
    """Return the quotients, of whole numbers below 2^53 each rounded once; NaN where not ``defined``."""
    return np.asarray(np.divide(numerators, denominators, out=np.full(len(defined), math.nan), where=defined))


def behaviour_clusters(labels: Labels, counts: Counts, texts: Sequence[str]) -> list[list[int]]:
    """Return the programs (rows) of each behaviour: largest cluster first, the smallest program first in each.

    A cluster's size is its number of candidates. Of equally large clusters the one with the smaller program comes
    first; a program is smaller by its text's length, then by the text. Programs without a candidate are left out.
    """
    return clusters_by_size(labels, counts, [(len(text), text) for text in texts])


def clusters_by_size(labels: Labels, counts: Counts, sizes: Sequence[Any] | Counts) -> list[list[int]]:
    """Return the programs of each behaviour as ``behaviour_clusters`` does, a program being smaller by its size."""
    clusters: dict[bytes, list[int]] = {}
    for row in sorted(np.flatnonzero(counts > 0).tolist(), key=lambda row: sizes[row]):
        clusters.setdefault(labels[row].tobytes(), []).append(row)
    return sorted(clusters.values(), key=lambda rows: -int(counts[rows].sum()))  # stable: smaller programs stay first


Limits = tuple[float, float]
Covers = Literal["inputs", "programs", "tasks"]
"""What was drawn at random: inputs (these programs, other inputs), programs (the LLM itself), tasks (a benchmark)."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A confidence interval. The three kinds answer three questions; the ends of one are no answer to another."""

    estimate: float
    """The value measured; NaN where it is undefined, and then so are both ends."""
    low: float
    high: float
    confidence: float
    """The share of repetitions in which an interval made like this holds the true value, in (0, 1)."""
    method: str
    """``exact``, ``hoeffding`` and ``chernoff`` are guaranteed; the others are tested by simulation."""
    covers: Covers
    statement: str
    """One sentence: of what, and over which repetitions."""

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


def checked_confidence(confidence: float) -> float:
    """Return ``confidence``. Raises WrongUsage unless it lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise WrongUsage(f"confidence lies between 0 and 1, got {confidence}; 0.95 is usual")
    return confidence
