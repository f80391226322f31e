"""`difftrust doctor`: examine the sandbox of this machine."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from difftrust_core.cli.echo import echo

if TYPE_CHECKING:
    from difftrust_core.sandbox.doctor import Diagnosis

commands = typer.Typer()


@commands.command(epilog="Example: difftrust doctor")
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say what keeps candidates in on this machine, what is missing, and what that leaves open. Exit 1 if too much."""
    from difftrust_core.sandbox.doctor import diagnose

    found = diagnose()
    echo(_as_json(found) if as_json else _as_text(found))
    if not found.is_sound:
        raise typer.Exit(1)


def _as_json(found: "Diagnosis") -> str:
    from dataclasses import asdict

    return json.dumps({**asdict(found), "is_sound": found.is_sound, "verdict": found.verdict}, indent=1)


def _as_text(found: "Diagnosis") -> str:
    from tabulate import tabulate

    from difftrust_core.base.text import printable
    from difftrust_core.sandbox.doctor import REACH

    who = "root" if found.is_root else "an ordinary user"
    rows = [(layer.name, "active" if layer.active else "missing", printable(layer.detail)) for layer in found.layers]
    lines = [
        f"{found.machine}, Python {found.python}, {found.n_cpus} CPUs, as {who}",
        "",
        tabulate(rows, headers=["layer", "state", "what it covers, or why it is missing"], disable_numparse=True),
        "",
    ]
    for layer in found.layers:
        if layer.leaves_open:
            lines += [f"{layer.name}:", f"  leaves open: {layer.leaves_open}", f"  remedy: {layer.remedy}"]
    if found.still_open:
        lines += ["self-test: a confined child could still", *(f"  {REACH[word]}" for word in found.still_open)]
    elif not found.failure:
        lines.append(f"self-test: a confined child could do none of these: {', '.join(REACH)}")
    return "\n".join([*lines, f"verdict: {printable(found.verdict)}"])
