"""`difftrust demo`: the whole pipeline on the starter benchmark in a minute."""

from pathlib import Path

import polars as pl
import typer
from tqdm import tqdm

from difftrust_core.benchmark import table_4
from difftrust_core.cli.rendering import render
from difftrust_core.coders import SIMULATED, sample_simulated
from difftrust_core.corpora.benchmarks import load_benchmark
from difftrust_core.corpora.candidates import Recorded
from difftrust_core.mirrors import with_urls
from difftrust_core.pipeline import add_candidates, execute, refresh_estimates
from difftrust_core.queries import query_disagreement, query_estimates
from difftrust_core.records import Candidate
from difftrust_core.store import Store
from difftrust_core.tasks import Task

M = 10
TEMPERATURE = 0.6


def demonstrate(root: Path, *, n: int, seed: int, n_jobs: int, allow_weak: bool) -> None:
    """Sample, execute, estimate and show; what is there from an earlier demo is not done again."""
    tasks = load_benchmark("starter")
    store = Store.create(root)
    typer.echo(f"{len(tasks)} starter tasks, 3 simulated coders (seeded mutations of a reference, no LLM), m = {M}")
    candidates = _sample(tasks, seed)
    added = add_candidates(store, Recorded(candidates=candidates), {"starter": tasks}, n_jobs=n_jobs)
    typer.echo(f"{added.n_candidates or added.n_known} candidates, {n} fuzzed inputs a task")
    done = execute(store, n=n, n_jobs=n_jobs, allow_weak=allow_weak, say=typer.echo)
    refresh_estimates(store, n_jobs=n_jobs)
    typer.echo(f"{done.n_programs} distinct programs x {n} inputs in {done.seconds:.0f} s\n")
    typer.echo(render(table_4(query_estimates(store)).filter(pl.col("model") != "mean"), "table"))
    typer.echo("\nIncoherence needs no reference: two programs that disagree cannot both be right (I <= 2E).")
    _show_disagreement(store)
    typer.echo("\nNext:")
    for command in _next(root):
        typer.echo(f"  {with_urls(command)}")


def _sample(tasks: list[Task], seed: int) -> pl.DataFrame:
    rows: list[Candidate] = []
    for task in tqdm(tasks, desc="sample", unit="task", disable=None, delay=1):
        for model in SIMULATED:
            rows += sample_simulated(task, model, temperature=TEMPERATURE, m=M, seed=seed)
    return pl.DataFrame([vars(row) for row in rows])


def _show_disagreement(store: Store) -> None:
    """Print the shortest input on which the candidates of one coder disagree, and who says what."""
    found = query_disagreement(store, model=SIMULATED[1], task_id="starter/clamp") or query_disagreement(store)
    if found is None:
        return
    typer.echo(f"\nFor example {found.task_id} by {found.model}, on the input {found.arguments}:")
    for count, kind, text in found.outcomes:
        typer.echo(f"  {count:2} of {M} programs: {text if kind == 'value' else f'{kind} {text}'.strip()}")


def _next(root: Path) -> tuple[str, ...]:
    return (
        f"difftrust table 4 --store {root} --format markdown",
        f'difftrust sql --store {root} "select task_id, model, incoherence from estimates order by 3 desc limit 5"',
        f"difftrust execute --store {root} -n 2000",
        "difftrust import samples.jsonl --model my-model --temperature 0.6 --store my-store",
    )
