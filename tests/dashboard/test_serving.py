"""`difftrust dashboard` behind a proxy and for readers: below a path, read-only, Back, and links that keep all."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from difftrust.cli import main
from tests.support.command import Capture
from tests.support.dashboard_server import dashboard
from tests.support.screens import open_screen, settle


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a read-only dashboard below a path."""
    words = ("--read-only", "--base-path", "/lab/difftrust/")
    with dashboard(None, tmp_path_factory.mktemp("below") / "log", words=words) as (url, _):
        yield url


@pytest.mark.slow
def test_below_a_path_and_read_only(page: Any, below: str) -> None:
    assert open_screen(page, f"{below}/check") == []
    assert page.get_by_text("This dashboard is read-only").count() == 1
    assert open_screen(page, f"{below}/overview?m=5") == []
    main = page.get_by_test_id("stMain").inner_text()
    assert "Store results · HumanEval" in main  # its name, not where it lies
    assert str(Path(__file__).parents[2]) not in main


def test_no_other_site_may_show_it_in_a_frame(below: str) -> None:
    for path in ("", "/overview", "/_stcore/health"):
        with urllib.request.urlopen(f"{below}{path}") as answer:
            assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
            assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'self'"


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_no_other_site_may_ask(below: str, header: dict[str, str]) -> None:
    for path in (
        "explorer/cube",
        "explorer/report?m=2&n=2&t=0.6",
        *(["", "_stcore/health"] if "Host" in header else []),
    ):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(urllib.request.Request(f"{below}/{path}", headers=header))


_PROGRAMS = "x?model=gpt_4o&t=0.6&task=HumanEval/0"


@pytest.mark.parametrize(
    "asked",
    [
        f"report?m=2&n={10**38}&t=0.6",
        "report?m=2&n=-1&t=nan",
        f"report?m=2&n={'9' * 5000}&t=0.6",
        f"{_PROGRAMS}&m=10&n=0",
        f"{_PROGRAMS}&m=-1&n=10",
        "cube?benchmark=%ED%A0%80",
        "cube?store=../../etc",
    ],
)
def test_what_is_not_there_is_said_in_one_line(below: str, asked: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        urllib.request.urlopen(f"{below}/explorer/{asked}")
    assert len(refused.value.read().splitlines()) == 1


@pytest.mark.slow
def test_back_goes_where_one_came_from(page: Any, below: str) -> None:
    open_screen(page, f"{below}/overview?inputs=domain&m=5")
    seen = []
    for name, path in (("Explore", "explore"), ("Further tables", "tables")):
        seen.append(page.url)
        page.get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(f"**/{path}?**")
        settle(page)
        assert "m=5" in page.url
        assert "inputs=domain" in page.url
    for url in reversed(seen):
        page.go_back()
        page.wait_for_url(url)
        settle(page)
        title = url.partition("?")[0].rpartition("/")[2].capitalize()
        page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
        shown = "[data-testid=explorer][data-m='5']" if title == "Explore" else ":text('m = 5 programs')"
        page.get_by_test_id("stMain").locator(shown).first.wait_for()


@pytest.mark.slow
def test_a_copied_link_shows_the_same(page: Any, below: str) -> None:
    open_screen(page, f"{below}/plan?store=starter&model=simulated%2Fweak&t=1")
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    page.get_by_role("link", name="Overview", exact=True).click()
    page.wait_for_url("**/overview?**")
    settle(page)
    page.get_by_role("link", name="Further tables", exact=True).click()
    page.wait_for_url("**/tables?**")
    assert "model=simulated%2Fweak" in page.url


@pytest.mark.parametrize("path", ["http://host/x", "a b", "../x", "x?y"])
def test_a_base_path_is_a_path(path: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["difftrust", "dashboard", "--base-path", path])
    monkeypatch.setattr("os.execv", lambda *_: pytest.fail("it starts to serve"))
    with pytest.raises(SystemExit):
        main()
    assert "--base-path is a path such as /difftrust" in capsys.readouterr().err
