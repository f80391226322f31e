"""Pages of the dashboard without a browser: opened by their address, read as words."""

from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from dashboard.navigation import REGISTERED

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


def opened(page: str = "overview", **parameters: str | list[str]) -> AppTest:
    """Open a page with what its address says."""
    at = AppTest.from_file(str(APP), default_timeout=300)
    if page != REGISTERED[0]:
        at._page_hash = calc_hash(page)  # switch_page() knows pages that are files only
    for name, value in parameters.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def click(at: AppTest, label: str) -> None:
    """Click a button, by what it says."""
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception


def shown(at: AppTest) -> str:
    """Return every word of the page."""
    kinds = ("title", "subheader", "markdown", "code", "info", "error")
    words = [str(element.value) for kind in kinds for element in at.get(kind)]
    return "\n".join(words + [element.proto.body for element in at.get("html")])
