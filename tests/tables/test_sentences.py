"""Models beside one another: numbers and sentences that a hand can check."""

import math

import polars as pl
import pytest

from difftrust.tables.render import in_percent
from difftrust.tables.sentences import compare, headlines, in_words
from difftrust_core.estimates.measures import TASK_SCHEMA


def tasks(**models: list[tuple[float, float]]) -> pl.DataFrame:
    """Return a row a task: (error, incoherence) of each; detected for certain where incoherence is above 0."""
    rows = []
    for model, values in models.items():
        for i, (error, incoherence) in enumerate(values):
            row = dict.fromkeys(TASK_SCHEMA, 0) | {"benchmark": "x", "model": model, "temperature": 0.6}
            row |= {"task_id": f"t{i}", "m": 2, "n": 10, "error": error, "incoherence": incoherence}
            row |= {"p_detected": float(incoherence > 0), "p_erroneous": float(error > 0), "functional_error": error}
            row |= {
                "completion_tokens": 5,
                "cost_usd": None if model == "b" else 0.5,
                "detected": incoherence > 0,
                "n_load_failures": 0,
            }
            rows.append(row)
    return pl.DataFrame(rows, schema=TASK_SCHEMA)


BOTH = tasks(a=[(0.0, 0.0), (0.5, 0.4), (0.1, 0.0)], b=[(0.5, 0.5), (0.5, 0.5), (0.5, 0.0)])


def test_a_row_a_model_sorted_by_error() -> None:
    table = compare(BOTH, resamples=200)
    assert table["model"].to_list() == ["a", "b"]
    first = table.row(0, named=True)
    assert first["mean_error"] == pytest.approx(0.2)
    assert first["mean_incoherence"] == pytest.approx(0.4 / 3)
    assert first["detection_rate"] == pytest.approx(0.5)
    assert first["undetected_mean_error"] == pytest.approx(0.05)
    assert first["pass_at_1"] == pytest.approx(0.8)
    assert first["cost_usd"] == pytest.approx(1.5)
    assert first["completion_tokens"] == 15
    assert first["mean_error_low"] < 0.2 < first["mean_error_high"]
    assert table.row(1, named=True)["cost_usd"] is None


def test_the_sentences_say_the_numbers() -> None:
    assert in_words(BOTH) == [
        "A program of a is wrong on 20% of the inputs, the fewest of these 2 models; one of b on 50%, the most.",
        "Disagreement alone detects 58% of the tasks on which a model errs, on average, from 50% (a) to 67% (b); the "
        "others are wrong despite agreement.",
    ]
    assert in_words(BOTH, table=compare(BOTH, resamples=200)) == in_words(BOTH)
    assert in_words(BOTH, with_reference=False) == [
        "Two programs of a disagree on 13% of the inputs, two of b on 33%. Where two disagree, at least one of them is "
        "wrong if the task allows the input."
    ]


def test_models_are_called_by_their_names() -> None:
    assert in_words(tasks(gpt_4o=[(0.5, 0.25)]))[0] == "A program of GPT-4o is wrong on 50% of the inputs."


def test_the_ranking_is_told_from_three_models_on() -> None:
    three = tasks(a=[(0.1, 0.1)], b=[(0.2, 0.2)], c=[(0.3, 0.3)])
    assert "ranking them by error is very strong (Spearman's rho 1.00)" in in_words(three)[1]


def test_without_a_reference_nothing_is_said_of_errors() -> None:
    unknown = tasks(a=[(math.nan, 0.25), (math.nan, 0.0)])
    assert in_words(unknown) == ["Two programs of a disagree on 12% of the inputs."]


def test_headlines_are_error_detection_and_what_agreement_hides() -> None:
    error, detected, silent = headlines(compare(BOTH, resamples=200))
    assert error.value.startswith("20.0 % [")
    assert error.detail.startswith("a · highest: b, 50.0 %")
    assert detected.value.startswith("50.0 %")
    assert silent.value == "33.3 % [0.8, 90.6]"  # 1 of 3 tasks, Clopper and Pearson
    said = headlines(compare(BOTH, resamples=200), with_reference=False)
    assert [number.detail for number in said] == ["a", "b"]
    assert [number.value[:6] for number in said] == ["13.3 %", "33.3 %"]
    assert not any("wrong" in number.words or "error" in number.words for number in said)


def test_the_silent_share_counts_tasks_wrong_where_all_agree() -> None:
    table = compare(BOTH, resamples=200)
    assert table["silent_rate"].to_list() == pytest.approx([1 / 3, 1 / 3])
    assert table["cost_per_1000_tasks"].to_list() == [pytest.approx(500), None]
    unknown = compare(BOTH.with_columns(error=pl.lit(None, pl.Float64)), resamples=200)
    assert unknown["silent_rate"].null_count() == 2


def test_percent_and_its_interval() -> None:
    assert in_percent(0.0723, 0.051, 0.103) == "7.2 % [5.1, 10.3]"
    assert in_percent(0.5) == "50.0 %"
    assert in_percent(None, 0.1, 0.2) == in_percent(float("nan")) == "undefined"
