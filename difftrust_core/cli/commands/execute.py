"""`difftrust execute`: run every program of a store on every input of its task."""

from enum import StrEnum
from typing import Annotated

import typer

from difftrust_core.base.records import Validity
from difftrust_core.cli.echo import echo
from difftrust_core.cli.messages import report_doubts, report_execution, report_tests, report_witnesses
from difftrust_core.cli.options import (
    BenchmarkOption,
    JobsOption,
    ModelOption,
    StoreOption,
    TasksOption,
    TemperatureOption,
    WeakOption,
)
from difftrust_core.exceptions import DifftrustError, WrongUsage

commands = typer.Typer()


class Backend(StrEnum):
    """Where programs run."""

    LOCAL = "local"
    DASK = "dask"


@commands.command(epilog="Example: difftrust execute --store DIR -n 1000 --jobs 2")
def execute(
    store: StoreOption,
    n: Annotated[int, typer.Option("-n", min=1, help="Inputs a task; more than before executes only the rest.")] = 1000,
    tasks: TasksOption = None,
    benchmark: BenchmarkOption = None,
    model: ModelOption = None,
    temperature: TemperatureOption = None,
    jobs: JobsOption = 2,
    seed: Annotated[int | None, typer.Option(help="Seed of the inputs; fixed at a store's first execution.")] = None,
    validity: Annotated[
        Validity | None,
        typer.Option(
            help="Inputs kept: where the reference returns, half of the candidates that load do, the domain allows, or "
            "all. Default: reference; of your own tasks domain, where one has a domain."
        ),
    ] = None,
    backend: Annotated[Backend, typer.Option(help="Processes of this machine, or the workers of a cluster.")] = (
        Backend.LOCAL
    ),
    scheduler: Annotated[
        str, typer.Option(help="With dask: tcp://host:port. Workers reach --store under the same URL or path.")
    ] = "",
    witnesses: Annotated[
        int,
        typer.Option(
            min=0, help="Also run up to so many inputs a task that seek disagreements; they enter no measured number."
        ),
    ] = 0,
    no_tests: Annotated[
        bool, typer.Option("--no-tests", help="Leave out the tests that tasks bring along; `table tests` shows them.")
    ] = False,
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """Run every program of a store on every input of its task, in the sandbox, once. Resumes where it was stopped."""
    from difftrust_core.analysis.estimates import refresh_estimates
    from difftrust_core.datasets.own_tasks import load_tasks
    from difftrust_core.datasets.recorded.selection import selection_of
    from difftrust_core.execution.execute import execute as run
    from difftrust_core.execution.execute import execute_tests, read_on_tests
    from difftrust_core.execution.witnesses import execute_witnesses
    from difftrust_core.store.store import Store
    from difftrust_core.store.tasks import renew_tasks

    if (backend is Backend.DASK) != bool(scheduler):
        raise WrongUsage("--backend dask and --scheduler tcp://host:port go together; give both, or neither")
    own = load_tasks(tasks) if tasks else []
    opened = Store.open(store)
    named = [*(benchmark or []), *dict.fromkeys(task.benchmark for task in own)]
    selection = selection_of(benchmarks=named, models=model or [], temperatures=temperature or [])
    with opened.writing():
        renew_tasks(opened, own)
        done = run(
            opened,
            n=n,
            selection=selection,
            n_jobs=jobs,
            seed=seed,
            validity=validity,
            allow_weak=allow_weak_sandbox,
            scheduler=scheduler,
            say=lambda line: echo(line, err=True),
        )
        tested = sought = None
        if not no_tests:
            tested = execute_tests(
                opened, selection=selection, n_jobs=jobs, allow_weak=allow_weak_sandbox, scheduler=scheduler
            )
        refreshed = refresh_estimates(opened, n_jobs=jobs)
        if tested:
            refresh_estimates(read_on_tests(opened), n_jobs=jobs)
        if witnesses:
            sought = execute_witnesses(
                opened,
                n=witnesses,
                selection=selection,
                n_jobs=jobs,
                allow_weak=allow_weak_sandbox,
                scheduler=scheduler,
            )
    report_execution(done, refreshed, n)
    if tested:
        report_tests(tested)
    report_doubts(store, show_timeouts=bool(done.n_tasks))
    if sought:
        report_witnesses(sought)
    failed = {report.chunk.key for ran in (done, tested, sought) if ran for report in ran.failures}
    if failed:
        raise DifftrustError(f"{len(failed)} tasks failed (named above); run the command again")
