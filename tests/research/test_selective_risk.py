"""Selective risk: curves and bounds by brute force; the guarantee on populations whose true risk is known."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust.research.selective import (
    NONE,
    Population,
    answered,
    guaranteed_threshold,
    loosest,
    p_values,
    risk_coverage,
)
from difftrust_core.exceptions import WrongUsage
from tests.support.agreement import any_of_independent, just_above, kept_on, logistic, of_risks, step

tasks = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12)
"""(score, wrong)."""
GRID = (0.0, 1.0, 2.0, 3.0, 4.0)


def slow_tail(k: int, n: int, p: float) -> float:
    """Return P(Binomial(n, p) <= k)."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


def slow_threshold(rows: list[tuple[int, bool]], *, alpha: float, delta: float) -> float | None:
    best = None
    for threshold in GRID:
        chosen = [wrong for score, wrong in rows if score <= threshold]
        if slow_tail(sum(chosen), len(chosen), alpha) > delta:
            break
        best = threshold
    return best


def arrays(rows: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in rows], dtype=float), np.array([w for _, w in rows])


@given(tasks)
@settings(deadline=None)
def test_the_curve_counts_who_is_answered_and_who_is_wrong(rows: list[tuple[int, bool]]) -> None:
    found = risk_coverage(*arrays(rows))
    assert found["threshold"].to_list() == sorted({s for s, _ in rows})
    for row in found.iter_rows(named=True):
        chosen = [wrong for score, wrong in rows if score <= row["threshold"]]
        k, n = sum(chosen), len(chosen)
        assert (row["n_answered"], row["n_wrong"]) == (n, k)
        assert (row["coverage"], row["risk"]) == (n / len(rows), k / n)
        # Clopper-Pearson from its definition: at its ends, the tail that holds k has 2.5 %.
        assert row["risk_high"] == 1 if k == n else slow_tail(k, n, row["risk_high"]) == pytest.approx(0.025)
        assert row["risk_low"] == 0 if k == 0 else 1 - slow_tail(k - 1, n, row["risk_low"]) == pytest.approx(0.025)
    assert found["coverage"][-1] == 1


def test_without_an_answer_the_risk_is_undefined() -> None:
    found = answered(np.array([1.0, 2.0]), np.array([True, False]), None)
    assert (found["n_answered"], found["coverage"], found["risk"], found["risk_low"]) == (0, 0, None, None)
    assert answered(np.array([1.0]), np.array([True]), 0.5)["risk"] is None
    with pytest.raises(WrongUsage, match="needs a task, got none"):
        answered(np.zeros(0), np.zeros(0, dtype=bool), None)


@given(tasks, st.sampled_from([0.1, 0.3, 0.6]), st.sampled_from([0.1, 0.3, 0.6]))
@settings(deadline=None)
def test_the_threshold_is_the_last_before_a_test_fails(
    rows: list[tuple[int, bool]], alpha: float, delta: float
) -> None:
    assert guaranteed_threshold(*arrays(rows), GRID, alpha=alpha, delta=delta) == slow_threshold(
        rows, alpha=alpha, delta=delta
    )


def test_p_values_by_hand() -> None:
    # 0 wrong of 22 at 10 %: 0.9^22 = 0.0985; of 21: 0.1094. Nothing answered says nothing.
    found = p_values(np.array([22, 21, 0]), np.array([0, 0, 0]), 0.1)
    assert found.tolist() == pytest.approx([0.9**22, 0.9**21, 1.0])
    assert loosest(np.array([22]), np.array([0]), alpha=0.1, delta=0.1) == 0
    assert loosest(np.array([21]), np.array([0]), alpha=0.1, delta=0.1) == NONE
    assert loosest(np.array([1]), np.array([0]), alpha=0.5, delta=0.5) == 0  # 0.5 is at most 0.5
    for delta in (0, 1):
        with pytest.raises(WrongUsage, match=f"delta lies between 0 and 1, got {delta}"):
            loosest(np.array([1]), np.array([0]), alpha=0.1, delta=delta)


def test_a_population_counts_its_tasks_by_their_shares_and_knows_its_risks() -> None:
    score, wrong = np.array([0.0, 0.0, 1.0, 1.0]), np.array([False, False, True, True])
    population = Population.of(score, wrong, (0.0, 1.0))
    assert population.share.tolist() == [0.5, 0.5]
    assert not Population.of(score + 1, wrong, (0.0, 1.0)).breaks(np.array([0]), alpha=0.4).any()  # answers nothing
    # Risk 0 at the first threshold, 1/2 at the second; no threshold breaks nothing.
    chosen = np.array([0, 1, NONE, 1])
    assert population.breaks(chosen, alpha=0.4).tolist() == [False, True, False, True]
    assert not population.breaks(chosen, alpha=0.5).any()
    answered, wrong_ones = population.counts(30, repetitions=4000, rng=np.random.default_rng(0))
    assert (answered[:, 1] == 30).all()
    assert (wrong_ones[:, 1] == 30 - answered[:, 0]).all()  # the tasks of the second score are the wrong ones
    assert not wrong_ones[:, 0].any()
    assert answered[:, 0].mean() == pytest.approx(15, abs=4 * math.sqrt(7.5 / 4000))


@pytest.mark.parametrize("delta", [0.05, 0.1])
def test_the_bound_breaks_as_often_as_the_binomial_says_where_all_answers_have_one_risk(delta: float) -> None:
    """One threshold that answers all: it passes where at most k of 200 are wrong, the last k that the test accepts."""
    risk, alpha = 0.11, 0.1
    population = of_risks([1], [risk])
    answering, broken = kept_on(population, n_tasks=200, alpha=alpha, delta=delta, repetitions=4000, seed=0)
    last = max(k for k in range(200) if slow_tail(k, 200, alpha) <= delta)
    exact = slow_tail(last, 200, risk)
    assert (answering == broken).all()
    assert broken.mean() == pytest.approx(exact, abs=4 * math.sqrt(exact / 4000))
    assert not kept_on(of_risks([1], [alpha]), n_tasks=200, alpha=alpha, delta=delta, repetitions=50, seed=0)[1].any()


@pytest.mark.parametrize("make", [just_above, step, logistic], ids=lambda make: make.__name__)
@pytest.mark.parametrize("delta", [0.05, 0.1])
def test_the_guarantee_is_kept_and_is_tight_where_the_risk_is_just_above_the_bound(make: Any, delta: float) -> None:
    _, broken = kept_on(make(0.2), n_tasks=400, alpha=0.2, delta=delta, repetitions=4000, seed=0)
    assert broken.mean() <= delta + 3 * math.sqrt(delta * (1 - delta) / 4000)
    assert (broken.mean() >= 0.6 * delta) == (make is not logistic)  # and not by answering nothing, ever


def test_of_independent_bounds_one_is_broken_far_more_often_unless_delta_is_divided() -> None:
    together, divided = any_of_independent(16, repetitions=1000)
    assert together.mean() > 0.3
    assert divided.mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)
