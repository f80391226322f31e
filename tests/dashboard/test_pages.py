"""The dashboard's pages and parts without a browser: what they show, what they believe, what they refuse."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dashboard import downloads, handed_out, permissions, text
from dashboard.navigation import REGISTERED
from difftrust.figures.error_incoherence import draw_error_incoherence
from difftrust.shipped import find_results
from difftrust_core.store.store import Settings, Store
from tests.support.pages import opened, shown


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
    assert (
        "HumanEval · temperature 0.6 · m = 10 programs · n = 1,000 inputs · outcome comparison: tolerant (0.1 %)"
        in shown(at)
    )


@pytest.mark.slow
def test_without_a_reference_nothing_that_needs_one_is_shown() -> None:
    for page in ("overview",):
        words = shown(opened(page, blind="yes")).lower()
        words = words.split("· executed")[1]
        for needs in (
            "is wrong on",
            "compared with the reference",
            "despite agreement",
            "the reference behaves",
            "pass@1",
        ):
            assert needs not in words, (page, needs)
    tables = [set(table.value.columns) for table in opened("overview", blind="yes").dataframe]
    assert tables == [{"model", "mean_incoherence", "usd_per_1000"}]


def test_the_overview_has_table_4_with_costs_lower_bounds_and_pass_at_1() -> None:
    at = opened()
    (shown_table,) = at.dataframe[:1]
    table = shown_table.value
    row = table[table["model"] == "GPT-4o"].iloc[0]
    assert row["mean_error"] == pytest.approx(0.1052, abs=5e-4)
    assert row["mean_incoherence"] == pytest.approx(0.0500, abs=5e-4)
    assert row["detection_rate"] == pytest.approx(0.710, abs=5e-3)
    assert row["passed_tests"] == pytest.approx(0.912)
    said = pl.read_ipc_stream(shown_table.proto.arrow_data.styler.display_values)
    costs = dict(zip(table["model"], said["usd_per_1000"], strict=True))
    assert len(costs) == 16
    assert {model for model, cost in costs.items() if cost.startswith("≥ $")} == {
        "DeepSeek R1", "Gemini 2.5 Flash", "Gemini 2.5 Pro", "o4-mini",
    }  # fmt: skip
    assert (costs["GPT-4o"], costs["o4-mini"]) == ("$29.56", "≥ $11.56")
    assert "≥: a lower bound" in shown(at)
    alarms = dict(zip(table["model"], zip(said["precision"], said["recall"], strict=True), strict=True))
    assert alarms["GPT-4o"] == ("59.3 % [46.2,\xa072.2]", "72.0 % [60.8,\xa081.5]")  # as `table alarms` has it
    words = shown(at)
    assert "of its tasks with disagreement are wrong on an input that the task allows" in words


@pytest.mark.slow
def test_the_published_numbers_stand_beside_and_the_tests_only_where_others_are_counted() -> None:
    at = opened(published="yes")
    words = shown(at)
    assert re.search(r"GPT-4o</td>.*?71\.0 %<br><span[^>]*>published (69|7[01])\.\d %", words)
    assert "Mean absolute difference: mean error 0.011" in words
    assert "passed_tests" not in opened(inputs="tests").dataframe[0].value.columns


def _empty(root: Path) -> Path:
    return Store.create(root).root


def _results_without_rows(root: Path) -> Path:
    store = Store.create(root)
    store.write_settings(Settings(tables=("patterns", "classes", "members", "disagreements", "estimates")))
    return store.root


def _damaged(root: Path) -> Path:
    import shutil

    shutil.copytree(find_results(), root)
    path = root / "classes" / "benchmark=HumanEval" / "validity=reference" / "classes.parquet"
    path.write_bytes(path.read_bytes()[:1000])
    return root


def _strange(root: Path) -> Path:
    root.mkdir()
    (root / "difftrust-store.json").write_text("{]")
    return root


STORES = {
    "missing": (lambda root: root, "no difftrust store in"),
    "empty": (_empty, "holds no results yet; run `difftrust execute"),
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
    monkeypatch.setenv("DIFFTRUST_STORE", str(make(tmp_path / "store")))
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
        ("", "127.0.0.1", True),
        ("", "localhost", True),
        ("", "::1", True),
        ("", "0.0.0.0", False),
        ("", "192.168.1.4", False),
        ("", "example.org", False),
        ("", None, False),
        ("1", "127.0.0.1", False),
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
    assert text.one_line("x" * 200, most=10) == "xxxxxxxxx…"
    assert text.escaped('<b>&"') == "&lt;b&gt;&amp;&quot;"


def test_long_lines_and_long_texts_are_cut_and_say_so() -> None:
    assert text.plain("x" * 1_000_000, line=5) == "xxxxx… (999,995 more characters)"
    assert text.plain("a\nb\nc\nd", lines=2) == "a\nb\n… (2 more lines)"
    assert text.plain("a\nb", lines=2) == "a\nb"
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
