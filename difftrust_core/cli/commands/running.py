"""Commands that fill a store: import, execute."""

from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.cli.options import Backend, JobsOption, StoreOption, Validity, WeakOption
from difftrust_core.cli.reports import report_doubts, report_execution, report_import
from difftrust_core.exceptions import DifftrustError, WrongUsage

commands = typer.Typer()


@commands.command(
    "import", epilog="Example: difftrust import samples.jsonl --model gpt-4o --temperature 0.6 --store DIR"
)
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
    found = import_source(store, source, selection, n_jobs=jobs, **coder)  # type: ignore[arg-type]
    report_import(found, store)


@commands.command(epilog="Example: difftrust execute --store DIR -n 1000 --jobs 2")
def execute(
    store: StoreOption,
    n: Annotated[int, typer.Option("-n", min=1, help="Inputs a task; more than before executes only the rest.")] = 1000,
    benchmark: Annotated[list[str] | None, typer.Option(help="Only its programs; may be repeated.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model's programs; may be repeated.")] = None,
    temperature: Annotated[list[float] | None, typer.Option(help="Only those sampled at it; may be repeated.")] = None,
    jobs: JobsOption = 2,
    seed: Annotated[int | None, typer.Option(help="Seed of the inputs; fixed at a store's first execution.")] = None,
    validity: Annotated[
        Validity | None,
        typer.Option(help="Inputs kept: on which the reference returns, half of the candidates do, or all."),
    ] = None,
    backend: Annotated[Backend, typer.Option(help="Processes of this machine, or the workers of a cluster.")] = (
        Backend.LOCAL
    ),
    scheduler: Annotated[
        str, typer.Option(help="With dask: tcp://host:port; workers reach --store, a URL or one path.")
    ] = "",
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """Run every program of a store on every input of its task, in the sandbox, once. Resumes where it was stopped."""
    from difftrust_core.pipeline import execute as run
    from difftrust_core.pipeline import refresh_estimates, selection_of
    from difftrust_core.store import Store

    if (backend is Backend.DASK) != bool(scheduler):
        raise WrongUsage("--backend dask and --scheduler tcp://host:port go together; give both, or neither")
    opened = Store.open(store)
    with opened.writing():
        done = run(
            opened,
            n=n,
            selection=selection_of(benchmarks=benchmark or [], models=model or [], temperatures=temperature or []),
            n_jobs=jobs,
            seed=seed,
            validity=validity.value if validity else None,
            allow_weak=allow_weak_sandbox,
            scheduler=scheduler,
            say=lambda line: typer.echo(line, err=True),
        )
        refreshed = refresh_estimates(opened, n_jobs=jobs)
    report_execution(done, refreshed, n)
    report_doubts(store, show_timeouts=bool(done.n_tasks))
    if done.failures:
        raise DifftrustError(f"{len(done.failures)} tasks failed (named above); run the command again")
