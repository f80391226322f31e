"""Charts made for white paper, on a dark page: colours that would vanish are exchanged."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

_IN_DARK: Mapping[str, str] = {
    "white": "#0E1117",
    "#FFFFFF": "#0E1117",
    "black": "#FAFAFA",
    "#000000": "#FAFAFA",
    "#0072B2": "#3C9FDE",
    "#8C6D31": "#C9A75A",
    "#5AA9DC": "#0A5C8F",
    "#F0883E": "#A94A00",
    "#444444": "#C8C8C8",
    "#767676": "#A0A0A0",
    "#BBBBBB": "#4A4F5C",
    "#E2E2E2": "#2A2E39",
    "#EFEFEF": "#262A34",
    "#DCE3EA": "#2A3140",
}
_LETTERS = "#FAFAFA"


_STYLE = """
<style>
[data-testid="stMainBlockContainer"] { padding: 0.6rem clamp(0.8rem, 2.5vw, 2.5rem) 3rem; }
[data-testid="stHeader"] { background: transparent; height: 2.4rem; }
[data-testid="stHeader"], [data-testid="stHeader"] * { pointer-events: none; }
[data-testid="stHeader"] :is(button, button *) { pointer-events: auto; }
[data-testid="stVegaLiteChart"] { max-width: 100%; overflow-x: auto; }
.unseen { position: absolute; width: 1px; height: 1px; margin: 0 !important; overflow: hidden; clip-path: inset(50%); }
h1 { font-size: 1.55rem !important; padding: 0.2rem 0 !important; }
h2, h3 { font-size: 1.15rem !important; padding: 0.6rem 0 0.2rem !important; }
.st-key-header { gap: 0.3rem 0.35rem; padding: 0 2.4rem 0.3rem 0; border-bottom: 1px solid #80808040; }
.st-key-header a { padding: 0.15rem 0.5rem; }
.difftrust-name { margin: 0 0.7rem 0 0; font-size: 1.15rem; font-weight: 700; letter-spacing: -0.01em; }
[class*="st-key-here-"] a { box-shadow: inset 0 -2px 0 0 currentColor; border-radius: 0; }
[class*="st-key-here-"] a:focus-visible { outline: 2px solid currentColor; }
[class*="st-key-here-"] a p { font-weight: 650; }
.st-key-go { height: 0; overflow: hidden; }
.st-key-settings { gap: 0.4rem 1.1rem; }
[data-testid="stMarkdownContainer"] table { display: block; overflow-x: auto; }
[data-testid="stMarkdownContainer"] { overflow-wrap: anywhere; }
textarea, code, pre { font-family: "Source Code Pro", ui-monospace, monospace !important; }
.difftrust-sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0.8rem; }
.difftrust-sides section { min-width: 0; font-size: 0.8rem; }
.difftrust-sides h4 { font-size: 0.85rem !important; margin: 0; padding: 0; }
.difftrust-sides pre { margin: 0.2rem 0 0; padding: 0.4rem 0.6rem; max-height: 22rem; overflow-y: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; border: 1px solid #80808059; }
mark { background: #F0E442; color: #000; padding: 0 1px; text-decoration: underline; }
</style>
"""


_READABLE = """
<style>
[data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primary"] *, [data-testid="stMultiSelect"] span[title],
[data-baseweb="tag"], [data-baseweb="tag"] * {
  color: light-dark(#FFFFFF, #0E1117) !important; fill: light-dark(#FFFFFF, #0E1117);
}
code .token { color: inherit !important; }
code .token:is(.keyword, .function, .class-name, .builtin, .boolean, .variable, .parameter) {
  color: light-dark(#0B5394, #7CC5F0) !important;
}
code .token:is(.string, .triple-quoted-string) { color: light-dark(#1B6B3A, #7FD69B) !important; }
code .token:is(.number, .decorator) { color: light-dark(#7A3E9D, #D3A6EE) !important; }
code .token:is(.operator, .punctuation) { color: light-dark(#5B4A00, #F0B070) !important; }
code .token.comment { color: light-dark(#5A6270, #A9B1BF) !important; }
</style>
"""
"""On a dark page the primary colour is pale, so letters on it are dark; Streamlit's colours of code are too pale on
white. The browser chooses: the server may not know yet which it is."""


def set_style() -> None:
    """Make room: narrow margins, low titles, links in one row, code in letters of one width."""
    st.html(_STYLE + _READABLE)


def is_dark() -> bool:
    """Tell whether the page is dark; light until the browser has said so."""
    return st.context.theme.type == "dark"


def for_page(spec: dict[str, Any], *, is_dark: bool) -> dict[str, Any]:
    """Return a chart's Vega-Lite without a ground of its own, on a dark page in colours that can be seen there."""
    config = {name: value for name, value in spec.get("config", {}).items() if name != "background"}
    # Streamlit fits the height too, legend and all, which leaves a low chart nothing.
    made = {**spec, "config": config, "autosize": {"type": "fit-x", "contains": "padding"}}
    if is_dark:
        made = _exchanged(made)
        made["config"]["text"] = {"color": _LETTERS, **made["config"].get("text", {})}
    return made


def _exchanged(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: value if key == "data" else _exchanged(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_exchanged(each) for each in part]
    return _IN_DARK.get(part, part) if isinstance(part, str) else part
