"""The commands that run or compare the programs of a store: execute, structure, compare, smallest, reproduce, demo."""

import shutil
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from difftrust.cli.candidates import import_
from difftrust.cli.printing import echo, echo_line, report_comparison, report_doubts, report_execution, report_tests
from difftrust.cli.shared_options import (
    BenchmarkOption,
    CoderSeedOption,
    EqualityOption,
    FirstOption,
    FormatOption,
    InputsOption,
    JobsOption,
    LanguageOption,
    ModelOption,
    NOption,
    ResultsOption,
    StoreOption,
    TaskOption,
    TasksOption,
    TemperatureOption,
    WeakOption,
    WhoseModelOption,
    WhoseTemperatureOption,
    require_structure,
    select,
    with_structural,
)
from difftrust.tables.request import record_of
from difftrust_core.base.records import Equality, Reading, Validity
from difftrust_core.exceptions import DifftrustError, WrongUsage

if TYPE_CHECKING:
    from difftrust_core.store.store import Store

commands = typer.Typer()


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
            "--inputs",
            help="The inputs counted: where the reference returns (`reference`), half of the candidates do (`quorum`), "
            "the domain allows (`domain`), those of the tests, or all. Default: reference; of your own tasks domain, "
            "where one has a domain.",
        ),
    ] = None,
    backend: Annotated[
        Literal["local", "dask"], typer.Option(help="Processes of this machine, or the workers of a cluster.")
    ] = "local",
    scheduler: Annotated[
        str, typer.Option(help="With dask: tcp://host:port. Workers reach --store under the same URL or path.")
    ] = "",
    no_tests: Annotated[
        bool, typer.Option("--no-tests", help="Leave out the tests that tasks bring along; `table tests` shows them.")
    ] = False,
    allow_weak: WeakOption = False,
) -> None:
    """Run every program of a store on every input of its task, in the sandbox, once. Resumes where it was stopped."""
    from difftrust.pipeline import run_programs
    from difftrust_core.datasets.own_tasks import load_tasks
    from difftrust_core.store.imports import add_tasks, by_benchmark
    from difftrust_core.store.store import Store

    if (backend == "dask") != bool(scheduler):
        raise WrongUsage("--backend dask and --scheduler tcp://host:port go together; give both, or neither")
    if scheduler:
        from difftrust_core.base.plugins import require

        require("distributed", extra="dask", purpose="--backend dask")
    own = load_tasks(tasks) if tasks else []
    opened = Store.open(store)
    named = [*(benchmark or []), *dict.fromkeys(task.benchmark for task in own)]
    where: dict[str, Any] = {
        "selection": select(named, model, temperature),
        "n_jobs": jobs,
        "allow_weak": allow_weak,
        "scheduler": scheduler,
    }
    former = opened.settings().validity if opened.files("executions") else ""
    with opened.writing():
        add_tasks(opened, by_benchmark(own))
        done, tested, refreshed = run_programs(
            opened, n=n, seed=seed, validity=validity, say=partial(echo, err=True), tests=not no_tests, **where
        )
    report_execution(done, refreshed, n)
    if former not in ("", opened.settings().validity):
        echo_line(
            f"tables now read inputs {opened.settings().validity} by default; --inputs {former} reads those before"
        )
    if tested:
        report_tests(tested)
    report_doubts(store, show_timeouts=bool(done.n_tasks))
    failed = {failure.task for ran in (done, tested) if ran for failure in ran.failures}
    if failed:
        raise DifftrustError(f"{len(failed)} tasks failed (named above); run the command again")


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
    from difftrust.research.structure import StabilityRequest, compare_store
    from difftrust.structure.trees import Options
    from difftrust_core.store.store import Store

    options = Options(language=language or "python", skip_parse_errors=skip_parse_errors, **structural)
    if source is not None:
        import_(source, store, benchmark, model, temperature, m, jobs)
    selection = select(benchmark, model, temperature, m)
    request = StabilityRequest(options=options, selection=selection, language=language, with_tsed=tsed, n_jobs=jobs)
    report_comparison(compare_store(Store.open(store), request), options.label)


