"""The dashboard's pages and parts without a browser: what they show, what they believe, what they refuse."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from dashboard import downloads, handed_out, permissions, text
from dashboard.navigation import REGISTERED
from dashboard.views import plan
from difftrust.figures.error_incoherence import draw_error_incoherence
from difftrust.shipped import find_results
from difftrust_core.store.store import Settings, Store
from tests.support.pages import opened, shown
from tests.support.tiny import OTHER, RIGHT, TASKS, WRONG, executed


@pytest.mark.quick(6)
@pytest.mark.parametrize("page", ["overview", "plan", "signals"])
@pytest.mark.parametrize("more", [{}, {"benchmark": "MBPP", "equality": "strict", "t": "1"}, {"blind": "yes"}])
def test_each_page_opens_and_says_where_its_numbers_come_from(page: str, more: dict[str, str]) -> None:
    at = opened(page, **more)
    assert at.title[0].value == page.capitalize()
    words = shown(at)
    benchmark, temperature = more.get("benchmark", "HumanEval"), more.get("t", "0.6")
    assert f"results · {benchmark} · temperature {temperature} · m = 10 programs · n = 1,000 inputs" in words
    assert "input filter: reference accepts · executed 20" in words


@pytest.mark.parametrize(
    "page", ["check", *(pytest.param(p, marks=pytest.mark.slow) for p in REGISTERED if p != "check")]
)
def test_no_page_prints_what_its_code_returns(page: str) -> None:
    """Streamlit writes the value of a bare expression of its script into the page."""
    assert not {"None", "True", "False"} & {line.strip("` ") for line in shown(opened(page)).splitlines()}


@pytest.mark.slow
def test_a_url_is_believed_only_where_a_widget_could_have_written_it() -> None:
    at = opened(m="100000", n="-5", t="<b>", benchmark="../../etc", equality="drop table", nonsense="1")
    kept = "HumanEval · temperature 0.6 · m = 10 programs · n = 1,000 inputs · outcome comparison: tolerant (0.1 %)"
    assert kept in shown(at)


@pytest.mark.slow
def test_without_a_reference_nothing_that_needs_one_is_shown() -> None:
    at = opened("overview", blind="yes")
    words = shown(at).lower().split("· executed")[1]
    for needs in ("is wrong on", "compared with the reference", "despite agreement", "the reference behaves", "pass@1"):
        assert needs not in words, needs
    assert [set(table.value.columns) for table in at.dataframe] == [{"model", "mean_incoherence", "usd_per_1000"}]


def displayed(at: AppTest) -> pl.DataFrame:
    """Return the first table of a page as it is spelled there."""
    return pl.read_ipc_stream(at.dataframe[0].proto.arrow_data.styler.display_values)


def test_the_overview_has_table_4_with_costs_lower_bounds_and_pass_at_1() -> None:
    at = opened()
    table = at.dataframe[0].value.set_index("model")
    row = table.loc["GPT-4o"]
    assert row["mean_error"] == pytest.approx(0.1052, abs=5e-4)
    assert row["mean_incoherence"] == pytest.approx(0.0500, abs=5e-4)
    assert row["detection_rate"] == pytest.approx(0.710, abs=5e-3)
    assert row["passed_tests"] == pytest.approx(0.912)
    said = displayed(at)
    costs = dict(zip(table.index, said["usd_per_1000"], strict=True))
    assert len(costs) == 16
    assert {model for model, cost in costs.items() if cost.startswith("≥ $")} == {
        "DeepSeek R1", "Gemini 2.5 Flash", "Gemini 2.5 Pro", "o4-mini",
    }  # fmt: skip
    assert (costs["GPT-4o"], costs["o4-mini"]) == ("$29.56", "≥ $11.56")
    assert "≥: a lower bound" in shown(at)
    gpt = said.row(table.index.get_loc("GPT-4o"), named=True)
    as_in_table_alarms = ("59.3 % [46.2,\xa072.2]", "72.0 % [60.8,\xa081.5]")
    assert (gpt["precision"], gpt["recall"]) == as_in_table_alarms
    assert "of its tasks with disagreement are wrong on an input that the task allows" in shown(at)


@pytest.mark.slow
def test_the_published_numbers_stand_beside_and_the_tests_only_where_others_are_counted() -> None:
    at = opened(published="yes")
    words = shown(at)
    assert re.search(r"GPT-4o</td>.*?71\.0 %<br><span[^>]*>published (69|7[01])\.\d %", words)
    assert "Mean absolute difference: mean error 0.011" in words
    assert "passed_tests" not in opened(inputs="tests").dataframe[0].value.columns


def _results_without_rows(root: Path) -> None:
    tables = ("patterns", "classes", "members", "disagreements", "estimates")
    Store.create(root).write_settings(Settings(tables=tables))


def _damaged(root: Path) -> None:
    shutil.copytree(find_results(), root)
    path = root / "classes" / "benchmark=HumanEval" / "validity=reference" / "classes.parquet"
    path.write_bytes(path.read_bytes()[:1000])


def _strange(root: Path) -> None:
    root.mkdir()
    (root / "difftrust-store.json").write_text("{]")


STORES = {
    "missing": (lambda root: None, "no difftrust store in"),
    "empty": (Store.create, "holds no results yet; run `difftrust execute"),
    "results of nothing": (_results_without_rows, "holds no results yet"),
    "damaged": (_damaged, "classes.parquet is damaged"),
    "of another format": (_strange, "is not a store of format 1"),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize(("make", "message"), STORES.values(), ids=STORES)
@pytest.mark.parametrize("page", ["explore", "overview"])
def test_a_store_that_cannot_be_shown_gives_a_page_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any, message: str, page: str
) -> None:
    make(tmp_path / "store")
    monkeypatch.setenv("DIFFTRUST_STORE", str(tmp_path / "store"))
    words = shown(opened(page))
    assert "This page cannot be shown." in words
    assert message in words
    assert "difftrust demo" in words


@pytest.mark.parametrize("page", ["explore", "overview", "cube"])
def test_read_only_no_refusal_shows_where_the_store_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setenv("DIFFTRUST_STORE", str(tmp_path / "gone"))
    monkeypatch.setenv("DIFFTRUST_READONLY", "1")
    monkeypatch.setattr(handed_out, "_served", [])
    asked = TestClient(Starlette(routes=handed_out.routes("")))
    words = asked.get("/explorer/cube").text if page == "cube" else shown(opened(page))
    assert "no difftrust store in gone;" in words
    assert str(tmp_path) not in words


@pytest.mark.parametrize(
    ("said", "address", "may"),
    [
        *(("", address, True) for address in ("127.0.0.1", "localhost", "::1")),
        *(("", address, False) for address in ("0.0.0.0", "example.org", None)),
        ("yes", "127.0.0.1", False),
        ("0", "0.0.0.0", True),
    ],
)
def test_who_listens_beyond_this_machine_only_reads(
    monkeypatch: pytest.MonkeyPatch, said: str, address: str | None, may: bool
) -> None:
    monkeypatch.setenv("DIFFTRUST_READONLY", said)
    monkeypatch.setattr("streamlit.get_option", lambda name: address)
    assert permissions.may_execute() is may


def test_what_could_hide_or_reorder_is_made_visible() -> None:
    assert text.plain("a\u202eb\x1b[2J\u200b") == "a⟨U+202E⟩b⟨U+001B⟩[2J⟨U+200B⟩"
    assert text.plain("é 漢 ok\n\t") == "é 漢 ok\n\t"
    assert text.one_line("a\nb") == "a⏎b"
    assert text.escaped('<b>&"') == "&lt;b&gt;&amp;&quot;"


def test_long_lines_and_long_texts_are_cut_and_say_so() -> None:
    assert text.plain("x" * 400) == "x" * 400
    assert text.plain("x" * 401) == "x" * 400 + "… (1 more characters)"
    assert text.plain("\n".join("x" * 400)) == "\n".join("x" * 400)
    assert text.plain("\n".join("x" * 401)) == "\n".join("x" * 400) + "\n… (1 more lines)"
    assert text.one_line("x" * 120) == "x" * 120
    assert text.one_line("x" * 121) == "x" * 119 + "…"


def test_data_is_downloaded_with_what_others_wrote_made_visible() -> None:
    table = pl.DataFrame({"model": ["a\x1b[2J"], "value": [0.5], "of": [[1, 2]], "names": [["b\u202e", "c"]]})
    assert downloads.as_csv(table).decode() == "model,value,of,names\na⟨U+001B⟩[2J,0.5,1 2,b⟨U+202E⟩ c\n"
    formulas = pl.DataFrame({"model": ["=1+1", "@x", "-1.5", "a=b"]})
    assert downloads.as_csv(formulas).decode() == "model\n'=1+1\n'@x\n-1.5\na=b\n"


def test_more_points_than_altair_allows_become_a_picture() -> None:
    names = [f"x/{i}" for i in range(5_001)]
    table = pl.DataFrame({"benchmark": "x", "task_id": names, "model": "m", "error": 0.1, "incoherence": 0.1})
    assert downloads.as_picture(draw_error_incoherence(table), ".svg").startswith(b"<svg")


def test_the_answer_stands_first() -> None:
    at = opened("plan", find="0.5", alarms="0.1", model="gpt_4o")
    words = shown(at)
    assert "Buy this" in words
    assert "For each program to check, buy one program" in words
    (found,) = displayed(at).rows(named=True)
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
