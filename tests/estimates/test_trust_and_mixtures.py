"""Mixtures, the same price, false trust, curves and differences to published values, by hand and by brute force."""

import itertools
import math
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from scipy.stats import t as student

from difftrust.research.coders import coder_measures
from difftrust.research.mixtures import mixture_summary, mixtures, same_price, usd_per_program
from difftrust.tables.grid import curves
from difftrust.tables.interval_columns import _p_value, differences, ranking_intervals
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import Price
from difftrust_core.metrics.intervals import false_trust
from tests.estimates.test_ablation import members, pool_of

CODERS = [("a", 0.6), ("b", 0.6), ("c", 0.6)]


LISTED = {"a": [[0, 0, 1], [0, 0, 0]], "b": [[1, 1, 1], [0, 2, 2]], "c": [[0, 1, 2], [1, 1, 1]]}


def pool() -> Pool:
    """Return two tasks; row 0 is the reference's behaviour, rows 1 and 2 differ from it on one input and on both."""
    labels = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.uint16)
    return pool_of([labels, labels], [0, 0], {(name, 0.6): members(rows) for name, rows in LISTED.items()})


@pytest.mark.parametrize(("n_models", "each"), [(1, 2), (1, 3), (2, 1), (2, 2), (3, 1)])
def test_mixtures_are_the_means_over_all_choices(n_models: int, each: int) -> None:
    found = mixtures(pool(), CODERS, n_models=n_models, each=each, m=3, n=2)
    for task in range(2):
        choices = []
        for checked, own in LISTED.items():
            is_wrong = max(own[task]) > 0
            for chosen in itertools.combinations([name for name in LISTED if name != checked], n_models - 1):
                per_model = [itertools.combinations(LISTED[name][task], each) for name in (checked, *chosen)]
                for programs in itertools.product(*per_model):
                    drawn = {row for rows in programs for row in rows}
                    disagree = len(drawn) > 1
                    choices.append((disagree and is_wrong, disagree and not is_wrong, disagree, max(drawn) > 0))
        names = ("p_model_found", "p_alarm", "p_detected", "p_erroneous")
        assert found.select(names).row(task) == pytest.approx(tuple(np.mean(choices, axis=0)))


def test_rates_of_mixtures_are_ratios_of_sums() -> None:
    found = mixture_summary(mixtures(pool(), CODERS, n_models=1, each=3, m=3, n=2))
    # Of six (model, task) pairs four disagree or err: a/1 and c/1 and b/2 are found, b/1 and c/2 err in silence.
    assert found["check_detection"] == pytest.approx(3 / 5)
    assert found["detection_rate"] == pytest.approx(3 / 5)
    assert found["check_alarms"] == 0
    # Of the six pairs of coders in each order, on two tasks: a/2 is right, and is so beside b and beside c.
    assert mixture_summary(mixtures(pool(), CODERS, n_models=2, each=3, m=3, n=2))["check_alarms"] == pytest.approx(1)
    assert found["mean_error"] == pytest.approx((1 + 3 + 3 + 0 + 4 + 3) / 36)
    assert math.isnan(mixture_summary(mixtures(pool(), CODERS, n_models=1, each=3, m=3, n=2).clear())["mean_error"])
    for n_models, each in ((0, 2), (4, 1), (1, 0), (3, 0), (1, 4), (1, 1)):
        with pytest.raises(WrongUsage, match=f"got {n_models} models and {each} programs"):
            mixtures(pool(), CODERS, n_models=n_models, each=each, m=3, n=2)


def prices(**usd: float) -> dict[tuple[str, float], Price]:
    """Return prices per million tokens, of prompts as of completions."""
    return {(name, 0.6): Price(prompt=price, completion=price) for name, price in usd.items()}


