"""Intervals over inputs and programs: hand-checkable limits, invariances, refusals; coverage is test_calibration's."""

import math
import re

import numpy as np
import pytest
from scipy.stats import binomtest

from difftrust.task_intervals import (
    DIVERSITY,
    NOVELTY,
    RARITY,
    at_most_after_no_disagreement,
    beta_of_mean,
    chernoff,
    error_lower_bound_over_programs,
    hoeffding,
    incoherence_interval_over_inputs,
    incoherence_interval_over_programs,
    inputs_for,
    inputs_for_no_disagreement,
    proportion_interval,
    sample_coders,
    sample_incoherence,
)
from difftrust_core.exceptions import TooFewCandidates, Undefined, WrongUsage
from difftrust_core.metrics.estimates import disagreement_per_input
from difftrust_core.metrics.intervals import clopper_pearson
from tests.support.plain_intervals import calibrated, interval_over_inputs

# Five programs of three behaviours on 40 inputs; row 0 is right.
LABELS = np.zeros((3, 40), dtype=np.uint16)
LABELS[1, :10] = 1
LABELS[2, 5:20] = 2
COUNTS = np.array([3, 1, 1])
AGREED = np.zeros((1, 40), dtype=np.uint16)


def ends(interval):
    return interval.low, interval.high


def test_an_interval_over_programs_holds_its_estimate():
    always = np.array([[0] * 50, [1] * 50], dtype=np.uint16)
    found = incoherence_interval_over_programs(always, np.array([1, 1]))
    assert (found.estimate, found.high) == (1, 1)
    assert found.low < 0.5


# --- limits of bounded means


def test_hoeffding_by_hand():
    # sqrt(ln(20) / 200) = 0.12239
    assert hoeffding(0.5, 100, alpha=0.05) == (pytest.approx(0.37761, abs=1e-5), pytest.approx(0.62239, abs=1e-5))
    assert hoeffding(0.01, 100, alpha=0.05)[0] == 0


def test_chernoff_at_the_ends_is_theorem_4_3():
    assert chernoff(0, 100, alpha=0.05) == (0, pytest.approx(1 - 0.05**0.01))
    assert chernoff(1, 100, alpha=0.05) == (pytest.approx(0.05**0.01), 1)


@pytest.mark.parametrize(("mean", "n"), [(0.001, 1000), (0.3, 17), (0.5, 2), (0.999, 50), (1e-9, 2)])
def test_chernoff_solves_its_equation_within_hoeffding(mean, n):
    low, high = chernoff(mean, n, alpha=0.025)

    def kl(a, b):
        return a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))

    for end in (low, high):
        if 0 < end < 1:
            assert n * kl(mean, end) == pytest.approx(math.log(40), rel=1e-6)
    wide = hoeffding(mean, n, alpha=0.025)
    assert wide[0] <= low <= mean <= high <= wide[1]


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (10, 10), (1, 1000), (0, 1), (1, 1)])
def test_exact_binomial_is_scipys(successes, trials):
    expected = binomtest(successes, trials).proportion_ci(0.9, method="exact")
    found = proportion_interval(successes, trials, confidence=0.9)
    assert ends(found) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert clopper_pearson(successes, trials, alpha=0.05) == pytest.approx(ends(found))
    assert (found.covers, found.method, found.estimate) == ("inputs", "exact", successes / trials)


def test_on_zeros_and_ones_calibrated_is_jeffreys():
    values = np.array([1.0] * 3 + [0.0] * 17)
    assert beta_of_mean(values) == (pytest.approx(3.5), pytest.approx(17.5))


def test_calibrated_scales_with_the_values():
    values = np.array([1.0] * 3 + [0.0] * 997)
    one, fifth = calibrated(values, alpha=0.025), calibrated(values / 5, alpha=0.025)
    assert fifth == (pytest.approx(one[0] / 5, rel=0.02), pytest.approx(one[1] / 5, rel=0.02))


def test_values_that_are_all_alike_leave_room_for_others():
    low, high = calibrated(np.full(100, 0.2), alpha=0.025)
    assert 0.18 < low < 0.2 < high < 0.23


# --- over inputs


def test_over_inputs_by_hand():
    theorem = incoherence_interval_over_inputs(np.full(738, 0.5))
    assert theorem.high - theorem.low == pytest.approx(0.1, abs=1e-4)
    assert (theorem.covers, theorem.confidence, theorem.estimate) == ("inputs", 0.95, 0.5)
    assert ends(incoherence_interval_over_inputs(np.full(100, 0.5), confidence=0.9)) == hoeffding(0.5, 100, alpha=0.05)


