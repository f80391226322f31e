"""Put a page together: its numbers, explorer, tasks and template, and a policy that lets only its own script run."""

import base64
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import altair as alt
import polars as pl

from difftrust.explorer.cube import make_cube
from difftrust.explorer.home import inputs_there, script, style
from difftrust.figures.chart_file import chart_bytes, write_file
from difftrust.figures.ranking import draw_ranking
from difftrust.page.pane import Pane, make_pane, refused
from difftrust.page.subject import Subject, make_subject
from difftrust.page.worth_reading import Worth, worth_reading
from difftrust.tables.interval_columns import HIGH, LOW
from difftrust.tables.names import display_name, rewrite
from difftrust.tables.page_table import explained, page_table
from difftrust.tables.request import benchmark_with
from difftrust.tables.sentences import DOLLARS, LOWER_BOUND, headlines
from difftrust.text import visible
from difftrust_core.base.files import read_packaged
from difftrust_core.exceptions import DifftrustError, NoStore, WrongUsage
from difftrust_core.store.store import Store

_SIZE: Final = (850, 430)
"""Pixels of the picture of models, without its axes."""
_LAST: Final = (
    'showOffline(document.getElementById("explorer"), JSON.parse(document.getElementById("results").textContent));'
)
_MOST: Final = 3_500_000
"""Bytes of results that a page embeds, so that it stays below 5 MB."""


def ranking_picture(subject: Subject) -> str:
    """Return error against incoherence, a point a model, as SVG in a data URL; empty without a reference."""
    points = subject.table.drop_nulls(["mean_error", "mean_incoherence"])
    if points.is_empty():
        return ""
    table = points if "benchmark" in points.columns else points.with_columns(benchmark=pl.lit(subject.benchmark))
    with alt.data_transformers.disable_max_rows():
        svg = chart_bytes(draw_ranking(table, width=_SIZE[0], height=_SIZE[1]), ".svg")
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def explorer_data(subject: Subject) -> dict[str, Any] | None:
    """Return what the explorer of a page shows: the benchmark, on each kind of inputs as far as it fits.

    None where the results of the page's own inputs are too large for a file.
    """
    own, cubes, left = subject.store.settings().validity, {}, _MOST
    for one in inputs_there(subject.store):
        read = subject.store.read_as(replace(subject.store.reading, inputs=one["id"]))
        with suppress(NoStore):  # not of this benchmark
            made = make_cube(read, subject.benchmark, equality=subject.pool.equality)
            spelled = base64.b64encode(made).decode()
            if len(spelled) <= left:
                cubes[f"{subject.benchmark} {one['id']}"] = spelled
                left -= len(spelled)
    if f"{subject.benchmark} {own}" not in cubes:
        return None
    return {
        "benchmarks": [subject.benchmark],
        "inputs": [one for one in inputs_there(subject.store) if f"{subject.benchmark} {one['id']}" in cubes],
        "state": {"inputs": str(own), "t": subject.temperature, "m": subject.m, "n": subject.n},
        "cubes": cubes,
    }


_COLUMNS: Final = (
    *("model", "mean_error", "mean_incoherence", "detection_rate", "undetected_mean_error", "pass_at_1"),
    *("usd_per_1000", "tasks"),
)


def model_table(subject: Subject) -> tuple[str, str]:
    """Return the models side by side as HTML, the lowest error first, and what its columns mean.

    Columns without a value are left out, and costs where nothing was paid.
    """
    table = rewrite(subject.table.rename(DOLLARS), ["model"], lambda model: visible(display_name(model)))
    free = table["usd_per_1000"].sum() == 0
    there = [name for name in _COLUMNS if not (table[name].is_null().all() or (free and "usd" in name))]
    held = (f"{name}{end}" for name in there for end in ("", LOW, HIGH, "_is_lower_bound"))
    shown = page_table(table.select(name for name in held if name in table.columns))
    return shown, f"{explained(there).replace('**', '')}{f' {LOWER_BOUND}.' if '≥' in shown else ''}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Page:
    """A page as one HTML file that opens without a network."""

    title: str
    html: bytes

    def save(self, path: str | Path) -> None:
        """Write the page. Raises WrongUsage unless the name ends in .html and can be written."""
        write_file(check_name(Path(path)), self.html)

    def __repr__(self) -> str:
        """Return what the page is, and how to get it."""
        return f"report: {self.title}, {len(self.html) / 1e6:.1f} MB; .save('report.html') writes it"


