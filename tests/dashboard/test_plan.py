"""The page Plan without a browser: the answer, what is missing, and what a moved slider computes."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from dashboard.views import plan
from tests.support.pages import opened, shown
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, executed


def test_the_answer_stands_first() -> None:
    at = opened("plan", find="0.5", alarms="0.1", model="gpt_4o")
    words = shown(at)
    assert "Buy this" in words
    assert "For each program to check, buy one program" in words
    (found,) = pl.read_ipc_stream(at.dataframe[0].proto.arrow_data.styler.display_values).rows(named=True)
    assert list(found) == ["policy", "models", "detection", "false_alarms", "programs", "usd_per_1000"]
    assert found["usd_per_1000"].startswith("$")
    assert 35 <= float(found["detection"].partition(" %")[0]) <= 80
    assert "chosen on" in words
    assert "scored on the other" in words
    table = at.dataframe[-1].value
    assert list(table.columns) == list(found)
    assert len(table) > 15


@pytest.mark.slow
def test_what_nothing_reaches_is_said_and_the_nearest_shown() -> None:
    words = shown(opened("plan", find="0.95", alarms="0.05", model="gpt_4o"))
    assert "Nearest recorded policy" in words
    assert "No policy finds 95 % of the errors of GPT-4o with at most 5 % false alarms." in words
    assert "To find 95 %, accept more false alarms" in words
    assert "No recorded policy finds 95 %" not in words
    assert "No policy has so few false alarms" in shown(opened("plan", alarms="0", model="claude_sonnet_4"))


def test_without_prices_programs_are_counted() -> None:
    at = opened("plan", store="starter", find="0.7", alarms="0.05", model="simulated/strong")
    words = shown(at)
    assert "Buy this" in words
    assert "$" not in words
    assert "Errors found against programs: ways to check" in words
    assert "The price of these programs is zero or unknown, so programs are counted in place of dollars" in words
    for table in (at.dataframe[0], at.dataframe[-1]):
        assert list(table.value.columns) == ["policy", "models", "detection", "false_alarms", "programs"]


@pytest.mark.slow
def test_without_a_reference_the_page_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [replace(task, reference=None) for task in TASKS]
    store = executed(tmp_path / "store", n=20, tasks=tasks, validity="quorum", one=(RIGHT, WRONG, OTHER))
    monkeypatch.setenv("DIFFTRUST_STORE", str(store.root))
    at = opened("plan")
    assert "no task of this benchmark has a reference" in shown(at)
    assert not at.dataframe


def test_shares_are_spelled() -> None:
    assert [plan.as_share(x) for x in (None, 0.0, 0.005, 0.05, 0.0834, 0.1, 0.8, 1.0)] == [
        "undefined", "0 %", "0.5 %", "5 %", "8.3 %", "10 %", "80 %", "100 %",
    ]  # fmt: skip
    assert pl.Series(plan.SHARES).is_sorted()
