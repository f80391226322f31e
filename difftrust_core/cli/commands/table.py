"""`difftrust table`: print a table of the paper, computed from a store."""

from typing import Annotated

import typer

from difftrust_core.base.records import References
from difftrust_core.cli.options import (
    DetectionOption,
    EqualityOption,
    Format,
    FormatOption,
    InputsOption,
    JobsOption,
    ReferencesOption,
    StoreOption,
    reading_of,
)
from difftrust_core.metrics.detection import Detection
from difftrust_core.metrics.equality import Equality

commands = typer.Typer()


@commands.command(epilog="Example: difftrust table 4 --store DIR --published --format markdown")
def table(
    name: Annotated[
        str, typer.Argument(help="2, 3, 3a (m), 3b (temperature), 3c (n), 4 of the paper; selection; or witnesses.")
    ],
    store: StoreOption,
    format_: FormatOption = Format.TABLE,
    published: Annotated[bool, typer.Option("--published", help="Show the published value beside each.")] = False,
    detection: DetectionOption = Detection.AS_PUBLISHED,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
    temperature: Annotated[float | None, typer.Option(help="Only this temperature (with --published: 0.6).")] = None,
    drop_timeouts: Annotated[
        bool, typer.Option("--drop-timeouts", help="Leave out (model, task) pairs with a timeout, as published.")
    ] = False,
    m: Annotated[
        int | None, typer.Option("-m", min=2, help="Only the first m candidates (with --published: 10).")
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", min=1, help="Only the first n inputs (with --published: 1000).")
    ] = None,
    model: Annotated[str, typer.Option(help="Table 3: its model.")] = "gpt_4o",
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Tables 2 to 4: 95 % intervals over tasks (bootstrap).")
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of the tasks, with --intervals.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples, with --intervals.")] = 0,
    jobs: JobsOption = 2,
) -> None:
    """Print a table of the paper, the gain of selecting by consensus, or what witnesses add, computed from a store.

    Table 3 ignores -m, -n and --temperature.
    """
    from difftrust_core.report.render import render, with_ends_in_brackets
    from difftrust_core.report.tables import TableRequest, make_table

    request = TableRequest(
        store=store,
        published=published,
        detection=detection,
        equality=equality,
        reading=reading_of(inputs, references),
        temperature=temperature,
        drop_timeouts=drop_timeouts,
        m=m,
        n=n,
        model=model,
        n_jobs=jobs,
        intervals=intervals,
        resamples=resamples,
        seed=seed,
    )
    made = make_table(name, request)
    is_exact = format_ in (Format.CSV, Format.JSON)
    typer.echo(render(made.frame if is_exact else with_ends_in_brackets(made.frame), format_.value))
    for note in made.notes:
        typer.echo(note, err=format_ is not Format.TABLE)
