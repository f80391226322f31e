"""From what was counted of one task to its measures: every formula, in whole numbers up to its last division."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from difftrust_core.exceptions import BrokenInvariant, TooFewCandidates

Histogram = Mapping[int, int]
"""A number of candidates, or of ordered pairs of them -> on how many inputs it was met; 0 may be left out."""


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


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What was counted of one task and coder; its measures follow from nothing else."""

    m: int
    n: int
    sizes: tuple[int, ...]
    """Functional classes K_1 >= K_2 >= ...; they sum to m."""
    disagreeing: Histogram
    """m^2 - sum_c k_c^2, the ordered pairs of candidates that differ on an input."""
    wrong: Histogram | None
    """m - k_ref, the candidates that differ from the reference on an input; None without a reference."""
    right: int
    """Candidates that agree with the reference on every input; 0 without one."""


def estimates_of(tally: Tally) -> Estimates:
    """Return all measures of one task and coder at once; what m or a missing reference leaves undefined is NaN.

    Raises BrokenInvariant if I <= 2E does not hold exactly.
    """
    m, n, nan, pairs = tally.m, tally.n, math.nan, tally.m * (tally.m - 1)
    disagreeing = _total(tally.disagreeing)
    wrong = 0 if tally.wrong is None else _total(tally.wrong)
    if pairs and tally.wrong is not None:
        check_invariants(disagreeing, wrong, m)
    return Estimates(
        m=m,
        n=n,
        error=nan if tally.wrong is None else wrong / (m * n),
        incoherence=disagreeing / (pairs * n) if pairs else nan,
        incoherence_v=disagreeing / (m * m * n) if pairs else nan,
        p_detected=any_of(tally.disagreeing, pairs) if pairs else nan,
        p_erroneous=nan if tally.wrong is None else any_of(tally.wrong, m),
        functional_incoherence=detection_at(tally.sizes, 2) if pairs else nan,
        functional_error=nan if tally.wrong is None else (m - tally.right) / m,
        n_classes=len(tally.sizes),
        detected=len(tally.sizes) > 1 if pairs else None,
    )


def any_of(histogram: Histogram, denominator: int) -> float:
    """Return 1 - prod_i (1 - v_i / denominator) over the inputs.

    Equal values are multiplied as one power, smallest first, so that the order of the inputs leaves no trace.
    """
    none = math.prod(((denominator - v) / denominator) ** histogram[v] for v in sorted(histogram))
    return 1 - none


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


def check_invariants(disagreeing: int, wrong: int, m: int) -> None:
    """Check I <= 2E for both forms of I, and that E = 0 implies I = 0, on whole sums over the inputs."""
    # D: disagreeing / (m(m-1)) <= 2 wrong / m. V: disagreeing / m^2 <= 2 wrong / m.
    for form, pairs in (("D", m - 1), ("V", m)):
        if disagreeing > 2 * wrong * pairs:
            raise BrokenInvariant(
                f"incoherence must be at most twice the error (form {form}), got {disagreeing} disagreeing ordered "
                f"pairs and {wrong} wrong outcomes with m = {m}; please report this as a defect"
            )


def _total(histogram: Histogram) -> int:
    return sum(value * inputs for value, inputs in histogram.items())
