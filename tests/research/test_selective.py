"""What agreement is worth, from pools: answers by brute force, and the shipped results."""

import itertools
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from scipy.stats import binom

from difftrust.research.selective import (
    THRESHOLDS,
    agreement_table,
    answers,
    curve_table,
    guarantee_table,
)
from difftrust.shipped import find_results, in_published_set
from difftrust_core.estimates.measures import ablation
from difftrust_core.estimates.pool import Pool, load_pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.intervals import clopper_pearson, false_trust
from difftrust_core.store.store import Store
from tests.estimates.test_ablation import CODER, benchmarks, members, pool_of


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
    rows = []
    for benchmark, share in (("easy", 0.02), ("hard", 0.3)):
        for task in range(n_tasks):
            agree = task % 2 == 0
            wrong = (task // 2) % 100 < 100 * share if agree else True
            signals = {"incoherence": 0.0, "largest_share": 1.0, "n_clusters": 1.0, "dissent": 0.0}
            if not agree:
                signals = {"incoherence": 0.15, "largest_share": 0.6, "n_clusters": 3.0, "dissent": 0.25}
            rows.append({"benchmark": benchmark, "task_id": f"t{task}", **signals, "wrong": wrong})
    made = pl.DataFrame(rows).with_columns(model=pl.lit("a"), temperature=0.6, m=10, n=1000)
    return made.select("benchmark", "task_id", "model", "temperature", "m", "n", *THRESHOLDS, "wrong")


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


def test_tasks_without_a_reference_are_left_out_and_rows_may_come_in_any_order() -> None:
    rows = made_rows()
    unknown = rows.with_columns(task_id=pl.lit("u") + pl.col("task_id"), wrong=pl.lit(None, dtype=pl.Boolean))
    both = pl.concat([unknown, rows]).sample(fraction=1, shuffle=True, seed=1)
    assert agreement_table(both).equals(agreement_table(rows))
    assert guarantee_table(both).equals(guarantee_table(rows))
    assert agreement_table(unknown).is_empty()
    assert curve_table(unknown).is_empty()


def test_a_coder_of_one_task_is_left_out_and_those_behind_it_stay() -> None:
    one = made_rows(1).filter(benchmark="easy").with_columns(benchmark=pl.lit("a task alone"))
    kept = guarantee_table(pl.concat([one, made_rows()]))["benchmark"]
    assert kept.to_list() == ["easy", "hard"]


@pytest.fixture(scope="module")
def pool() -> Pool:
    return load_pool(Store.open(find_results()), "HumanEval")


def test_where_all_programs_agree_the_risk_is_that_of_the_estimates(pool: Pool) -> None:
    rows = in_published_set(answers(pool, temperature=0.6, m=10, n=1000))
    row = agreement_table(rows).row(by_predicate=pl.col("model") == "gpt_4o", named=True)
    estimates = in_published_set(ablation(pool, [("gpt_4o", 0.6)], m=10, n=1000, subsets=False))
    known = false_trust(estimates).row(0, named=True)
    assert row["agree_coverage"] == known["n_coherent"] / known["n_tasks"]
    for end in ("", "_low", "_high"):
        assert row[f"agree_risk{end}"] == pytest.approx(known[f"p_erroneous{end}"], rel=1e-12)


def test_thresholds_go_from_the_strictest_answer_to_every_answer() -> None:
    ends = {"incoherence": (0, 1), "largest_share": (1, 0.1), "n_clusters": (1, 50), "dissent": (0, 1)}
    assert {name: (listed[0], listed[-1]) for name, listed in THRESHOLDS.items()} == ends
    assert all(list(listed) in (sorted(listed), sorted(listed, reverse=True)) for listed in THRESHOLDS.values())
