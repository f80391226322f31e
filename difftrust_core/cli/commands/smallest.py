"""`difftrust smallest`: find the smallest inputs on which the behaviours of a store differ."""

from typing import Annotated

import typer

from difftrust_core.base.records import References
from difftrust_core.cli.echo import echo_line
from difftrust_core.cli.options import (
    BenchmarkOption,
    EqualityOption,
    FirstOption,
    InputsOption,
    JobsOption,
    ModelOption,
    StoreOption,
    TemperatureOption,
    WeakOption,
    reading_of,
)
from difftrust_core.exceptions import DifftrustError
from difftrust_core.metrics.equality import Equality

commands = typer.Typer()
_NAMED = 5


@commands.command(epilog="Example: difftrust smallest --store DIR -m 10 --temperature 0.6")
def smallest(
    store: StoreOption,
    benchmark: BenchmarkOption = None,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be repeated.")] = None,
    model: ModelOption = None,
    temperature: TemperatureOption = None,
    m: FirstOption = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Measured inputs that decide who differs.")] = 1000,
    inputs: InputsOption = None,
    equality: EqualityOption = Equality.PAPER,
    jobs: JobsOption = 2,
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """Find the smallest inputs on which programs are wrong or disagree, for the page Task. Resumes where it stopped.

    Of each behaviour one on which it differs from the reference, and of each model and temperature one for its largest
    cluster and each other. Results without programs need the benchmark and the recorded candidates on this machine.
    """
    from difftrust_core.analysis.smallest_inputs import Request, find_smallest
    from difftrust_core.datasets.recorded.selection import selection_of
    from difftrust_core.store.store import Store

    chosen = selection_of(benchmarks=benchmark or [], models=model or [], temperatures=temperature or [], m=m)
    request = Request(
        selection=chosen,
        tasks=frozenset(task or ()),
        n=n,
        equality=Equality(equality),
        n_jobs=jobs,
        allow_weak=allow_weak_sandbox,
    )
    found = find_smallest(Store.open(store, reading_of(inputs, References.PUBLISHED)), request)
    echo_line(
        f"{found.n_found:,} of {found.n_pairs:,} inputs found, {found.n_smallest:,} of them as small as they get; "
        f"{found.n_at_hand:,} were there before"
    )
    if found.without_texts:
        _say_without(found.without_texts)
    if found.failures:
        task_id, why = found.failures[0]
        raise DifftrustError(f"{len(found.failures)} tasks failed, the first {task_id}: {why}; run the command again")


def _say_without(tasks: tuple[str, ...]) -> None:
    named = ", ".join(tasks[:_NAMED]) + (f" and {len(tasks) - _NAMED:,} more" if len(tasks) > _NAMED else "")
    echo_line(f"without texts on this machine: {named}; `difftrust fetch --help` says what brings them", err=True)
