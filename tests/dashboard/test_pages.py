"""The dashboard's pages and parts without a browser: what they show, what they believe, what they refuse."""

import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dashboard import data, downloads, permissions, prefetch, text
from dashboard.navigation import REGISTERED
from difftrust_core.analysis import pools as results
from difftrust_core.analysis.pools import load_pool
from difftrust_core.datasets.published import find_results
from difftrust_core.exceptions import WrongUsage
from difftrust_core.report.charts.ranking import ranking_drawing
from difftrust_core.report.charts.signals import correlations_drawing
from difftrust_core.report.charts.template import Drawing
from difftrust_core.store.store import Settings, Store

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


@pytest.fixture(autouse=True)
def _own_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIFFTRUST_STORE", raising=False)
    monkeypatch.delenv("DIFFTRUST_READONLY", raising=False)


def opened(page: str = "overview", **parameters: str | list[str]) -> AppTest:
    at = AppTest.from_file(str(APP), default_timeout=120)
    if page != REGISTERED[0]:
        at._page_hash = calc_hash(page)  # switch_page() knows pages that are files only
    for name, value in parameters.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def shown(at: AppTest) -> str:
    """Return every word of the page."""
    kinds = ("title", "subheader", "markdown", "code", "info", "error")
    words = [str(element.value) for kind in kinds for element in at.get(kind)]
    return "\n".join(words + [element.proto.body for element in at.get("html")])


@pytest.mark.parametrize("page", [page for page in REGISTERED if page not in ("check", "measures")])
@pytest.mark.parametrize("more", [{}, {"benchmark": "MBPP", "equality": "strict", "t": "1"}, {"blind": "yes"}])
def test_each_page_opens_and_says_where_its_numbers_come_from(page: str, more: dict[str, str]) -> None:
    at = opened(page, **more)
    assert at.title[0].value == page.capitalize()
    words = shown(at)
    benchmark, temperature = more.get("benchmark", "HumanEval"), more.get("t", "0.6")
    assert f"results · {benchmark} · temperature {temperature} · m = 10 programs · n = 1,000 inputs" in words
    assert "input filter: reference accepts · executed 20" in words


def test_a_url_is_believed_only_where_a_widget_could_have_written_it() -> None:
    at = opened(m="100000", n="-5", t="<b>", benchmark="../../etc", equality="drop table", nonsense="1")
    assert (
        "HumanEval · temperature 0.6 · m = 10 programs · n = 1,000 inputs · outcome comparison: tolerant (0.1 %)"
        in shown(at)
    )


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


def test_the_overview_has_the_numbers_of_table_4() -> None:
    table = opened().dataframe[0].value
    row = table[table["model"] == "GPT-4o"].iloc[0]
    assert row["mean_error"] == pytest.approx(0.1052, abs=5e-4)
    assert row["mean_incoherence"] == pytest.approx(0.0500, abs=5e-4)
    assert row["detection_rate"] == pytest.approx(0.710, abs=5e-3)


def test_pass_at_1_by_tests_stands_beside_the_error_on_other_inputs() -> None:
    at = opened()
    table = at.dataframe[0].value
    assert table[table["model"] == "GPT-4o"].iloc[0]["passed_tests"] == pytest.approx(0.912)
    assert "passed_tests" not in opened(inputs="tests").dataframe[0].value.columns
    assert "Programs that pass the task's tests: seed inputs: 10 of 10." in shown(
        opened("task", task="HumanEval/0", model="gpt_4o")
    )


def test_the_overview_has_the_cost_of_every_model_and_marks_lower_bounds() -> None:
    at = opened()
    (shown_table,) = at.dataframe[:1]
    table = shown_table.value
    assert not table["cost_per_1000_tasks"].isna().any()
    said = pl.read_ipc_stream(shown_table.proto.arrow_data.styler.display_values)
    costs = dict(zip(table["model"], said["cost_per_1000_tasks"], strict=True))
    assert len(costs) == 16
    assert {model for model, cost in costs.items() if cost.startswith("≥ $")} == {
        "DeepSeek R1", "Gemini 2.5 Flash", "Gemini 2.5 Pro", "o4-mini",
    }  # fmt: skip
    assert (costs["GPT-4o"], costs["o4-mini"]) == ("$29.56", "≥ $11.56")
    assert "≥: a lower bound" in shown(at)


def test_the_published_numbers_stand_beside() -> None:
    at = opened(published="yes")
    table = at.dataframe[0].value
    assert table[table["model"] == "GPT-4o"].iloc[0]["published_detection_rate"] == pytest.approx(0.70, abs=0.03)
    assert "Mean absolute difference: mean error 0.011" in shown(at)


def test_tasks_are_searched_and_filtered() -> None:
    table = opened("tasks", search="humaneval/12").dataframe[1]
    names = set(table.value["task_id"])
    assert names == {"HumanEval/12", *(f"HumanEval/12{i}" for i in range(10))}
    assert "No task matches" in shown(opened("tasks", search="%' or 1=1 --"))


