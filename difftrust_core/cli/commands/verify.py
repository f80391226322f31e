"""`difftrust verify`: check every file of a store, and say what brings back what is damaged."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from difftrust_core.cli.echo import echo
from difftrust_core.cli.options import JobsOption, StoreOption

if TYPE_CHECKING:
    from difftrust_core.store.verify.verification import Verification

commands = typer.Typer()
_SHOWN = 20
"""Findings printed; `--json` has all."""


@commands.command(epilog="Example: difftrust verify --store DIR")
def verify(
    store: StoreOption,
    repair: Annotated[bool, typer.Option("--repair", help="Move damaged files to DIR/damaged, to be remade.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    jobs: JobsOption = 2,
) -> None:
    """Check every file and every row of a store, and say what brings back what is wrong. Exit 1 if anything is."""
    from difftrust_core.store.remote.mirror import with_urls
    from difftrust_core.store.store import Store
    from difftrust_core.store.verify.verification import verify as run

    found = run(Store.open(store), n_jobs=jobs, repair=repair)
    echo(with_urls(json.dumps(asdict(found), indent=1) if as_json else _as_text(found, repair=repair)))
    if found.findings:
        raise typer.Exit(1)


def _as_text(found: "Verification", *, repair: bool) -> str:
    from difftrust_core.base.text import printable

    lines = [f"note: {printable(note)}" for note in found.notes]
    lines += [f"{printable(f.path)}: {printable(f.what)}" for f in found.findings[:_SHOWN]]
    if len(found.findings) > _SHOWN:
        lines.append(f"and {len(found.findings) - _SHOWN} more; --json lists all")
    size = f"{found.n_files:,} files, {found.n_bytes / 1e6:,.1f} MB"
    if found.n_unsealed:
        lines.append(f"note: {found.n_unsealed:,} files were written before checksums; their rows alone were checked")
    if not found.findings:
        return "\n".join([*lines, f"{size}: nothing is wrong"])
    lines.append(f"{size}: {_count(len(found.findings))} wrong")
    if found.moved:
        lines.append(f"moved {len(found.moved)} files to the folder damaged")
    lines.append("run now:" if repair else "run it again with --repair, which moves these files aside, then:")
    lines += [f"  {printable(remedy)}" for remedy in dict.fromkeys(f.remedy for f in found.findings)]
    return "\n".join(lines)


def _count(number: int) -> str:
    return "one thing is" if number == 1 else f"{number} things are"
