"""The report as one file: what it holds, what it leaves out, what no text of others can do to it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from difftrust.page import Page, make_page
from difftrust.page.build import model_table
from difftrust.page.subject import Subject, make_subject
from difftrust.page.worth_reading import worth_reading
from difftrust.shipped import find_results, find_starter_results
from difftrust.study import open_study
from difftrust.tables.render import in_percent
from difftrust.tables.sentences import headlines
from difftrust_core.exceptions import WrongUsage
from tests.support.hostile_store import make_hostile_store


class Read(HTMLParser):
    """What a page holds: its texts, tags, attributes and scripts."""

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[str, str]] = []
        self._inside = ""
        self.feed(html.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs).get("type") or "", ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            kind, before = self.scripts.pop()
            self.scripts.append((kind, before + data))
        elif self._inside != "style":
            self.texts.append(data)

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def paper() -> Subject:
    return make_subject(open_study(find_results()).store)


@pytest.fixture(scope="module")
def page() -> Page:
    return make_page(open_study(find_results()).store)


@pytest.fixture(scope="module")
def starter() -> Page:
    return make_page(open_study(find_starter_results()).store)


def test_the_page_holds_what_a_reader_needs(page: Page) -> None:
    read = Read(page.html)
    words = read.words
    assert page.title == "HumanEval: where programs are wrong"
    for said in (
        "Store: results", "difftrust: 0.", "Tasks: 150", "Models: 16", "Temperature: 0.6", "Programs per task (m): 10",
        "Inputs per task (n): 1,000", "Inputs counted: reference accepts", "Programs executed: 20",
        "How it was measured", "Tasks worth reading",
    ):  # fmt: skip
        assert said in words
    assert len(read.named("article")) == 10
    assert len(page.html) < 5_000_000
    assert "GPT-4o" in words
    assert "gpt_4o" not in words


def test_it_is_one_file_and_asks_no_network(page: Page) -> None:
    read = Read(page.html)
    for _, attributes in read.tags:
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(name)
            assert value is None or value.startswith("data:image/svg+xml;base64,")
        assert not [name for name in attributes if name.startswith("on")]
    (policy,) = [meta["content"] for meta in read.named("meta") if meta.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    runs = [script for kind, script in read.scripts if kind == "module"]
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in runs}
    assert set(re.findall(r"'sha256-[^']+'", policy)) == hashes
    (results,) = [script for kind, script in read.scripts if kind == "application/json"]
    assert set(json.loads(results)["cubes"]) == {f"HumanEval {inputs}" for inputs in ("reference", "domain", "tests")}


@pytest.mark.slow
def test_the_numbers_are_those_of_table_4(paper: Subject) -> None:
    table = open_study(find_results()).table(4, intervals=True).filter(benchmark="HumanEval").frame
    best = table.filter(pl.col("model") == "claude_sonnet_4").row(0, named=True)
    error, detected, silent = headlines(paper.table)
    assert error.value.startswith(in_percent(best["mean_error"]))
    assert error.detail.startswith("Claude Sonnet 4 · highest: ")
    assert detected.value.startswith(in_percent(best["detection_rate"]))
    own = paper.tasks.filter(model="claude_sonnet_4")
    wrong = own.filter(~pl.col("detected"), pl.col("error") > 0).height
    assert silent.value.startswith(in_percent(wrong / own.height))
    shown, about = model_table(paper)
    assert re.findall(r"<th [^>]*>([^<]*)<", shown) == [
        "model", "error", "incoherence", "detected", "error of undetected", "pass@1", "$ per 1,000 tasks", "tasks",
    ]  # fmt: skip
    rows = [re.findall(r"<td[^>]*>([^<]*)<", row) for row in shown.split("<tr>")[2:]]
    assert len(rows) == 16
    assert rows[0][0] == "Claude Sonnet 4"
    assert rows[0][1].startswith(f"{in_percent(best['mean_error'])} [")
    assert about.startswith("Measures: error: how often")
    assert "≥: a lower bound" in about


def test_what_is_wrong_though_all_agree_comes_first_and_in_the_domain_before_others(paper: Subject) -> None:
    chosen = worth_reading(paper)
    assert len({one.task_id for one in chosen}) == len(chosen) == 10
    rows = {(row["model"], row["task_id"]): row for row in paper.tasks.iter_rows(named=True)}
    kinds = ["silent" if not rows[one.model, one.task_id]["detected"] else "incoherent" for one in chosen]
    assert kinds == ["silent"] * 6 + ["incoherent"] * 4
    assert all(rows[one.model, one.task_id]["error"] > 0 for one in chosen[:6])
    inside = [(one.model, one.task_id) in paper.in_domain for one in chosen[:6]]
    assert inside == sorted(inside, reverse=True)
    assert inside[0]
    incoherence = [rows[one.model, one.task_id]["incoherence"] for one in chosen[6:]]
    assert incoherence == sorted(incoherence, reverse=True)


@pytest.mark.slow
def test_codes_and_inputs_stand_where_the_store_holds_them(starter: Page) -> None:
    read = Read(starter.html)
    words = read.words
    assert "Wrong inputs" in words
    assert "Disagreeing inputs" in words
    assert "def " in words
    assert "reference" in words
    assert len(read.named("mark")) > 10
    assert "does not hold" not in words


def test_one_task_alone() -> None:
    store = open_study(find_results()).store
    made = make_page(store, task_id="HumanEval/122", models=["gpt_4o"])
    read = Read(made.html)
    assert made.title == "HumanEval/122: what the programs do"
    assert len(read.named("article")) == 1
    assert not read.scripts
    assert "10 programs behave alike, and differ from the reference on 51 % of inputs." in read.words
    assert "All programs agree here." in read.words
    assert "in the domain" in read.words
    assert "The smallest input found." in read.words
    everybody = Read(make_page(store, task_id="Mbpp/2", m=5, n=100).html)
    assert len(everybody.named("article")) > 10
    assert "Benchmark: MBPP" in everybody.words
    assert "Programs per task (m): 5" in everybody.words


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"benchmark": "x"}, r"no benchmark 'x'; it has: HumanEval, MBPP"),
        ({"temperature": 0.7}, r"HumanEval has no candidates at temperature 0.7; it has: 0.2, 0.6, 1"),
        ({"n": 10**6}, r"no model of HumanEval was executed on 1,000,000 inputs; all there are: -n 10000"),
        ({"task_id": "x"}, r"no results of a task 'x'; its benchmarks with results: HumanEval, MBPP"),
        ({"task_id": "HumanEval/0", "models": ["x"]}, r"the task HumanEval/0 has no programs of x; it has: claude"),
        ({"m": 99}, r"expected -m of at most 50, the most that is executed of any coder shown, got 99; choose fewer"),
        ({"task_id": "HumanEval/0", "benchmark": "MBPP"}, r"MBPP has no results of the task 'HumanEval/0'"),
    ],
)
def test_what_is_not_there_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(WrongUsage, match=said):
        make_page(open_study(find_results()).store, **asked)


def test_a_page_is_saved_under_a_name_that_says_what_it_is(page: Page, tmp_path: Path) -> None:
    page.save(tmp_path / "new" / "report.html")
    assert (tmp_path / "new" / "report.html").read_bytes() == page.html
    assert repr(page).startswith("report: HumanEval: where programs are wrong, 0.")
    with pytest.raises(WrongUsage, match=r"a report is written as .html, got 'report.pdf'; name it report.html"):
        page.save(tmp_path / "report.pdf")
    (tmp_path / "file").write_text("")
    with pytest.raises(WrongUsage, match="could not be written"):
        page.save(tmp_path / "file" / "report.html")


@pytest.mark.slow
def test_no_text_of_others_becomes_part_of_the_page(tmp_path: Path) -> None:
    store = open_study(make_hostile_store(tmp_path / "store").root).store
    html = make_page(store).html
    read = Read(html)
    assert len(html) < 2_000_000
    assert not read.named("b") or all(not attributes for attributes in read.named("b"))
    assert [attributes["class"] for attributes in read.named("img")] == ["picture"]
    (specs,) = [script for kind, script in read.scripts if kind == "application/json"]
    assert "<" not in specs
    assert json.loads(specs)["state"]["m"] > 1
    text = html.decode()
    for hidden in ("\x00", "\x1b", "\u202e", "\u2066", "\u200b"):
        assert hidden not in text.replace(json.dumps(specs), "")
    assert '<img src="x" onerror=' in read.words  # shown as text