def test_a_task_says_what_it_shows_and_shows_its_clusters() -> None:
    at = opened("task", task="HumanEval/0", model="gpt_4o")
    words = shown(at)
    assert "10 programs show 2 behaviours and disagree on" in words or "10 programs behave alike" in words
    assert "proves an error" not in words  # these inputs may lie outside the domain
    assert "of 10 programs are right on every input" in words
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


def test_a_reader_from_elsewhere_is_not_told_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTRUST_READONLY", "1")
    words = shown(opened())
    assert "Store results · HumanEval" in words
    assert str(find_results()) not in words


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


def ranked() -> Drawing:
    table = {"benchmark": "x", "model": ["a", "b"], "mean_error": 0.1, "mean_incoherence": [0.1, 0.2]}
    return ranking_drawing(pl.DataFrame(table))


def test_a_kept_chart_is_the_fresh_one_on_no_ground() -> None:
    drawing = ranked()
    fresh = drawing.chart().to_dict()
    for _ in range(2):  # made, then kept
        kept = downloads._shape(drawing.shape, drawing.options, False)
        assert {layer["data"]["name"] for layer in kept["layer"]} == set(drawing.data)
        for part in ("encoding", "mark"):
            assert [layer[part] for layer in kept["layer"]] == [layer[part] for layer in fresh["layer"]]
        assert kept["config"]["axis"] == fresh["config"]["axis"]
        assert "background" not in kept["config"]
        assert kept["autosize"] == {"type": "fit-x", "contains": "padding"}


def test_a_kept_chart_has_the_colours_of_the_page() -> None:
    drawing = ranked()
    colours = {}
    for is_dark in (False, True, False):
        spec = downloads._shape(drawing.shape, drawing.options, is_dark)
        colours[is_dark] = [layer["mark"]["color"] for layer in spec["layer"] if "color" in layer["mark"]]
    assert colours[False] == ["#EFEFEF", "#767676", "#444444", "#767676", "#444444"]
    assert colours[True] == ["#262A34", "#A0A0A0", "#C8C8C8", "#A0A0A0", "#C8C8C8"]


def contrast(one: str, other: str) -> float:
    """Return the ratio of WCAG 2 between two colours."""

    def light(colour: str) -> float:
        shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    low, high = sorted((light(one), light(other)))
    return high / low


@pytest.mark.parametrize(("is_dark", "letters"), [(False, "#000000"), (True, "#FAFAFA")])
def test_numbers_can_be_read_on_every_cell_of_the_correlations(is_dark: bool, letters: str) -> None:
    drawing = correlations_drawing(pl.DataFrame({"a": ["x"], "b": ["x"], "r": [1.0]}))
    cells, numbers = downloads._shape(drawing.shape, drawing.options, is_dark)["layer"]
    assert numbers["mark"]["color"] == ("#FAFAFA" if is_dark else "black")
    for ground in cells["encoding"]["color"]["scale"]["range"]:
        assert contrast(ground, letters) >= 4.5


def test_the_other_benchmark_is_loaded_while_the_first_is_looked_at() -> None:
    opened()
    prefetch._started(str(data.store_path())).join(60)
    loaded = results._load_pools.cache_info().misses
    assert load_pool(Store.open(find_results()), "MBPP", equality="strict").flat.n_tasks > 300
    assert results._load_pools.cache_info().misses == loaded


def test_more_points_than_altair_allows_become_a_picture() -> None:
    names = [f"m{i}" for i in range(5_001)]
    table = pl.DataFrame({"benchmark": "x", "model": names, "mean_error": 0.1, "mean_incoherence": 0.1})
    drawing = ranking_drawing(table.head(2))
    many = replace(drawing, data={**drawing.data, "points_0": table})
    assert downloads.as_picture(many, ".svg").startswith(b"<svg")


def test_only_the_steps_expected_last_are_made_and_a_refusal_ends_nothing() -> None:
    steps, made, done = prefetch.Steps(), [], threading.Event()

    def refuse() -> None:
        made.append("refused")
        raise WrongUsage("not there")

    steps.expect([lambda: made.append("of an earlier page")])
    steps.expect([refuse, lambda: made.append("made"), done.set])
    assert done.wait(10)
    assert made == ["refused", "made"]


def test_one_step_away_is_what_the_sliders_reach() -> None:
    least = data.Choice(
        source=data.open_source(), benchmark="HumanEval", temperature=0.6, m=2, n=100, equality="paper",
        validity="all", blind=True,
    )  # fmt: skip
    most = replace(least, m=least.held.most_candidates[0.6], equality="strict")
    assert most.m == 50
    for chosen, expected in ((least, [(3, "paper"), (2, "strict")]), (most, [(49, "strict"), (50, "paper")])):
        steps = chosen.one_step_away()
        assert [(step.m, step.equality) for step in steps] == expected
        assert {(step.benchmark, step.n, step.blind) for step in steps} == {("HumanEval", 100, True)}
    assert list(most.in_other_benchmarks()) == [replace(most, benchmark="MBPP")]
    for beyond in ({"m": 51}, {"n": 10_001}, {"temperature": 0.7}):
        assert not list(replace(most, **beyond).in_other_benchmarks())
