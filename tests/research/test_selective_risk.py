"""What agreement is worth: answers, curves and bounds by brute force, the guarantee where the true risk is known."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from difftrust.research.selective import (
    NONE,
    THRESHOLDS,
    Population,
    agreement_table,
    answered,
    answers,
    curve_table,
    guarantee_table,
    guaranteed_threshold,
    loosest,
    p_values,
    risk_coverage,
)
from difftrust.shipped import find_results, in_published_set
from difftrust_core.estimates.measures import ablation
from difftrust_core.estimates.pool import load_pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.intervals import clopper_pearson, false_trust
from difftrust_core.store.store import Store
from tests.estimates.test_ablation import CODER, benchmarks, members, pool_of
from tests.support.agreement import any_of_independent, just_above, kept_on, logistic, of_risks, step

tasks = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12)
"""(score, wrong)."""
GRID = (0.0, 1.0, 2.0, 3.0, 4.0)


def slow_tail(k: int, n: int, p: float) -> float:
    """Return P(Binomial(n, p) <= k)."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@given(tasks, st.sampled_from([0.1, 0.3, 0.6]), st.sampled_from([0.1, 0.3, 0.6]))
@settings(deadline=None)
def test_the_threshold_is_the_last_before_a_test_fails(
    rows: list[tuple[int, bool]], alpha: float, delta: float
) -> None:
    best = None
    for threshold in GRID:
        chosen = [wrong for score, wrong in rows if score <= threshold]
        if slow_tail(sum(chosen), len(chosen), alpha) > delta:
            break
        best = threshold
    assert guaranteed_threshold(*arrays(rows), GRID, alpha=alpha, delta=delta) == best


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
    for threshold in (None, 0.5):
        found = answered(np.array([1.0, 2.0]), np.array([True, False]), threshold)
        assert (found["n_answered"], found["coverage"], found["risk"], found["risk_low"]) == (0, 0, None, None)
    with pytest.raises(WrongUsage, match="needs a task, got none"):
        answered(np.zeros(0), np.zeros(0, dtype=bool), None)


def test_p_values_by_hand() -> None:
    # 0 wrong of 22 at 10 %: 0.9^22 = 0.0985; of 21: 0.1094. Nothing answered says nothing.
    assert p_values(np.array([22, 21, 0]), np.zeros(3), 0.1).tolist() == pytest.approx([0.9**22, 0.9**21, 1.0])
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


@settings(max_examples=100, deadline=None)
@given(benchmarks())
def test_answers_are_those_of_the_largest_cluster_the_first_of_equally_large(drawn: tuple) -> None:
    tasks, references, rows = drawn
    found = answers(pool_of(tasks, references, {CODER: members(rows)}), temperature=CODER[1], m=5, n=None)
    for labels, reference, listed, row in zip(tasks, references, rows, found.iter_rows(named=True), strict=True):
        behaviours = [tuple(labels[i].tolist()) for i in listed[:5]]
        sizes = Counter(behaviours)
        answer = next(b for b in behaviours if sizes[b] == max(sizes.values()))
        truth = None if reference is None else tuple(labels[reference].tolist())
        assert row["wrong"] == (None if truth is None else answer != truth)
        if len(behaviours) < 2:
            assert (row["incoherence"], row["largest_share"], row["n_clusters"]) == (None, None, None)
            continue
        assert (row["n_clusters"], row["largest_share"]) == (len(sizes), max(sizes.values()) / len(behaviours))
        pairs = list(itertools.combinations(behaviours, 2))
        differ = [x != y for a, b in pairs for x, y in zip(a, b, strict=True)]
        assert row["incoherence"] == pytest.approx(np.mean(differ))


