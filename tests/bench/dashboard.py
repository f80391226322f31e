"""How long the explorer takes in its three homes: `make bench-dashboard` (STORE=DIR: another store in the dashboard).

By the clock of a real headless browser on this machine: from the event of a slider or a click to the numbers and dots
that show it, with the layout they ask for. Then the four questions of Compare, by a script that clicks as a hand does.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import difftrust as dt
from difftrust.shipped import find_results
from tests.support.dashboard_server import bare_page, dashboard, launched
from tests.support.lab import lab
from tests.support.proc import cpu_seconds, peak_mb

SESSIONS = 20
STILL = (
    "() => !document.querySelector('[data-testid=stStatusWidget]') && !document.querySelector('[data-stale=true]')"
    " && document.querySelector('h1')"
)
DRAWN = "[data-testid=explorer]:not([data-revision='0'])"
"""There once the explorer has drawn its numbers and dots."""
MOVED = """
([name, rounds]) => (async () => {
  const deep = root => root.querySelector('[data-testid=explorer]')
    ?? [...root.querySelectorAll('*')].filter(e => e.shadowRoot).map(e => deep(e.shadowRoot)).find(Boolean);
  const root = deep(document), taken = [], slider = root.querySelector(`[data-testid=explorer-${name}]`);
  const pane = root.querySelector('[data-testid=explorer-pane]');
  for (let i = 0; i < rounds; i++) {
    await new Promise(done => setTimeout(done, 500));
    const dots = [...root.querySelectorAll('[data-testid=explorer-dot]')].filter(dot => dot.style.display !== 'none');
    const dot = dots[(7 * i) % dots.length], began = performance.now(), before = root.dataset.revision;
    if (slider) {
      slider.value = (+slider.value + 1) % (+slider.max + 1);
      slider.dispatchEvent(new Event('input'));
      if (root.dataset.revision === before) throw new Error('the slider moved nothing');
    } else {
      dot.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      if (pane.dataset.task !== dot.dataset.task || !pane.querySelector('[data-testid=explorer-input]'))
        throw new Error('the pane shows no input');
      while (name === 'programs' && !pane.querySelector('.codes pre')) await new Promise(done => setTimeout(done, 1));
    }
    root.getBoundingClientRect();
    taken.push(performance.now() - began);
  }
  return taken;
})()
"""
"""Milliseconds of a slider's moves, of clicks on dots to their inputs, or, by the name programs, to their programs."""
SLIDERS = ("m", "n", "temperature")
Step = Callable[[Page], object]


def choose(label: str, value: str) -> Step:
    """Return the choice of a value."""
    return lambda page: page.get_by_label(f"Compare with: {label}").select_option(value)


def press_compare(page: Page) -> None:
    """Click on Compare."""
    page.get_by_test_id("explorer-compare").click()


def coolest(page: Page) -> None:
    """Move the slider of temperature to its first stop."""
    page.get_by_test_id("explorer-temperature").fill("0")


QUESTIONS: dict[str, tuple[Sequence[Step], str]] = {
    "Is A better than B on string tasks, and is that more than chance?": (
        (press_compare, choose("model", "claude_sonnet_4")),
        "tr:has(td:text-is('strings'))",
    ),
    "Which tasks does A get wrong and B right?": (
        (press_compare, choose("model", "claude_sonnet_4")),
        "summary:has-text('A wrong, B right')",
    ),
    "Which tasks changed between temperature 0.2 and 1?": (
        (coolest, press_compare, choose("temperature", "1")),
        "summary:has-text('A right, B wrong')",
    ),
    "What would m = 3 lose?": (
        (press_compare, choose("programs", "3"), choose("temperature", "0.6")),
        ".numbers > div:last-child",
    ),
}
"""Question -> clicks from the first page, and where the answer stands."""


