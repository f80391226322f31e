"""The commands that show results: table, sql, figure, report, dashboard, plan, export."""

import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from difftrust.cli.printing import echo, echo_line
from difftrust.cli.shared_options import (
    DetectionOption,
    EqualityOption,
    FirstInputsOption,
    FormatOption,
    InputsOption,
    JobsOption,
    LoadOption,
    MostOption,
    OneTemperatureOption,
    ReferencesOption,
    ResultsOption,
    StoreOrResultsOption,
    folder_option,
    name_option,
)
from difftrust.tables.request import record_of
from difftrust_core.base.records import Detection, Equality, Load, Reading, References
from difftrust_core.exceptions import NoBenchmark, WrongUsage

commands = typer.Typer()

_PAPER = "2, 3, 3a (m), 3b (temperature), 3c (n), 4 of the paper"
_OWN = "selection, questions, rankings, readings, undetected, alarms, suspects, draws, audits, versions"
_OWN += ", agreement, guarantee, dissent, difficulty, correlated, policies, tests"


@commands.command(epilog="Example: difftrust table 4 --store DIR --published --format markdown")
def table(
    name: Annotated[str, typer.Argument(help=f"{_PAPER}; or {_OWN}.")],
    store: StoreOrResultsOption = None,
    format_: FormatOption = "text",
    published: Annotated[bool, typer.Option("--published", help="Show the published value beside each.")] = False,
    detection: DetectionOption = Detection.AS_PUBLISHED,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
    temperature: Annotated[float | None, typer.Option(help="Only this temperature (with --published: 0.6).")] = None,
    drop_timeouts: Annotated[
        bool, typer.Option("--drop-timeouts", help="Leave out (model, task) pairs with a timeout, as published.")
    ] = False,
    m: Annotated[
        int | None, typer.Option("-m", min=2, help="Only the first m candidates (with --published: 10).")
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", min=1, help="Only the first n inputs (with --published: 1000).")
    ] = None,
    models: Annotated[
        list[str] | None,
        name_option(
            "--model", help="Only this model; may be repeated. Table 3 and policies: their model, else gpt_4o."
        ),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="Tables 2 to 4, tests, questions: 95 % intervals over tasks (bootstrap)."),
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of the tasks, with --intervals.")] = 2000,
    seed: Annotated[
        int, typer.Option(help="Seed of resamples, and of the tasks that agreement and guarantee draw.")
    ] = 0,
    load: LoadOption = Load.TRIMMED,
    signal: Annotated[
        str, typer.Option(help="agreement: answer by incoherence, largest_share, n_clusters or dissent.")
    ] = "incoherence",
    alpha: Annotated[float, typer.Option(help="agreement: the share of wrong answers is to be at most this ...")] = 0.1,
    delta: Annotated[float, typer.Option(help="... with probability 1 - this.")] = 0.05,
    jobs: JobsOption = 2,
) -> None:
    """Print a table: of the paper, or one of this project, computed from a store.

    Table 3 ignores -m, -n and --temperature.
    """
    given = locals()
    from difftrust.cli.printing import report_table
    from difftrust.shipped import find_results
    from difftrust.tables.registry import make_table
    from difftrust.tables.request import TableRequest

    request = record_of(
        TableRequest,
        given,
        store=store or find_results(),
        paper_setting=store is None,
        reading=Reading(inputs=inputs, references=references, load=load),
        n_jobs=jobs,
        **_models(name, models or []),
    )
    report_table(make_table(name, request), format_)


def _models(name: str, models: list[str]) -> dict[str, Any]:
    """Return whose table is asked for: Table 3 and the policies are those of one model."""
    if not name.startswith("3") and name != "policies":
        return {"only": tuple(models)}
    if len(models) > 1:
        raise WrongUsage(f"Table {name} is that of one model, got --model {' --model '.join(models)}; name one")
    return {"model": models[0]} if models else {}


@commands.command(epilog='Example: difftrust sql "select model, avg(error) from estimates group by 1"')
def sql(
    query: Annotated[str, typer.Argument(help="A SELECT on the views of the store.")],
    store: StoreOrResultsOption = None,
    format_: FormatOption = "text",
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
) -> None:
    """Query a store with SQL.

    Views: tasks, candidates, programs, inputs, outcomes, behaviours, executions, estimates, audits.
    """
    from difftrust.shipped import find_results
    from difftrust.tables.render import render
    from difftrust_core.estimates.queries import query_sql
    from difftrust_core.store.store import Store

    answer = query_sql(
        Store.open(store or find_results(), Reading(inputs=inputs, references=references)), query, equality=equality
    )
    echo(render(answer, format_))


