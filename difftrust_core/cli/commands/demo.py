"""`difftrust demo`: the whole pipeline on the starter benchmark in a minute."""

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from difftrust_core.cli.echo import echo, echo_line
from difftrust_core.cli.options import JobsOption, StoreOption, WeakOption

if TYPE_CHECKING:
    from difftrust_core.store.store import Store

commands = typer.Typer()
M = 10
TEMPERATURE = 0.6


@commands.command(epilog="Example: difftrust demo --store difftrust-demo")
def demo(
    store: StoreOption = Path("difftrust-demo"),
    n: Annotated[int, typer.Option("-n", min=1, help="Inputs a task.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the simulated coders.")] = 0,
    jobs: JobsOption = 2,
    allow_weak_sandbox: WeakOption = False,
) -> None:
    """Try everything in a minute: simulated coders on the starter benchmark, executed and tabled.

    Run again, it does only what is missing.
    """
    import polars as pl

    from difftrust_core.analysis.queries import query_estimates
    from difftrust_core.generation.simulated import SIMULATED
    from difftrust_core.metrics.aggregate import table_4
    from difftrust_core.report.render import render
    from difftrust_core.report.steps import execute, generate, load_benchmark
    from difftrust_core.store.store import Store

    tasks = load_benchmark("starter")
    echo(f"{len(tasks)} starter tasks, 3 simulated coders (seeded mutations of a reference, no LLM), m = {M}")
    sampled = generate(tasks, store=store, models=SIMULATED, m=M, temperature=TEMPERATURE, seed=seed).frame
    echo(f"{sampled['n_new'].sum() or sampled['n_known'].sum()} candidates, {n} fuzzed inputs a task")
    began = time.monotonic()
    done = execute(store, n=n, n_jobs=jobs, allow_weak=allow_weak_sandbox)
    for note in done.notes:
        echo(note)
    n_programs, opened = done.frame["n_programs"].item(), Store.open(store)
    echo(f"{n_programs} distinct programs x {n} inputs in {time.monotonic() - began:.0f} s\n")
    echo(render(table_4(query_estimates(opened)).filter(pl.col("model") != "mean"), "table"))
    echo("\nIncoherence needs no reference: two programs that disagree cannot both be right (I <= 2E).")
    _show_disagreement(opened)
    _show_next_commands(store)


def _show_disagreement(store: "Store") -> None:
    """Print the shortest input on which the candidates of one coder disagree, and what they return."""
    from difftrust_core.analysis.queries import query_disagreement
    from difftrust_core.generation.simulated import SIMULATED

    found = query_disagreement(store, model=SIMULATED[1], task_id="starter/clamp") or query_disagreement(store)
    if found is None:
        return
    echo("")
    echo_line(f"For example {found.task_id} by {found.model}, on the input {found.arguments}:")
    for count, kind, text in found.outcomes:
        echo_line(f"  {count:2} of {M} programs: {text if kind == 'value' else f'{kind} {text}'.strip()}")


def _show_next_commands(store: Path) -> None:
    from difftrust_core.store.remote.mirror import with_urls

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