def test_the_same_money_buys_more_of_a_cheap_model() -> None:
    # Each program has 10 prompt and 100 completion tokens: 110 and 1,100 millionths of a dollar.
    dear = prices(a=10.0, b=1.0, c=100.0)
    bought = same_price(pool(), ("a", 0.6), dear, m=3, n=2, most_models=2)
    assert bought.select("models", "each").rows() == [("a", 3), ("a+b", 2)]  # c alone costs more than three of a
    assert bought["usd_per_task"].to_list() == pytest.approx([0.0033, 0.00242])
    # a has a wrong program on the first task only; three of three disagree; with two of each all choices do.
    # On the second task a is right; b is 0, 2, 2: every two of them hold a 2.
    for rate, expected in {"detection_rate": [1, 1], "check_detection": [1, 1], "check_alarms": [0, 1]}.items():
        assert bought[rate].to_list() == pytest.approx(expected)
    with pytest.raises(WrongUsage, match="needs a price, got none for z"):
        same_price(pool(), ("z", 0.6), dear)
    even = prices(a=10.0, b=1.0, c=10.0)
    some = same_price(pool(), ("a", 0.6), even, m=2, n=2)
    assert some.select("models", "each").rows() == [("a", 2), ("a+b", 1), ("a+c", 1)]  # a+b+c costs 21 of 20
    assert same_price(pool(), ("a", 0.6), even, m=1, n=2).is_empty()  # one program is no mixture


def test_tasks_without_a_reference_or_with_too_few_programs_are_left_out() -> None:
    """On the first task all programs are right, on the second all are wrong on one input."""
    labels = np.array([[0, 0], [0, 1]], dtype=np.uint16)
    listed = {name: [[0] * 3, [1] * 3, [0] * 3, [0] * m] for name, m in (("a", 3), ("b", 3), ("c", 2))}
    made = pool_of([labels] * 4, [0, 0, None, 0], {(name, 0.6): members(rows) for name, rows in listed.items()})
    found = mixtures(made, CODERS, n_models=2, each=1, m=3, n=2)
    columns = ("task_id", "error", "p_detected", "p_erroneous", "p_model_errs")
    assert found.select(columns).rows() == [("task/0", 0, 0, 0, 0), ("task/1", 0.5, 0, 1, 1)]
    rates = ("detection_rate", "check_detection", "check_alarms")

    def bought(m: int = 3, **given: Any) -> pl.DataFrame:
        return same_price(made, ("a", 0.6), prices(a=1.0, b=1.0, c=1.0), m=m, n=2, **given)

    assert bought(2).select(rates).rows() == [(0, 0, 0)] * 3
    assert bought()["each"].to_list() == [3, 1, 1, 1]
    second = bought(tasks=lambda rows: rows.filter(task_id="task/1"))
    assert second.select(rates).rows() == [(0, 0, None)] * 4
    assert bought(tasks=lambda rows: rows.clear()).is_empty()


def estimates(error: list[float | None], incoherence: list[float]) -> pl.DataFrame:
    same = {"benchmark": pl.lit("b"), "model": pl.lit("a"), "temperature": pl.lit(0.6)}
    made = pl.DataFrame({"error": error, "incoherence": incoherence}).with_row_index("task_id")
    return made.with_columns(pl.col("task_id").cast(pl.String), detected=pl.col("incoherence") > 0, **same)


def test_false_trust_counts_erroneous_tasks_among_coherent_ones() -> None:
    seen = estimates([0.0, 0.5, 0.1, 1.0, None], [0.0, 0.5, 0.0, 0.0, 0.0])
    row = false_trust(seen).row(0, named=True)
    assert (row["n_tasks"], row["n_coherent"], row["n_erroneous"], row["p_erroneous"]) == (4, 3, 2, 2 / 3)
    # Clopper-Pearson of 2 in 3, from its definition: the tail probabilities at both ends are 2.5 %.
    low, high = row["p_erroneous_low"], row["p_erroneous_high"]
    assert 3 * low**2 * (1 - low) + low**3 == pytest.approx(0.025)
    assert 1 - high**3 == pytest.approx(0.025)
    judged = false_trust(seen, judged=estimates([1.0] * 5, [0.0] * 5)).row(0, named=True)
    assert (judged["n_coherent"], judged["n_erroneous"]) == (4, 4)
    silent = false_trust(estimates([0.5], [0.5])).row(0, named=True)
    assert silent["p_erroneous"] is None
    assert (silent["p_erroneous_low"], silent["p_erroneous_high"]) == (0.0, 1.0)