@commands.command(epilog="Example: difftrust figure 3 --model gpt_4o --out figure_3.svg")
def figure(
    name: Annotated[
        str,
        typer.Argument(
            help="1, 2, 3 of the paper; ranking, ablation, mixtures, readings, risk-coverage, questions, policies."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Where to write: .svg, .png, or .html (opens offline).", metavar="FILE")
    ],
    store: StoreOrResultsOption = None,
    models: Annotated[
        list[str] | None,
        name_option("--model", help="Only this model; may be repeated, for figures 2, 3 and ablation."),
    ] = None,
    benchmark: Annotated[str | None, name_option(help="Only this benchmark.")] = None,
    m: MostOption = None,
    n: FirstInputsOption = None,
    temperature: OneTemperatureOption = None,
    vary: Annotated[str, typer.Option(help="ablation: m, n or temperature.")] = "m",
    detection: DetectionOption = Detection.AS_PUBLISHED,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
    load: LoadOption = Load.TRIMMED,
    jobs: JobsOption = 2,
) -> None:
    """Draw a figure from a store, into a file that opens without a network.

    Without --store: from the results that come with the project, with the paper's tasks, m, n and temperature.
    """
    given = locals()
    from difftrust.figures.chart_file import check_suffix, save_chart
    from difftrust.figures.registry import FigureRequest, make_figure
    from difftrust.shipped import find_results

    check_suffix(out)
    request = record_of(
        FigureRequest,
        given,
        store=store or find_results(),
        published=store is None,
        reading=Reading(inputs=inputs, references=references, load=load),
        n_jobs=jobs,
        models=tuple(models or ()),
    )
    made = make_figure(name, request)
    save_chart(made.chart, out)
    echo_line(f"drew {out}")
    for note in made.notes:
        echo(note)


@commands.command(epilog="Example: difftrust report --store DIR --out report.html")
def report(
    out: Annotated[Path, typer.Option("--out", help="Where to write: a file that ends in .html.", metavar="FILE")],
    store: StoreOrResultsOption = None,
    task: Annotated[str | None, typer.Option(help="Only this task: a section for each model.", metavar="ID")] = None,
    model: Annotated[list[str] | None, name_option(help="With --task: only this model; may be repeated.")] = None,
    benchmark: Annotated[
        str | None, name_option(help="Only this benchmark. Default: the first, or the task's.")
    ] = None,
    m: MostOption = None,
    n: FirstInputsOption = None,
    temperature: OneTemperatureOption = None,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
) -> None:
    """Write one HTML file that opens offline: numbers, chart, table, and the tasks worth reading with their inputs.

    Without --store: from the results that come with the project.
    """
    from difftrust.page.build import check_name
    from difftrust.study import open_study

    check_name(out)
    if model and task is None:
        raise WrongUsage("--model goes with --task, and a report without --task compares all models; add --task ID")
    study = open_study(store, inputs=inputs, references=references)
    made = study.report(
        benchmark=benchmark, temperature=temperature, m=m, n=n, equality=equality, task_id=task, models=model or ()
    )
    made.save(out)
    echo_line(f"wrote {out}: {made.title} ({len(made.html) / 1e6:.1f} MB)")


@commands.command(epilog="Example: difftrust dashboard --store DIR --read-only --base-path /difftrust")
def dashboard(
    store: StoreOrResultsOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on; read-only unless it is this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Which port.")] = 8501,
    read_only: Annotated[bool, typer.Option(help="Execute nothing, send no requests, hide folder names.")] = False,
    base_path: Annotated[str, typer.Option(help="Path below which a proxy serves it, such as /difftrust.")] = "",
) -> None:
    """Open a store in the browser: which models err, on which tasks, and on which inputs they disagree."""
    from importlib.util import find_spec

    from difftrust_core.base.files import find_shipped
    from difftrust_core.base.plugins import missing_package

    for package in ("streamlit", "altair"):
        if find_spec(package) is None:
            raise missing_package("the dashboard", package, install="'difftrust[dashboard]'")

    app = find_shipped("dashboard/served.py", in_wheel="share/dashboard/served.py", package="difftrust")
    if not app.is_file():
        raise NoBenchmark("the dashboard's files are not there; install difftrust again")
    if named := store or os.environ.get("DIFFTRUST_STORE"):
        from difftrust.study import open_study

        open_study(named).benchmarks  # noqa: B018 (a store without results is refused)
    if store is not None:
        os.environ["DIFFTRUST_STORE"] = str(store.absolute())
    if read_only:
        os.environ["DIFFTRUST_READONLY"] = "1"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small products, which threads only slow down
    for name, told in _GIVEN_BACK.items():
        os.environ.setdefault(name, told)
    local = ["localhost", "127.0.0.1", "[::1]"] if host in ("localhost", "127.0.0.1", "::1") else []
    words = ["run", str(app), f"--server.address={host}", f"--server.port={port}"]
    words += [f"--server.allowedHosts={name}" for name in local]
    if base_path:
        words.append(f"--server.baseUrlPath={_base_path(base_path)}")
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, str(app.with_name("serve.py")), *words])


