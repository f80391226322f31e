"""The pictures in docs/: each page of the dashboard light, dark and on a phone, and the sliders of a notebook.

`make pictures`. The sliders are those of JupyterLab, started for it in a folder of its own.
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.support.dashboard_server import dashboard, launched
from tests.support.lab import lab
from tests.support.screens import open_screen

PAGES = {
    "explore": "?benchmark=HumanEval&inputs=domain&model=gpt_4o&task=HumanEval/122",
    "compare": "?benchmark=HumanEval&inputs=domain&model=gpt_4o&with=claude_sonnet_4&task=HumanEval/122",
    "task": "?store=starter&inputs=domain&task=starter/pack_boxes&model=simulated/weak",
    "overview": "overview?inputs=domain",
    "plan": "tables?inputs=domain",
    "signals": "tables?inputs=domain&part=signals",
    "check": "check",
}
"""Name -> path. The page Measures is a text."""
KINDS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
"""Name -> what the browser is told. A picture shows what stands there without scrolling."""
_COLOURS = 128
_DETAILS = ".codes-of-task > *"
"""There once the server has said what else it knows of a task."""


def main(folder: Path) -> None:
    """Write dashboard-<page>-<kind>.png and explore.png into the folder."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        browser = launched(driver)
        # Read-only, it names the store without its folders: alike on every machine. But then it checks nothing.
        for names, words in (([name for name in PAGES if name != "check"], ("--read-only",)), (["check"], ())):
            with dashboard(None, Path(place) / "log", words=words) as (url, _):
                for kind, told in KINDS.items():
                    _draw(browser, url, kind, told, names, folder)
        _draw_sliders(browser, Path(place), folder)
        browser.close()


def _draw(browser: Browser, url: str, kind: str, told: dict[str, Any], names: list[str], folder: Path) -> None:
    page = browser.new_page(**told)
    page.set_default_timeout(120_000)
    for name in names:
        open_screen(page, f"{url}/{PAGES[name]}")
        if name == "check":
            _run_the_example(page)
        elif "task=" in PAGES[name]:
            page.wait_for_selector(_DETAILS)
        _save(page.screenshot(), folder / f"dashboard-{name}-{kind}.png")
    page.context.close()


def _save(picture: bytes, path: Path, *, height: int | None = None) -> None:
    """Write a picture small, of few colours, its upper ``height`` pixels."""
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    cut = whole.crop((0, 0, whole.width, min(height or whole.height, whole.height)))
    cut.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _run_the_example(page: Any) -> None:
    """Check the example of the page Check, so that there is something to see."""
    page.get_by_role("button", name="Run the example").click()
    page.get_by_text("programs disagree").first.wait_for()
    page.wait_for_timeout(1_000)


_CELL = 'import difftrust as dt\n\ndt.open(inputs="domain").explore()'
_SLIDERS = {"viewport": {"width": 1400, "height": 1500}}
_SHOWN = 690
"""Pixels of the sliders and their charts; a table follows."""


def _draw_sliders(browser: Browser, place: Path, folder: Path) -> None:
    """Run a notebook of one cell in JupyterLab, and take the picture of what it shows."""
    with lab(place, _CELL) as (url, run):
        page = browser.new_page(**_SLIDERS)
        page.set_default_timeout(120_000)
        page.goto(url)
        run(page)
        page.locator("[data-testid=explorer-dot][data-task='HumanEval/122']").click(force=True)
        page.wait_for_selector(_DETAILS)
        _save(page.locator(".jp-OutputArea-output").first.screenshot(), folder / "explore.png", height=_SHOWN)
        page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
