"""What commands print with, so that nothing from outside steers the terminal, and what each step tells the user."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from difftrust_core.exceptions import DifftrustError

if TYPE_CHECKING:
    from difftrust.research.structure import Compared
    from difftrust.results import Table
    from difftrust_core.execution.execute import Execution, Failure
    from difftrust_core.generation.generate import Estimate
    from difftrust_core.generation.missing import Generation
    from difftrust_core.store.imports import Import
    from difftrust_core.store.store import Store

_NO_LAYOUT: Final = re.compile(r"[^\n\t]")


def echo(text: str, *, err: bool = False) -> None:
    """Print ``text``, lines and tabs as they are, every other character that is not printable escaped."""
    is_plain = text.replace("\n", "").replace("\t", "").isprintable()
    typer.echo(text if is_plain else _NO_LAYOUT.sub(lambda found: _escaped(found[0]), text), err=err)


def echo_line(text: str, *, err: bool = False) -> None:
    """Print ``text`` as one line, every character that is not printable escaped."""
    typer.echo(_escaped(text), err=err)


def _escaped(text: str) -> str:
    if text.isprintable():  # most are, and what escapes takes its time to load
        return text
    from difftrust.text import printable

    return printable(text)


FIRST, EACH = 2.0, 5.0
"""Seconds of silence before the first line, and before each further one."""


@contextmanager
def patience(say: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Yield what takes the name of the step at hand; ``say`` is told of it where the command takes its time."""
    step, began, ended = ["reading the function"], time.monotonic(), threading.Event()

    def wait() -> None:
        silence = FIRST
        while not ended.wait(silence):
            say(f"{step[0]} ({time.monotonic() - began:.0f} s)")
            silence = EACH

    def enter(name: str) -> None:
        step[0] = name

    watching = threading.Thread(target=wait, name="difftrust-patience", daemon=True)
    watching.start()
    try:
        yield enter
    finally:
        ended.set()
        watching.join()


def report_import(found: "Import", store: Path) -> None:
    """Say what was imported and what was not. Raises DifftrustError if nothing was."""
    shown = 20
    for row in found.bad_rows[:shown]:
        echo_line(f"left out: {row.where}: {row.why}", err=True)
    if len(found.bad_rows) > shown:
        echo_line(f"left out: {len(found.bad_rows) - shown} more like these", err=True)
    for what, count in found.skipped.items():
        echo_line(f"skipped: {count} {what}", err=True)
    echo_line(
        f"imported {found.n_candidates} candidates ({found.n_programs} new program texts) into {_place(store)}; "
        f"{found.n_known} were there before; {len(found.bad_rows)} bad rows"
    )
    if not found.n_candidates and not found.n_known:
        raise DifftrustError("nothing in the source could be imported; see the lines above, or widen the selection")


def _place(store: Path) -> str:
    from difftrust_core.store.mirror import with_urls

    return with_urls(str(store))


def report_estimates(estimates: "Sequence[Estimate]") -> None:
    """Say what is missing of each model, and what asking for it may take."""
    for e in estimates:
        if not e.n_requests:
            echo_line(f"{e.model}: all {e.n_at_hand} samples are there")
            continue
        usd = "dollars unknown (give --price)"
        if e.usd is not None and e.most_usd is not None:
            typical = "300 tokens a reply, its reasoning left out" if e.reasoning else "300 tokens a reply"
            usd = f"about ${e.usd:.2f} ({typical}), at most ${e.most_usd:.2f}"
        echo_line(
            f"{e.model}: {e.n_requests:,} requests, {e.n_at_hand:,} samples are there; "
            f"about {e.prompt_tokens:,} prompt tokens, at most {e.most_tokens:,} tokens in all; {usd}"
        )


def report_generation(done: "Generation", store: Path) -> None:
    """Say what was sampled, what it cost and what failed; equal reasons together."""
    from difftrust.text import incomplete_lines

    reasons = Counter((f.model, f.reason) for f in done.failures)
    for (model, reason), count in reasons.most_common(20):
        first = next(f for f in done.failures if (f.model, f.reason) == (model, reason))
        where = f"{first.task_id} sample {first.sample_index}"
        echo_line(f"failed: {count} of {model} (first {where}): {reason}", err=True)
    if len(reasons) > 20:
        echo_line(f"failed: for {len(reasons) - 20} more reasons", err=True)
    if not done.n_requests:
        return
    cost = f"${done.usd:.4f}" + (f" and {done.n_unpriced} replies of unknown cost" if done.n_unpriced else "")
    echo_line(
        f"{done.n_replies:,} replies ({done.n_no_program} without a program) by {done.n_requests:,} requests "
        f"({done.n_retries:,} retries, {done.n_asked_again:,} asked once more) in {done.seconds:.0f} s for {cost}, "
        f"into {_place(store)}; "
        f"{len(done.failures)} failed"
    )
    for line in incomplete_lines(done.incomplete):
        echo_line(line)
    if done.lowest_concurrency is not None:
        echo_line(f"rate-limited by the provider: down to {done.lowest_concurrency} requests at a time")


