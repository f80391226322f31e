"""The report in a real browser without a network: on paper, on a phone, dark and light, with a stranger's store."""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from difftrust.page import make_page
from difftrust.shipped import find_results, find_starter_results
from difftrust.study import open_study
from tests.support.hostile_store import make_hostile_store
from tests.support.tiny import RIGHT, TASKS, WRONG, executed

pytestmark = pytest.mark.slow
LOCAL = re.compile("(file|data|blob):")
CONTRAST = """
() => {
  const light = colour => {
    const shares = colour.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * shares[0] + 0.7152 * shares[1] + 0.0722 * shares[2] + 0.05;
  };
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const found = getComputedStyle(at).backgroundColor;
      if (found !== 'rgba(0, 0, 0, 0)') return found;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const words = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
    const unseen = ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(element.tagName) || !element.getClientRects().length;
    if (!words || unseen) continue;
    const style = getComputedStyle(element);
    const letters = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [low, high] = [light(letters), light(ground(element))].sort((a, b) => a - b);
    if (high / low < 4.5) found.push(`${element.textContent.slice(0, 30)}: ${(high / low).toFixed(2)}`);
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    hostile = make_hostile_store(folder / "store").root
    stores = {"results": find_results(), "starter": find_starter_results(), "hostile": hostile}
    for name, root in stores.items():
        make_page(open_study(root).store).save(folder / f"{name}.html")
    make_page(open_study(stores["starter"]).store, task_id="starter/leave_days").save(folder / "task.html")
    return {name: folder / f"{name}.html" for name in (*stores, "task")}


Opened = Callable[..., tuple[Any, list[str]]]
"""Opens a page from a file, without a network; returns it, and its errors and requests."""


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    with contextlib.ExitStack() as contexts:

        def open_page(path: Path, width: int = 1024, scheme: str = "light") -> tuple[Any, list[str]]:
            screen = {"width": width, "height": 900}
            context = contexts.enter_context(browser.new_context(viewport=screen, color_scheme=scheme, offline=True))
            page, errors = context.new_page(), []
            page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("request", lambda asked: None if LOCAL.match(asked.url) else errors.append(f"asked {asked.url}"))
            page.goto(path.as_uri())
            return page, errors

        yield open_page


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1024, "light"), (1440, "dark")])
@pytest.mark.parametrize("name", ["results", "starter", "hostile", "task"])
def test_it_opens_offline_and_fits(opened: Opened, pages: dict[str, Path], name: str, width: int, scheme: str) -> None:
    page, errors = opened(pages[name], width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate("window.owned") is None
    assert page.locator("[data-hostile]").count() == 0
    assert errors == []


def test_on_paper_it_can_be_read(opened: Opened, pages: dict[str, Path]) -> None:
    page, errors = opened(pages["results"])
    page.emulate_media(media="print")
    assert page.evaluate(CONTRAST) == []
    assert page.pdf().startswith(b"%PDF")
    assert errors == []


def test_scripts_of_others_are_refused(opened: Opened, pages: dict[str, Path], tmp_path: Path) -> None:
    inserted = b"<script>window.owned = 1</script><img src='https://example.org/x.png'></main>"
    changed = tmp_path / "changed.html"
    changed.write_bytes(pages["task"].read_bytes().replace(b"</main>", inserted))
    page, errors = opened(changed)
    assert page.evaluate("window.owned") is None
    assert any("Content Security Policy" in error for error in errors)


def test_another_address_of_an_open_page_is_shown_and_no_word_of_the_language_is_a_status(
    opened: Opened, pages: dict[str, Path]
) -> None:
    page, _ = opened(pages["results"])
    page.goto(f"{pages['results'].as_uri()}#m=3&only=constructor")
    page.locator("[data-testid=explorer][data-m='3']").wait_for()
    page.wait_for_function("() => !location.hash.includes('only')")
    assert page.get_by_test_id("explorer-dot").count() > 100


def test_without_references_what_happened_is_whether_programs_agree(opened: Opened, tmp_path: Path) -> None:
    tasks = [replace(task, reference=None) for task in TASKS]
    made = executed(tmp_path / "store", n=5, tasks=tasks, validity="domain", coder=[RIGHT, WRONG])
    make_page(open_study(made.root).store).save(tmp_path / "page.html")
    page, _ = opened(tmp_path / "page.html")
    offered = page.get_by_label("What happened").locator("option")
    offered.nth(1).wait_for(state="attached")
    assert offered.all_inner_texts() == ["any outcome", "programs disagree", "all programs agree"]
