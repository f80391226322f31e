"""`difftrust structure`: compare the programs of each task in pairs, as texts and as trees."""

from pathlib import Path
from typing import Annotated, Any

import typer

from difftrust_core.cli.commands.import_ import import_
from difftrust_core.cli.messages import report_comparison
from difftrust_core.cli.options import (
    BenchmarkOption,
    FirstOption,
    JobsOption,
    LanguageOption,
    StoreOption,
    WhoseModelOption,
    WhoseTemperatureOption,
    require_structure,
    with_structural,
)

commands = typer.Typer()


@commands.command(epilog="Example: difftrust structure --store DIR -m 10")
@with_structural
def structure(
    store: StoreOption,
    source: Annotated[Path | None, typer.Argument(help="Samples to import first, as `difftrust import` does.")] = None,
    benchmark: BenchmarkOption = None,
    model: WhoseModelOption = None,
    temperature: WhoseTemperatureOption = None,
    m: FirstOption = None,
    tsed: Annotated[bool, typer.Option("--tsed", help="Tree edit distances too: ten times slower.")] = False,
    language: LanguageOption = None,
    skip_parse_errors: Annotated[
        bool, typer.Option("--skip-parse-errors", help="Leave out programs that do not parse whole.")
    ] = False,
    jobs: JobsOption = 2,
    *,
    structural: dict[str, Any],
) -> None:
    """Compare the programs of each task in pairs, as texts and as trees; none is run. Resumes where it was stopped."""
    require_structure()
    from difftrust_core.analysis.structure import StabilityRequest, compare_store
    from difftrust_core.datasets.recorded.selection import selection_of
    from difftrust_core.metrics.structure.options import Options
    from difftrust_core.store.store import Store

    options = Options(language=language or "python", skip_parse_errors=skip_parse_errors, **structural)
    if source is not None:
        import_(source, store, benchmark, model, temperature, m, jobs)
    selection = selection_of(benchmarks=benchmark or [], models=model or [], temperatures=temperature or [], m=m)
    request = StabilityRequest(options=options, selection=selection, language=language, with_tsed=tsed, n_jobs=jobs)
    report_comparison(compare_store(Store.open(store), request), options.label)
