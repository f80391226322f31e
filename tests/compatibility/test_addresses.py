"""Addresses of the dashboard's pages: their paths, and what each query parameter chooses."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.compatibility.golden import assert_golden_entry
from tests.support.pages import opened

CHOICES: dict[str, list[str] | str] = {
    "store": "starter", "t": "0.6", "m": "5", "n": "500", "equality": "strict", "model": "simulated/strong",
}  # fmt: skip
"""What every page understands."""
PAGES: dict[str, dict[str, Any]] = {
    "explore": {"inputs": "domain", "task": "starter/split_bill", "with": "simulated/weak"},
    "overview": {"inputs": "domain"},
    "tasks": {
        **{"model": ["simulated/strong", "simulated/weak"], "args": "strings", "only": "undetected", "search": "a"},
        **{"scale": "linear", "blind": "yes"},
    },
    "task": {"task": "starter/split_bill", "inside": "yes", "left": "0", "right": "1"},
    "plan": {"find": "0.5", "alarms": "0.1"},
    "ablation": {"model": ["simulated/strong", "simulated/weak"], "rule": "pairs"},
    "signals": {"blind": "yes", "added": "yes", "store": "paper", "model": "gpt_4o", "audited": "yes", "m": "10"},
    "check": {"check_n": "200", "seed": "3", "validity": "all", "check_equality": "strict", "with_body": "yes"},
    "measures": {},
    "tables": {"part": "signals", "store": "paper", "m": "10"},
}
WIDGETS = ("selectbox", "multiselect", "toggle", "checkbox", "radio", "select_slider", "slider", "text_input",
           "text_area", "number_input", "button_group")  # fmt: skip


@pytest.fixture(autouse=True)
def _fresh_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DIFFTRUST_DATA", "DIFFTRUST_STORE", "DIFFTRUST_READONLY"):
        monkeypatch.delenv(name, raising=False)


def chosen(at: AppTest) -> dict[str, Any]:
    """Return what is chosen on a page, by the label of what chooses it."""
    return {f"{kind} {each.label}": each.value for kind in WIDGETS for each in at.get(kind)}


def links(at: AppTest) -> list[str]:
    """Return the addresses within the dashboard that a page links to: path and names of parameters."""
    found = set()
    for each in at.get("page_link"):
        if not each.proto.external:
            names = sorted({pair.partition("=")[0] for pair in each.proto.query_string.split("&")} - {""})
            found.add(f"{each.proto.page}?{'&'.join(names)}")
    return sorted(found)


@pytest.mark.quick(3)
@pytest.mark.parametrize("page", PAGES)
def test_an_address_opens_what_it_names(page: str) -> None:
    at = opened(page, **{**CHOICES, **PAGES[page]})
    title = at.title[0].value if at.title else "Explore"  # which the explorer writes unseen
    found = {"title": title, "chosen": chosen(at), "links": links(at)}
    assert_golden_entry("addresses", page, found)
