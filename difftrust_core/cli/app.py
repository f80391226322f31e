"""The command line: one function a command, each of them a few calls into the pipeline."""

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from difftrust_core import __version__
from difftrust_core.cli.reports import printable, report_doubts, report_execution, report_import
from difftrust_core.exceptions import DifftrustError, WrongUsage

if TYPE_CHECKING:
    import polars as pl


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="See where LLM-written programs are wrong, without an oracle. Start with: difftrust demo",
)


class Format(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


class Validity(StrEnum):
    """Which inputs are kept; see `difftrust execute --help`."""

    REFERENCE = "reference"
    QUORUM = "quorum"
    ALL = "all"


class Equality(StrEnum):
    """When two outcomes agree."""

    PAPER = "paper"
    STRICT = "strict"


class Detection(StrEnum):
    """How a task counts as detected."""

    AS_PUBLISHED = "as-published"
    ALL_PAIRS = "all-pairs"


StoreOption = Annotated[Path, typer.Option("--store", help="The folder of the store.", metavar="DIR")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print it.")]
EqualityOption = Annotated[Equality, typer.Option(help="Numbers within 0.1 % agree (paper), or only equal ones.")]
JobsOption = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")]
WeakOption = Annotated[
    bool, typer.Option("--allow-weak-sandbox", help="Execute even where candidates could reach files or network.")
]


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"difftrust {__version__}")
        raise typer.Exit


@app.command(epilog="Example: difftrust demo --store difftrust-demo")
def demo(
    store: StoreOption = Path("difftrust-demo"),
    n: Annotated[int, typer.Option("-n", min=1, help="Inputs a task.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the simulated coders.")] = 0,
    jobs: JobsOption = 2,
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """Try everything in a minute: simulated coders on the starter benchmark, executed and tabled."""
    from difftrust_core.cli.demonstration import demonstrate

    demonstrate(store, n=n, seed=seed, n_jobs=jobs, allow_weak=allow_weak_sandbox)


@app.command(epilog="Example: difftrust fetch humaneval")
def fetch(
    name: Annotated[str, typer.Argument(help="humaneval, mbpp or difftrust (the published candidates).")],
    source: Annotated[Path | None, typer.Option("--from", help="A local copy to take instead.", metavar="PATH")] = None,
) -> None:
    """Bring a benchmark or the recorded candidates to this machine, checked against a pinned sha256."""
    from difftrust_core.corpora.fetch import fetch as fetch_file

    typer.echo(f"ready: {fetch_file(name, source=source)}")


@app.command("import", epilog="Example: difftrust import samples.jsonl --model gpt-4o --temperature 0.6 --store DIR")
def import_(
    source: Annotated[Path, typer.Argument(help="A folder of the published artifact, .parquet, .jsonl or .jsonl.gz.")],
    store: StoreOption,
    benchmark: Annotated[list[str] | None, typer.Option(help="Only this benchmark; may be repeated.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model (JSONL: whose samples these are).")] = None,
    temperature: Annotated[list[float] | None, typer.Option(help="Only this temperature (JSONL: theirs).")] = None,
    m: Annotated[int | None, typer.Option("-m", min=1, help="Only the first m candidates of each task.")] = None,
    jobs: JobsOption = 2,
) -> None:
    """Add recorded candidates to a store. Rows that cannot be used are counted and named."""
    from difftrust_core.pipeline import import_source, selection_of
    from difftrust_core.store import Store

    is_jsonl = source.name.endswith((".jsonl", ".jsonl.gz"))
    if is_jsonl and (len(model or []) != 1 or len(temperature or []) != 1):
        raise WrongUsage(f"{source.name} does not say whose samples it holds; give one --model and one --temperature")
    selection = selection_of(
        benchmarks=benchmark or [],
        models=[] if is_jsonl else model or [],
        temperatures=[] if is_jsonl else temperature or [],
        m=m,
    )
    coder = {"model": model[0], "temperature": temperature[0]} if is_jsonl and model and temperature else {}
    found = import_source(Store.create(store), source, selection, n_jobs=jobs, **coder)  # type: ignore[arg-type]
    report_import(found, store)


@app.command(epilog="Example: difftrust execute --store DIR -n 1000 --jobs 2")
def execute(
    store: StoreOption,
    n: Annotated[int, typer.Option("-n", min=1, help="Inputs a task; more than before executes only the rest.")] = 1000,
    jobs: JobsOption = 2,
    seed: Annotated[int | None, typer.Option(help="Seed of the inputs; fixed at a store's first execution.")] = None,
    validity: Annotated[
        Validity | None,
        typer.Option(help="Inputs kept: on which the reference returns, half of the candidates do, or all."),
    ] = None,
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """Run every program of a store on every input of its task, in the sandbox, once. Resumes where it was stopped."""
    from difftrust_core.pipeline import execute as run
    from difftrust_core.pipeline import refresh_estimates
    from difftrust_core.store import Store

    opened = Store.open(store)
    done = run(
        opened,
        n=n,
        n_jobs=jobs,
        seed=seed,
        validity=validity.value if validity else None,
        allow_weak=allow_weak_sandbox,
        say=lambda line: typer.echo(line, err=True),
    )
    refreshed = refresh_estimates(opened, n_jobs=jobs)
    report_execution(done, refreshed, n)
    report_doubts(store, show_timeouts=bool(done.n_tasks))
    if done.failures:
        raise DifftrustError(f"{len(done.failures)} tasks failed (named above); run the command again")


@app.command(epilog="Example: difftrust table 4 --store DIR --published --format markdown")
def table(
    name: Annotated[str, typer.Argument(help="Which table of the paper: 4.")],
    store: StoreOption,
    format_: FormatOption = Format.TABLE,
    published: Annotated[bool, typer.Option("--published", help="Show the published value beside each.")] = False,
    detection: Annotated[Detection, typer.Option(help="By a random pair an input, or all.")] = Detection.AS_PUBLISHED,
    equality: EqualityOption = Equality.PAPER,
    temperature: Annotated[float | None, typer.Option(help="Only this temperature (with --published: 0.6).")] = None,
    drop_timeouts: Annotated[
        bool, typer.Option("--drop-timeouts", help="Leave out (model, task) pairs with a timeout, as published.")
    ] = False,
    m: Annotated[int | None, typer.Option("-m", min=2, help="Only the first m candidates.")] = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="Only the first n inputs.")] = None,
    jobs: JobsOption = 2,
) -> None:
    """Print a table of the paper, computed from a store."""
    from difftrust_core.cli.rendering import render
    from difftrust_core.cli.tables import TABLES, TableRequest

    if name not in TABLES:
        raise WrongUsage(f"table is one of {', '.join(TABLES)}, got {name!r}")
    request = TableRequest(
        store=store,
        published=published,
        detection=detection.value,
        equality=equality.value,
        temperature=temperature,
        drop_timeouts=drop_timeouts,
        m=m,
        n=n,
        n_jobs=jobs,
    )
    made = TABLES[name](request)
    typer.echo(render(made.frame, format_.value))
    for note in made.notes:
        typer.echo(note, err=format_ is not Format.TABLE)


@app.command(epilog="""Example: difftrust sql "select model, avg(error) from estimates group by 1" --store DIR""")
def sql(
    query: Annotated[str, typer.Argument(help="A SELECT on the views of the store.")],
    store: StoreOption,
    format_: FormatOption = Format.TABLE,
    equality: EqualityOption = Equality.PAPER,
    validity: Annotated[Validity | None, typer.Option(help="Another validity policy than the store's.")] = None,
) -> None:
    """Ask a store anything. Views: tasks, candidates, programs, inputs, outcomes, behaviours, executions, estimates."""
    from difftrust_core.cli.rendering import render
    from difftrust_core.queries import query_sql
    from difftrust_core.store import Store

    chosen = validity.value if validity else None
    answer: pl.DataFrame = query_sql(Store.open(store), query, equality=equality.value, validity=chosen)
    typer.echo(render(answer, format_.value))


_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit status 0, 1 for failed work, 2 for wrong usage, 130 after Ctrl-C."""
    status = _status(lambda: app(args=arguments, standalone_mode=False))
    if status == _INTERRUPTED:
        typer.echo("\ndifftrust: stopped; what is finished is kept, the same command goes on from there", err=True)
    sys.exit(status)


def _status(run: Callable[[], Any]) -> int:
    try:
        code = run()
        return code if isinstance(code, int) else 0
    except typer.Exit as e:
        return e.exit_code
    except DifftrustError as e:
        typer.echo(f"difftrust: {printable(str(e))}", err=True)
        return e.exit_status
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        return 0
    except typer.TyperException as e:
        typer.echo(f"difftrust: {printable(e.format_message())} (see --help)", err=True)
        return e.exit_code
