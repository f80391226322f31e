"""The page Signals: AUROC of what the store holds, structural signals where it has them."""

import pytest

from tests.dashboard.test_pages import opened, shown


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIFFTRUST_STORE", raising=False)


def test_incoherence_finds_errors_and_the_curve_shows_it() -> None:
    at = opened("signals")
    words = shown(at)
    assert "**1,224 of 2,401** pairs of model and task have an error. **incoherence** finds them best" in words
    table = at.dataframe[0].value.set_index("title")
    assert table.loc["incoherence", "auroc"] == pytest.approx(0.860, abs=5e-4)
    assert table.loc["incoherence", "low"] < 0.860 < table.loc["incoherence", "high"]


def test_one_model_in_the_url_is_the_only_one() -> None:
    at = opened("signals", model="gpt_4o")
    assert " of 150** pairs" in shown(at) or " of 151** pairs" in shown(at)


def test_what_each_adds_is_there_on_request() -> None:
    at = opened("signals", added="yes")
    assert {"added", "gain", "low", "high"} <= set(at.dataframe[1].value.columns)
