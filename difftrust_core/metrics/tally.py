"""Compute all measures of tasks from their counts: whole numbers up to the last division."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from difftrust_core.exceptions import BrokenInvariant

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    check_invariants(disagreeing[both], wrong[both], m[both])
    return {
        "m": m,
        "n": n,
        "error": _quotients(wrong, m * n, known),
        "incoherence": _quotients(disagreeing, pairs * n, paired),
        "incoherence_v": _quotients(disagreeing, m * m * n, paired),
        "p_detected": np.where(paired, any_of(tallies.disagreeing, pairs), math.nan),
        "p_erroneous": np.where(known, any_of(tallies.wrong, m), math.nan),
        "functional_incoherence": _quotients(pairs - tallies.alike, pairs, paired),
        "functional_error": _quotients(m - tallies.right, m, known),
        "n_classes": tallies.n_classes,
        "detected": [k > 1 if p else None for k, p in zip(tallies.n_classes.tolist(), paired.tolist(), strict=True)],
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


def _quotients(numerators: Ints, denominators: Ints, defined: npt.NDArray[np.bool_]) -> Floats:
    """Return the quotients, each of whole numbers below 2^53 and so rounded once; NaN where not ``defined``."""
    quotients: Floats = np.divide(numerators, denominators, out=np.full(len(defined), math.nan), where=defined)
    return quotients