def test_sample_sizes():
    assert inputs_for(0.05, 0.05) == 738
    assert inputs_for_no_disagreement(0.05, 0.05) == 59
    assert at_most_after_no_disagreement(1, 0.05) == pytest.approx(0.95)
    assert at_most_after_no_disagreement(59, 0.05) <= 0.05 < at_most_after_no_disagreement(58, 0.05)
    assert hoeffding(0.5, 738, alpha=0.025)[1] <= 0.55 < hoeffding(0.5, 737, alpha=0.025)[1]


# --- over programs


def test_the_guaranteed_ones_by_hand():
    found = incoherence_interval_over_programs(LABELS, COUNTS, method="chernoff")
    assert ends(found) == pytest.approx(chernoff(found.estimate, 2, alpha=0.025))  # floor(5 / 2) disjoint pairs
    few_inputs = incoherence_interval_over_programs(LABELS[:, :1], COUNTS, method="chernoff")
    assert ends(few_inputs) == pytest.approx(chernoff(few_inputs.estimate, 1, alpha=0.025))


@pytest.mark.parametrize("counts", [[2], [5], [20], [3, 2], [7, 1, 1], [2, 2, 2, 2]])
def test_how_often_coders_do_the_usual_is_what_the_programs_say_of_every_rarity(counts):
    """Of m programs theta explains B(usual, others + theta) theta, and the usual share is Beta(usual, others + theta).

    Of the others, in k behaviours, theta explains theta^k gamma(theta) / gamma(others + theta), and a share of
    theta / (others + theta) is unseen.
    """
    usual, others, k = counts[0], sum(counts[1:]), len(counts) - 1
    types = np.array([0.0, *[1.0] * k, NOVELTY])
    coders = sample_coders(np.array(counts, float), types, draws=40_000, rng=np.random.default_rng(2))
    likely = RARITY * np.array([math.gamma(others + r) / math.gamma(usual + others + r) for r in RARITY])
    expected = (likely * usual / (usual + others + RARITY)).sum() / likely.sum()
    share = coders.seen[:, 0]
    assert share.mean() == pytest.approx(expected, abs=4 * share.std() / 200)
    likely = np.array([d**k * math.gamma(d) / math.gamma(others + d) for d in DIVERSITY])
    expected = (likely * DIVERSITY / (others + DIVERSITY)).sum() / likely.sum()
    rest = share < 1
    unseen = coders.unseen.sum(axis=1)[rest] / (1 - share[rest])
    assert unseen.mean() == pytest.approx(expected, abs=4 * unseen.std() / 200 + 1e-9)


def test_two_unseen_programs_behave_alike_as_often_as_their_diversity_says():
    types = np.array([0, NOVELTY])
    alike = sample_coders(np.array([3.0]), types, draws=40_000, rng=np.random.default_rng(4)).sameness[:, -1]
    expected = (1 / (1 + DIVERSITY)).mean()  # programs that agree say nothing of it
    assert alike.mean() == pytest.approx(expected, abs=4 * alike.std() / 200)


@pytest.mark.parametrize("counts", [[5], [4, 2], [3, 1, 1]])
def test_where_behaviours_differ_everywhere_the_incoherence_of_coders_is_that_of_their_shares(counts):
    """All pairs differ but those of one behaviour, and those of the usual one and unseen ones that lie near to it."""
    n, sizes = len(counts), np.array(counts, dtype=float)
    types = np.array([0, *[1] * (n - 1), NOVELTY])  # none is like the usual behaviour
    coders = sample_coders(sizes, types, draws=200, rng=np.random.default_rng(1))
    found = sample_incoherence(sizes, 1 - np.eye(n), draws=200, rng=np.random.default_rng(1))
    alike = (coders.seen**2).sum(axis=1) + (coders.unseen**2 * coders.sameness).sum(axis=1)
    unlike, near = coders.unseen[:, -1], 1 - coders.distance
    alike += 2 * unlike * coders.seen[:, 0] * near + unlike**2 * (1 - coders.sameness[:, -1]) * near**2
    assert found == pytest.approx(1 - alike)
    assert coders.seen.sum(axis=1) + coders.unseen.sum(axis=1) == pytest.approx(np.ones(200))


