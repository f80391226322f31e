"""`difftrust table`: print a table of the paper, computed from a store."""

from typing import Annotated, Any

import typer

from difftrust_core.base.records import Load, References
from difftrust_core.cli.options import (
    DetectionOption,
    EqualityOption,
    Format,
    FormatOption,
    InputsOption,
    JobsOption,
    LoadOption,
    ReferencesOption,
    StoreOrResultsOption,
    reading_of,
)
from difftrust_core.metrics.detection import Detection
from difftrust_core.metrics.equality import Equality

commands = typer.Typer()
_PAPER = "2, 3, 3a (m), 3b (temperature), 3c (n), 4 of the paper"
_OWN = (
    "selection, questions, rankings, readings, undetected, suspects, draws, agreement, guarantee, policies, tests, "
    "witnesses"
)


@commands.command(epilog="Example: difftrust table 4 --store DIR --published --format markdown")
def table(
    name: Annotated[str, typer.Argument(help=f"{_PAPER}; or {_OWN}.")],
    store: StoreOrResultsOption = None,
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
    model: Annotated[
        list[str] | None,
        typer.Option(help="Only this model, repeatable; Table 3 and policies: their model, else gpt_4o."),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option("--intervals", help="Tables 2 to 4, tests, questions: 95 % intervals over tasks (bootstrap)."),
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resamples of the tasks, with --intervals.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples, with --intervals, and of agreement's halves.")] = 0,
    load: LoadOption = Load.TRIMMED,
    signal: Annotated[
        str, typer.Option(help="agreement: answer by incoherence, largest_share or n_clusters.")
    ] = "incoherence",
    alpha: Annotated[float, typer.Option(help="agreement: the share of wrong answers is to be at most this ...")] = 0.1,
    delta: Annotated[float, typer.Option(help="... with probability 1 - this.")] = 0.1,
    jobs: JobsOption = 2,
) -> None:
    """Print a table: of the paper, or one of this project, computed from a store.

    Table 3 ignores -m, -n and --temperature.
    """
    from difftrust_core.cli.messages import report_table
    from difftrust_core.datasets.published import find_results
    from difftrust_core.report.every_table import make_table
    from difftrust_core.report.tables import TableRequest

    request = TableRequest(
        store=store or find_results(),
        paper_setting=store is None,
        published=published,
        detection=detection,
        equality=equality,
        reading=reading_of(inputs, references, load),
        temperature=temperature,
        drop_timeouts=drop_timeouts,
        m=m,
        n=n,
        **_models(name, model or []),
        signal=signal,
        alpha=alpha,
        delta=delta,
        n_jobs=jobs,
        intervals=intervals,
        resamples=resamples,
        seed=seed,
    )
    report_table(make_table(name, request), format_.value)


def _models(name: str, models: list[str]) -> dict[str, Any]:
    """Return whose table is asked for: Table 3 and the policies are those of one model."""
    from difftrust_core.exceptions import WrongUsage

    if not name.startswith("3") and name != "policies":
        return {"only": tuple(models)}
    if len(models) > 1:
        raise WrongUsage(f"Table {name} is that of one model, got --model {' --model '.join(models)}; name one")
    return {"model": models[0]} if models else {}