def made_rows(n_tasks: int = 400) -> pl.DataFrame:
    """Return tasks on half of which all agree, 2 % of these wrong, 30 % on benchmark ``hard``; the rest is wrong."""
    alike = {"incoherence": 0.0, "largest_share": 1.0, "n_clusters": 1.0, "dissent": 0.0}
    apart = {"incoherence": 0.15, "largest_share": 0.6, "n_clusters": 3.0, "dissent": 0.25}
    rows = [
        {"benchmark": benchmark, "task_id": f"t{task}", "model": "a", "temperature": 0.6, "m": 10, "n": 1000}
        | (apart | {"wrong": True} if task % 2 else alike | {"wrong": (task // 2) % 100 < 100 * share})
        for benchmark, share in (("easy", 0.02), ("hard", 0.3))
        for task in range(n_tasks)
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("signal", "threshold"), [("incoherence", 0.1), ("largest_share", 0.7), ("n_clusters", 2.0), ("dissent", 0.2)]
)
def test_a_bound_is_kept_where_it_was_calibrated_and_broken_elsewhere(signal: str, threshold: float) -> None:
    rows = made_rows()
    easy, hard = agreement_table(rows, signal=signal, alpha=0.1, delta=0.1).iter_rows(named=True)
    assert (easy["n_tasks"], easy["agree_coverage"], easy["agree_risk"]) == (400, 0.5, 0.02)
    assert easy["threshold"] == threshold  # the loosest before the tasks that disagree
    assert easy["held_out_risk"] <= 0.1
    assert (easy["transfer_coverage"], easy["transfer_risk"]) == (0.5, 0.3)
    assert easy["transfer_risk_low"] > 0.1
    assert (hard["threshold"], hard["held_out_coverage"], hard["held_out_risk"]) == (None, 0, None)
    easy, hard = guarantee_table(rows, signal=signal, alpha=0.1, delta=0.1).iter_rows(named=True)
    assert easy["broken"] == 0
    assert (easy["broken_low"], easy["broken_high"]) == clopper_pearson(0, 1000, alpha=0.025)
    assert easy["transfer_broken"] == easy["answering"] > 0.9
    assert easy["risk"] == pytest.approx(0.02, abs=0.005)
    assert (hard["answering"], hard["coverage"], hard["risk"]) == (0, 0, None)
    alone = guarantee_table(rows.filter(benchmark="easy"), signal=signal)
    assert alone["transfer_broken"].to_list() == [None]


def agreeing(n_tasks: int, n_wrong: int) -> pl.DataFrame:
    """Return tasks on all of which the programs agree."""
    rows = made_rows(2 * n_tasks).filter(pl.col("incoherence") == 0, benchmark="easy")
    return rows.with_columns(wrong=pl.int_range(pl.len()) < n_wrong)


@pytest.mark.parametrize(
    ("n_tasks", "n_wrong", "alpha", "delta"),
    [(2, 0, 0.04, 0.97), (2, 1, 0.04, 0.97), (4, 2, 0.1, 0.95), (40, 4, 0.05, 0.9)],
)
def test_what_repetitions_find_is_what_the_binomial_says(
    n_tasks: int, n_wrong: int, alpha: float, delta: float
) -> None:
    rows = agreeing(n_tasks, n_wrong)
    (found,) = guarantee_table(rows, alpha=alpha, delta=delta).iter_rows(named=True)
    n, wrong = n_tasks // 2, np.arange(n_tasks // 2 + 1)
    chance = binom.pmf(wrong, n, n_wrong / n_tasks)
    answering = chance[binom.cdf(wrong, n, alpha) <= delta].sum()
    expected = {
        "answering": answering,
        "coverage": answering,
        "broken": answering * (n_wrong / n_tasks > alpha),
        "held_out_above": answering * chance[wrong > alpha * n].sum(),
        "held_out_rejected": answering * chance[(wrong > 0) & (binom.sf(wrong - 1, n, alpha) <= 0.05)].sum(),
    }
    for name, share in expected.items():
        assert found[name] == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 1000) + 1e-9), name
    assert guarantee_table(rows, alpha=alpha, delta=delta, seed=0).row(0, named=True) == found


def test_half_of_the_tasks_give_a_threshold_and_the_other_half_is_answered() -> None:
    (found,) = agreement_table(agreeing(2, 0), alpha=0.04, delta=0.97).iter_rows(named=True)
    assert (found["threshold"], found["held_out_coverage"], found["held_out_risk"]) == (1, 1, 0)
    assert (found["held_out_risk_low"], found["held_out_risk_high"]) == clopper_pearson(0, 1, alpha=0.025)
    rows = agreeing(200, 20)
    first = agreement_table(rows, alpha=0.3)
    assert first.equals(agreement_table(rows, alpha=0.3, seed=0))
    assert not first.equals(agreement_table(rows, alpha=0.3, seed=1))


def test_curves_start_where_all_agree_and_end_with_every_task() -> None:
    found = curve_table(made_rows(), signal="largest_share").filter(benchmark="easy")
    assert found.select("threshold", "coverage", "risk").rows() == [(1.0, 0.5, 0.02), (0.6, 1.0, 0.51)]
    with pytest.raises(WrongUsage, match="one of incoherence, largest_share, n_clusters, dissent, got 'length'"):
        curve_table(made_rows(), signal="length")


def test_tasks_without_a_reference_and_coders_of_one_task_are_left_out_and_rows_may_come_in_any_order() -> None:
    rows = made_rows()
    unknown = rows.with_columns(task_id=pl.lit("u") + pl.col("task_id"), wrong=pl.lit(None, dtype=pl.Boolean))
    both = pl.concat([unknown, rows]).sample(fraction=1, shuffle=True, seed=1)
    assert agreement_table(both).equals(agreement_table(rows))
    assert guarantee_table(both).equals(guarantee_table(rows))
    assert agreement_table(unknown).is_empty()
    assert curve_table(unknown).is_empty()
    one = made_rows(1).filter(benchmark="easy").with_columns(benchmark=pl.lit("a task alone"))
    assert guarantee_table(pl.concat([one, rows]))["benchmark"].to_list() == ["easy", "hard"]


def test_where_all_programs_agree_the_risk_is_that_of_the_estimates() -> None:
    pool = load_pool(Store.open(find_results()), "HumanEval")
    rows = in_published_set(answers(pool, temperature=0.6, m=10, n=1000))
    row = agreement_table(rows).row(by_predicate=pl.col("model") == "gpt_4o", named=True)
    estimates = in_published_set(ablation(pool, [("gpt_4o", 0.6)], m=10, n=1000, subsets=False))
    known = false_trust(estimates).row(0, named=True)
    assert row["agree_coverage"] == known["n_coherent"] / known["n_tasks"]
    for end in ("", "_low", "_high"):
        assert row[f"agree_risk{end}"] == pytest.approx(known[f"p_erroneous{end}"], rel=1e-12)


def test_thresholds_go_from_the_strictest_answer_to_every_answer() -> None:
    ends = {"incoherence": (0, 1), "largest_share": (1, 0.1), "n_clusters": (1, 50), "dissent": (0, 1)}
    for name, (first, last) in ends.items():
        assert (THRESHOLDS[name][0], THRESHOLDS[name][-1]) == (first, last)
        assert list(THRESHOLDS[name]) == sorted(THRESHOLDS[name], reverse=first > last)
