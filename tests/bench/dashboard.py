"""How long the dashboard takes: `make bench-dashboard` (STORE=DIR for another store than the shipped results).

Wall time is from the key or click to the last change of the page, its charts drawn, by the clock of a real headless
browser on this machine: the page shows the new words, nothing of it is stale, and then nothing changes for as long as
QUIET. CPU times in that span and QUIET, which a busy machine stretches less, are the server's, with what it makes ahead
of the next step, and the page's main thread's.
"""

import argparse
import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, sync_playwright

from tests.support.dashboard_server import dashboard
from tests.support.proc import cpu_seconds, peak_mb

SESSIONS = 20
INPUTS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""What the slider of n can be moved to, below where it stands."""
STILL = (
    "() => !document.querySelector('[data-testid=stStatusWidget]') && !document.querySelector('[data-stale=true]')"
    " && document.querySelector('h1')"
)
QUIET = 400
"""Milliseconds without a change after which the page is taken for finished."""
FINISHED = (
    f"([words, quiet]) => window.changed && performance.now() - window.changed > quiet && ({STILL})()"
    " && document.body.innerText.includes(words)"
)
# The time of the last change is taken when the frame that shows it has been made, not when the change was asked for.
# A table is drawn on a canvas: drawing there is a change. What is inside a canvas's element nobody sees: it is a copy
# of the table for screen readers, which follows up to 0.3 s after the drawing.
WATCH = """
window.began = window.changed = 0;
for (const kind of ['keydown', 'pointerdown']) {
  window.addEventListener(kind, () => { window.began = window.began || performance.now(); }, true);
}
const note = () => {
  window.changed = performance.now();
  requestAnimationFrame(() => setTimeout(() => { window.changed = performance.now(); }, 0));
};
const isSeen = change => {
  const at = change.target.nodeType === Node.ELEMENT_NODE ? change.target : change.target.parentElement;
  const canvas = at && at.closest('canvas');
  return at && at.closest('[data-testid=stMain]') && (!canvas || (at === canvas && change.type === 'attributes'));
};
new MutationObserver(changes => {
  if (window.began && changes.some(isSeen)) note();
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
for (const name of ['clearRect', 'drawImage', 'fill', 'fillRect', 'fillText', 'stroke']) {
  const draw = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...words) {
    if (window.began && this.canvas.isConnected && this.canvas.closest('[data-testid=stMain]')) note();
    return draw.apply(this, words);
  };
}
"""


class PageClock:
    """The CPU time of one page's main thread: scripts, layout, charts."""

    def __init__(self, page: Page):
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds(self) -> float:
        """Return it, so far."""
        found = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))

    def close(self) -> None:
        """Take it away: a page that many clocks watch is slow."""
        self._session.detach()


class Bench:
    """One server, one browser, and the times taken so far."""

    def __init__(self, url: str, pid: int):
        self.url, self.pid = url, pid
        self.taken: dict[str, list[tuple[float, float, float]]] = {}

    def open(self, name: str, page: Page, url: str, shows: str) -> None:
        """Open a page, wait until it says ``shows`` and stands still, and note how long that took."""
        wall, cpu = time.perf_counter(), cpu_seconds(self.pid)
        _go(page, url, shows)
        self._note(name, time.perf_counter() - wall, cpu, math.nan)

    def time(self, name: str, page: Page, act: Callable[[], Any], shows: str) -> None:
        """Act, wait until the page says ``shows`` and has changed for the last time, and note how long that took."""
        page.evaluate("() => { window.began = window.changed = 0; }")
        clock = PageClock(page)
        cpu, own = cpu_seconds(self.pid), clock.seconds()
        act()
        page.wait_for_function(FINISHED, arg=[shows, QUIET], polling=20)
        own = clock.seconds() - own
        clock.close()
        self._note(name, page.evaluate("() => window.changed - window.began") / 1000, cpu, own)

    def _note(self, name: str, wall: float, cpu: float, own: float) -> None:
        self.taken.setdefault(name, []).append((wall, cpu_seconds(self.pid) - cpu, own))

    def report(self) -> None:
        """Print a line an interaction, and one for all of them."""
        titles = ("wall, median", "p95", "server CPU", "p95", "page CPU", "p95")
        print(f"{'milliseconds':<34} {'times':>5}" + "".join(f"{title:>13}" for title in titles))
        every = [taken for name, all_ in self.taken.items() for taken in all_ if not name.startswith("open")]
        for name, taken in [*self.taken.items(), ("every interaction", every)]:
            columns = ([each[i] * 1000 for each in taken] for i in range(3))
            numbers = [number for values in columns for number in (statistics.median(values), _p95(values))]
            print(f"{name:<34} {len(taken):>5}" + "".join(f"{number:>13.0f}" for number in numbers))


