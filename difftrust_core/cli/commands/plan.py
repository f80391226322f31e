"""`difftrust plan`: how many programs and inputs an accuracy or a detection rate takes."""

from typing import TYPE_CHECKING, Annotated

import typer

from difftrust_core.base.records import References
from difftrust_core.cli.echo import echo
from difftrust_core.cli.options import (
    EqualityOption,
    Format,
    FormatOption,
    InputsOption,
    JobsOption,
    ReferencesOption,
    StoreOrResultsOption,
    reading_of,
)
from difftrust_core.metrics.equality import Equality

if TYPE_CHECKING:
    from difftrust_core.analysis.budget.planning import Recorded
    from difftrust_core.generation.prices import Price

commands = typer.Typer()
_MS = (2, 3, 5, 7, 10, 25, 50)
_NS = (10, 100, 1000, 10_000)


@commands.command(epilog="Example: difftrust plan --false-alarms 0.05 --model gpt_4o")
def plan(
    epsilon: Annotated[float, typer.Option(help="How far an estimate may be off.")] = 0.05,
    delta: Annotated[float, typer.Option(help="How often it may be off by more.")] = 0.05,
    detection_rate: Annotated[
        float | None, typer.Option("--detection-rate", help="Share of the erroneous tasks to detect.")
    ] = None,
    detection: Annotated[
        float | None, typer.Option(help="Which programs to buy: share of a model's wrong programs to find.")
    ] = None,
    false_alarms: Annotated[
        float | None, typer.Option(help="Which programs to buy: most alarms, as a share of its right programs.")
    ] = None,
    store: StoreOrResultsOption = None,
    benchmark: Annotated[str | None, typer.Option(help="Learn from this benchmark.")] = None,
    model: Annotated[str | None, typer.Option(help="Learn from this model.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Learn from this temperature.")] = None,
    m: Annotated[list[int] | None, typer.Option("-m", min=2, help="Programs to consider; may be repeated.")] = None,
    n: Annotated[list[int] | None, typer.Option("-n", min=1, help="Inputs to consider; may be repeated.")] = None,
    price: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Dollars per million tokens of prompt and completion, instead of those recorded or listed.",
            metavar="PROMPT COMPLETION",
        ),
    ] = None,
    equality: EqualityOption = Equality.PAPER,
    inputs: InputsOption = None,
    references: ReferencesOption = References.PUBLISHED,
    format_: FormatOption = Format.TABLE,
    jobs: JobsOption = 2,
    seed: Annotated[int, typer.Option(help="Which programs to buy: seed of the split of the tasks.")] = 0,
) -> None:
    """Say how many inputs an accuracy takes, how many programs a detection rate takes, or which programs to buy."""
    reading = reading_of(inputs, references)
    if detection is not None or false_alarms is not None:
        from difftrust_core.cli.messages import report_table
        from difftrust_core.datasets.published import PAPER_SETTING, find_results
        from difftrust_core.report.policies import policy_request, recommended
        from difftrust_core.report.tables import TableRequest

        request = TableRequest(
            store=store or find_results(),
            reading=reading,
            paper_setting=store is None,
            equality=equality,
            temperature=temperature,
            m=max(m) if m else None,
            n=max(n) if n else None,
            model=model or PAPER_SETTING.model,
            seed=seed,
            n_jobs=jobs,
        )
        asked = policy_request(request, benchmark=benchmark)
        report_table(recommended(asked, detection=detection, false_alarms=false_alarms), format_.value)
        return
    if detection_rate is None:
        _say_inputs(epsilon, delta)
        return
    from difftrust_core.analysis.budget.planning import choose_recorded
    from difftrust_core.datasets.published import find_results
    from difftrust_core.generation.prices import Price
    from difftrust_core.store.store import Store

    recorded = choose_recorded(
        Store.open(store or find_results(), reading),
        benchmark=benchmark,
        model=model,
        temperature=temperature,
        equality=equality,
        n_jobs=jobs,
    )
    named = Price(prompt=price[0], completion=price[1]) if price else None
    _say_choice(recorded, named, detection_rate, m=m, n=n, style=format_)


def _say_inputs(epsilon: float, delta: float) -> None:
    from difftrust_core.metrics.intervals.over_inputs import inputs_for, inputs_for_no_disagreement

    estimating, agreeing = inputs_for(epsilon, delta), inputs_for_no_disagreement(epsilon, delta)
    sure = f"with probability {1 - delta:g}"
    echo(f"{estimating} inputs: E and I, each within {epsilon:g} of its true value {sure} (Theorem 4.2)")
    echo(f"{agreeing} inputs without a disagreement: I is at most {epsilon:g} {sure} (Theorem 4.3)")
    echo("both speak of the programs at hand, not of the LLM: more inputs do not replace more programs")


def _say_choice(
    recorded: "Recorded",
    price: "Price | None",
    wanted: float,
    *,
    m: list[int] | None,
    n: list[int] | None,
    style: Format,
) -> None:
    from difftrust_core.analysis.budget.planning import cheapest, detection_grid
    from difftrust_core.report.render import for_reading, render
    from difftrust_core.report.sentences import LOWER_BOUND

    ms = m or [size for size in _MS if size <= recorded.m]
    ns = n or [size for size in _NS if size < recorded.n] + [recorded.n]
    grid = detection_grid(recorded, ms=ms, ns=ns, price=price)
    echo(render(grid if style in (Format.CSV, Format.JSON) else for_reading(grid), style.value))
    chosen = cheapest(grid, detection_rate=wanted)
    err = style is not Format.TABLE
    if chosen is None:
        best = float(grid["detection_rate"].max() or 0)  # type: ignore[arg-type]
        echo(f"no choice above detects {wanted:g} of the erroneous tasks; the best detects {best:.3f}", err=err)
        return
    about = "at least" if chosen["cost_usd_is_lower_bound"] else "about"
    cost = chosen["cost_usd"]
    money = "at an unknown price (give --price)" if cost is None else f"for {about} {cost:.4f} USD a task"
    echo(
        f"the cheapest that detects {wanted:g} of the erroneous tasks: m = {chosen['m']}, n = {chosen['n']}, "
        f"detecting {chosen['detection_rate']:.3f}, {money}",
        err=err,
    )
    if chosen["cost_usd_is_lower_bound"]:
        echo(LOWER_BOUND, err=err)
