"""The commands that bring candidates into a store: fetch, generate, import."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from difftrust.cli.printing import echo_line, report_estimates, report_generation, report_import
from difftrust.cli.shared_options import (
    ApiBaseOption,
    BenchmarkOption,
    CoderSeedOption,
    FirstOption,
    JobsOption,
    MaxUsdOption,
    SamplingOption,
    StoreOption,
    TaskOption,
    TasksOption,
    WhoseModelOption,
    WhoseTemperatureOption,
    name_option,
    select,
    utf8_path,
)
from difftrust.tables.request import record_of
from difftrust_core.exceptions import DifftrustError, WrongUsage

if TYPE_CHECKING:
    from difftrust_core.base.task import Task

commands = typer.Typer()


@commands.command(epilog="Example: difftrust fetch humaneval mbpp")
def fetch(
    names: Annotated[
        list[str], typer.Argument(help="humaneval, mbpp, bigcodebench, spider or difftrust (the published candidates).")
    ],
    source: Annotated[Path | None, typer.Option("--from", help="A local copy to take instead.", metavar="PATH")] = None,
) -> None:
    """Download benchmarks or the recorded candidates, checked against a pinned sha256.

    humaneval, mbpp and difftrust are the texts that the shipped results lack: the explorer shows them then.
    """
    from difftrust.download import fetch as fetch_file

    for name in names:
        echo_line(f"ready: {fetch_file(name, source=source)}")


@commands.command(epilog="Example: difftrust generate --benchmark humaneval --model gpt-4o -m 10 --store DIR --dry-run")
def generate(
    model: Annotated[list[str], name_option(help="As litellm names it, or simulated/strong; may be repeated.")],
    store: StoreOption,
    benchmark: Annotated[
        str | None, name_option(help="starter, starter-sql, humaneval, mbpp, bigcodebench or spider.")
    ] = None,
    tasks: TasksOption = None,
    temperature: SamplingOption = 0.6,
    m: Annotated[
        int, typer.Option("-m", min=1, help="Programs per task and model; only missing ones are requested.")
    ] = 10,
    task: TaskOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print requests and cost; send no request.")] = False,
    max_usd: MaxUsdOption = None,
    price: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Dollars per million tokens of prompt and completion.", metavar="PROMPT COMPLETION"),
    ] = None,
    api_base: ApiBaseOption = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of one reply.")] = 2048,
    concurrency: Annotated[int, typer.Option(min=1, help="Requests at once, for each model.")] = 8,
    requests_per_minute: Annotated[float | None, typer.Option(help="At most, for each model.")] = None,
    tokens_per_minute: Annotated[float | None, typer.Option(help="At most, for each model.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one whole reply.")] = 120,
    seed: CoderSeedOption = 0,
    jobs: JobsOption = 2,
) -> None:
    """Sample programs from language models into a store. Every reply is kept at once; run it again for what is missing.

    Keys come from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...) and are written nowhere.
    """
    given = locals()
    from difftrust.pipeline import not_executable
    from difftrust_core.generation.generate import estimate_generation, store_at, store_to_look_at
    from difftrust_core.generation.generate import generate as run
    from difftrust_core.generation.missing import GenerationOptions
    from difftrust_core.generation.prices import Price

    priced = Price(prompt=price[0], completion=price[1]) if price else None
    options = record_of(GenerationOptions, given, price=priced, n_jobs=jobs)
    asked = _tasks(store, benchmark, tasks, task or [])
    for line in not_executable(asked):
        _say(line)
    wanted: dict[str, Any] = {"models": model, "temperature": temperature, "m": m, "options": options}
    if dry_run:
        with store_to_look_at(store) as looked_at:
            report_estimates(estimate_generation(looked_at, asked, **wanted))
        return
    with store_at(store) as opened:
        report_estimates(estimate_generation(opened, asked, **wanted))
        done = run(opened, asked, **wanted, say=_say)
        if done.refusal and not done.n_replies:
            raise WrongUsage(done.refusal)
    report_generation(done, store)
    if done.n_missing:
        remedy = "run the command again for them"
        if done.is_spent:
            spent = f"${done.spent:.4f} are spent"
            spent += f", up to ${done.doubtful:.4f} more on replies of unknown cost" if done.doubtful else ""
            remedy = f"the next request might pass --max-usd {max_usd:g} ({spent}); raise it for them"
        raise DifftrustError(f"{done.n_missing} samples are missing; {remedy}")


def _say(line: str) -> None:
    echo_line(line, err=True)


def _tasks(store: Path, benchmark: str | None, own: Path | None, wanted: list[str]) -> "list[Task]":
    from difftrust.pipeline import refuse_without_inputs
    from difftrust_core.datasets.own_tasks import load_tasks
    from difftrust_core.store.imports import tasks_of
    from difftrust_core.store.store import Store

    if (benchmark is None) == (own is None):
        raise WrongUsage("expected --benchmark NAME or --tasks FILE, one of them; name what to sample programs for")
    tasks = load_tasks(own) if own is not None else tasks_of(Store(store), str(benchmark))
    unknown = sorted(set(wanted) - {task.task_id for task in tasks})
    if unknown:
        raise WrongUsage(f"{own or benchmark} has no task {unknown[0]!r}; the first is {tasks[0].task_id!r}")
    chosen = [task for task in tasks if not wanted or task.task_id in wanted]
    if own is not None:
        refuse_without_inputs(chosen)
    return chosen


@commands.command(
    "import",
    epilog="Example: difftrust import samples.jsonl --model gpt-4o --temperature 0.6 --store DIR [--tasks tasks.py]",
)
def import_(
    source: Annotated[
        Path, typer.Argument(help="A folder of EvalPlus or of the published artifact, .parquet, .jsonl or .jsonl.gz.")
    ],
    store: StoreOption,
    benchmark: BenchmarkOption = None,
    model: WhoseModelOption = None,
    temperature: WhoseTemperatureOption = None,
    m: FirstOption = None,
    jobs: JobsOption = 2,
    tasks: TasksOption = None,
) -> None:
    """Add recorded candidates to a store. Rows that cannot be used are counted and named."""
    from difftrust_core.datasets.own_tasks import load_tasks
    from difftrust_core.store.imports import import_source

    selection = select(benchmark, model, temperature, m)
    own = load_tasks(tasks) if tasks else ()
    report_import(import_source(store, utf8_path(source), selection, tasks=own, n_jobs=jobs), store)
