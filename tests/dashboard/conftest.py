"""One dashboard on the shipped stores for all tests of a process."""

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


@pytest.fixture(scope="module")
def profile(browser: Any) -> Iterator[Any]:
    """Return a browser's profile that keeps the scripts it has loaded."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(90_000)
    yield context
    context.close()


@pytest.fixture
def page(profile: Any) -> Iterator[Any]:
    """Return an empty page on a desk's screen."""
    page = profile.new_page()
    page.set_viewport_size({"width": 1440, "height": 900})
    yield page
    page.close()
