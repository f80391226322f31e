"""One dashboard on the shipped stores for all tests of a process."""

from collections.abc import Iterator

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
