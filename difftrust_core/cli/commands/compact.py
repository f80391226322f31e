"""`difftrust compact`: merge the many small files of a store into few."""

import typer

from difftrust_core.cli.echo import echo
from difftrust_core.cli.options import StoreOption

commands = typer.Typer()


@commands.command(epilog="Example: difftrust compact --store DIR")
def compact(store: StoreOption) -> None:
    """Merge the many small files of a store into few, which are read faster. Their rows stay the same."""
    from difftrust_core.store.merge import merge_files
    from difftrust_core.store.store import Store

    before, after = merge_files(Store.open(store))
    echo(f"merged {before:,} files into {after:,}" if before > after else f"nothing to merge: {before:,} files")
