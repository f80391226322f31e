"""The dashboard in a real headless browser: points are clicked, URLs reloaded, charts downloaded, attacks shown."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.dashboard_server import dashboard
from tests.support.hostile_store import BENCHMARK, LONG, NAME, make_hostile_store
from tests.support.screens import PROBES, settle
from tests.support.waiting import until

PATIENCE = 90_000
CHECKED = (
    'def middle(numbers: list[int]) -> str:\n    """Return the middle.\n\n    >>> middle([3, 1, 2])\n    2\n    """\n'
)
MIDDLE = "def middle(numbers):\n    return sorted(numbers)[len(numbers) // 2]\n"
HOSTILE = "def middle(numbers):\n    return \"<img src=x data-hostile onerror='window.owned = 1'> $x^2$\"\n"


class Watched:
    """A page, and what it did that it should not."""

    def __init__(self, browser: Any, url: str, **options: Any):
        self.host = url.split("/")[2]
        self.page = browser.new_context(viewport={"width": 1280, "height": 1000}, **options).new_page()
        self.page.set_default_timeout(PATIENCE)
        self.errors: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._see)

    def _hear(self, message: Any) -> None:
        if message.type == "error" and not PROBES.search(message.location.get("url", "")):
            self.errors.append(f"{message.text} {message.location}")

    def _see(self, request: Any) -> None:
        if not request.url.startswith(("data:", "blob:")) and request.url.split("/")[2] != self.host:
            self.errors.append(f"asked {request.url}")

    def settle(self) -> None:
        self.page.wait_for_selector("h1")
        settle(self.page)

    def close(self) -> None:
        assert self.errors == []
        self.page.context.close()


@pytest.fixture
def watched(browser: Any, server: str) -> Iterator[Watched]:
    found = Watched(browser, server)
    yield found
    found.close()


def words_of(page: Any) -> list[str]:
    """Return the lines of words on the page."""
    return [line for line in page.get_by_test_id("stMain").inner_text().splitlines() if line.strip()]


@pytest.mark.slow
def test_charts_are_downloaded_as_svg_png_and_csv(watched: Watched, server: str) -> None:
    page = watched.page
    page.goto(f"{server}/overview")
    watched.settle()
    page.get_by_role("button", name="Download", exact=True).first.click()
    begins = {"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": b"benchmark,model"}
    for words, start in begins.items():
        with page.expect_download() as found:
            page.get_by_test_id("stDownloadButton").filter(has_text=words).first.get_by_role("button").click()
        assert Path(found.value.path()).read_bytes().startswith(start), words


@pytest.mark.slow
def test_a_check_of_hostile_programs_gives_a_verdict_and_text_only(watched: Watched, server: str) -> None:
    page = watched.page
    page.goto(f"{server}/check?check_n=10")
    watched.settle()
    typed = {"The function": CHECKED, "Program 1": MIDDLE, "Program 2": HOSTILE}
    for label, code in typed.items():
        page.get_by_label(label, exact=True).fill(code)
        page.keyboard.press("Control+Enter")
        watched.settle()
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("The programs disagree").first.wait_for()
    watched.settle()
    assert re.search(r"[?&]check=", page.url)
    main = page.get_by_test_id("stMain")
    assert main.locator("img[src=x], [data-hostile], .katex, main script").count() == 0
    assert page.evaluate("() => window.owned") is None
    assert "<img src=x data-hostile onerror='window.owned = 1'>" in main.inner_text()


@pytest.mark.slow
def test_hostile_texts_are_shown_as_text(browser: Any, tmp_path: Path) -> None:
    store = make_hostile_store(tmp_path / "store")
    with dashboard(store.root, tmp_path / "log") as (url, _):
        watched = Watched(browser, url)
        page = watched.page
        for path in ("overview", ""):
            page.goto(f"{url}/{path}")
            watched.settle()
            source = page.get_by_text(re.compile("^Store .* · ")).first.inner_text()
            named = source if path else page.get_by_test_id("explorer").get_attribute("data-benchmark")
            assert named.count(BENCHMARK) == 1, path
            injected = "img[src=x], [data-hostile], main a[href^=javascript], .katex, script:not([src]):not([type])"
            main = page.get_by_test_id("stMain")
            assert main.locator(injected).count() == 0, path
            assert page.evaluate("() => window.owned") is None
            assert not re.search("[\u202e\u2066\u200b\x07\x1b]", main.inner_text()), path
            assert len(page.content()) < LONG
        explorer = page.get_by_test_id("explorer")
        page.get_by_test_id("explorer-dot").first.click(force=True)
        for words in ("⟨U+202E⟩", '<img src="x" onerror="window.owned = 1">'):
            until(lambda words=words: words in explorer.text_content(), 60)
        assert explorer.locator("img, script").count() == 0
        assert not re.search("[\u202e\u2066\u200b\x07\x1b]", explorer.text_content())
        assert NAME not in page.title()
        assert page.get_by_text("This page cannot be shown").count() == 0
        watched.close()
