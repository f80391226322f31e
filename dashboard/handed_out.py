"""What the explorer asks the server for, by an address: a benchmark's results, and a task's programs."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Semaphore
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dashboard import data
from dashboard.data import Source, kept
from difftrust.explorer.cube import make_cube
from difftrust.explorer.home import task_details
from difftrust.tables.request import require_known
from difftrust_core.base.records import Reading, References
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.metrics.equality import EQUALITIES

PATH: Final = "/explorer"
"""Below the dashboard's own path."""
_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_SAVED: Final = {"Content-Disposition": 'attachment; filename="difftrust-report.html"'}


@kept(most=24)
def cube(source: Source, benchmark: str, equality: str, blind: bool) -> bytes:
    """Return one benchmark for the explorer, kept while its files are the same; ``blind``: without the reference."""
    return make_cube(source.store, benchmark, equality=equality, blind=blind)


def usual_cube() -> bytes:
    """Return what an address without parameters asks for."""
    opened = data.open_source(next(iter(data.stores().values())))
    return cube(*_source({"inputs": data.inputs_there(opened)[0]}), False)


def _answer(request: Request) -> Response:
    """Answer with what the address names; whatever it says, only what a store holds is handed out.

    No other site may ask, though its reader could: it would keep the processor busy.
    """
    asked = request.query_params
    try:
        if request.headers.get("sec-fetch-site") == "cross-site":
            return PlainTextResponse("expected to be asked by a page of this dashboard", 403, headers=_HEADERS)
        source, benchmark, equality = _source(asked)
        blind = asked.get("blind") == "yes"
        if request.path_params["what"] == "cube":
            return Response(cube(source, benchmark, equality, blind), media_type="application/gzip", headers=_HEADERS)
        if request.path_params["what"] == "report" and not blind:
            m, n, t = int(asked.get("m", "")), int(asked.get("n", "")), float(asked.get("t", "nan"))
            with room_for_report():
                page = report(source, benchmark, equality=equality, temperature=t, m=m, n=n)
            return Response(page, media_type="text/html", headers=_HEADERS | _SAVED)
        found = _details(source, benchmark, equality, asked) if not blind else {}
        return Response(json.dumps(found), media_type="application/json", headers=_HEADERS)
    except TooBusy as e:
        return PlainTextResponse(str(e), 503, headers=_HEADERS | {"Retry-After": "30"})
    except (DifftrustError, ValueError) as e:
        return PlainTextResponse(data.why(e), 404, headers=_HEADERS)


class TooBusy(DifftrustError):
    """As many reports are being made as may be at a time; others would wait for the processor and keep all waiting."""


_ROOM: Final = Semaphore(2)


@contextmanager
def room_for_report() -> Iterator[None]:
    """Make a report. Raises TooBusy where two are being made."""
    if not _ROOM.acquire(blocking=False):
        raise TooBusy("expected at most two reports at a time, two are being made; ask again in half a minute")
    try:
        yield
    finally:
        _ROOM.release()


def report(source: Source, benchmark: str, **setting: Any) -> bytes:
    """Return the report of a benchmark at a setting."""
    from difftrust.page import make_page

    return make_page(source.store, benchmark=benchmark, **setting).html


def _source(asked: Mapping[str, str]) -> tuple[Source, str, str]:
    """Return the store as it is to be read, the benchmark and the equality. Raises WrongUsage for what is not there."""
    stores = data.stores()
    opened = data.open_source(stores[require_known("store", asked.get("store"), list(stores)) or next(iter(stores))])
    inputs = require_known("input filter", asked.get("inputs"), data.inputs_there(opened)) or None
    references = References.AUDITED if asked.get("audited") == "yes" else References.PUBLISHED
    source = replace(opened, reading=Reading(inputs=inputs, references=references))
    names = data.benchmarks(source)
    benchmark = require_known("benchmark", asked.get("benchmark"), names) or names[0]
    return source, benchmark, require_known("comparison", asked.get("equality"), EQUALITIES) or EQUALITIES[0]


def _details(source: Source, benchmark: str, equality: str, asked: Mapping[str, str]) -> dict[str, Any]:
    pool = source.pool(benchmark, equality)
    coder = (asked.get("model", ""), float(asked.get("t", "nan")))
    if coder not in pool.members:
        raise WrongUsage(f"{benchmark} has no programs of this model at this temperature")
    return task_details(
        source.store, pool, asked.get("task", ""), coder, m=int(asked.get("m", "")), n=int(asked.get("n", ""))
    )


_served: Final[list[str]] = []
"""The path below which the addresses are served; none where a host serves the script alone."""


def is_served() -> bool:
    """Tell whether the addresses are there; else the page itself has to hold what is shown."""
    return bool(_served)


def embedded(asked: Mapping[str, str]) -> dict[str, str]:
    """Return the results that an address names, for a page that cannot ask: their name -> base64."""
    source, benchmark, equality = _source(asked)
    made = cube(source, benchmark, equality, asked.get("blind") == "yes")
    return {f"{benchmark} {source.store.settings().validity}": base64.b64encode(made).decode()}


def routes(base: str) -> list[Route]:
    """Return the addresses, below the path ``base``."""
    _served[:] = [f"{base}{PATH}"]
    return [Route(f"{base}{PATH}/{{what}}", _answer)]
