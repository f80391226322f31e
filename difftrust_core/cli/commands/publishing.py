"""Commands that write results: export, reproduce."""

from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.cli.options import JobsOption, StoreOption, WeakOption, store_folder

commands = typer.Typer()
ToOption = Annotated[
    Path, typer.Option("--to", help="The folder or URL of the results store.", metavar="DIR", parser=store_folder)
]


@commands.command(epilog="Example: difftrust export --store DIR --to results")
def export(store: StoreOption, to: ToOption, jobs: JobsOption = 2) -> None:
    """Write a store's results as a small store: every table and ablation, no program text, no benchmark text."""
    from difftrust_core.pipeline import export_results
    from difftrust_core.store import Store

    export_results(Store.open(store), to, n_jobs=jobs)
    size = sum(path.stat().st_size for path in to.rglob("*") if path.is_file())
    typer.echo(f"results of {store} in {to}: {size / 1e6:.1f} MB")


@commands.command(epilog="Example: difftrust reproduce --store stores/paper --to data/results")
def reproduce(
    store: StoreOption,
    to: ToOption,
    benchmark: Annotated[list[str] | None, typer.Option(help="Only this benchmark; may be repeated.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model; may be repeated.")] = None,
    temperature: Annotated[list[float] | None, typer.Option(help="Only this temperature; may be repeated.")] = None,
    m: Annotated[int | None, typer.Option("-m", min=1, help="Only the first m candidates of each task.")] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Inputs a task.")] = 1000,
    n_deep: Annotated[int, typer.Option(min=1, help="Inputs a task for GPT-4o at t = 0.6.")] = 10_000,
    jobs: JobsOption = 2,
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """Import everything recorded, execute it, write the results. Resumes where it was stopped."""
    from difftrust_core.pipeline import reproduce as run
    from difftrust_core.pipeline import selection_of

    run(
        store,
        to,
        selection=selection_of(benchmarks=benchmark or [], models=model or [], temperatures=temperature or [], m=m),
        n=n,
        n_deep=n_deep,
        n_jobs=jobs,
        allow_weak=allow_weak_sandbox,
        say=lambda line: typer.echo(line, err=True),
    )
