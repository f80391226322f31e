"""The questions of a new user, each answered on the shipped stores in at most three clicks and ten seconds."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.screens import open_screen, settle

MOST_CLICKS, MOST_SECONDS = 3, 10.0


class Visitor:
    """A page, the clicks made on it, and the time that they took, from the first page's last change on."""

    def __init__(self, page: Any):
        self.page, self.clicks, self.began = page, 0, 0.0

    def start(self, path: str) -> None:
        assert open_screen(self.page, path) == []
        self.clicks, self.began = 0, time.monotonic()

    def click(self, target: Any, **options: Any) -> None:
        target.click(**options)
        self.clicks += 1

    def point(self, x: float, y: float) -> None:
        self.page.mouse.click(x, y)
        self.clicks += 1

    def words(self) -> str:
        return str(self.page.get_by_test_id("stMain").inner_text())

    def answered(self) -> None:
        assert self.clicks <= MOST_CLICKS
        assert time.monotonic() - self.began < MOST_SECONDS


@pytest.fixture(scope="module")
def visitor(browser: Any, server: str) -> Iterator[Visitor]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=server)
    context.set_default_timeout(60_000)
    yield Visitor(context.new_page())
    context.close()


def choose(visitor: Visitor, label: str, option: str) -> None:
    """Choose in a box: two clicks."""
    visitor.click(visitor.page.get_by_role("combobox", name=re.compile(label)))
    visitor.click(visitor.page.get_by_role("option", name=option, exact=True))


def test_which_model_errs_least_and_how_sure_is_that(visitor: Visitor) -> None:
    visitor.start("/")
    words = visitor.words()
    assert re.search(r"lowest error", words, re.IGNORECASE)
    assert "Claude Sonnet 4" in words
    assert re.search(r"7\.2 ?%", words)
    visitor.answered()


def test_which_model_for_string_tasks(visitor: Visitor) -> None:
    visitor.start("/")
    visitor.click(visitor.page.get_by_role("link", name="Tasks", exact=True))
    visitor.page.wait_for_url("**/tasks**")
    choose(visitor, "Type of arguments", "strings")
    visitor.page.wait_for_url("**args=strings**")
    visitor.page.get_by_text("Models on these 59 tasks").wait_for()
    visitor.answered()


def test_why_is_this_coherent_answer_wrong(visitor: Visitor) -> None:
    """All ten programs agree: the input, what they return there, and what the reference returns."""
    visitor.start("/tasks?only=undetected&model=gpt_4o&inputs=domain")
    canvas = visitor.page.get_by_test_id("stVegaLiteChart").first.locator("canvas")
    box = canvas.bounding_box()
    found = False
    for down in range(8, 22):  # from row to row, until the tooltip says that the programs agree and are wrong
        x, y = box["x"] + box["width"] * 0.5, box["y"] + box["height"] * down / 24
        visitor.page.mouse.move(x, y)
        visitor.page.wait_for_timeout(60)
        tooltip = visitor.page.locator("#vg-tooltip-element.visible")
        if tooltip.count() and re.search(r"wrong.*agree", tooltip.inner_text(), re.DOTALL):
            visitor.point(x, y)
            found = True
            break
    assert found
    visitor.page.wait_for_url("**/task?**")
    visitor.page.get_by_text("Reference", exact=True).first.wait_for()
    settle(visitor.page)
    words = visitor.words()
    assert "In the domain" in words
    assert "cluster 1" in words
    visitor.answered()


def test_the_smallest_disagreeing_input_and_both_codes(visitor: Visitor) -> None:
    visitor.start("/task?store=starter&task=starter%2Fsplit_bill&inputs=domain")
    disagreeing = visitor.page.get_by_text(re.compile("^disagreeing", re.IGNORECASE)).first
    visitor.click(disagreeing)
    visitor.page.wait_for_url("**list=disagreeing**")
    settle(visitor.page)
    words = visitor.words()
    assert "smallest found" in words
    assert words.count("def split_bill(") >= 2
    visitor.answered()


def test_what_finds_the_errors_of_a_model_and_what_it_costs(visitor: Visitor) -> None:
    visitor.start("/overview?inputs=domain&model=gpt_4o")
    visitor.click(visitor.page.get_by_role("link", name="Plan", exact=True))
    visitor.page.get_by_text("Per 1,000 tasks").first.wait_for()
    settle(visitor.page)
    words = visitor.words()
    assert re.search(r"Errors found\s+\d+ %", words)
    assert re.search(r"\$\d+\.\d\d", words)
    visitor.answered()
