"""Part e of `make bench`: how time and memory grow with tasks, programs, inputs and processes.

Tasks grow by copies of the same ones, so that what grows is their number and not the share of slow ones among them.
"""

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.store.store import REFERENCE, Store, partition_of
from tests.bench.figures import Figure, figure_of
from tests.bench.processes import run_well

COPIES = (1, 4, 14, 56)
N_TASKS = 10
MS = (2, 5, 10, 20, 50)
NS = (100, 300, 1_000, 3_000, 10_000)
_EXECUTE = """
import sys
from pathlib import Path
from difftrust_core.execution.execute import execute
from difftrust_core.store.store import Store
if __name__ == "__main__":
    done = execute(Store.open(Path(sys.argv[1])), n=int(sys.argv[2]), n_jobs=int(sys.argv[3]), say=lambda line: None)
    Path(sys.argv[1], "seconds").write_text(str(done.seconds))
"""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One run: programs times inputs, and what executing them took, starting processes included."""

    executions: int
    seconds: float
    cpu: float
    largest_mb: float


def copy_store(source: Store, target: Path, tasks: Sequence[tuple[str, str]], *, m: int, copies: int) -> Store:
    """Make a store of ``copies`` of each of some tasks of another one, with each coder's first m candidates."""
    made = Store.create(target)
    chosen = pl.DataFrame(tasks, schema=["benchmark", "task_id"], orient="row")
    candidates = source.read("candidates").join(chosen, on=["benchmark", "task_id"]).filter(pl.col("sample_index") < m)
    frames = {
        "tasks": source.read("tasks").join(chosen, on=["benchmark", "task_id"]),
        "candidates": candidates,
        "programs": source.read("programs").join(candidates, on=["benchmark", "task_id", "program_id"], how="semi"),
    }
    with made.writing():
        for table, frame in frames.items():
            for path in source.files(table):
                partition = partition_of(path, table)
                own = frame.filter(**partition).drop(partition)
                copied = [own.with_columns(pl.col("task_id") + f".{k}") for k in range(copies)]
                made.write(table, pl.concat(copied), partition, path.stem)
    return made


def measure(store: Store, *, n: int, jobs: int) -> Point:
    """Execute what is missing of a store, in a process of its own."""
    before = _executions(store)
    took = run_well([sys.executable, "-c", _EXECUTE, str(store.root), str(n), str(jobs)])
    seconds = float((store.root / "seconds").read_text())
    executions = (_executions(store) - before) * n
    return Point(executions=executions, seconds=seconds, cpu=took.cpu, largest_mb=took.largest_mb)


def _executions(store: Store) -> int:
    return store.read("executions").filter(pl.col("tree_id") != REFERENCE).height


def run_growth(source: Store, folder: Path, *, jobs: int, seed: int) -> list[Figure]:
    """Measure each way to grow and return slopes: 1 means twice the work takes twice the time."""
    tasks = _some_tasks(source, seed)

    def points(name: str, settings: Sequence[tuple[int, int, int, int]]) -> list[Point]:
        """Measure settings of (copies, m, n, jobs)."""
        found = []
        for copies, m, n, n_jobs in settings:
            store = copy_store(source, folder / f"{name}-{copies}-{m}-{n}-{n_jobs}", tasks, m=m, copies=copies)
            found.append(measure(store, n=n, jobs=n_jobs))
        return found

    by_tasks = points("tasks", [(copies, 10, 1_000, jobs) for copies in COPIES])
    by_m = points("m", [(4, m, 1_000, jobs) for m in MS])
    by_n = points("n", [(1, 10, n, jobs) for n in NS])
    (alone,) = points("alone", [(COPIES[-1], 10, 1_000, 1)])
    faster = alone.seconds / by_tasks[-1].seconds
    return [
        *_lines(f"{N_TASKS * COPIES[0]} to {N_TASKS * COPIES[-1]} tasks", by_tasks),
        *_lines(f"m = {MS[0]} to {MS[-1]}", by_m),
        *_lines(f"n = {NS[0]} to {NS[-1]:,}", by_n),
        figure_of("e", f"{jobs} processes, times as fast as 1, start-up included", [faster]),
    ]


def _some_tasks(source: Store, seed: int) -> list[tuple[str, str]]:
    """Return tasks at random, of those that every coder has whole."""
    counts = source.read("candidates").group_by("benchmark", "task_id").len()
    whole = counts.filter(pl.col("len") == pl.col("len").max()).select("benchmark", "task_id").rows()
    return random.Random(seed).sample(sorted(whole), min(N_TASKS, len(whole)))


def _lines(what: str, points: Sequence[Point]) -> list[Figure]:
    work, seconds = (np.array([getattr(p, name) for p in points], dtype=float) for name in ("executions", "seconds"))
    start = _start_up(work, seconds)
    memory = [p.largest_mb for p in points]
    rates = [s * 1e6 / w for s, w in zip(seconds - start, work, strict=True)]
    return [
        figure_of("e", f"{what}: slope of log seconds, start-up taken off", [_slope(work, seconds - start)]),
        figure_of("e", f"{what}: start-up", [start], "s"),
        figure_of("e", f"{what}: an execution, start-up taken off", rates, "us"),
        figure_of("e", f"{what}: CPU time of an execution", [p.cpu * 1e6 / p.executions for p in points], "us"),
        figure_of("e", f"{what}: memory of the largest process but those that run candidates", memory, "MB"),
        figure_of("e", f"{what}: that memory, most over least", [max(memory) / min(memory)]),
    ]


def _start_up(work: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    """Return where the line with the least relative squares meets no work: from 0 to half of the shortest run."""
    columns = np.stack([work, np.ones_like(work)], axis=1) / seconds[:, None]
    _, start = np.linalg.lstsq(columns, np.ones_like(work), rcond=None)[0]
    return min(max(0.0, float(start)), float(seconds.min()) / 2)


def _slope(work: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    return float(np.polyfit(np.log(work), np.log(np.maximum(seconds, math.ulp(1))), 1)[0])