@contextmanager
def page_of(browser: Browser, url: str = "") -> Iterator[Page]:
    """Open a page with nothing kept."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(300_000)
    page = context.new_page()
    if url:
        page.goto(url)
    yield page
    context.close()


def say(name: str, taken: Sequence[float]) -> None:
    """Print the median and the 95th percentile of milliseconds."""
    ordered = sorted(taken)
    last = ordered[max(0, -(-len(ordered) * 95 // 100) - 1)]
    print(f"{name:<44} {len(taken):>5} {statistics.median(taken):>10.0f} {last:>10.0f}", flush=True)


def explore(name: str, page: Page, rounds: int, what: Sequence[str] = (*SLIDERS, "pick")) -> None:
    """Move the sliders and pick dots of the explorer on a page."""
    page.wait_for_selector(DRAWN)
    page.wait_for_timeout(2_000)
    for each in what:
        say(f"{name}: {each}", page.evaluate(MOVED, [each, rounds]))


def opening(browser: Browser, url: str, pid: int, what: Sequence[tuple[str, str]]) -> None:
    """Open a page, cold and warm, in a browser that keeps nothing: seconds until each of (words, selector) is seen."""
    for name in ("cold", "warm", "warm"):
        with page_of(browser) as page:
            began, cpu, seen = time.perf_counter(), cpu_seconds(pid), []
            page.goto(url, wait_until="commit")
            for words, selector in what:
                page.wait_for_selector(selector)
                seen.append(f"{words} {time.perf_counter() - began:.2f} s")
            print(f"{name}: {', '.join(seen)}; of the server's time {cpu_seconds(pid) - cpu:.2f} s", flush=True)


def answer(page: Page, url: str) -> None:
    """Answer the questions of Compare; print how many clicks and seconds each took, and what the page says."""
    for question, (steps, place) in QUESTIONS.items():
        page.goto(url)
        page.wait_for_selector(DRAWN)
        began = time.perf_counter()
        for step in steps:
            step(page)
        shown = page.locator(f".difftrust-explorer {place}").first
        shown.wait_for()
        page.locator(".ends:text-matches('\\\\[')").first.wait_for()
        seconds, words = time.perf_counter() - began, " ".join(shown.inner_text().split())
        print(f"{question} {len(steps)} clicks, {seconds:.2f} s: {words}")


def many_sessions(url: str, browser: Browser, pid: int) -> None:
    """Open SESSIONS pages at once, and print what they cost."""
    paths = ("", "?task=HumanEval/1", "?benchmark=MBPP", "?benchmark=MBPP&m=7", "?with=gpt_4")
    pages = [browser.new_context().new_page() for _ in range(SESSIONS)]
    began, cpu, wrong = time.perf_counter(), cpu_seconds(pid), 0
    for i, page in enumerate(pages):
        page.set_default_timeout(300_000)
        page.goto(f"{url}/{paths[i % len(paths)]}", wait_until="commit")
    for page in pages:
        page.wait_for_selector("h1")
        page.wait_for_function(STILL)
        words = page.inner_text("body")
        wrong += "encountered an error" in words or "cannot be shown" in words
    print(f"{SESSIONS} sessions at once: {wrong} with an error, all there after {time.perf_counter() - began:.1f} s")
    print(f"server memory at most {peak_mb(pid):.0f} MB, CPU {cpu_seconds(pid) - cpu:.1f} s for the sessions")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=25)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        place, browser, rounds = Path(folder), launched(driver), chosen.rounds
        print(f"{'milliseconds':<44} {'times':>5} {'median':>10} {'p95':>10}")
        with bare_page(place) as (url, pid):
            opening(browser, url, pid, [("a bare page of Streamlit", "h1")])
        with dashboard(chosen.store, place / "log") as (url, pid):
            opening(browser, url, pid, [("first paint", DRAWN), ("with the header", "h1")])
            for benchmark in ("HumanEval", "MBPP"):
                with page_of(browser, f"{url}?benchmark={benchmark}") as page:
                    explore(f"dashboard, {benchmark}", page, rounds)
            with page_of(browser, f"{url}?store=starter") as page:
                explore("dashboard, starter tasks", page, rounds, ["programs"])
            with page_of(browser) as page:
                answer(page, f"{url}?inputs=domain")
            many_sessions(url, browser, pid)
            print(f"log {'holds a' if 'Traceback' in (place / 'log').read_text() else 'without a'} traceback")
        for benchmark in ("HumanEval", "MBPP"):
            report = place / f"{benchmark}.html"
            dt.open(find_results()).report(benchmark=benchmark).save(report)
            print(f"report of {benchmark}: {report.stat().st_size / 1e6:.1f} MB")
            with page_of(browser, report.as_uri()) as page:
                explore(f"report, {benchmark}", page, rounds)
        with lab(place, "import difftrust as dt\n\ndt.open().explore()") as (url, run), page_of(browser, url) as page:
            run(page)
            explore("JupyterLab, HumanEval", page, rounds)
        browser.close()


if __name__ == "__main__":
    main()
