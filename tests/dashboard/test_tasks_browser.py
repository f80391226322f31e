"""The matrix of tasks and models in a real browser: all cells on one canvas, a tooltip, a click that opens the task."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.screens import open_screen, settle


@pytest.fixture
def page(browser: Any, server: str) -> Iterator[tuple[Any, str]]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(60_000)
    yield context.new_page(), server
    context.close()


@pytest.mark.slow
def test_a_cell_says_what_it_is_and_opens_its_task(page: tuple[Any, str]) -> None:
    drawn, url = page
    assert open_screen(drawn, f"{url}/tasks?tasks=all") == []
    drawn.get_by_text("of 8,992 cells").wait_for()
    box = drawn.locator("canvas.marks").bounding_box()
    x, y = box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5
    drawn.mouse.move(x - 3, y)
    drawn.mouse.move(x, y + 2)
    tip = drawn.locator(".vg-tooltip.visible")
    tip.wait_for()
    words = tip.inner_text().split()
    assert {"error", "incoherence", "clusters", "task"} <= set(words)
    task = words[1]
    drawn.mouse.click(x, y + 2)
    drawn.wait_for_url("**/task?**")
    assert f"task={task.replace('/', '%2F')}" in drawn.url
    assert "model=" in drawn.url


@pytest.mark.slow
def test_which_model_for_string_tasks_takes_one_click_of_a_filter(page: tuple[Any, str]) -> None:
    drawn, url = page
    open_screen(drawn, f"{url}/tasks")
    drawn.get_by_text("Models on these 150 tasks").wait_for()
    drawn.get_by_role("combobox", name="Type of arguments").click()
    drawn.get_by_role("option", name="strings").click()
    drawn.wait_for_url("**args=strings**")
    drawn.get_by_text("Models on these 59 tasks").wait_for()
    settle(drawn)
    assert drawn.get_by_text("59 tasks x 16 models").count() == 1
