"""The dashboard's pages and parts without a browser: what they show, what they believe, what they refuse."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dashboard import data, downloads, permissions, prefetch, text
from dashboard.navigation import REGISTERED
from difftrust.figures.error_incoherence import draw_error_incoherence
from difftrust.shipped import find_results
from difftrust_core.estimates import pool as results
from difftrust_core.estimates.pool import load_pool
from difftrust_core.store.store import Settings, Store
from tests.support.pages import opened, shown


@pytest.mark.quick(6)
@pytest.mark.parametrize("page", [page for page in REGISTERED if page not in ("check", "measures")])
@pytest.mark.parametrize("more", [{}, {"benchmark": "MBPP", "equality": "strict", "t": "1"}, {"blind": "yes"}])
def test_each_page_opens_and_says_where_its_numbers_come_from(page: str, more: dict[str, str]) -> None:
    at = opened(page, **more)
    assert at.title[0].value == page.capitalize()
    words = shown(at)
    benchmark, temperature = more.get("benchmark", "HumanEval"), more.get("t", "0.6")
    assert f"results · {benchmark} · temperature {temperature} · m = 10 programs · n = 1,000 inputs" in words
    assert "input filter: reference accepts · executed 20" in words


@pytest.mark.slow
def test_a_url_is_believed_only_where_a_widget_could_have_written_it() -> None:
    at = opened(m="100000", n="-5", t="<b>", benchmark="../../etc", equality="drop table", nonsense="1")
    assert (
        "HumanEval · temperature 0.6 · m = 10 programs · n = 1,000 inputs · outcome comparison: tolerant (0.1 %)"
        in shown(at)
    )


@pytest.mark.slow
def test_without_a_reference_nothing_that_needs_one_is_shown() -> None:
    for page in ("overview", "tasks", "task"):
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
    assert tables == [{"model", "mean_incoherence", "cost_per_1000_tasks"}]
    for table in opened("tasks", blind="yes").dataframe:
        assert not {"error", "happened", "wrong", "right"} & set(table.value.columns)


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
    costs = dict(zip(table["model"], said["cost_per_1000_tasks"], strict=True))
    assert len(costs) == 16
    assert {model for model, cost in costs.items() if cost.startswith("≥ $")} == {
        "DeepSeek R1", "Gemini 2.5 Flash", "Gemini 2.5 Pro", "o4-mini",
    }  # fmt: skip
    assert (costs["GPT-4o"], costs["o4-mini"]) == ("$29.56", "≥ $11.56")
    assert "≥: a lower bound" in shown(at)


@pytest.mark.slow
def test_the_published_numbers_stand_beside_and_the_tests_only_where_others_are_counted() -> None:
    at = opened(published="yes")
    table = at.dataframe[0].value
    assert table[table["model"] == "GPT-4o"].iloc[0]["published_detection_rate"] == pytest.approx(0.70, abs=0.03)
    assert "Mean absolute difference: mean error 0.011" in shown(at)
    assert "passed_tests" not in opened(inputs="tests").dataframe[0].value.columns


def test_tasks_are_searched_and_filtered() -> None:
    table = opened("tasks", search="humaneval/12").dataframe[1]
    names = set(table.value["task_id"])
    assert names == {"HumanEval/12", *(f"HumanEval/12{i}" for i in range(10))}
    assert "No task matches" in shown(opened("tasks", search="%' or 1=1 --"))


def test_a_task_says_what_it_shows_and_shows_its_clusters() -> None:
    at = opened("task", task="HumanEval/0", model="gpt_4o")
    words = shown(at)
    assert "10 programs show 2 behaviours and disagree on" in words or "10 programs behave alike" in words
    assert "at least one program is wrong" not in words  # these inputs may lie outside the domain
    assert "of 10 programs are right on every input" in words
    assert "Programs that pass the task's tests: seed inputs: 10 of 10." in words
    assert at.dataframe[0].value["programs"].sum() == 10
    assert "The programs themselves are not part of this store" in words
    assert "difftrust fetch humaneval" in words


def test_more_inputs_than_were_executed_are_refused_with_what_to_do() -> None:
    words = shown(opened("task", task="HumanEval/0", n="10000"))
    assert "was executed on 1,000 inputs by all these programs, not 10,000; choose fewer" in words
    assert "Left out because some programs were not executed on 10,000 inputs: Claude Opus 4" in words


def _empty(root: Path) -> Path:
    return Store.create(root).root


def _results_without_rows(root: Path) -> Path:
    store = Store.create(root)
    store.write_settings(Settings(tables=("patterns", "classes", "members", "disagreements", "estimates")))
    return store.root


def _damaged(root: Path) -> Path:
    import shutil

    shutil.copytree(find_results(), root)
    path = next(root.rglob("classes.parquet"))
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
@pytest.mark.parametrize("page", ["overview", "task"])
def test_a_store_that_cannot_be_shown_gives_a_page_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any, message: str, page: str
) -> None:
    monkeypatch.setenv("DIFFTRUST_STORE", str(make(tmp_path / "store")))
    words = shown(opened(page))
    assert "This page cannot be shown." in words
    assert message in words
    assert "difftrust demo" in words


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
    assert text.visible("a\u202eb\x1b[2J\u200b") == "a⟨U+202E⟩b⟨U+001B⟩[2J⟨U+200B⟩"
    assert text.visible("é 漢 ok\n\t") == "é 漢 ok\n\t"
    assert text.one_line("a\nb") == "a⏎b"
    assert text.one_line("x" * 200, most=10) == "xxxxxxxxx…"
    assert text.escaped('<b>&"') == "&lt;b&gt;&amp;&quot;"


def test_long_lines_and_long_texts_are_cut_and_say_so() -> None:
    assert text.cut("x" * 1_000_000, line=5) == "xxxxx… (999,995 more characters)"
    assert text.cut("a\nb\nc\nd", lines=2) == "a\nb\n… (2 more lines)"
    assert text.cut("a\nb", lines=2) == "a\nb"
    assert text.plain("x" * 400) == "x" * 400
    assert text.plain("x" * 401) == "x" * 400 + "… (1 more characters)"
    assert text.plain("\n".join("x" * 400)) == "\n".join("x" * 400)
    assert text.plain("\n".join("x" * 401)) == "\n".join("x" * 400) + "\n… (1 more lines)"
    assert text.one_line("x" * 120) == "x" * 120
    assert text.one_line("x" * 121) == "x" * 119 + "…"


def test_outcomes_stand_side_by_side_and_the_reference_s_is_named() -> None:
    def cards(**more: str) -> list[str]:
        (found,) = [
            words
            for words in shown(opened("task", task="HumanEval/1", list="disagreeing", input="477", **more)).split("\n")
            if "<section" in words
        ]
        return found.split("<section")[1:]

    seen = cards()
    assert len(seen) == 12
    assert ["as the reference" in card for card in seen] == [bool(re.search(r", cluster 1\b", card)) for card in seen]
    assert sum("as the reference" in card for card in seen) == 1
    assert "<mark>" not in seen[0]
    assert all("<mark>" in card for card in seen[1:])
    assert any("<mark></mark>" in card for card in seen[1:])
    assert not any("as the reference" in card for card in cards(blind="yes"))


def test_data_is_downloaded_with_what_others_wrote_made_visible() -> None:
    table = pl.DataFrame({"model": ["a\x1b[2J"], "value": [0.5], "of": [[1, 2]], "names": [["b\u202e", "c"]]})
    assert downloads.as_csv(table).decode() == "model,value,of,names\na⟨U+001B⟩[2J,0.5,1 2,b⟨U+202E⟩ c\n"
    formulas = pl.DataFrame({"model": ["=1+1", "@x", "-1.5", "a=b"]})
    assert downloads.as_csv(formulas).decode() == "model\n'=1+1\n'@x\n-1.5\na=b\n"


def test_the_other_benchmark_is_loaded_while_the_first_is_looked_at() -> None:
    opened()
    prefetch._started(str(data.store_path())).join(60)
    loaded = results._load_pools.cache_info().misses
    assert load_pool(Store.open(find_results()), "MBPP", equality="strict").flat.n_tasks > 300
    assert results._load_pools.cache_info().misses == loaded


def test_more_points_than_altair_allows_become_a_picture() -> None:
    names = [f"x/{i}" for i in range(5_001)]
    table = pl.DataFrame({"benchmark": "x", "task_id": names, "model": "m", "error": 0.1, "incoherence": 0.1})
    assert downloads.as_picture(draw_error_incoherence(table), ".svg").startswith(b"<svg")