def _go(page: Page, url: str, shows: str) -> None:
    page.goto(url)
    page.wait_for_function("words => document.body.innerText.includes(words)", arg=shows, polling=10)
    page.wait_for_function(STILL, polling=10)


def _p95(values: list[float]) -> float:
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]


def interact(bench: Bench, page: Page, rounds: int) -> None:
    """Do what users do, each thing ``rounds`` times."""
    bench.open("open the first page", page, bench.url, "95 % confidence intervals")
    _move(bench, page, rounds, "overview: move m")
    for i in range(rounds):
        word = ("strict", "tolerant (0.1 %)")[i % 2]
        page.get_by_role("button", name="More").click()
        label = page.get_by_test_id("stPopoverBody").get_by_text(word, exact=True)
        bench.time("overview: outcome comparison", page, label.click, f"comparison: {word}")
        page.keyboard.press("Escape")
    words = page.inner_text("body").split(" inputs ·")[0].rsplit("n = ", 1)[1]
    fewer = [str(n) for n in reversed(INPUTS) if n < int(words.replace(",", ""))][:3]
    there_and_back = [(n, "ArrowLeft") for n in fewer] + [(n, "ArrowRight") for n in (*fewer[1::-1], words)]
    for i in range(rounds):
        n, key = there_and_back[i % len(there_and_back)]
        page.get_by_role("slider", name="Inputs per task (n)").focus()
        bench.time("overview: move n", page, partial(page.keyboard.press, key), f"n = {n} inputs")
    _go(page, bench.url, "95 % confidence intervals")
    for i in range(rounds):
        name = ("MBPP", "HumanEval")[i % 2]
        page.get_by_role("combobox", name="Benchmark").click()
        option = page.get_by_role("option", name=name, exact=True)
        bench.time("overview: another benchmark", page, option.click, f"· {name} ·")
    _go(page, f"{bench.url}/?benchmark=MBPP", "95 % confidence intervals")
    _move(bench, page, rounds, "overview of MBPP: move m")
    slider = page.get_by_role("slider", name="Programs per task (m)")
    for m in range(15, 15 + 3 * rounds, 3):
        bench.time("overview of MBPP: jump to another m", page, partial(_jump, page, slider, m), f"m = {m} programs")
    _go(page, f"{bench.url}/tasks", "Models on these")
    for i in range(rounds):
        kind = ("strings", "lists")[i % 2]
        page.get_by_role("combobox", name="Type of arguments").click()
        option = page.get_by_role("option", name=kind, exact=True)
        bench.time("tasks: another type of arguments", page, option.click, "Models on these")
    _go(page, f"{bench.url}/task?task=HumanEval/20", "What this shows")
    page.evaluate("() => { window.began = window.changed = performance.now(); }")
    page.wait_for_function(FINISHED, arg=["of 1,000 inputs", QUIET])  # keys are heard only then
    for i in range(rounds):
        bench.time("task: another input", page, partial(page.keyboard.press, "jk"[i % 2]), "of 1,000 inputs")
    for name, button in (("next task (new)", "Next task"), ("previous task (seen)", "Previous task")):
        for _ in range(rounds):
            link = page.get_by_role("button", name=button)
            bench.time(f"task: {name}", page, lambda link=link: _follow(page, link), "What this shows")
    _go(page, f"{bench.url}/plan?model=gpt_4o", "Per 1,000 tasks")
    for _ in range(rounds):
        page.get_by_role("slider", name="I want to find").focus()
        bench.time("plan: another wish", page, partial(page.keyboard.press, "ArrowLeft"), "Per 1,000 tasks")

    _go(page, f"{bench.url}/ablation", "Each measure by programs")
    slider = page.get_by_role("slider", name="Programs per task (m)")
    for name, key, sign in (("new", "ArrowRight", 1), ("seen", "ArrowLeft", -1)):
        for i in range(rounds):
            m = 10 + i + 1 if sign > 0 else 10 + rounds - i - 1
            slider.focus()
            press = partial(page.keyboard.press, key)
            bench.time(f"ablation: move m ({name})", page, press, f"With {m} programs")
    for m in range(15, 15 + 3 * rounds, 3):  # no step from anything that was shown
        bench.time("ablation: jump to another m", page, partial(_jump, page, slider, m), f"With {m} programs")


