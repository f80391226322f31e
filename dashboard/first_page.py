"""The first page as the browser gets it: Streamlit's own, with the explorer drawn while Streamlit still starts."""

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from dashboard import data, navigation, state
from dashboard.handed_out import PATH, embedded, is_served
from difftrust.explorer.home import inputs_there, script, style
from difftrust_core.exceptions import DifftrustError

KEPT: Final = ("store", "equality", "audited", "blind")
"""Parameters that choose what the server hands out; the explorer reads and writes the others."""
_STREAMLIT: Final = Path(st.__file__).with_name("static") / "index.html"
# Where Streamlit draws the explorer later, below the header; whatever it says instead is not hidden.
_PLACE: Final = """
<style>%s
.difftrust-early { position: fixed; inset: 87px 0 0; z-index: 1; overflow: auto; background: light-dark(#fff, #0e1117);
  padding: 0 clamp(0.8rem, 2.5vw, 2.5rem); }
body:has(:is([data-testid="stAlert"], [data-testid="stException"])) .difftrust-early { display: none; }
</style>
<div class="difftrust-early"></div>
<template class="difftrust-start">%s</template>
<script type="module">
const drawn = import("%s").then((module) => module.showEarly(document.querySelector(".difftrust-early"), %s));
const late = new Promise((done) => setTimeout(done, 1000));
const start = () => document.head.append(document.querySelector(".difftrust-start").content);
Promise.race([drawn, late]).catch(console.error).finally(() => setTimeout(start));
</script>
"""
_START: Final = re.compile(r'<script type="module"[^>]*></script>|<link rel="modulepreload"[^>]*>')
"""What starts Streamlit: it would take the browser's connections and its processor from what is drawn at once."""


def base_path() -> str:
    """Return the path below which the dashboard is served, empty for none."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}" if base else ""


@cache
def script_address() -> str:
    """Return the path of the explorer's module, another one for another text: browsers keep it."""
    return f"{base_path()}{PATH}/{sha256(script('').encode()).hexdigest()[:16]}.js"


def home_of(asked: Mapping[str, str]) -> dict[str, Any]:
    """Return what the explorer gets at an address. Raises NoBenchmark, NoStore or BadStore."""
    named, stores = asked.get("store", ""), data.stores()
    here = stores.get(named) or next(iter(stores.values()))
    opened = data.open_source(here)
    others = [name for name, path in stores.items() if path != here] if is_served() else []
    return {
        "benchmarks": data.benchmarks(opened),
        "inputs": inputs_there(opened.store),
        "stores": [{"id": name, "words": navigation.store_title(name)} for name in others],
        "keep": list(KEPT),
        "address": base_path() + PATH,
        "script": script_address(),
        "cubes": None if is_served() else embedded(asked),
        "version": [str(opened.version), *(asked.get(name, "")[: state.LONGEST] for name in KEPT)],
    }


def routes() -> list[Route]:
    """Return the addresses of the page and of its module; before those of what the explorer asks for."""
    pages = [Route(f"{base_path()}/{name}", _answer_page) for name in ("", navigation.REGISTERED[0])]
    return [*pages, Route(script_address(), _answer_script)]


def _answer_script(_: Request) -> Response:
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(script(""), media_type="text/javascript", headers=kept)


def _answer_page(request: Request) -> HTMLResponse:
    return HTMLResponse(_page(request.query_params), headers={"Cache-Control": "no-cache"})


def _page(asked: Mapping[str, str]) -> str:
    """Return the page; where there is nothing to draw yet, Streamlit's alone, which says why."""
    page = _STREAMLIT.read_text(encoding="utf-8")
    try:
        said = json.dumps(home_of(asked)).replace("<", "\\u003c")
    except (DifftrustError, OSError):
        return page
    start = "".join(_START.findall(page))
    drawn = _PLACE % (style(), start, script_address(), said)
    head = f'<head><link rel="modulepreload" href="{script_address()}">'
    return _START.sub("", page).replace("<head>", head, 1).replace("<body>", f"<body>{drawn}", 1)