_GIVEN_BACK = {
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 17),
}
"""What lets Polars and the C library return memory at once that they no longer use, for a server that stays."""


def _base_path(path: str) -> str:
    """Return the path without slashes around it. Raises WrongUsage for what no path of a URL looks like."""
    if not re.fullmatch(r"/?\w[\w.~-]*(/\w[\w.~-]*)*/?", path, re.ASCII):
        raise WrongUsage(f"--base-path is a path such as /difftrust, got {path!r}; use letters, digits, - and /")
    return path.strip("/")


@commands.command(epilog="Example: difftrust plan --false-alarms 0.05 --model gpt_4o")
def plan(
    epsilon: Annotated[float, typer.Option(help="How far an estimate may be off.")] = 0.05,
    delta: Annotated[float, typer.Option(help="How often it may be off by more.")] = 0.05,
    detection: Annotated[
        float | None, typer.Option("--find", help="Which programs to buy: share of a model's wrong programs to find.")
    ] = None,
    false_alarms: Annotated[
        float | None, typer.Option(help="Which programs to buy: most alarms, as a share of its right programs.")
    ] = None,
    store: StoreOrResultsOption = None,
    benchmark: Annotated[str | None, name_option(help="Learn from this benchmark.")] = None,
    model: Annotated[str | None, name_option(help="Learn from this model.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Learn from this temperature.")] = None,
    m: Annotated[int | None, typer.Option("-m", min=2, help="Most programs of the model on a task.")] = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="Inputs to compare on.")] = None,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
    format_: FormatOption = "text",
    jobs: JobsOption = 2,
    seed: Annotated[int, typer.Option(help="Which programs to buy: seed of the split of the tasks.")] = 0,
) -> None:
    """Print how many inputs an accuracy needs, or which programs to buy."""
    if detection is None and false_alarms is None:
        _say_inputs(epsilon, delta)
        return
    from difftrust.cli.printing import report_table
    from difftrust.shipped import PAPER_SETTING, find_results
    from difftrust.tables.plan_answer import recommended
    from difftrust.tables.request import TableRequest

    request = TableRequest(
        store=store or find_results(),
        reading=Reading(inputs=inputs, references=references),
        paper_setting=store is None,
        equality=equality,
        temperature=temperature,
        benchmark=benchmark,
        m=m,
        n=n,
        model=model or PAPER_SETTING.model,
        seed=seed,
        n_jobs=jobs,
    )
    report_table(recommended(request, detection=detection, false_alarms=false_alarms), format_)


def _say_inputs(epsilon: float, delta: float) -> None:
    from difftrust.task_intervals import inputs_for, inputs_for_no_disagreement

    estimating, agreeing = inputs_for(epsilon, delta), inputs_for_no_disagreement(epsilon, delta)
    sure = f"with probability {1 - delta:g}"
    echo(f"{estimating} inputs: E and I, each within {epsilon:g} of its true value {sure} (Theorem 4.2)")
    echo(f"{agreeing} inputs without a disagreement: I is at most {epsilon:g} {sure} (Theorem 4.3)")
    echo("both are about the given programs, not about the LLM: more inputs do not replace more programs")


@commands.command(epilog="Example: difftrust export --store DIR --out results")
def export(
    to: ResultsOption,
    store: Annotated[
        Path | None,
        folder_option(
            "--store",
            help="The folder or URL of an executed store; needed, for the shipped results are an export.",
        ),
    ] = None,
    beside: Annotated[Path | None, folder_option(help="A store whose results on other inputs come along.")] = None,
    jobs: JobsOption = 2,
) -> None:
    """Write a store's results as a small store: every table and ablation, no program text, no benchmark text."""
    from difftrust.export import export_results, megabytes
    from difftrust_core.store.store import Store

    if store is None:
        raise WrongUsage("export takes an executed store, and the shipped results are an export; name it with --store")
    export_results(Store.open(store), to, n_jobs=jobs, beside=Store.open(beside) if beside else None)
    echo_line(f"results of {store} in {to}: {megabytes(to):.1f} MB")
