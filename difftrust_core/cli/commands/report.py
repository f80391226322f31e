"""`difftrust report`: one store as one HTML file that opens offline."""

from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.base.records import References
from difftrust_core.cli.echo import echo_line
from difftrust_core.cli.options import (
    EqualityOption,
    InputsOption,
    ReferencesOption,
    StoreOrResultsOption,
)
from difftrust_core.metrics.equality import Equality

commands = typer.Typer()


@commands.command(epilog="Example: difftrust report --store DIR --out report.html")
def report(
    out: Annotated[Path, typer.Option("--out", help="Where to write: a file that ends in .html.")],
    store: StoreOrResultsOption = None,
    task: Annotated[str | None, typer.Option(help="Only this task: a section for each model.", metavar="ID")] = None,
    model: Annotated[list[str] | None, typer.Option(help="With --task: only this model; may be repeated.")] = None,
    benchmark: Annotated[str | None, typer.Option(help="The benchmark; without it the first, or the task's.")] = None,
    m: Annotated[int | None, typer.Option("-m", min=2, help="Only the first m candidates.")] = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="Only the first n inputs.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Only this temperature.")] = None,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
) -> None:
    """Write one HTML file that opens offline: numbers, chart, table, and the tasks worth reading with their inputs.

    Without --store: from the results that come with the project.
    """
    from difftrust_core.exceptions import WrongUsage
    from difftrust_core.report.page.build import check_name
    from difftrust_core.report.study import open_study

    check_name(out)
    if model and task is None:
        raise WrongUsage("--model goes with --task, and a report without --task compares all models; add --task ID")
    study = open_study(store, inputs=inputs.value if inputs else None, references=references)
    made = study.report(
        benchmark=benchmark, temperature=temperature, m=m, n=n, equality=equality, task_id=task, models=model or ()
    )
    made.save(out)
    echo_line(f"wrote {out}: {made.title} ({len(made.html) / 1e6:.1f} MB)")
