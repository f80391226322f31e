"""The page Signals: AUROC of what the store holds, structural signals where it has them."""

import json
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from tests.support.pages import opened, shown


def test_signals_find_errors_and_the_curve_shows_it() -> None:
    at = opened("signals")
    words = shown(at)
    assert "**1,224 of 2,401** pairs of model and task have an error. **dissent of other models** finds" in words
    table = at.dataframe[0].value.set_index("signal")
    assert table.loc["incoherence", "auroc"] == pytest.approx(0.860, abs=5e-4)


@pytest.mark.slow
def test_one_model_in_the_url_is_the_only_one() -> None:
    at = opened("signals", model="gpt_4o")
    assert "**75 of 150** pairs" in shown(at)


@pytest.mark.slow
def test_what_each_adds_is_there_on_request() -> None:
    at = opened("signals", added="yes")
    assert list(at.dataframe[1].value.columns) == ["added", "auroc", "gain"]


def drawn(at: AppTest) -> list[tuple[dict[str, Any], list[pl.DataFrame]]]:
    """Return the Vega-Lite of each chart, and its data."""
    return [
        (json.loads(e.proto.spec), [pl.read_ipc_stream(each.data.data) for each in e.proto.datasets])
        for e in at.get("vega_lite_chart")
    ]


def test_every_signal_is_explained_where_it_is_used() -> None:
    at = opened("signals")
    (auroc, data), *_ = drawn(at)
    (table,) = [each for each in data if "title" in each.columns]
    assert auroc["layer"][0]["mark"]["type"] == "rule"  # chance
    assert table["meaning"].null_count() == 0
    said = at.dataframe[0].value.set_index("signal")["measures"]
    assert list(said.index) == table["title"].to_list()
    assert said["JSD"].startswith("JSD (structural) with names and values. Low: an error is likely. Song et al., ")
    assert "Valentin et al." in said["incoherence"]


@pytest.mark.slow
def test_where_the_reference_is_hidden_only_the_signals_are_compared_with_one_another() -> None:
    at = opened("signals", blind="yes")
    assert "The reference is hidden" in shown(at)
    ((_, data),) = drawn(at)
    names = set(data[0]["a"]) | set(data[0]["b"])
    assert "incoherence" in names
    assert not names & {"error", "pass@1", "pass@5"}
    words = shown(at)
    assert "AUROC by signal" not in words
    assert "have an error" not in words
    assert list(at.dataframe) == []
