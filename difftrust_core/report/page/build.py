"""Put a page together: its contents, its template, and a policy that lets nothing but its own scripts run."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from difftrust_core.base.text import visible
from difftrust_core.exceptions import DifftrustError, WrongUsage
from difftrust_core.report.names import display_name
from difftrust_core.report.page.charts import DARK, Chart, digest, library, ranking_chart
from difftrust_core.report.page.numbers import headlines, model_table
from difftrust_core.report.page.pane import PLACES, Pane, make_pane, refused
from difftrust_core.report.page.reading import Worth, worth_reading
from difftrust_core.report.page.subject import Results, Subject, make_subject


@dataclass(frozen=True, kw_only=True, eq=False)
class Page:
    """A page as one HTML file that opens without a network."""

    title: str
    html: bytes

    def save(self, path: str | Path) -> None:
        """Write the page. Raises WrongUsage unless the name ends in .html and can be written."""
        place = check_name(Path(path))
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(self.html)
        except OSError as e:
            raise WrongUsage(f"{place} could not be written: {e.strerror}; name another file") from None

    def __repr__(self) -> str:
        """Return what the page is, and how to get it."""
        return f"report: {self.title}, {len(self.html) / 1e6:.1f} MB; .save('report.html') writes it"


def check_name(path: Path) -> Path:
    """Return the path of a page. Raises WrongUsage unless the name ends in .html."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise WrongUsage(f"a report is written as .html, got {path.name!r}; name it report.html")
    return path


def report_html(
    study: Results,
    *,
    benchmark: str | None,
    temperature: float | None,
    m: int | None,
    n: int | None,
    equality: str,
    task_id: str | None = None,
    models: Sequence[str] = (),
) -> bytes:
    """Return the page of ``make_page``."""
    return make_page(
        study, benchmark=benchmark, temperature=temperature, m=m, n=n, equality=equality, task_id=task_id, models=models
    ).html


def make_page(
    study: Results,
    *,
    benchmark: str | None = None,
    temperature: float | None = None,
    m: int | None = None,
    n: int | None = None,
    equality: str = "paper",
    task_id: str | None = None,
    models: Sequence[str] = (),
) -> Page:
    """Return one benchmark as a page; with ``task_id`` that task alone, for each of ``models`` (none: all of them).

    What is None is the paper's as far as the store goes. Raises WrongUsage for what is not there, NoStore if nothing is
    executed.
    """
    holding = _holding(study, task_id) if benchmark is None and task_id is not None else benchmark
    subject = make_subject(study, benchmark=holding, temperature=temperature, m=m, n=n, equality=equality)
    if task_id is None:
        panes, title = _panes(subject, worth_reading(subject)), f"{subject.benchmark}: where programs are wrong"
        return _rendered(subject, title, panes, whole=True)
    panes = _panes(subject, _of_task(subject, task_id, models), strict=True)
    return _rendered(subject, f"{panes[0].task_id}: what the programs do", panes, whole=False)


def _holding(study: Results, task_id: str) -> str | None:
    """Return the benchmark that has a task. Raises WrongUsage if none has it."""
    for name in study.benchmarks:
        if any(task.task_id == task_id for task in study.pool(name).tasks):
            return name
    raise WrongUsage(f"the store has no task {task_id!r}; its benchmarks: {', '.join(study.benchmarks)}")


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
    from jinja2 import Environment, PackageLoader, StrictUndefined

    chart = ranking_chart(subject) if whole else None
    scripts = [library(), _read("page.js")] if chart is not None else []
    jinja = Environment(
        loader=PackageLoader("difftrust_core.report.page", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    shown = visible(title)
    made = jinja.get_template("page.html.jinja").render(
        title=shown,
        policy=_policy(scripts),
        style=_read("page.css"),
        scripts=scripts,
        facts=[(what, visible(value)) for what, value in subject.facts()],
        left_out=", ".join(visible(display_name(model)) for model in subject.left_out),
        n=f"{subject.n:,}",
        numbers=headlines(subject) if whole else [],
        chart=chart,
        specs=_specs(chart),
        table=model_table(subject) if whole else None,
        panes=panes,
        whole=whole,
        has_reference=subject.has_reference,
        knows_domain=subject.knows_domain,
        places=PLACES,
        spell=visible,
    )
    return Page(title=shown, html=made.encode("utf-8", "backslashreplace"))


def _specs(chart: Chart | None) -> dict[str, Any]:
    return {} if chart is None else {"name": chart.name, "dark": DARK, **chart.specs}


def _policy(scripts: Sequence[str]) -> str:
    """Return a Content-Security-Policy: no network, no frames, no forms, and these scripts alone."""
    allowed = " ".join(f"'{digest(script)}'" for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _read(name: str) -> str:
    return resources.files("difftrust_core.report.page").joinpath(name).read_text(encoding="utf-8")
