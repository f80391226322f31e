"""The dashboard in a real headless browser: points are clicked, URLs reloaded, charts downloaded, attacks shown."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.dashboard_server import dashboard
from tests.support.hostile_store import BENCHMARK, LONG, NAME, make_hostile_store
from tests.support.screens import open_screen, settle
from tests.support.waiting import until

CHECKED = (
    'def middle(numbers: list[int]) -> str:\n    """Return the middle.\n\n    >>> middle([3, 1, 2])\n    2\n    """\n'
)
MIDDLE = "def middle(numbers):\n    return sorted(numbers)[len(numbers) // 2]\n"
HOSTILE = "def middle(numbers):\n    return \"<img src=x data-hostile onerror='window.owned = 1'> $x^2$\"\n"


@pytest.mark.slow
def test_charts_are_downloaded_as_svg_png_and_csv(page: Any, server: str) -> None:
    complaints = open_screen(page, f"{server}/overview")
    page.get_by_role("button", name="Download", exact=True).first.click()
    begins = {"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": b"benchmark,model"}
    for words, start in begins.items():
        with page.expect_download() as found:
            page.get_by_test_id("stDownloadButton").filter(has_text=words).first.get_by_role("button").click()
        assert Path(found.value.path()).read_bytes().startswith(start), words
    assert complaints == []


@pytest.mark.slow
def test_a_check_of_hostile_programs_gives_a_verdict_and_text_only(page: Any, server: str) -> None:
    complaints = open_screen(page, f"{server}/check?check_n=10")
    typed = {"The function": CHECKED, "Program 1": MIDDLE, "Program 2": HOSTILE}
    for label, code in typed.items():
        page.get_by_label(label, exact=True).fill(code)
        page.keyboard.press("Control+Enter")
        settle(page)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("The programs disagree").first.wait_for()
    settle(page)
    assert re.search(r"[?&]check=", page.url)
    main = page.get_by_test_id("stMain")
    assert main.locator("img[src=x], [data-hostile], .katex, main script").count() == 0
    assert page.evaluate("() => window.owned") is None
    assert "<img src=x data-hostile onerror='window.owned = 1'>" in main.inner_text()
    assert complaints == []


@pytest.mark.slow
def test_hostile_texts_are_shown_as_text(page: Any, tmp_path: Path) -> None:
    store = make_hostile_store(tmp_path / "store")
    with dashboard(store.root, tmp_path / "log") as (url, _):
        for path in ("overview", ""):
            complaints = open_screen(page, f"{url}/{path}")
            source = page.get_by_text(re.compile("^Store .* · ")).first.inner_text()
            named = source if path else page.get_by_test_id("explorer").get_attribute("data-benchmark")
            assert named.count(BENCHMARK) == 1, path
            injected = "img[src=x], [data-hostile], main a[href^=javascript], .katex, script:not([src]):not([type])"
            main = page.get_by_test_id("stMain")
            assert main.locator(injected).count() == 0, path
            assert page.evaluate("() => window.owned") is None
            assert not re.search("[\u202e\u2066\u200b\x07\x1b]", main.inner_text()), path
            assert len(page.content()) < LONG
            assert complaints == [], path
        explorer = page.get_by_test_id("explorer")
        page.get_by_test_id("explorer-dot").first.click(force=True)
        for words in ("⟨U+202E⟩", '<img src="x" onerror="window.owned = 1">'):
            until(lambda words=words: words in explorer.text_content(), 60)
        assert explorer.locator("img, script").count() == 0
        assert not re.search("[\u202e\u2066\u200b\x07\x1b]", explorer.text_content())
        assert NAME not in page.title()
        assert page.get_by_text("This page cannot be shown").count() == 0
        assert complaints == []  # nor while the explorer is used
