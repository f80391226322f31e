"""Every page in a real browser, on a phone, a tablet and a desk: all fits, no labels collide, all can be read."""

from collections.abc import Collection
from typing import Any

import pytest

from dashboard.navigation import REGISTERED
from tests.support.screens import PATHS, faults, open_screen, settle

WIDTHS = {390: 844, 1024: 768, 1440: 900}
QUICK = ("explore",)
"""Of these every part is read by the quick tests in a browser; test_pages.py opens each page without one."""


SEEN = ("overview", "plan", "signals", "check")
"""On these every control also shows that the keyboard's place is on it."""


def slow_but(quick: Collection[str]) -> list[Any]:
    """Return every screen; all are slow but ``quick``."""
    return [pytest.param(name, marks=[] if name in quick else [pytest.mark.slow]) for name in PATHS]


_CONTROLS = """
() => [...document.querySelectorAll('[data-testid=stMain] *')]
  .filter(e => e.matches('button, a[href], input, textarea, [role=slider], [tabindex]'))
  .filter(e => e.getBoundingClientRect().width > 0 && !e.disabled && getComputedStyle(e).visibility !== 'hidden')
  .filter(e => !e.closest('[data-testid=stElementToolbar]') && !e.closest('[role=radiogroup]')
    && !e.closest('svg') && e.tabIndex >= 0)
  .map((e, i) => {
    e.dataset.place = i;
    return e.tagName + ' ' + (e.ariaLabel || e.innerText || e.type || '').slice(0, 40);
  })
"""


def test_every_page_is_looked_at() -> None:
    assert {path.partition("?")[0] or REGISTERED[0] for path in PATHS.values()} == set(REGISTERED)


@pytest.mark.parametrize("name", slow_but(QUICK))
def test_a_page_fits_every_screen(page: Any, server: str, name: str) -> None:
    """Opened once; the screen changes around the open page."""
    page.set_viewport_size({"width": 390, "height": WIDTHS[390]})
    assert open_screen(page, f"{server}/{PATHS[name]}") == []
    assert page.get_by_text("This page cannot be shown").count() == 0
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        assert faults(page) == [], width


@pytest.mark.parametrize("name", slow_but(QUICK))
def test_a_page_can_be_read_light_and_dark_and_its_controls_be_reached(page: Any, server: str, name: str) -> None:
    for theme in ("dark", "light"):
        page.set_viewport_size({"width": 1440, "height": WIDTHS[1440]})
        page.emulate_media(color_scheme=theme)
        assert open_screen(page, f"{server}/{PATHS[name]}") == []
        assert pale(page) == [], theme
    assert not_reached(page, also_seen=name in SEEN) == []


def pale(page: Any) -> list[Any]:
    """Return text with a contrast below 4.5 : 1; the whole page is shown, as axe passes over what is scrolled away."""
    height = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": 1440, "height": height + 100})
    settle(page)
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page, options={"runOnly": ["color-contrast"]}).response
    assert found["passes"], "axe looked at nothing"
    nodes = [node for violation in found["violations"] for node in violation["nodes"]]
    return [
        *((node["html"][:120], check["data"].get("contrastRatio")) for node in nodes for check in node["any"]),
        *page.evaluate(CHART_CONTRAST),
    ]


_CELLS = 600
"""Steps of the Tab key that a table may take: it goes from cell to cell."""


def not_reached(page: Any, *, also_seen: bool = False) -> list[str]:
    """Return the controls that the Tab key does not reach; ``also_seen``: and those that look the same when it does."""
    controls = page.evaluate(_CONTROLS)
    assert controls
    reached = set()
    page.evaluate("() => { document.body.tabIndex = -1; document.body.focus(); }")
    for _ in range(3 * len(controls) + _CELLS):
        page.keyboard.press("Tab")
        place = page.evaluate("() => document.activeElement && document.activeElement.dataset.place")
        if place is not None and int(place) not in reached and (not also_seen or shows_focus(page)):
            reached.add(int(place))
        if len(reached) == len(controls):
            break
    return [words for place, words in enumerate(controls) if place not in reached]


_AROUND = """
() => {
  const box = (document.activeElement.closest('[data-testid=stElementContainer]') ?? document.activeElement)
    .getBoundingClientRect();
  const x = Math.max(0, box.x - 5), y = Math.max(0, box.y - 5);
  return { x, y, width: Math.min(innerWidth - x, box.width + 10), height: Math.min(innerHeight - y, box.height + 10) };
}
"""


def shows_focus(page: Any) -> bool:
    """Tell whether the control that has the keyboard's place looks otherwise than without it, which it loses."""
    around = page.evaluate(_AROUND)
    page.wait_for_timeout(300)  # rings fade in
    with_focus = page.screenshot(clip=around, caret="hide")
    page.evaluate("() => document.activeElement.blur()")
    page.wait_for_timeout(300)
    return bool(page.screenshot(clip=around, caret="hide") != with_focus)


# axe does not look into a picture: the letters of a chart against the ground of the page.
CHART_CONTRAST = """
() => {
  const light = c => {
    const [r, g, b] = c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const read = words => (words.match(/[\\d.]+/g) || []).map(Number);
  const main = read(getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor).slice(0, 3);
  const found = [];
  for (const text of document.querySelectorAll('[data-testid=stVegaLiteChart] svg text')) {
    const style = getComputedStyle(text), fill = read(style.fill);
    if (!text.textContent.trim() || fill.length < 3 || +style.opacity < .05 || style.fill === 'none') continue;
    if (style.stroke !== 'none' && +style.strokeWidth.replace('px', '') > 1) continue;
    const alpha = (fill[3] === undefined ? 1 : fill[3]) * +style.fillOpacity * +style.opacity;
    const seen = fill.slice(0, 3).map((v, i) => v * alpha + main[i] * (1 - alpha));
    const [a, b] = [light(seen), light(main)].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5)
      found.push(`${text.textContent}: ${((a + .05) / (b + .05)).toFixed(2)} : 1`);
  }
  return found;
}
"""