@pytest.mark.parametrize(
    ("labels", "counts", "risk"), [(AGREED, np.array([10]), 0.05), (LABELS, 4 * COUNTS, 0.1)], ids=["agreed", "not"]
)
def test_what_m_programs_leave_unseen_is_the_limit_where_the_calibrated_one_is_lower(labels, counts, risk):
    found = incoherence_interval_over_programs(labels, counts)
    other = 1 - risk ** (1 / counts.sum())
    assert found.high == pytest.approx((1 - other) ** 2 * found.estimate + 2 * other * (1 - other), abs=1e-12)
    assert (found.low == 0) == (labels is AGREED)


def test_with_very_many_programs_only_the_inputs_are_a_sample():
    found = incoherence_interval_over_programs(LABELS, 5000 * COUNTS)
    over_inputs = interval_over_inputs(disagreement_per_input(LABELS, 5000 * COUNTS))
    assert ends(found) == pytest.approx(ends(over_inputs), abs=0.01)


def test_the_certified_error_follows_from_the_incoherence():
    counts = np.array([30, 30, 30])
    sure = error_lower_bound_over_programs(LABELS, counts)
    low, _ = chernoff(disagreement_per_input(LABELS, counts).mean(), 40, alpha=0.05)
    assert (sure.low, sure.high) == (pytest.approx(1 - math.sqrt(1 - low)), 1)
    assert sure.low < sure.estimate
    assert error_lower_bound_over_programs(AGREED, np.array([9])).low == 0
    # Two programs, one of them wrong everywhere: D = 1 but E = 1/2; D itself must not be transformed into E >= 1.
    split = np.array([[0] * 40, [1] * 40])
    assert error_lower_bound_over_programs(split, np.array([1, 1])).low < 0.5


def test_neither_row_order_nor_class_names_nor_splits_change_an_interval():
    expected = incoherence_interval_over_programs(LABELS, COUNTS)
    order = np.array([2, 0, 1])
    renamed = (7 - LABELS.astype(np.int64))[order]
    assert incoherence_interval_over_programs(renamed, COUNTS[order]) == expected
    split, counts = np.vstack([LABELS, LABELS[:1], LABELS[:1]]), np.array([1, 1, 1, 2, 0])
    assert incoherence_interval_over_programs(split, counts) == expected


def test_the_seed_decides():
    one, other = (incoherence_interval_over_programs(LABELS, COUNTS, seed=seed) for seed in (0, 1))
    assert one == incoherence_interval_over_programs(LABELS, COUNTS) != other
    assert ends(one) == (pytest.approx(other.low, abs=0.01), pytest.approx(other.high, abs=0.02))


def test_every_interval_says_what_it_speaks_about():
    inputs = incoherence_interval_over_inputs(np.array([0.0, 0.5]))
    assert "exactly these programs" in inputs.statement
    assert "other programs of the same LLM" in inputs.statement
    programs = incoherence_interval_over_programs(LABELS, COUNTS)
    assert programs.covers == "programs"
    assert "the LLM itself" in programs.statement
    assert "these 5 and 40 are a sample" in programs.statement
    assert re.fullmatch(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", str(programs))


MISUSES = [
    (lambda: incoherence_interval_over_inputs(np.array([])), Undefined, "n >= 1"),
    (lambda: incoherence_interval_over_inputs(np.array([1.2])), ValueError, "lies in"),
    (lambda: incoherence_interval_over_inputs(np.array([math.nan])), ValueError, "lies in"),
    (lambda: incoherence_interval_over_inputs(np.zeros(3), confidence=95), WrongUsage, "got 95"),
    (lambda: incoherence_interval_over_programs(AGREED, np.array([1])), TooFewCandidates, "got 1"),
    (lambda: incoherence_interval_over_programs(LABELS, COUNTS, method="x"), WrongUsage, "'x'"),  # type: ignore
    (lambda: proportion_interval(2, 1), WrongUsage, "got 2 of 1"),
    (lambda: at_most_after_no_disagreement(0, 0.05), WrongUsage, "got 0"),
    (lambda: at_most_after_no_disagreement(5, 1), WrongUsage, "delta lies between 0 and 1, got 1"),
    (lambda: inputs_for(0, 0.05), WrongUsage, "epsilon lies between 0 and 1, got 0"),
]


def test_misuse_is_refused():
    for call, error, message in MISUSES:
        with pytest.raises(error, match=message):
            call()
