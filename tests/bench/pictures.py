"""The pictures of the dashboard under docs/: `make pictures`, each page light, dark and on a phone."""

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.support.dashboard_server import dashboard
from tests.support.screens import open_screen

PAGES = {
    "overview": "overview?inputs=domain",
    "tasks": "tasks?inputs=domain",
    "task": "task?store=starter&inputs=domain&task=starter/split_bill&model=simulated/medium",
    "plan": "plan?inputs=domain",
    "ablation": "ablation?inputs=domain&model=claude_opus_4&model=gpt_4o",
    "signals": "signals?inputs=domain",
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


def main(folder: Path) -> None:
    """Write dashboard-<page>-<kind>.png into the folder."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        chromium = shutil.which("chromium") or "/usr/bin/chromium"
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        # Read-only, it names the store without its folders: alike on every machine. But then it checks nothing.
        for names, words in (([name for name in PAGES if name != "check"], ("--read-only",)), (["check"], ())):
            with dashboard(None, Path(place) / "log", words=words) as (url, _):
                for kind, told in KINDS.items():
                    _draw(browser, url, kind, told, names, folder)
        browser.close()


def _draw(browser: Browser, url: str, kind: str, told: dict[str, Any], names: list[str], folder: Path) -> None:
    page = browser.new_page(**told)
    page.set_default_timeout(120_000)
    for name in names:
        open_screen(page, f"{url}/{PAGES[name]}")
        if name == "check":
            _run_the_example(page)
        picture = Image.open(io.BytesIO(page.screenshot()))
        small = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
        small.save(folder / f"dashboard-{name}-{kind}.png", optimize=True)
    page.context.close()


def _run_the_example(page: Any) -> None:
    """Check the example of the page Check, so that there is something to see."""
    page.get_by_role("button", name="Run the example").click()
    page.get_by_text("programs disagree").first.wait_for()
    page.wait_for_timeout(1_000)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
