"""The commands that look after a store and this machine: verify, compact, doctor."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from difftrust.cli.printing import echo
from difftrust.cli.shared_options import JobsOption, PlainFormatOption, StoreOption, StoreOrResultsOption
from difftrust_core.exceptions import WrongUsage

if TYPE_CHECKING:
    from difftrust.doctor import Diagnosis
    from difftrust.verify.verification import Verification

commands = typer.Typer()

_SHOWN = 20
"""Findings printed; `--format json` has all."""


@commands.command(epilog="Example: difftrust verify --store DIR --format json")
def verify(
    store: StoreOrResultsOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="Move damaged files to DIR/damaged, to be remade.")] = False,
    style: PlainFormatOption = "text",
    jobs: JobsOption = 2,
) -> None:
    """Check every file and row of a store, and print the commands that repair it. Exit status 1 if any is damaged."""
    from difftrust.shipped import find_results
    from difftrust.verify.verification import verify as run
    from difftrust_core.store.mirror import with_urls
    from difftrust_core.store.store import Store

    if repair and store is None:
        raise WrongUsage("--repair moves files of a store; name the store with --store DIR")
    found = run(Store.open(store or find_results()), n_jobs=jobs, repair=repair)
    echo(with_urls(json.dumps(asdict(found), indent=1) if style == "json" else _as_text(found, repair=repair)))
    if found.findings:
        raise typer.Exit(1)


def _as_text(found: "Verification", *, repair: bool) -> str:
    from difftrust.text import printable

    lines = [f"note: {printable(note)}" for note in found.notes]
    lines += [f"{printable(f.path)}: {printable(f.what)}" for f in found.findings[:_SHOWN]]
    if len(found.findings) > _SHOWN:
        lines.append(f"and {len(found.findings) - _SHOWN} more; --format json lists all")
    size = f"{found.n_files:,} files, {found.n_bytes / 1e6:,.1f} MB"
    if found.n_unsealed:
        lines.append(f"note: {found.n_unsealed:,} files were written before checksums; their rows alone were checked")
    if not found.findings:
        return "\n".join([*lines, f"{size}: nothing is wrong"])
    n_wrong = len(found.findings)
    lines.append(f"{size}: {'one thing is' if n_wrong == 1 else f'{n_wrong} things are'} wrong")
    if found.moved:
        lines.append(f"moved {len(found.moved)} files to the folder damaged")
    movable = "run now:" if repair else "run it again with --repair, which moves these files aside, then:"
    for heading, are_replies in ((movable, False), ("replies are never moved; for each that is damaged:", True)):
        if remedies := [f.remedy for f in found.findings if (f.table == "replies") is are_replies]:
            lines += [heading, *(f"  {printable(remedy)}" for remedy in dict.fromkeys(remedies))]
    return "\n".join(lines)


@commands.command(epilog="Example: difftrust compact --store DIR")
def compact(store: StoreOption) -> None:
    """Merge the many small files of a store into few, which are read faster. Their rows stay the same."""
    from difftrust_core.store.store import Store, merge_files

    before, after = merge_files(Store.open(store))
    echo(f"merged {before:,} files into {after:,}" if before > after else f"nothing to merge: {before:,} files")


@commands.command(epilog="Example: difftrust doctor")
def doctor(
    style: PlainFormatOption = "text",
) -> None:
    """Show which sandbox layers are active here, and what candidates could still reach. Exit status 1 if too much."""
    from difftrust.doctor import diagnose

    found = diagnose()
    whole = {**asdict(found), "is_sound": found.is_sound, "verdict": found.verdict}
    echo(json.dumps(whole, indent=1) if style == "json" else _doctor_as_text(found))
    if not found.is_sound:
        raise typer.Exit(1)


def _doctor_as_text(found: "Diagnosis") -> str:
    from tabulate import tabulate

    from difftrust.doctor import REACH
    from difftrust.text import printable

    who = "root" if found.is_root else "an ordinary user"
    rows = [(layer.name, "active" if layer.active else "missing", printable(layer.detail)) for layer in found.layers]
    lines = [
        f"{found.machine}, Python {found.python}, {found.n_cpus} CPUs, as {who}",
        "",
        tabulate(rows, headers=["layer", "state", "protects against, or why it is missing"], disable_numparse=True),
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
