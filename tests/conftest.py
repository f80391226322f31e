"""What several test files need, and what a run says at its end."""

import atexit
import contextlib
import gc
import importlib
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder with the recorded corpora: DIFFTRUST_DATA, else ../shared/data, else skip."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DIFFTRUST_DATA", beside))
    if not (folder / "difftrust" / "candidates.parquet").exists():
        pytest.skip("the recorded corpora are not here; set DIFFTRUST_DATA to their folder")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return Chromium; skips where it or Playwright is missing.

    One a module, never two at once: Playwright runs a loop of its own in the thread for as long as it is open.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium")
    if not path:
        pytest.skip("no chromium in PATH (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect without looking for garbage, and never look again at what was collected, which stays."""
    gc.disable()
    if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and session.config.args == session.config.getini("testpaths"):
        import_a_part(int(worker.removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
    found = yield
    gc.freeze()
    atexit.register(gc.unfreeze)  # else libraries report what is left at the end as leaks
    gc.enable()
    return found


def import_a_part(number: int, n_processes: int) -> None:
    """Import an equal part of the test files in each process, before every process collects all of them.

    At its first import pytest rewrites the asserts of a file, which takes longer than the import, and keeps the
    result: what one process rewrote the others read.
    """
    here = Path(__file__).parent
    for path in sorted(here.rglob("test_*.py"))[number::n_processes]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # which collecting it reports
            importlib.import_module(".".join(path.relative_to(here.parent).with_suffix("").parts))


FULL_MACHINE = ("bench", "execution", "hostile", "recovery", "sandbox")
"""Folders whose tests end otherwise, or are skipped, where bubblewrap is missing."""
BROWSER = "browser"
"""Fixture of every test in a real browser."""


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark what is to run again where bubblewrap and Chromium are, and let what takes long begin first."""
    depth = len(Path(__file__).parent.parts)
    cases: Counter[object] = Counter()
    for item in items:
        if quick := item.get_closest_marker("quick"):
            cases[item.function] += 1  # type: ignore[attr-defined]
            if cases[item.function] > quick.args[0]:  # type: ignore[attr-defined]
                item.add_marker("slow")
        if item.path.parts[depth] in FULL_MACHINE or BROWSER in getattr(item, "fixturenames", ()):
            item.add_marker("full_machine")
    yield  # what is not asked for is left out
    items[:] = long_ones_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)))


def long_ones_first(items: list[pytest.Item], n_processes: int) -> list[pytest.Item]:
    """Return the tests in equal parts, one for each process, the long ones dealt out and first in each.

    Else a process that meets one at its end keeps the others waiting.
    """
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    ordered: list[pytest.Item] = []
    for number in range(n_processes):
        size = (len(items) - len(ordered)) // (n_processes - number)  # as xdist's worksteal parts them
        dealt = long[number::n_processes]
        n_others = max(0, size - len(dealt))
        ordered += [*dealt, *others[:n_others]]
        del others[:n_others]
    return ordered + others


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print every reason for which tests were skipped, and which tests these were."""
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for report in terminalreporter.stats.get("skipped", []):
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        reasons[reason][report.nodeid.partition("[")[0]] += 1
    for reason, tests in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {tests.total()}: {reason}")
        for name, count in sorted(tests.items()):
            terminalreporter.write_line(f"    {name}" + (f" ({count})" if count > 1 else ""))
