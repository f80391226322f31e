"""Selective risk: curves and bounds by brute force; the guarantee on populations whose true risk is known."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust.research.selective import (
    NONE,
    answered,
    guaranteed_threshold,
    loosest,
    over_splits,
    p_values,
    risk_coverage,
    share_broken,
    share_rejected,
)
from difftrust_core.exceptions import WrongUsage
from tests.support.agreement import kept_on, worst_case

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
    with pytest.raises(WrongUsage, match="delta lies between 0 and 1, got 1"):
        loosest(np.array([1]), np.array([0]), alpha=0.1, delta=1)


def test_every_half_is_equally_likely_and_the_other_half_is_held_out() -> None:
    # Six tasks, 20 halves. At alpha = .5 and delta = .13 a half of three right tasks passes (1/8), others do not.
    score, wrong = np.zeros(6), np.array([False] * 4 + [True] * 2)
    exact = []
    for half in itertools.combinations(range(6), 3):
        other = [i for i in range(6) if i not in half]
        exact.append(sum(wrong[list(half)]) == 0 and sum(wrong[other]) == 2)
    found = over_splits(score, wrong, (0.0,), alpha=0.5, delta=0.13, splits=20_000, seed=1)
    passed = found.chosen == 0
    assert passed.mean() == pytest.approx(np.mean(exact), abs=0.015)
    assert set(found.n_answered[passed].tolist()) == {3}
    assert set(found.n_wrong[passed].tolist()) == {2}
    assert set(found.n_answered[~passed].tolist()) == {0}
    assert found.n_held_out == 3
    with pytest.raises(WrongUsage, match="needs two tasks, got 1"):
        over_splits(np.zeros(1), np.zeros(1, dtype=bool), (0.0,), alpha=0.1, delta=0.1)


def test_shares_broken_and_rejected_by_hand() -> None:
    score, wrong = np.array([0.0, 0.0, 1.0, 1.0]), np.array([False, False, True, True])
    # Risk 0 at the first threshold, 1/2 at the second; no threshold breaks nothing.
    assert share_broken(np.array([0, 1, NONE, 1]), score, wrong, (0.0, 1.0), alpha=0.4) == 0.5
    assert share_broken(np.array([0, 1, NONE, 1]), score, wrong, (0.0, 1.0), alpha=0.5) == 0
    # P(at least 3 of 3 at 1/3) = 1/27 < 5 %, P(at least 2) = 7/27.
    assert share_rejected(np.array([3, 3, 0, 3]), np.array([3, 2, 0, 0]), alpha=1 / 3) == 0.25


@pytest.mark.parametrize("delta", [0.05, 0.1])
def test_the_guarantee_is_kept_where_the_risk_is_just_above_the_bound(delta: float) -> None:
    """The hardest case: every threshold has a risk just above alpha, so any threshold at all breaks the bound."""
    score, wrong, thresholds = worst_case(alpha=0.1)
    broken = kept_on(score, wrong, thresholds, n_tasks=400, alpha=0.1, delta=delta, repetitions=4000, seed=0).broken
    assert broken <= delta + 3 * math.sqrt(delta * (1 - delta) / 4000)
    assert broken >= delta / 3  # and not by answering nothing, ever
