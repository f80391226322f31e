"""`difftrust export`: write a store's results as a small store."""

import typer

from difftrust_core.cli.echo import echo_line
from difftrust_core.cli.options import BesideOption, JobsOption, StoreOption, ToOption

commands = typer.Typer()


@commands.command(epilog="Example: difftrust export --store DIR --to results")
def export(store: StoreOption, to: ToOption, beside: BesideOption = None, jobs: JobsOption = 2) -> None:
    """Write a store's results as a small store: every table and ablation, no program text, no benchmark text."""
    from difftrust_core.analysis.export import export_results
    from difftrust_core.store.store import Store

    export_results(Store.open(store), to, n_jobs=jobs, beside=Store.open(beside) if beside else None)
    size = sum(path.stat().st_size for path in to.rglob("*") if path.is_file())
    echo_line(f"results of {store} in {to}: {size / 1e6:.1f} MB")
