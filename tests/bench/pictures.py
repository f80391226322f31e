"""The pictures of the dashboard under docs/: `python -m tests.bench.pictures docs`, each page in both themes."""

import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.bench.dashboard import STILL
from tests.support.dashboard_server import dashboard

PAGES = {
    "overview": ("", "95 % confidence intervals"),
    "tasks": ("tasks", "All tasks"),
    "task": ("task?task=HumanEval/1", "Outcomes by cluster and input"),
    "ablation": ("ablation?model=claude_opus_4&model=gpt_4o", "Detection rate by cost"),
    "signals": ("signals", "Correlation between signals"),
}
"""Name -> path, and words that stand there once it is drawn. The page Check shows nothing that a link could ask for."""
WIDTH, HIGHEST = 1280, 2200
_COLOURS = 200
_DRAWN = 3_000
"""Milliseconds after the last word in which charts are drawn, and the page takes its height."""


def main(folder: Path) -> None:
    """Write dashboard-<page>-<theme>.png into the folder."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        chromium = shutil.which("chromium") or "/usr/bin/chromium"
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        # Read-only, it names the store without its folders: alike on every machine.
        with dashboard(None, Path(name) / "log", DIFFTRUST_READONLY="1") as (url, _):
            for theme in ("light", "dark"):
                _draw(browser, url, theme, folder)
        browser.close()


def _draw(browser: Browser, url: str, theme: Any, folder: Path) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": HIGHEST}, color_scheme=theme)
    page.set_default_timeout(120_000)
    for name, (path, shows) in PAGES.items():
        page.goto(f"{url}/{path}")
        page.get_by_text(shows).first.wait_for()
        page.wait_for_function(STILL)
        page.wait_for_timeout(_DRAWN)
        height = page.evaluate(
            "() => document.querySelector('[data-testid=stMainBlockContainer]').getBoundingClientRect().height"
        )
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": min(HIGHEST, round(height))}
        picture = Image.open(io.BytesIO(page.screenshot(clip=clip)))  # type: ignore[arg-type]
        small = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
        small.save(folder / f"dashboard-{name}-{theme}.png", optimize=True)
    page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
