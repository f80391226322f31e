"""The explorer: its cube gives the measures of the tables, and its three homes show the same."""

import gzip
import json
import math
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import difftrust as dt
from difftrust.explorer.cube import cube_of, make_cube, readings
from difftrust.shipped import find_results, find_starter_results, in_published_set
from difftrust_core.base.records import Reading
from difftrust_core.estimates.measures import ablation, summary
from difftrust_core.estimates.pool import Pool, load_pool
from difftrust_core.store.store import Store
from tests.support.dashboard_server import dashboard
from tests.support.lab import lab
from tests.support.waiting import until

TASK = "HumanEval/122"


def columns_of(task: dict[str, Any]) -> list[list[int]]:
    """Return the labels of a task, column by column; below 0 where a row was not executed."""
    rows: list[list[int]] = []
    for text in task["rows"]:
        said = [ord(each) - 48 for each in text[1:]]
        alike = rows[ord(text[0]) - 48] if rows else [0] * len(said)
        rows.append([one - 1 if one > 0 else one or same for one, same in zip(said, alike, strict=True)])
    return [list(column) for column in zip(*rows, strict=True)]


def measures_of(cube: dict[str, Any], coder: dict[str, Any], m: int, n: int) -> dict[str, dict[str, float | None]]:
    """Return the measures of each task, input by input and pair by pair: slow and obviously right."""
    found = {}
    last = cube["stops"].index(n)
    for task, samples in zip(cube["tasks"], coder["rows"], strict=True):
        rows = [ord(each) - 48 for each in samples[:m] if each != "!"]
        if not rows:
            continue
        columns = columns_of(task)
        weights = [sum(more[c] for more in task["weights"][: last + 1] if c < len(more)) for c in range(len(columns))]
        inputs = [[columns[c][row] for row in rows] for c, weight in enumerate(weights) for _ in range(weight)]
        pairs = [(a, b) for a in range(len(rows)) for b in range(len(rows)) if a != b]
        apart = [Counter(outcomes[a] != outcomes[b] for a, b in pairs)[True] / len(pairs) for outcomes in inputs]
        wrong = [Counter(outcome != 0 for outcome in outcomes)[True] / len(rows) for outcomes in inputs]
        found[task["id"]] = {
            "m": len(rows),
            "error": sum(wrong) / n,
            "incoherence": sum(apart) / n,
            "p_detected": 1 - math.prod(1 - share for share in apart),
            "p_erroneous": 1 - math.prod(1 - share for share in wrong),
            "detected": any(apart) or any(row in task["failed"] for row in rows),
        }  # fmt: skip
    return found


@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_the_cube_holds_what_every_measure_is_computed_from(equality: str) -> None:
    store = Store(find_starter_results())
    cube, pool = cube_of(store, "starter", equality=equality), load_pool(store, "starter", equality=equality)
    draw = random.Random(5)
    for _ in range(6):
        coder = draw.choice(cube["coders"])
        m, n = draw.randint(2, 10), draw.choice([stop for stop in cube["stops"] if stop <= 100])
        name = (cube["models"][coder["model"]]["id"], coder["temperature"])
        expected = ablation(pool, [name], m=m, n=n)
        found = measures_of(cube, coder, m, n)
        assert set(found) == set(expected["task_id"])
        for row in expected.iter_rows(named=True):
            for key, value in found[row["task_id"]].items():
                assert row[key] == pytest.approx(value, abs=1e-9), (name, m, n, row["task_id"], key)


def test_without_the_reference_nothing_of_it_is_handed_out() -> None:
    cube = cube_of(Store(find_starter_results()), "starter", blind=True)
    assert not any(task["has_reference"] for task in cube["tasks"])
    assert {one["kind"] for task in cube["tasks"] for one in task["smallest"]} <= {"disagreeing"}


def test_the_same_results_give_the_same_bytes_and_few() -> None:
    store = Store(find_results(), Reading(inputs="domain"))
    made = make_cube(store, "HumanEval")
    assert made == make_cube(store, "HumanEval")
    assert len(made) < 150_000
    said = json.loads(gzip.decompress(made))
    assert (len(said["tasks"]), len(said["models"])) == (150, 16)
    assert readings(store)[0] == "domain"


