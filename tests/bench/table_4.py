"""Parts a to d of `make bench`: Table 4 and Table 3's grid, against a bare loop and against the published sampling."""

import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from difftrust.shipped import PAPER_SETTING
from difftrust.tables.grid import PARTS
from difftrust_core.store.store import REFERENCE, Store
from tests.bench.figures import Figure, figure_of
from tests.bench.processes import Took, run_well
from tests.bench.published import DROPPED_AFTER, run_published, sample_pairs
from tests.bench.sandbox import Work, run_floor

N = 1_000


def run_table_4(difftrust: str, store: Path, fill: Sequence[str], jobs: int) -> tuple[list[Figure], Took]:
    """Fill a store, execute all of it, print Table 4: (a). Return the figures, and what executing took."""
    filled = run_well([difftrust, *fill, "--store", store])
    executed = run_well([difftrust, *f"execute --store {store} -n {N} --jobs {jobs}".split()])
    printed = run_well([difftrust, "table", "4", "--store", store])
    opened = Store.open(store)
    programs, tasks = _executions(opened).height, opened.read("inputs").select("benchmark", "task_id").unique().height
    whole = [filled, executed, printed]
    return [
        _one("Table 4 from candidates, end to end", sum(took.wall for took in whole), "s"),
        _one("of that bringing the candidates into the store", filled.wall, "s"),
        _one("of that executing", executed.wall, "s"),
        _one("of that printing the table", printed.wall, "s"),
        _one("distinct programs", programs),
        _one("tasks", tasks),
        _one("executions", programs * N),
        _one("executions a second", programs * N / executed.wall),
        _one("CPU time of executing, all processes", executed.cpu, "s"),
        _one("memory, largest process but those that run candidates", max(took.largest_mb for took in whole), "MB"),
        _one("memory, largest process that runs candidates", executed.largest_of_candidates_mb, "MB"),
        _one("memory, all processes together", max(took.together_mb for took in whole), "MB"),
    ], executed


def _one(what: str, value: float, unit: str = "") -> Figure:
    return figure_of("a", what, [float(value)], unit)


def _executions(store: Store) -> pl.DataFrame:
    return store.read("executions").filter(pl.col("tree_id") != REFERENCE)


def run_bare_loop(store: Store, executed: Took, n_processes: int) -> list[Figure]:
    """Run the same distinct programs on the same inputs in a bare loop: (b).

    Programs that hang or crash have no bare loop, so their CPU time is taken off on the other side too.
    """
    work = list(_ordinary_work(store))
    with ThreadPoolExecutor(n_processes) as pool:
        floors = list(pool.map(lambda one: run_floor([one]), work))
    floor = sum(floors)
    stopped = _executions(store).filter(pl.col("restarts") > 0)
    without = executed.cpu - stopped["cpu_seconds"].sum()
    return [
        figure_of("b", "bare loop over the distinct programs that neither hang nor crash, CPU", [floor], "s"),
        figure_of("b", "programs that hang or crash", [float(stopped.height)]),
        figure_of("b", "CPU time they took, up to their limits", [float(stopped["cpu_seconds"].sum())], "s"),
        figure_of("b", "executing without them, times the bare loop", [without / floor]),
        figure_of("b", "executing with them, times the bare loop", [executed.cpu / floor]),
    ]


def _ordinary_work(store: Store) -> Iterator[Work]:
    ordinary = _executions(store).filter(restarts=0, trimmed=False).select("benchmark", "task_id", "tree_id")
    texts = store.read("programs").sort("program_id").unique(["benchmark", "task_id", "tree_id"], keep="first")
    codes = ordinary.join(texts, on=["benchmark", "task_id", "tree_id"]).sort("benchmark", "task_id", "tree_id")
    for (benchmark,), of_benchmark in codes.group_by("benchmark", maintain_order=True):
        tasks = {task.task_id: task for task in store.read_tasks(str(benchmark))}
        inputs = store.read("inputs", {"benchmark": str(benchmark)}).sort("task_id", "input_index")
        by_task = {str(key): rows["arguments"].to_list() for (key,), rows in inputs.group_by("task_id")}
        for (task_id,), own in of_benchmark.group_by("task_id", maintain_order=True):
            yield Work(task=tasks[str(task_id)], inputs=by_task[str(task_id)], sources=own["code"].to_list())


def run_as_published(
    store: Store, executed: Took, *, n_pairs: int, n_processes: int, seed: int
) -> tuple[list[Figure], float]:
    """Measure the published sampling on a random sample of the (model, task) pairs: (c).

    Return the figures and the mean seconds of a pair, in one process.
    """
    pairs, n_all = sample_pairs(store, n_pairs, seed=seed)
    taken = run_published(pairs, n_processes=n_processes, n=N)
    seconds = [one.seconds for one in taken]
    low, high = _interval_of_mean(seconds, seed)
    mean = statistics.fmean(seconds)
    spread = [value / n_processes for value in (mean, low, high)]
    return [
        figure_of("c", "(model, task) pairs measured", [float(len(taken))]),
        figure_of("c", "of them dropped after 60 s", [float(sum(value >= DROPPED_AFTER for value in seconds))]),
        replace(figure_of("c", "seconds a pair, mean and its 95 % interval", [mean], "s"), low=low, high=high),
        figure_of("c", "seconds a pair, median", [statistics.median(seconds)], "s"),
        *_scaled((mean, low, high), n_all, "in threads of one process, as described", executed.wall),
        *_scaled(spread, n_all, f"spread over {n_processes} processes", executed.wall),
    ], mean


def _scaled(a_pair: Sequence[float], n_pairs: int, how: str, ours: float) -> list[Figure]:
    """Return what all pairs would take, and how many times as long that is; (value, low, high) seconds a pair."""
    value, low, high = (seconds * n_pairs for seconds in a_pair)
    ratio = figure_of("c", f"{how}: times as long as executing", [value / ours])
    return [
        replace(figure_of("c", f"all {n_pairs:,} pairs {how}, scaled", [value], "s"), low=low, high=high),
        replace(ratio, low=low / ours, high=high / ours),
    ]


def _interval_of_mean(values: Sequence[float], seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    means = rng.choice(np.array(values), (10_000, len(values))).mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def run_grid(seconds_a_pair: float, n_tasks: int, n_processes: int, query: list[float]) -> list[Figure]:
    """Compare Table 3's grid as a query with executing it again as published: (d). ``query``: seconds it took."""
    settings = [
        int(value) if part == "3c" else PAPER_SETTING.n for part, (_, values) in PARTS.items() for value in values
    ]
    again = seconds_a_pair * n_tasks * sum(n / N for n in settings) / n_processes
    return [
        figure_of("d", "settings of Table 3", [float(len(settings))]),
        figure_of("d", "executing them again as published, scaled from (c)", [again], "s"),
        figure_of("d", "Table 3 from the behaviours", query, "s"),
        figure_of("d", "times as long", [again / value for value in query]),
    ]
