"""The keyboard alone leads to a task's inputs, over every slider, chip and dot; one click does, without scrolling."""

from pathlib import Path
from typing import Any

import pytest

import difftrust as dt
from difftrust.shipped import find_results
from tests.bench.dashboard import DRAWN
from tests.support.screens import open_screen

pytestmark = pytest.mark.slow
TASK = "HumanEval/122"
_FOCUSED = """
matched => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const style = at && getComputedStyle(at);
  return Boolean(at?.matches(matched)) && (style.outlineStyle !== 'none' && style.outlineWidth !== '0px' || 'unseen');
}
"""
"""True where the keyboard's place is on what is named and can be seen there."""
_SEEN = """
element => {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.top >= 0 && box.bottom <= window.innerHeight && box.right <= window.innerWidth;
}
"""


def tab_to(page: Any, matched: str, *, key: str = "Tab") -> None:
    """Press the Tab key until the keyboard's place is on what is named, and can be seen there."""
    for _ in range(120):
        page.keyboard.press(key)
        if found := page.evaluate(_FOCUSED, matched):
            assert found is True, f"{matched} has the keyboard's place and does not show it"
            return
    pytest.fail(f"{matched} is not reached by {key}")


def data(page: Any) -> dict[str, str]:
    return dict(page.get_by_test_id("explorer").evaluate("root => ({ ...root.dataset })"))


def work_by_keys(page: Any) -> None:
    """Find a task, read its inputs, move each slider, choose another model and a second one, walk over all dots."""
    press, pane = page.keyboard.press, page.get_by_test_id("explorer-pane")
    tab_to(page, ".cloud")
    press("/")
    page.keyboard.type(TASK)
    press("Enter")
    assert pane.get_attribute("data-task") == TASK
    press("Enter")
    assert page.evaluate(_FOCUSED, "[data-testid=explorer-pane]")
    first = pane.get_by_test_id("explorer-input").inner_text()
    press("j")
    assert pane.get_by_test_id("explorer-input").inner_text() != first
    press("Escape")
    assert pane.get_attribute("data-task") == ""
    assert page.evaluate(_FOCUSED, ".cloud")
    for name in ("m", "n", "temperature"):
        tab_to(page, f"[data-testid=explorer-{name}]", key="Shift+Tab" if name == "m" else "Tab")
        before = data(page)
        press("ArrowLeft")
        assert data(page)[name] != before[name]
        assert int(data(page)["revision"]) == int(before["revision"]) + 1
    other = "[data-testid=explorer-model][aria-pressed=false]"
    tab_to(page, other)
    before = data(page)["model"]
    press("Enter")
    assert data(page)["model"] != before
    tab_to(page, "[data-testid=explorer-compare]")
    press(" ")
    page.locator(".count", has_text="A right, B wrong").wait_for()
    press(" ")
    tab_to(page, ".cloud")
    shown = page.locator("[data-testid=explorer-dot]").evaluate_all(
        "dots => dots.filter(dot => dot.style.display !== 'none').map(dot => dot.dataset.task)"
    )
    assert sorted(_right(page) for _ in shown) == sorted(shown)
    press("ArrowUp")
    press("ArrowDown")
    assert pane.get_attribute("data-task") in shown


def _right(page: Any) -> str:
    page.keyboard.press("ArrowRight")
    return str(page.get_by_test_id("explorer-pane").get_attribute("data-task"))


@pytest.mark.parametrize("home", ["dashboard", "report"])
def test_the_keyboard_reaches_every_input_slider_chip_and_dot(
    page: Any, tmp_path: Path, home: str, request: pytest.FixtureRequest
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    if home == "dashboard":
        open_screen(page, str(request.getfixturevalue("server")))
    else:
        dt.open(find_results()).report(benchmark="HumanEval").save(tmp_path / "report.html")
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector(DRAWN)
    work_by_keys(page)


def test_one_click_and_no_scroll_lead_to_a_task_s_inputs(page: Any, server: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    open_screen(page, server)
    page.locator("[data-testid=explorer-dot].detected").first.click(force=True)
    shown = page.get_by_test_id("explorer-input")
    shown.locator(".outcomes pre").first.wait_for()
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    for part in (".arguments", ".outcomes > :first-child", ".outcomes > :nth-child(2)"):
        assert shown.locator(part).evaluate(_SEEN), part
