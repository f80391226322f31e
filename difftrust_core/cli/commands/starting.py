"""Commands that a newcomer starts with: demo, fetch."""

from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.cli.options import JobsOption, StoreOption, WeakOption

commands = typer.Typer()


@commands.command(epilog="Example: difftrust demo --store difftrust-demo")
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


@commands.command(epilog="Example: difftrust fetch humaneval")
def fetch(
    name: Annotated[
        str, typer.Argument(help="humaneval, mbpp, bigcodebench, spider or difftrust (the published candidates).")
    ],
    source: Annotated[Path | None, typer.Option("--from", help="A local copy to take instead.", metavar="PATH")] = None,
) -> None:
    """Bring a benchmark or the recorded candidates to this machine, checked against a pinned sha256."""
    from difftrust_core.corpora.fetch import fetch as fetch_file

    typer.echo(f"ready: {fetch_file(name, source=source)}")
