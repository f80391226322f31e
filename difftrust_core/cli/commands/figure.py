"""`difftrust figure`: draw a figure from a store into a file."""

from pathlib import Path
from typing import Annotated

import typer

from difftrust_core.base.records import Load, References
from difftrust_core.cli.echo import echo, echo_line
from difftrust_core.cli.options import (
    DetectionOption,
    EqualityOption,
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


@commands.command(epilog="Example: difftrust figure 3 --model gpt_4o --out figure_3.svg")
def figure(
    name: Annotated[
        str,
        typer.Argument(
            help="1, 2, 3 of the paper; ranking, ablation, mixtures, readings, risk-coverage, questions, policies."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Where to write: .svg, .png, or .html (opens offline).")],
    store: StoreOrResultsOption = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model; figure 3 takes several.")] = None,
    benchmark: Annotated[str | None, typer.Option(help="Only this benchmark.")] = None,
    m: Annotated[int | None, typer.Option("-m", min=2, help="Only the first m candidates.")] = None,
    n: Annotated[int | None, typer.Option("-n", min=1, help="Only the first n inputs.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Only this temperature.")] = None,
    vary: Annotated[str, typer.Option(help="ablation: m, n or temperature.")] = "m",
    detection: DetectionOption = Detection.AS_PUBLISHED,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
    load: LoadOption = Load.TRIMMED,
    jobs: JobsOption = 2,
) -> None:
    """Draw a figure from a store, into a file that opens without a network.

    Without --store: from the results that come with the project, with the paper's tasks, m, n and temperature.
    """
    from difftrust_core.datasets.published import find_results
    from difftrust_core.report.charts.export import check_suffix, save_chart
    from difftrust_core.report.figures import FigureRequest, make_figure

    check_suffix(out)
    request = FigureRequest(
        store=store or find_results(),
        published=store is None,
        detection=detection,
        equality=equality,
        reading=reading_of(inputs, references, load),
        temperature=temperature,
        m=m,
        n=n,
        n_jobs=jobs,
        models=tuple(model or ()),
        benchmark=benchmark,
        vary=vary,
    )
    made = make_figure(name, request)
    save_chart(made.chart, out)
    echo_line(f"drew {out}")
    for note in made.notes:
        echo(note)