def test_a_notebook_hears_what_is_picked_and_its_page_is_answered() -> None:
    explorer = dt.open(find_starter_results()).explore()
    assert (explorer.benchmarks, explorer.selection) == (["starter"], [])
    assert json.loads(gzip.decompress(explorer.cube))["benchmark"] == "starter"
    sent: list[Any] = []
    explorer.send = sent.append
    state = {"benchmark": "starter", "inputs": "domain", "model": "simulated/weak", "t": "0.6", "m": "5", "n": "100"}
    explorer._answer(None, {"key": "a", "task": "starter/split_bill", "state": state}, None)
    explorer._answer(None, {"key": "b", "benchmark": "nothing", "inputs": "domain"}, None)
    assert sent[0]["value"]["programs"][-1][0] == "reference"
    assert sent[1] == {"key": "b", "value": None}


class Shown:
    """The explorer on a page, worked as a hand does."""

    def __init__(self, page: Any) -> None:
        self.page, self.root = page, page.get_by_test_id("explorer")
        page.wait_for_function("root => +root.dataset.revision > 0", arg=self.root.element_handle())

    def data(self) -> dict[str, str]:
        return dict(self.root.evaluate("root => ({ ...root.dataset })"))

    def slide(self, name: str, share: float) -> None:
        """Move a slider to this share of its way."""
        self.page.get_by_test_id(f"explorer-{name}").evaluate(
            "(slider, share) => {"
            " slider.value = Math.round(share * slider.max); slider.dispatchEvent(new Event('input')); }",
            share,
        )

    def pick(self, task: str) -> tuple[str, str]:
        """Click a dot, and return the task of the pane and its first input."""
        self.page.locator(f"[data-testid=explorer-dot][data-task='{task}']").click(force=True)
        self.page.locator(f"[data-testid=explorer-pane][data-task='{task}']").wait_for()
        pane = self.page.get_by_test_id("explorer-pane")
        return pane.get_attribute("data-task"), pane.get_by_test_id("explorer-input").first.inner_text()


def work(page: Any) -> list[Any]:
    """Do in each home what the test asks, and return all that was seen."""
    shown, seen = Shown(page), []
    for name, share in (("m", 0.03), ("n", 0.5), ("temperature", 1.0)):
        before = int(shown.data()["revision"])
        shown.slide(name, share)
        assert int(shown.data()["revision"]) == before + 1
        seen.append({key: value for key, value in shown.data().items() if key not in ("revision", "testid")})
    seen.append(shown.pick(TASK))
    page.get_by_test_id("explorer-compare").click()
    page.get_by_text("A − B").first.wait_for()
    page.get_by_text("paired by task").first.wait_for()
    seen.append(page.locator(".difftrust-explorer .count").all_inner_texts())
    page.get_by_test_id("explorer-compare").click()
    return seen