@commands.command(epilog="Example: difftrust compare a.py b.py")
@with_structural
def compare(
    first: Annotated[Path, typer.Argument(help="A program.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    language: LanguageOption = None,
    format_: FormatOption = "text",
    *,
    structural: dict[str, Any],
) -> None:
    """Print every similarity score of two programs, in both directions; 1: equal. Neither program runs."""
    require_structure()
    from difftrust.structure.pairwise import compare_two
    from difftrust.structure.trees import Options
    from difftrust.tables.render import render
    from difftrust_core.languages.registry import language_names

    suffix = first.suffix[1:]  # `.sql`; that of Python, the default, is not its name
    named = language or (suffix if first.suffix == second.suffix and suffix in language_names() else Options.language)
    options = Options(language=named, **structural)
    made = compare_two(_text(first), _text(second), options)
    echo(render(made.frame, format_))
    for name, wrong in zip((first, second), made.has_error, strict=True):
        if wrong:
            echo(f"{name} does not parse whole as {named}; its tree holds errors", err=True)


def _text(path: Path) -> str:
    from difftrust.structure.trees import MAX_BYTES

    try:
        data = path.read_bytes()
    except OSError as e:
        raise WrongUsage(f"expected a readable file, {path} is none: {e.strerror or e}") from None
    if len(data) > MAX_BYTES:
        raise WrongUsage(f"expected at most {MAX_BYTES:,} bytes, {path} has {len(data):,}; compare smaller files")
    return data.decode("utf-8", "replace")


_NAMED = 5


@commands.command(epilog="Example: difftrust smallest --store DIR -m 10 --temperature 0.6")
def smallest(
    store: StoreOption,
    benchmark: BenchmarkOption = None,
    task: TaskOption = None,
    model: ModelOption = None,
    temperature: TemperatureOption = None,
    m: FirstOption = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Measured inputs that decide who differs.")] = 1000,
    inputs: InputsOption = None,
    equality: EqualityOption = Equality.PAPER,
    jobs: JobsOption = 2,
    allow_weak: WeakOption = False,
) -> None:
    """Find the smallest inputs on which programs are wrong or disagree, for the explorer. Resumes where it stopped.

    Of each behaviour one on which it differs from the reference, and of each model and temperature one for its largest
    cluster and each other. Results without programs need the benchmark and the recorded candidates on this machine.
    """
    given = locals()
    from difftrust.tasks.smallest_inputs import Request, find_smallest, refuse_failures
    from difftrust_core.store.store import Store

    chosen = select(benchmark, model, temperature, m)
    request = record_of(Request, given, selection=chosen, tasks=frozenset(task or ()), n_jobs=jobs)
    found = find_smallest(Store.open(store, Reading(inputs=inputs)), request)
    echo_line(
        f"{found.n_found:,} of {found.n_pairs:,} inputs found, {found.n_smallest:,} of them as small as they get; "
        f"{found.n_at_hand:,} were there before"
    )
    if lacking := found.without_texts:
        named = ", ".join(lacking[:_NAMED]) + (f" and {len(lacking) - _NAMED:,} more" if len(lacking) > _NAMED else "")
        echo_line(f"without texts on this machine: {named}; `difftrust fetch --help` says what brings them", err=True)
    refuse_failures(found.failures)


M = 10
TEMPERATURE = 0.6


@commands.command(epilog="Example: difftrust demo --store difftrust-demo")
def demo(
    store: StoreOption = Path("difftrust-demo"),
    n: NOption = 1000,
    seed: CoderSeedOption = 0,
    jobs: JobsOption = 2,
    allow_weak: WeakOption = False,
) -> None:
    """Try everything in a minute: simulated coders on the starter benchmark, executed and tabled.

    Run again, it does only what is missing.
    """
    import polars as pl

    from difftrust.demo.simulated import SIMULATED
    from difftrust.pipeline import execute, generate, load_benchmark
    from difftrust.research.coders import table_4
    from difftrust.tables.render import render
    from difftrust_core.estimates.queries import query_estimates
    from difftrust_core.store.store import Store

    tasks = load_benchmark("starter")
    echo(f"{len(tasks)} starter tasks, 3 simulated coders (seeded mutations of a reference, no LLM), m = {M}")
    sampled = generate(tasks, store=store, models=SIMULATED, m=M, temperature=TEMPERATURE, seed=seed).frame
    echo(f"{sampled['n_new'].sum() or sampled['n_known'].sum()} candidates, {n} fuzzed inputs a task")
    began = time.monotonic()
    done = execute(store, n=n, n_jobs=jobs, allow_weak=allow_weak)
    for note in done.notes:
        echo(note)
    n_programs, opened = done.frame["n_programs"].item(), Store.open(store)
    echo(f"{n_programs} distinct programs x {n} inputs in {time.monotonic() - began:.0f} s\n")
    echo(render(table_4(query_estimates(opened)).filter(pl.col("model") != "mean"), "text"))
    echo("\nIncoherence needs no reference: two programs that disagree cannot both be right (I <= 2E).")
    _show_disagreement(opened)
    _show_next_commands(store)


def _show_disagreement(store: "Store") -> None:
    """Print the shortest input on which the candidates of one coder disagree, and what they return."""
    from difftrust.demo.simulated import SIMULATED
    from difftrust.findings_in_store import query_disagreement

    found = query_disagreement(store, model=SIMULATED[1], task_id="starter/clamp") or query_disagreement(store)
    if found is None:
        return
    echo("")
    echo_line(f"For example {found.task_id} by {found.model}, on the input {found.arguments}:")
    for count, kind, text in found.outcomes:
        echo_line(f"  {count:2} of {M} programs: {text if kind == 'value' else f'{kind} {text}'.strip()}")


def _show_next_commands(store: Path) -> None:
    from difftrust_core.store.mirror import with_urls

    command = command_name(sys.argv[0])
    place = with_urls(str(store))
    question = "select task_id, model, incoherence from estimates order by 3 desc limit 5"
    echo(f"""
Next:
  {command} dashboard --store {place}
  {command} dashboard  (on the shipped results: 16 LLMs on HumanEval and MBPP)
  {command} table 4 --store {place} --format markdown
  {command} sql --store {place} "{question}"
  {command} execute --store {place} -n 2000
  {command} import --help  (for samples of yours)""")


def command_name(started_as: str) -> str:
    """Return how to type this command: `difftrust` if that is on the PATH, else the path it was started with."""
    on_path = shutil.which("difftrust")
    started = Path(started_as)
    if started.name != "difftrust" or (on_path and started.exists() and started.samefile(on_path)):
        return "difftrust"
    return started_as


@commands.command(epilog="Example: difftrust reproduce --store stores/paper --out data/results")
def reproduce(
    store: StoreOption,
    to: ResultsOption,
    benchmark: BenchmarkOption = None,
    model: ModelOption = None,
    temperature: TemperatureOption = None,
    m: FirstOption = None,
    n: NOption = 1000,
    n_deep: Annotated[int, typer.Option(min=1, help="Inputs a task for GPT-4o at t = 0.6.")] = 10_000,
    jobs: JobsOption = 2,
    allow_weak: WeakOption = False,
) -> None:
    """Import everything recorded, execute it, write the results. Resumes where it was stopped.

    With --benchmark starter: the simulated coders, their programs and outcomes, too.
    """
    from difftrust.reproduce import STARTER_TEMPERATURES, M, run_all, run_starter

    how: dict[str, Any] = {"n": n, "n_jobs": jobs, "allow_weak": allow_weak, "say": partial(echo, err=True)}
    if benchmark == ["starter"]:
        run_starter(store, to, temperatures=temperature or STARTER_TEMPERATURES, m=m or M, **how)
    else:
        run_all(store, to, selection=select(benchmark, model, temperature, m), n_deep=n_deep, **how)
