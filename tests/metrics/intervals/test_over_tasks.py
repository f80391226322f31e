"""The bootstrap over tasks: equal to the measures it resamples, and to resampling them one by one."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import bootstrap, norm, t

from difftrust.research import coders
from difftrust.research.per_candidate import paired_difference
from difftrust.tables.interval_columns import with_intervals
from difftrust_core.base.records import Detection
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics import aggregate as benchmark
from difftrust_core.metrics.intervals import bca_limits, bootstrap_tasks, statistic_of, task_weights
from tests.support.coverage import simulated_tasks

N_TASKS = 40
CASES = [
    *[(name, Detection.AS_PUBLISHED) for name in (*coders.MEASURES, "pass_at_1")],
    ("detection_rate", Detection.ALL_PAIRS),
    ("undetected_mean_error", Detection.ALL_PAIRS),
]


def tasks(seed=0, *, n_tasks=N_TASKS):
    frame = simulated_tasks(n_tasks, np.random.default_rng(seed))
    return frame.with_columns(
        benchmark=pl.lit("HumanEval"),
        task_id=pl.format("T/{}", pl.int_range(100, 100 + n_tasks)),
        functional_error=(frame["error"] * 10).ceil() / 10,
    )


def plain(measure, detection):
    """Return the measure as ``benchmark`` has it, of one table."""
    function = getattr(benchmark, measure)
    kwargs = {"detection": detection} if measure in ("detection_rate", "undetected_mean_error") else {}
    return lambda frame: function(frame, **kwargs)


@pytest.mark.parametrize(("measure", "detection"), CASES)
def test_weighted_is_the_measure_of_the_resampled_table(measure, detection):
    gaps = tasks().with_columns(
        error=pl.when(pl.int_range(N_TASKS) == 3).then(math.nan).otherwise("error"),
        p_detected=pl.when(pl.int_range(N_TASKS) == 5).then(None).otherwise("p_detected"),
    )
    for frame in (tasks(), gaps):
        weights = task_weights(N_TASKS, resamples=20, seed=1)
        weighted = statistic_of(measure, detection=detection)(frame, weights)
        drawn = [frame[np.repeat(np.arange(N_TASKS), row.astype(int)).tolist()] for row in weights]
        assert weighted == pytest.approx([plain(measure, detection)(d) for d in drawn], nan_ok=True)
        whole = statistic_of(measure, detection=detection)(frame, np.ones((1, N_TASKS)))
        assert whole[0] == pytest.approx(plain(measure, detection)(frame))


def test_limits_are_those_of_scipy_but_for_the_wider_quantiles():
    values = np.random.default_rng(3).beta(0.3, 2, size=400)
    frame = tasks(n_tasks=400).with_columns(error=pl.Series(values))
    ours = bootstrap_tasks(frame, statistic_of("mean_error"), resamples=20_000, seed=0)
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, rng=np.random.default_rng(1)).confidence_interval
    assert ours.estimate == pytest.approx(values.mean())
    assert (ours.low, ours.high) == (pytest.approx(theirs.low, abs=1e-3), pytest.approx(theirs.high, abs=1e-3))
    assert (ours.covers, ours.confidence) == ("tasks", 0.95)


@pytest.mark.parametrize("below", [0.5, 0.3])
def test_bca_moves_both_limits_by_bias_and_the_skewness_of_the_jackknife(below):
    """``below`` is the share of the resamples that lie below the point."""
    left_out = np.array([0.0] * 9 + [1.0])  # deviations 0.1 and -0.9: their cubes add up to -0.72, their squares to 0.9
    bias = norm.ppf(below)
    z = bias + math.sqrt(10 / 9) * t.ppf([0.1, 0.9], 9)
    resampled = np.linspace(0, 1, 10_001)
    for others, skewness in ((left_out, -0.72 / (6 * 0.9**1.5)), (np.full(10, 0.5), 0)):
        limits = bca_limits(below, resampled, others, confidence=0.8)
        assert limits == pytest.approx(norm.cdf(bias + z / (1 - skewness * z)), abs=1e-4)


def test_a_point_outside_of_all_resamples_is_taken_for_the_first_or_last_of_them():
    resampled, left_out = np.linspace(0, 1, 1001), np.linspace(-1, 1, 2001)
    low, high = norm.cdf(2 * norm.ppf(1 / 1001) + np.array([-1.96, 1.96]))
    assert bca_limits(-1, resampled, left_out, confidence=0.95) == pytest.approx((low, high), rel=0.05)
    assert bca_limits(2, resampled, left_out, confidence=0.95) == pytest.approx((1 - high, 1 - low), rel=1e-6)


def test_the_seed_decides():
    frame, mean = tasks(), statistic_of("mean_error")
    assert bootstrap_tasks(frame, mean) == bootstrap_tasks(frame, mean, seed=0) != bootstrap_tasks(frame, mean, seed=1)
    assert paired_difference(frame["error"].to_numpy()) == paired_difference(frame["error"].to_numpy(), seed=0)


def test_what_is_undefined_is_nan():
    right = tasks().with_columns(p_erroneous=0.0)
    assert math.isnan(bootstrap_tasks(right, statistic_of("detection_rate")).high)
    assert math.isnan(bootstrap_tasks(tasks()[:1], statistic_of("mean_error")).estimate)
    assert math.isnan(bootstrap_tasks(tasks()[:0], statistic_of("spearman")).estimate)


def test_a_difference_that_is_the_same_on_every_task_is_certain():
    assert paired_difference(np.zeros(9)) == (0, 0)
    assert paired_difference(np.full(8, 0.25)) == (0.25, 0.25)


def test_differences_are_paired():
    frame = tasks()
    differences = (frame["error"] * 0.9 + 0.1 - frame["error"]).to_numpy()
    low, high = paired_difference(differences)
    alone = bootstrap_tasks(frame, statistic_of("mean_error"))
    assert high - low < (alone.high - alone.low) / 4
    drawn = task_weights(len(differences), resamples=2000, seed=3) @ differences / len(differences)
    limits = paired_difference(differences, resamples=2000, seed=3, confidence=0.8)
    assert limits == pytest.approx(np.percentile(drawn, [10, 90]))
    with pytest.raises(WrongUsage, match="a task that both have"):
        paired_difference(np.zeros(0))


def test_another_measure_is_refused():
    with pytest.raises(WrongUsage, match="got 'median'"):
        statistic_of("median")


# --- whole tables


def several(*, temperature=0.6):
    named = [
        tasks(seed).with_columns(model=pl.lit(name), temperature=pl.lit(temperature)) for seed, name in enumerate("abc")
    ]
    other = named[1].with_columns(benchmark=pl.lit("MBPP"))[:25]
    return pl.concat([*named, other])


def test_a_table_has_the_intervals_of_its_coders():
    estimates = several()
    table = coders.table_4(estimates)
    found = with_intervals(table, estimates, resamples=300, seed=4)
    assert found.select(table.columns).equals(table, null_equal=True)
    assert found.columns[3:6] == ["mean_error", "mean_error_low", "mean_error_high"]
    for name, model in (("HumanEval", "b"), ("MBPP", "b")):
        one = estimates.filter((pl.col("benchmark") == name) & (pl.col("model") == model))
        row = found.filter((pl.col("benchmark") == name) & (pl.col("model") == model)).row(0, named=True)
        for measure in coders.MEASURES:
            alone = bootstrap_tasks(one.sort("task_id"), statistic_of(measure), resamples=300, seed=4)
            assert row[measure] == pytest.approx(alone.estimate)
            assert (row[f"{measure}_low"], row[f"{measure}_high"]) == pytest.approx((alone.low, alone.high))


def test_the_mean_over_coders_is_resampled_with_all_of_them():
    # Two coders whose errors add up to 1/2 on every task: their mean does not vary, whatever is drawn.
    one = tasks().with_columns(error=pl.col("error") / 2, model=pl.lit("a"), temperature=pl.lit(0.6))
    estimates = pl.concat([one, one.with_columns(error=0.5 - pl.col("error"), model=pl.lit("b"))])
    found = with_intervals(coders.table_4(estimates), estimates, resamples=200)
    mean = found.filter(pl.col("model") == "mean").row(0, named=True)
    assert (mean["mean_error"], mean["mean_error_low"], mean["mean_error_high"]) == pytest.approx((0.25,) * 3)
    assert found["mean_error_low"][0] < found["mean_error"][0]


def test_tables_with_several_temperatures_and_tables_of_nothing():
    estimates = pl.concat([several(), several(temperature=1.0).with_columns(error=0.0)])
    found = with_intervals(coders.table_4(estimates), estimates, resamples=100)
    assert found.select(["benchmark", "model", "temperature"]).equals(
        coders.table_4(estimates).select(["benchmark", "model", "temperature"])
    )
    assert found.filter(pl.col("temperature") == 1.0)["mean_error_high"].to_list() == [0.0] * 6
    nothing = estimates.clear()
    assert with_intervals(coders.table_4(nothing), nothing).is_empty()


def test_limits_take_two_tasks_and_two_resamples():
    two, one = np.array([0.0, 1.0]), np.array([0.5])
    assert np.isfinite(bca_limits(0.5, two, two, confidence=0.95)).all()
    for resampled, left_out in ((one, two), (two, one)):
        assert np.isnan(bca_limits(0.5, resampled, left_out, confidence=0.95)).all()
