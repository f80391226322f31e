"""What the user is told when a step has ended; and nothing else."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from difftrust_core.exceptions import DifftrustError

if TYPE_CHECKING:
    from difftrust_core.pipeline import Execution, Import
    from difftrust_core.store import Store


def report_import(found: "Import", store: Path) -> None:
    """Say what was imported and what was not. Raises DifftrustError if nothing was."""
    shown = 20
    for row in found.bad_rows[:shown]:
        typer.echo(printable(f"left out: {row.where}: {row.why}"), err=True)
    if len(found.bad_rows) > shown:
        typer.echo(f"left out: {len(found.bad_rows) - shown} more like these", err=True)
    for what, count in found.skipped.items():
        typer.echo(f"skipped: {count} {what}", err=True)
    typer.echo(
        f"imported {found.n_candidates} candidates ({found.n_programs} new program texts) into {store}; "
        f"{found.n_known} were there before; {len(found.bad_rows)} bad rows"
    )
    if not found.n_candidates and not found.n_known:
        raise DifftrustError("nothing in the source could be imported; see the lines above, or widen the selection")


def report_execution(done: "Execution", refreshed: bool, n: int) -> None:
    """Say what was executed and what failed."""
    for failure in done.failures:
        typer.echo(printable(f"failed: {failure.benchmark} {failure.task_id}: {failure.failure}"), err=True)
    if done.without_seeds:
        typer.echo(f"left out, for they have no seed input: {', '.join(done.without_seeds)}", err=True)
    if not done.n_tasks:
        estimates = "estimates written" if refreshed else "nothing to do"
        typer.echo(f"{estimates}: all {done.n_tasks_at_hand} tasks are executed on {n} inputs or more")
        return
    typer.echo(
        f"executed {done.n_tasks} tasks in {done.seconds:.0f} s: {done.n_programs:,} programs, "
        f"{done.n_executions:,} program-input pairs ({done.n_executions / done.seconds:,.0f} a second); "
        f"{done.n_tasks_at_hand} tasks needed nothing; estimates written"
    )


def report_doubts(store: Path, *, show_timeouts: bool) -> None:
    """Name what a reader of the estimates has to know.

    Timeouts (machine-dependent), programs that differ from themselves, coders with one candidate.
    """
    import polars as pl

    from difftrust_core.queries import query_estimates
    from difftrust_core.store import Store

    opened = Store.open(store)
    estimates = query_estimates(opened)
    slow = estimates.filter(pl.col("n_timeouts") > 0)["task_id"].unique().sort().to_list()
    if slow and show_timeouts:
        typer.echo(f"{len(slow)} tasks hold a timeout, which another machine may not: {', '.join(slow)}")
    _report_nondeterministic(opened)
    single = estimates.filter(pl.col("m") < 2)
    if not single.is_empty():
        first = single.row(0, named=True)
        typer.echo(
            f"incoherence needs m >= 2 candidates, got 1 in {len(single)} (coder, task) pairs, the first "
            f"{first['model']} on {first['task_id']}; it is NaN there: import or generate more"
        )


def _report_nondeterministic(store: "Store") -> None:
    from difftrust_core.queries import query_nondeterministic

    found = query_nondeterministic(store)
    if found.is_empty():
        return
    shown = 20
    pairs = found.select("task_id", "n_nondeterministic").iter_rows()
    named = [printable(f"{task_id} ({count})") for task_id, count in pairs]
    more = f", and {len(named) - shown} more (see the view task_counts)" if len(named) > shown else ""
    typer.echo(
        f"{found['n_nondeterministic'].sum()} programs of {found.height} tasks differed from themselves when 2 % "
        f"of the inputs ran twice, so their numbers may vary: {', '.join(named[:shown])}{more}"
    )


def printable(text: str) -> str:
    """Return ``text`` with whatever could steer a terminal escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