def test_curves_leave_out_what_is_not_recorded() -> None:
    found = curves({"b": pool()}, "a", vary="m", values=(1, 2, 3, 4), fixed={"m": 2, "n": 2, "temperature": 0.6})
    assert found["m"].to_list() == [2, 3]
    assert found["mean_error"].to_list() == pytest.approx([0.0, 1 / 12])
    assert (found["mean_error_low"] <= found["mean_error"]).all()


def test_differences_are_sorted_and_compared_with_half_the_interval() -> None:
    columns = ["benchmark", "model", "mean_error", "published_mean_error", "mean_error_low", "mean_error_high"]
    rows = [("b", "x", 0.10, 0.11, 0.05, 0.15), ("b", "y", 0.30, 0.20, 0.25, 0.35)]
    found = differences(pl.DataFrame(rows, schema=columns, orient="row"))
    assert found.select("model", "beyond").rows() == [("y", True), ("x", False)]
    assert found["half_width"].to_list() == pytest.approx([0.05, 0.05])


def test_the_ranking_of_tasks_found_has_its_interval_and_p_value() -> None:
    rng = np.random.default_rng(1)
    coders = []
    for k in range(5):
        wrong = rng.random(60) < 0.1 * (k + 1)
        own = estimates(wrong.astype(float).tolist(), (wrong * 0.5).tolist())
        coders.append(own.with_columns(pl.lit(str(k)).alias("model"), p_erroneous="error", p_detected="error"))
    table = pl.concat(coders).with_columns(functional_error="error")
    row = ranking_intervals(table, resamples=200).row(0, named=True)
    assert (row["rho_found"], row["rho_found_low"], row["rho_found_high"]) == (1, 1, 1)
    assert row["rho_found_p"] == pytest.approx(2 / 120)  # two of all orders of five are as far from 0
    assert ranking_intervals(table.filter(pl.col("model") < "2"), resamples=20)["rho_found_low"].item() is None
    measures = coder_measures(table)
    assert measures["found"].to_list() == measures["erroneous"].to_list() == measures["error"].to_list()
    halved = pl.col("error").replace(1.0, 0.5)
    swapped = table.with_columns(error=halved, p_erroneous=pl.when(model="4").then(0.0).otherwise("error"))
    rho = ranking_intervals(swapped, resamples=200).row(0, named=True)
    by_hand = [float(spearmanr(range(5), order).statistic) for order in permutations(range(5))]
    as_far = [abs(each) >= abs(rho["rho_found"]) - 1e-9 for each in by_hand]
    assert rho["rho_found_p"] == pytest.approx(sum(as_far) / 120)


@pytest.mark.parametrize("rho", [0.3, 0.9])
def test_the_p_value_of_many_coders_is_students(rho: float) -> None:
    t = rho * math.sqrt(10 / (1 - rho**2))
    assert _p_value(rho, 12) == pytest.approx(2 * student.sf(t, 10))
    assert _p_value(-rho, 12) == pytest.approx(2 * student.sf(t, 10))


@pytest.mark.parametrize(
    ("prompt", "completion", "usd"),
    [([], [], math.nan), ([-1], [3], math.nan), ([3], [-1], math.nan), ([0, 2], [0, 4], 5e-6)],
)
def test_a_program_whose_tokens_are_not_known_has_no_price(
    prompt: list[int], completion: list[int], usd: float
) -> None:
    members = SimpleNamespace(prompt_tokens=np.array(prompt), completion_tokens=np.array(completion))
    pool: Any = SimpleNamespace(of=lambda _: members)
    found = usd_per_program(pool, CODERS[0], Price(prompt=1.0, completion=2.0))
    assert found == pytest.approx(usd, nan_ok=True)