@contextmanager
def on_a_page(browser: Any, url: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(url)
    yield page
    context.close()


@pytest.mark.slow
@pytest.mark.full_machine
@pytest.mark.timeout(1800)
def test_three_homes_show_the_same(browser: Any, tmp_path: Path) -> None:
    study = dt.open(find_results())
    study.report(benchmark="HumanEval").save(tmp_path / "report.html")
    with on_a_page(browser, (tmp_path / "report.html").as_uri()) as page:
        offline = work(page)
        check_against_tables(page, study.pool("HumanEval"))
        assert serious(page) == []
    with dashboard(None, tmp_path / "log") as (url, _), on_a_page(browser, url) as page:
        assert work(page) == offline
        shown = page.evaluate("() => location.search")
        page.reload()
        assert Shown(page).data()["m"] in shown
        assert page.get_by_test_id("explorer-pane").get_attribute("data-task") == TASK
    with lab(tmp_path, "import difftrust as dt\n\ndt.open().explore()") as (url, run), on_a_page(browser, url) as page:
        run(page)
        assert work(page) == offline
    assert offline[3][0] == TASK


_WORK = """
settings => settings.map(([model, ...shares]) => {
  const root = document.querySelector('[data-testid=explorer]');
  root.querySelector(`[data-testid=explorer-model][data-model="${model}"]`).click();
  ['temperature', 'm', 'n'].forEach((name, i) => {
    const slider = root.querySelector(`[data-testid=explorer-${name}]`);
    slider.value = Math.round(shares[i] * slider.max);
    slider.dispatchEvent(new Event('input'));
  });
  return { ...root.dataset };
})
"""
"""Moves the sliders to each setting; returns what is shown."""


def check_against_tables(page: Any, whole: Pool, settings: int = 200) -> None:
    """Compare the numbers of random settings with those that the tables print."""
    draw, models = random.Random(7), sorted({model for model, _ in whole.members})
    asked = [(draw.choice(models), draw.random(), draw.random(), draw.random()) for _ in range(settings)]
    seen = page.evaluate(_WORK, asked)
    assert len({(said["model"], said["temperature"], said["m"], said["n"]) for said in seen}) > settings / 2
    for said in seen:
        coder = (said["model"], float(said["temperature"]))
        rows = in_published_set(ablation(whole, [coder], m=int(said["m"]), n=int(said["n"]), subsets=False))
        expected = summary(rows)
        for name, key in (
            ("error", "mean_error"),
            ("incoherence", "mean_incoherence"),
            ("detection", "detection_rate"),
        ):
            assert float(said[name]) == pytest.approx(expected[key], abs=1e-9), said


def serious(page: Any) -> list[str]:
    """Return what axe finds serious in the explorer."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page, context="[data-testid=explorer]").response
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.slow
def test_an_address_of_what_is_not_recorded_is_named(browser: Any, tmp_path: Path) -> None:
    with dashboard(None, tmp_path / "log") as (url, _):
        with on_a_page(browser, f"{url}/?benchmark=HumanEval&model=NOPE&m=99&n=x&t=0.60") as page:
            data, note = Shown(page).data(), page.locator(".note")
            assert (data["model"], data["m"], data["n"]) == ("gpt_4o", "50", "1000")
            said = "Not recorded here: model NOPE (shown: gpt_4o), m 99 (shown: 50), n x (shown: 1000)."
            assert note.inner_text() == said
            page.get_by_text("95 % intervals over tasks by percentile bootstrap").wait_for()
            Shown(page).slide("m", 0)
            assert note.text_content() == ""
        with on_a_page(browser, f"{url}/?model=gpt_4o&m=10&n=1000") as page:
            assert Shown(page).data()["m"] == "10"
            assert page.locator(".note").text_content() == ""


@pytest.mark.slow
def test_another_store_is_b_and_what_moves_while_it_is_read_stays(browser: Any, tmp_path: Path) -> None:
    shutil.copytree(find_results(), tmp_path / "own")
    with dashboard(tmp_path / "own", tmp_path / "log") as (url, _), on_a_page(browser, url) as page:
        shown = Shown(page)
        page.get_by_test_id("explorer-compare").click()
        asked: list[Any] = []
        page.route("**/explorer/cube?*store=paper*", lambda route: asked.append(route))
        page.get_by_label("Compare with: store").select_option("paper")
        until(lambda: bool(asked) or page.wait_for_timeout(20), 60)
        shown.slide("m", 0)
        asked.pop().continue_()
        page.locator(".numbers").get_by_text("16 LLMs, as published").wait_for()
        assert shown.data()["m"] == "2"
        page.get_by_label("Compare with: temperature").select_option("0.6")
        page.get_by_label("Compare with: programs").select_option("2")
        assert page.locator(".numbers b").nth(2).inner_text() == "0.0 points"
        page.wait_for_function("() => location.search.includes('with_store=paper')")
        with on_a_page(browser, page.url) as again:
            assert Shown(again).data()["m"] == "2"
            again.locator(".numbers b").nth(2).get_by_text("0.0 points").wait_for()