def report_execution(done: "Execution", refreshed: bool, n: int) -> None:
    """Say what was executed and what failed."""
    _report_failures(done.failures)
    if done.without_domain:
        what = "no domain, so inputs are kept where the reference or half of the candidates return"
        echo_line(f"{what}: {', '.join(done.without_domain)}", err=True)
    if done.without_seeds:
        echo_line(f"left out, no seed input: {', '.join(done.without_seeds)}", err=True)
    if not done.n_tasks:
        estimates = "estimates written" if refreshed else "nothing to do"
        echo_line(f"{estimates}: all {done.n_tasks_at_hand} tasks are executed on {n} inputs or more")
        return
    echo_line(
        f"executed {done.n_tasks} tasks in {done.seconds:.0f} s: {done.n_programs:,} programs, "
        f"{done.n_executions:,} program-input pairs ({done.n_executions / done.seconds:,.0f} a second); "
        f"{done.n_tasks_at_hand} tasks needed nothing; estimates written"
    )


def report_tests(done: "Execution") -> None:
    """Say on how many tests programs ran and what failed."""
    _report_failures(done.failures)
    if done.n_tasks:
        echo_line(
            f"tests: executed those of {done.n_tasks} tasks in {done.seconds:.0f} s; {done.n_tasks_at_hand} tasks "
            "needed nothing; see `difftrust table tests`"
        )


def _report_failures(failures: "Sequence[Failure]") -> None:
    for failure in failures:
        echo_line(f"failed: {' '.join(failure.task)}: {failure.why}", err=True)


def report_comparison(done: "Compared", options: str) -> None:
    """Say what was compared, and of which programs no whole tree could be made."""
    if not done.n_rows:
        echo_line(f"nothing to do: all {done.n_at_hand} (coder, task) pairs are compared (options: {options})")
        return
    echo_line(
        f"compared the programs of {done.n_rows:,} (coder, task) pairs in {done.seconds:.0f} s; {done.n_at_hand:,} "
        f"needed nothing; {done.n_parse_errors:,} programs do not parse whole, {done.n_left_out:,} left out "
        f"(options: {options})"
    )


def report_doubts(store: Path, *, show_timeouts: bool) -> None:
    """Name what a reader of the estimates has to know.

    Timeouts (machine-dependent), programs that differ from themselves, coders with one candidate.
    """
    import polars as pl

    from difftrust_core.estimates.queries import query_estimates
    from difftrust_core.store.store import Store

    opened = Store.open(store)
    estimates = query_estimates(opened)
    slow = estimates.filter(pl.col("n_timeouts") > 0)["task_id"].unique().sort().to_list()
    if slow and show_timeouts:
        echo_line(f"{len(slow)} tasks have a timeout; on another machine they may not: {', '.join(slow)}")
    _report_nondeterministic(opened)
    single = estimates.filter(pl.col("m") < 2)
    if not single.is_empty():
        first = single.row(0, named=True)
        echo_line(
            f"incoherence needs m >= 2 candidates, got 1 in {len(single)} (coder, task) pairs, the first "
            f"{first['model']} on {first['task_id']}; it is undefined there: import or generate more"
        )


def _report_nondeterministic(store: "Store") -> None:
    from difftrust.findings_in_store import query_nondeterministic

    found = query_nondeterministic(store)
    if found.is_empty():
        return
    shown = 20
    pairs = found.select("task_id", "n_nondeterministic").iter_rows()
    named = [_escaped(f"{task_id} ({count})") for task_id, count in pairs]
    more = f", and {len(named) - shown} more (see the view task_counts)" if len(named) > shown else ""
    echo_line(
        f"{found['n_nondeterministic'].sum()} programs of {found.height} tasks differed from themselves when 2 % "
        f"of the inputs ran twice, so their results may vary: {', '.join(named[:shown])}{more}"
    )


def report_table(made: "Table", style: str) -> None:
    """Print a table, exact as csv and json, with its notes below; beside other formats than "text" on stderr."""
    from difftrust.tables.render import for_reading, render

    echo(render(made.frame if style in ("csv", "json") else for_reading(made.frame), style))
    for note in made.notes:
        echo(note, err=style != "text")
