"""The numbers that are read first."""

import polars as pl
import pytest

from difftrust.tables.render import in_percent
from difftrust.tables.sentences import compare, headlines
from tests.tables.test_sentences import tasks

BOTH = tasks(a=[(0.0, 0.0), (0.5, 0.4), (0.1, 0.0)], b=[(0.5, 0.5), (0.5, 0.5), (0.5, 0.0)])


def test_error_detection_and_what_agreement_hides() -> None:
    error, detected, silent = headlines(compare(BOTH, resamples=200))
    assert error.value.startswith("20.0 % [")
    assert error.detail.startswith("a · highest: b, 50.0 %")
    assert detected.value.startswith("50.0 %")
    assert silent.value == "33.3 % [0.8, 90.6]"  # 1 of 3 tasks, Clopper and Pearson


def test_without_a_reference_nothing_is_said_of_errors() -> None:
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
