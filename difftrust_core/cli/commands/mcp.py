"""`difftrust mcp`: a server that agents ask over the Model Context Protocol."""

from typing import Annotated

import typer

from difftrust_core.base.extras import require

commands = typer.Typer()


@commands.command(epilog="Example: difftrust mcp --max-usd 1")
def mcp(
    max_usd: Annotated[
        float | None,
        typer.Option(min=0, help="What sampling from LLMs may cost while the server runs; without it, none is asked."),
    ] = None,
) -> None:
    """Answer agents over standard input and output: check, diff, ask_next and pin (docs/agents.md).

    Files are read and written below the folder that it is started in, and nowhere else.
    """
    require("mcp.server", extra="mcp", purpose="a server for agents")
    from difftrust_core.cli.agents.server import make_server

    make_server(max_usd=max_usd).run("stdio")