def check_name(path: Path) -> Path:
    """Return the path of a page. Raises WrongUsage unless the name ends in .html."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise WrongUsage(f"a report is written as .html, got {path.name!r}; name it report.html")
    return path


def make_page(
    store: Store,
    *,
    benchmark: str | None = None,
    task_id: str | None = None,
    models: Sequence[str] = (),
    **setting: Any,
) -> Page:
    """Return one benchmark as a page; with ``task_id`` that task alone, for each of ``models`` (none: all of them).

    ``setting``: temperature, m, n and equality; what is None or left out is the paper's as far as the store goes.
    Raises WrongUsage for what is not there, NoStore if nothing is executed.
    """
    holding = benchmark_with(store, task_id) if benchmark is None and task_id is not None else benchmark
    subject = make_subject(store, benchmark=holding, **setting)
    if task_id is None:
        panes, title = _panes(subject, worth_reading(subject)), f"{subject.benchmark}: where programs are wrong"
        return _rendered(subject, title, panes, whole=True)
    panes = _panes(subject, _of_task(subject, task_id, models), strict=True)
    return _rendered(subject, f"{panes[0].task_id}: what the programs do", panes, whole=False)


def _of_task(subject: Subject, task_id: str, models: Sequence[str]) -> list[Worth]:
    """Return a task for each model that has it, the most erroneous first."""
    rows = subject.tasks.filter(task_id=task_id).sort("error", "incoherence", "model", descending=[True, True, False])
    there = rows["model"].to_list()
    if not there:
        raise WrongUsage(f"{subject.benchmark} has no results of the task {task_id!r} at these settings")
    if unknown := [model for model in models if model not in there]:
        raise WrongUsage(f"the task {task_id} has no programs of {unknown[0]}; it has: {', '.join(sorted(there))}")
    return [Worth(task_id=task_id, model=model, why="") for model in there if not models or model in models]


def _panes(subject: Subject, chosen: Sequence[Worth], *, strict: bool = False) -> list[Pane]:
    panes = []
    for one in chosen:
        try:
            panes.append(make_pane(subject, one))
        except DifftrustError as e:
            if strict and len(chosen) == 1:
                raise
            panes.append(refused(one, e))
    return panes


def _rendered(subject: Subject, title: str, panes: Sequence[Pane], *, whole: bool) -> Page:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    results = explorer_data(subject) if whole else None
    code = script(_LAST) if results else ""
    jinja = Environment(
        loader=FunctionLoader(_read), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    shown = visible(title)
    made = jinja.get_template("page.html.jinja").render(
        title=shown,
        policy=_policy(code),
        style=_read("page.css") + (style() if results else ""),
        script=code,
        facts=[(what, visible(value)) for what, value in subject.facts()],
        left_out=", ".join(visible(display_name(model)) for model in subject.left_out),
        m=subject.m,
        n=f"{subject.n:,}",
        numbers=headlines(subject.table, with_reference=subject.has_reference) if whole else [],
        picture=ranking_picture(subject) if whole else "",
        results=results,
        table=model_table(subject) if whole else None,
        panes=panes,
        whole=whole,
        has_reference=subject.has_reference,
        knows_domain=subject.knows_domain,
        spell=visible,
    )
    return Page(title=shown, html=made.encode("utf-8", "backslashreplace"))


def _policy(script: str) -> str:
    """Return a Content-Security-Policy: no network, no frames, no forms, and this script alone."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _read(name: str) -> str:
    return read_packaged(__package__, name)
