"""What is wrong with a page as a browser drew it: what is too wide, labels that collide, charts without marks."""

import re
from typing import Any

from tests.bench.dashboard import DRAWN, STILL

PROBES = re.compile(r"_stcore/(health|host-config)$")
"""Streamlit looks for its server below the page's own path first, and says so in the console: the one known error."""
PATHS = {
    "explore": "",
    "explore, a task": "?benchmark=HumanEval&model=gpt_4o&task=HumanEval/122",
    "explore, compared": "?model=gpt_4o&with=claude_opus_4&inputs=domain",
    "explore, simulated": "?store=starter&task=starter/split_bill",
    "explore without the reference": "?blind=yes",
    "overview": "overview",
    "overview, domain": "overview?inputs=domain",
    "overview, simulated": "overview?store=starter",
    "overview without the reference": "overview?blind=yes",
    "plan": "tables?model=gpt_4o",
    "plan that is reached": "tables?model=gpt_4o&find=0.5&alarms=0.1",
    "plan, simulated": "tables?store=starter&find=0.7&model=simulated/strong",
    "signals": "tables?part=signals",
    "signals without the reference": "tables?part=signals&blind=yes",
    "check": "check",
    "measures": "tables?part=measures",
}
"""What it shows -> path and parameters; each page of the dashboard, on the shipped stores."""
_OVERFLOW = """
() => {
  const wide = document.documentElement.clientWidth, found = [];
  for (const id of ['stMain', 'stMainBlockContainer']) {
    const box = document.querySelector(`[data-testid=${id}]`);
    if (box.scrollWidth > Math.ceil(box.clientWidth) + 1) found.push(`${id} is ${box.scrollWidth} px wide`);
  }
  for (const chart of document.querySelectorAll('[data-testid=stVegaLiteChart]')) {
    const box = chart.getBoundingClientRect();
    if (chart.scrollWidth > chart.clientWidth + 1)
      found.push(`a chart is ${chart.scrollWidth} px wide in ${box.width}`);
  }
  for (const control of document.querySelectorAll('[data-testid=stMain] :is(button, a, input, textarea)')) {
    // A widget's own input may be a hidden one, as wide as the browser likes: its container is what one sees.
    const shown = control.matches('input') ? control.closest('[data-testid=stElementContainer]') || control : control;
    const box = shown.getBoundingClientRect();
    const inTable = control.closest('[data-testid=stDataFrame]');
    if (box.width && !inTable && (box.right > wide + 1 || box.left < -1))
      found.push(`${control.tagName} "${control.innerText.slice(0, 40)}" ends at ${Math.round(box.right)}`);
  }
  return found;
}
"""
_LABELS = """
() => {
  const found = [];
  const seen = element => {
    for (let at = element; at && at.tagName !== 'svg'; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.display === 'none' || style.visibility === 'hidden' || +style.opacity < 0.05) return false;
    }
    return true;
  };
  for (const svg of document.querySelectorAll('[data-testid=stVegaLiteChart] svg')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim() && seen(t))
      .map(t => ({ words: t.textContent.trim(), box: t.getBoundingClientRect() })).filter(t => t.box.width > 0);
    texts.forEach(({ words, box }, i) => {
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2
          || box.bottom > frame.bottom + 2) found.push(`"${words}" is cut at the edge`);
      for (const other of texts.slice(i + 1)) {
        const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
        const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
        const isHalo = words === other.words && Math.abs(box.left - other.box.left) < 3;
        if (across > 1.5 && down > 2.5 && !isHalo)
          found.push(`"${words}" and "${other.words}" overlap by ${across.toFixed(1)} x ${down.toFixed(1)} px`);
      }
    });
  }
  return found;
}
"""
_EMPTY = """
() => {
  const found = [];
  document.querySelectorAll('[data-testid=stVegaLiteChart]').forEach((chart, place) => {
    const svg = chart.querySelector('svg'), canvas = chart.querySelector('canvas');
    if (svg) {
      const marks = [...svg.querySelectorAll('g[class*="mark-"] > :is(path, line)')]
        .filter(m => !m.closest('.role-axis, .role-legend') && !m.classList.contains('background'));
      const drawn = marks.filter(m => { const b = m.getBoundingClientRect(); return b.width > 0.5 || b.height > 0.5; });
      if (!drawn.length) found.push(`chart ${place + 1} has no mark`);
    } else if (canvas) {
      const { width, height } = canvas;
      const pixels = width && height ? canvas.getContext('2d').getImageData(0, 0, width, height).data : [];
      const colours = new Set();
      for (let i = 0; i < pixels.length && colours.size < 4; i += 4)
        if (pixels[i + 3]) colours.add(`${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`);
      if (colours.size < 3) found.push(`chart ${place + 1} is blank`);
    } else found.push(`chart ${place + 1} was not drawn`);
  });
  return found;
}
"""


def open_screen(page: Any, url: str) -> list[str]:
    """Open a page and wait until it stands still; return what the browser complains of and asks of other hosts.

    The list grows for as long as the page is open.
    """
    said: list[str] = []

    def hear(message: Any) -> None:
        if message.type == "error" and not PROBES.search(message.location.get("url", "")):
            said.append(f"console: {message.text}")

    def see(request: Any) -> None:
        if not request.url.startswith(("data:", "blob:")) and request.url.split("/")[2] != url.split("/")[2]:
            said.append(f"asked {request.url}")

    page.on("request", see)
    page.on("console", hear)
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.goto(url)
    page.wait_for_selector("h1")
    page.wait_for_function(STILL)
    if page.get_by_test_id("explorer").count():
        page.wait_for_selector(DRAWN)
    settle(page)
    return said


_LOOK = f"""
() => {{
  const main = document.querySelector('[data-testid=stMain]');
  const charts = [...document.querySelectorAll('[data-testid=stVegaLiteChart]')];
  const now = main.innerText + main.querySelectorAll('*').length + main.scrollHeight;
  const busy = !({STILL})() || charts.some(c => !c.querySelector('svg, canvas'))
    || document.getAnimations().some(a => a.playState === 'running' && a.effect.getTiming().iterations < 9);
  if (busy || window.seen !== now) {{ window.seen = now; window.seenAt = Date.now(); }}
  return Date.now() - window.seenAt > 500;
}}
"""
"""True where every chart is drawn and nothing has changed for half a second."""


def settle(page: Any) -> None:
    """Wait until the page stands still."""
    page.wait_for_function(_LOOK, polling=100)


def faults(page: Any) -> list[str]:
    """Return what is wrong with the page when it stands still: too wide, labels that collide, empty charts."""
    scripts = ", ".join(f"({script})" for script in (_OVERFLOW, _LABELS, _EMPTY))
    # In one go with the last look: a page that draws a chart anew in between would seem to lack it.
    seen = page.wait_for_function(f"() => ({_LOOK})() && {{ found: [{scripts}].flatMap(look => look()) }}", polling=100)
    return list(seen.json_value()["found"])
