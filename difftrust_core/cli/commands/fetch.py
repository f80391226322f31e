"""`difftrust fetch`: bring a benchmark or the recorded candidates to this machine."""

from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.cli.echo import echo_line

commands = typer.Typer()


@commands.command(epilog="Example: difftrust fetch humaneval mbpp")
def fetch(
    names: Annotated[
        list[str], typer.Argument(help="humaneval, mbpp, bigcodebench, spider or difftrust (the published candidates).")
    ],
    source: Annotated[Path | None, typer.Option("--from", help="A local copy to take instead.", metavar="PATH")] = None,
) -> None:
    """Bring benchmarks or the recorded candidates to this machine, checked against a pinned sha256.

    humaneval, mbpp and difftrust are the texts that the shipped results lack: the page Task shows them then.
    """
    from difftrust_core.datasets.download import fetch as fetch_file

    for name in names:
        echo_line(f"ready: {fetch_file(name, source=source)}")
