"""The bootstrap over tasks: equal to the measures it resamples, and to resampling them one by one."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import bootstrap

from difftrust_core import benchmark
from difftrust_core.exceptions import WrongUsage
from difftrust_core.intervals.tasks import (
    bca_limits,
    bootstrap_tasks,
    paired_difference,
    statistic_of,
    task_weights,
)

N_TASKS = 40
CASES = [
    *[(name, benchmark.AS_PUBLISHED) for name in (*benchmark.MEASURES, "pass_at_1")],
    ("detection_rate", benchmark.ALL_PAIRS),
    ("undetected_mean_error", benchmark.ALL_PAIRS),
]


def tasks(seed=0, *, n_tasks=N_TASKS):
    rng = np.random.default_rng(seed)
    error = np.where(rng.random(n_tasks) < 0.5, 0, rng.integers(0, 10, n_tasks) / 10)
    incoherence = np.where(rng.random(n_tasks) < 0.3, 0, error * rng.random(n_tasks).round(1))
    return pl.DataFrame(
        {
            "benchmark": "HumanEval",
            "task_id": [f"T/{i:02d}" for i in range(n_tasks)],
            "error": error,
            "incoherence": incoherence,
            "p_erroneous": np.minimum(1, 3 * error),
            "p_detected": np.minimum(1, 5 * incoherence),
            "functional_error": np.ceil(error * 10) / 10,
        }
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


def test_bca_corrects_for_bias_and_skewness():
    resampled = np.linspace(0, 1, 10_001)
    level = 0.5 + np.array([-1, 1]) * 0.475
    symmetric = bca_limits(0.5, resampled, np.linspace(-1, 1, 2001), confidence=0.95)
    assert symmetric == (pytest.approx(level[0], abs=1e-3), pytest.approx(level[1], abs=1e-3))
    # The point lies at the median minus half a standard deviation: z0 = -0.5, so z moves by -1.
    shifted = bca_limits(0.308538, resampled, np.linspace(-1, 1, 2001), confidence=0.95)
    assert shifted == (pytest.approx(0.00154, abs=3e-4), pytest.approx(0.8314, abs=2e-3))


def test_the_seed_decides_and_the_order_of_rows_does_not():
    frame, mean = tasks(), statistic_of("mean_error")
    assert bootstrap_tasks(frame, mean, seed=1) == bootstrap_tasks(frame, mean, seed=1)
    assert bootstrap_tasks(frame, mean, seed=1) != bootstrap_tasks(frame, mean, seed=2)
    wide = bootstrap_tasks(frame, mean, confidence=0.99)
    narrow = bootstrap_tasks(frame, mean, confidence=0.8)
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high


def test_what_is_undefined_is_nan():
    right = tasks().with_columns(p_erroneous=0.0)
    assert math.isnan(bootstrap_tasks(right, statistic_of("detection_rate")).high)
    assert math.isnan(bootstrap_tasks(tasks()[:1], statistic_of("mean_error")).low)
    assert math.isnan(bootstrap_tasks(tasks()[:0], statistic_of("spearman")).estimate)


def test_a_difference_of_a_coder_to_itself_is_nothing():
    frame = tasks()
    same = paired_difference(frame, frame.reverse(), statistic_of("mean_error"))
    assert (same.estimate, same.low, same.high) == (0, 0, 0)


def test_differences_are_paired():
    frame = tasks()
    worse = frame.with_columns(error=pl.col("error") * 0.9 + 0.1)
    found = paired_difference(worse, frame, statistic_of("mean_error"))
    assert found.estimate == pytest.approx(0.1 * (1 - frame["error"].mean()))
    assert 0 < found.low < found.high < 0.1
    alone = bootstrap_tasks(frame, statistic_of("mean_error"))
    assert found.high - found.low < (alone.high - alone.low) / 4


def test_only_common_tasks_are_compared():
    one, other = tasks()[:30], tasks()[10:]
    found = paired_difference(one, other, statistic_of("mean_error"))
    assert "these 20 are a sample" in found.statement
    with pytest.raises(WrongUsage, match="tasks that both coders have"):
        paired_difference(tasks()[:5], tasks()[5:], statistic_of("mean_error"))


def test_another_measure_is_refused():
    with pytest.raises(WrongUsage, match="got 'median'"):
        statistic_of("median")