def _move(bench: Bench, page: Page, rounds: int, name: str) -> None:
    """Move m away from 10 and half the way back."""
    slider = page.get_by_role("slider", name="Programs per task (m)")
    for i in range(rounds):
        slider.focus()
        key = "ArrowRight" if i < rounds / 2 else "ArrowLeft"
        m = 11 + i if i < rounds / 2 else 9 + 2 * -(-rounds // 2) - i
        bench.time(name, page, partial(page.keyboard.press, key), f"m = {m} programs")


def _jump(page: Page, slider: Locator, m: int) -> None:
    """Click on the track of a slider, there where m is; it begins with two programs."""
    box = slider.locator("xpath=../../..").bounding_box()
    assert box is not None
    share = (m - 2) / int(slider.get_attribute("max") or "")
    page.mouse.click(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)


def _follow(page: Page, link: Any) -> None:
    before = page.url
    link.click()
    page.wait_for_url(lambda url: url != before)


def many_sessions(bench: Bench, browser: Any) -> tuple[int, float]:
    """Open SESSIONS pages at once; return how many show an error, and how long all took."""
    paths = ("", "tasks", "task?task=HumanEval/1", "?benchmark=MBPP", "tasks?benchmark=MBPP&m=7")
    pages = [browser.new_context().new_page() for _ in range(SESSIONS)]
    began = time.perf_counter()
    for i, page in enumerate(pages):
        page.set_default_timeout(120_000)
        page.goto(f"{bench.url}/{paths[i % len(paths)]}", wait_until="commit")
    wrong = 0
    for page in pages:
        page.wait_for_selector("h1")
        page.wait_for_function(STILL)
        words = page.inner_text("body")
        wrong += "encountered an error" in words or "cannot be shown" in words
    return wrong, time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=10)
    chosen = parser.parse_args()
    chromium = shutil.which("chromium") or "/usr/bin/chromium"
    with tempfile.TemporaryDirectory() as folder, dashboard(chosen.store, Path(folder) / "log") as (url, pid):
        bench = Bench(url, pid)
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for name in ("open: cold", "open: warm", "open: warm"):
                page = browser.new_context().new_page()
                page.set_default_timeout(120_000)
                bench.open(name, page, url, "95 % confidence intervals")
                page.context.close()
            page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
            page.add_init_script(WATCH)
            page.set_default_timeout(120_000)
            interact(bench, page, chosen.rounds)
            page.context.close()
            wrong, seconds = many_sessions(bench, browser)
            browser.close()
        bench.report()
        print(f"{SESSIONS} sessions at once: {wrong} with an error, all there after {seconds:.1f} s")
        print(f"server memory at most {peak_mb(pid):.0f} MB, CPU {cpu_seconds(pid):.0f} s in all")
        print(
            "log holds a traceback" if "Traceback" in (Path(folder) / "log").read_text() else "log without a traceback"
        )


if __name__ == "__main__":
    main()
