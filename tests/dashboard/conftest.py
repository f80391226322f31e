"""One dashboard on the shipped stores and one headless browser for all tests of a process."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.dashboard_server import dashboard


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show the shipped results as on a fresh clone to one who may run things, whatever is set on this machine."""
    for name in ("DIFFTRUST_DATA", "DIFFTRUST_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DIFFTRUST_READONLY", "0")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a dashboard as a user starts it."""
    with dashboard(None, tmp_path_factory.mktemp("dashboard") / "log") as (url, _):
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return Chromium; skips where it or Playwright is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium")
    if not path:
        pytest.skip("no chromium in PATH (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()
