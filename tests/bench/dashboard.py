"""How long the dashboard takes: `make bench-dashboard` (STORE=DIR for another store than the shipped results).

Wall time is from the key or click to the last change of the page, its charts drawn, by the clock of a real headless
browser on this machine: the page shows the new words, nothing of it is stale, and then nothing changes for as long as
QUIET. CPU times in that span and QUIET, which a busy machine stretches less, are the server's, with what it makes ahead
of the next step, and the page's main thread's.
"""

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from tests.support.dashboard_server import dashboard, launched
from tests.support.proc import cpu_seconds, peak_mb

SESSIONS = 20
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


def page_seconds(session: CDPSession) -> float:
    """Return the CPU time of a page's main thread since the session began: scripts, layout, charts."""
    found = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


class Bench:
    """One server, one page of a browser, and the times taken so far."""

    def __init__(self, url: str, pid: int, page: Page):
        self.url, self.pid, self.page = url, pid, page
        self.taken: dict[str, list[tuple[float, float, float]]] = {}

    def go(self, path: str, shows: str) -> None:
        """Open a page, and wait until it says ``shows`` and stands still."""
        self.page.goto(f"{self.url}/{path}")
        self.page.wait_for_function("words => document.body.innerText.includes(words)", arg=shows, polling=10)
        self.page.wait_for_function(STILL, polling=10)

    def open(self, name: str) -> None:
        """Open the first page and note how long that took."""
        wall, cpu = time.perf_counter(), cpu_seconds(self.pid)
        self.page.goto(self.url)
        self.page.wait_for_selector(DRAWN)
        self._note(name, time.perf_counter() - wall, cpu, math.nan)

    def time(self, name: str, act: Callable[[], Any], shows: str) -> None:
        """Act, wait until the page says ``shows`` and has changed for the last time, and note how long that took."""
        self.page.evaluate("() => { window.began = window.changed = 0; }")
        session = self.page.context.new_cdp_session(self.page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        cpu, own = cpu_seconds(self.pid), page_seconds(session)
        act()
        self.page.wait_for_function(FINISHED, arg=[shows, QUIET], polling=20)
        own = page_seconds(session) - own
        session.detach()  # a page that many sessions watch is slow
        self._note(name, self.page.evaluate("() => window.changed - window.began") / 1000, cpu, own)

    def press(self, name: str, key: str, shows: str, slider: str = "") -> None:
        """Time a key, on a slider if one is named."""
        if slider:
            self.page.get_by_role("slider", name=slider).focus()
        self.time(name, partial(self.page.keyboard.press, key), shows)

    def choose(self, name: str, box: str, value: str, shows: str) -> None:
        """Time the choice of a value."""
        self.page.get_by_role("combobox", name=box).click()
        self.time(name, self.page.get_by_role("option", name=value, exact=True).click, shows)

    def _note(self, name: str, wall: float, cpu: float, own: float) -> None:
        self.taken.setdefault(name, []).append((wall, cpu_seconds(self.pid) - cpu, own))

    def report(self) -> None:
        """Print a line an interaction, and one for all of them."""
        titles = ("wall, median", "p95", "server CPU", "p95", "page CPU", "p95")
        print(f"{'milliseconds':<34} {'times':>5}" + "".join(f"{title:>13}" for title in titles))
        every = [taken for name, all_ in self.taken.items() for taken in all_ if not name.startswith("open")]
        for name, taken in [*self.taken.items(), ("every interaction", every)]:
            columns = [sorted(each[i] * 1000 for each in taken) for i in range(3)]
            last = max(0, -(-len(taken) * 95 // 100) - 1)
            numbers = [number for values in columns for number in (statistics.median(values), values[last])]
            print(f"{name:<34} {len(taken):>5}" + "".join(f"{number:>13.0f}" for number in numbers))


PROGRAMS = "Programs per task (m)"
DRAWN = "[data-testid=explorer]:not([data-revision='0'])"
"""There once the explorer has drawn its numbers and dots."""
EXPLORE = """
([name, rounds]) => (async () => {
  const deep = root => root.querySelector('[data-testid=explorer]')
    ?? [...root.querySelectorAll('*')].filter(e => e.shadowRoot).map(e => deep(e.shadowRoot)).find(Boolean);
  const root = deep(document), taken = [];
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
  for (let i = 0; i < rounds; i++) {
    const slider = root.querySelector(`[data-testid=explorer-${name}]`);
    const dots = [...root.querySelectorAll('[data-testid=explorer-dot]')].filter(dot => dot.style.display !== 'none');
    await new Promise(done => setTimeout(done, 250));
    const began = performance.now(), before = +root.dataset.revision;
    if (slider) {
      slider.value = (+slider.value + 1) % (+slider.max + 1);
      slider.dispatchEvent(new Event('input'));
    } else dots[(7 * i) % dots.length].dispatchEvent(new MouseEvent('click', { bubbles: true }));
    while (+root.dataset.revision === before) await frame();
    root.getBoundingClientRect();
    taken.push(performance.now() - began);
  }
  return taken;
})()
"""
"""Milliseconds from an input to the revision that shows it, layout included; from a click where no slider is named."""


def explore(bench: Bench, rounds: int) -> None:
    """Move the explorer's sliders and pick its dots."""
    for path in ("", "?benchmark=MBPP"):
        bench.page.goto(f"{bench.url}/{path}")
        bench.page.wait_for_selector(DRAWN)
        bench.page.wait_for_timeout(1_000)
        for name, words in (("m", "m"), ("n", "n"), ("temperature", "temperature"), ("pick", "click on a dot")):
            cpu = cpu_seconds(bench.pid)
            for wall in bench.page.evaluate(EXPLORE, [name, rounds]):
                bench._note(f"explore {path[11:]}: {words}", wall / 1000, cpu, math.nan)
                cpu = cpu_seconds(bench.pid)


def interact(bench: Bench, rounds: int) -> None:
    """Do what users do, each thing ``rounds`` times."""
    page = bench.page
    explore(bench, 3 * rounds)
    bench.go("overview", "95 % confidence intervals")
    _move(bench, rounds, "overview: move m")
    for i in range(rounds):
        word = ("strict", "tolerant (0.1 %)")[i % 2]
        page.get_by_role("button", name="More").click()
        label = page.get_by_test_id("stPopoverBody").get_by_text(word, exact=True)
        bench.time("overview: outcome comparison", label.click, f"comparison: {word}")
        page.keyboard.press("Escape")
    for i in range(rounds):
        name = ("MBPP", "HumanEval")[i % 2]
        bench.choose("overview: another benchmark", "Benchmark", name, f"· {name} ·")
    bench.go("plan?model=gpt_4o", "Per 1,000 tasks")
    for _ in range(rounds):
        bench.press("plan: another wish", "ArrowLeft", "Per 1,000 tasks", slider="I want to find")


def _move(bench: Bench, rounds: int, name: str) -> None:
    """Move m away from 10 and half the way back."""
    half = -(-rounds // 2)
    for i in range(rounds):
        key, m = ("ArrowRight", 11 + i) if i < half else ("ArrowLeft", 9 + 2 * half - i)
        bench.press(name, key, f"m = {m} programs", slider=PROGRAMS)


def many_sessions(url: str, browser: Browser) -> tuple[int, float]:
    """Open SESSIONS pages at once; return how many show an error, and how long all took."""
    paths = ("", "?task=HumanEval/1", "?benchmark=MBPP", "?benchmark=MBPP&m=7", "?with=gpt_4")
    pages = [_page(browser) for _ in range(SESSIONS)]
    began = time.perf_counter()
    for i, page in enumerate(pages):
        page.goto(f"{url}/{paths[i % len(paths)]}", wait_until="commit")
    wrong = 0
    for page in pages:
        page.wait_for_selector("h1")
        page.wait_for_function(STILL)
        words = page.inner_text("body")
        wrong += "encountered an error" in words or "cannot be shown" in words
    return wrong, time.perf_counter() - began


def _page(browser: Browser, **told: Any) -> Page:
    page = browser.new_context(**told).new_page()
    page.set_default_timeout(120_000)
    return page


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=10)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser, log = launched(driver), Path(folder) / "log"
        with dashboard(chosen.store, log) as (url, pid):
            bench = Bench(url, pid, _page(browser))
            for name in ("open: cold", "open: warm", "open: warm"):
                bench.page = _page(browser)
                bench.open(name)
                bench.page.context.close()
            bench.page = _page(browser, viewport={"width": 1280, "height": 1000})
            bench.page.add_init_script(WATCH)
            interact(bench, chosen.rounds)
            bench.page.context.close()
            wrong, seconds = many_sessions(url, browser)
            bench.report()
            print(f"{SESSIONS} sessions at once: {wrong} with an error, all there after {seconds:.1f} s")
            print(f"server memory at most {peak_mb(pid):.0f} MB, CPU {cpu_seconds(pid):.0f} s in all")
            print(f"log {'holds a' if 'Traceback' in log.read_text() else 'without a'} traceback")
        browser.close()


if __name__ == "__main__":
    main()
