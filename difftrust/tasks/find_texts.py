"""Find the texts that results lack: a benchmark's task, and the recorded programs of one task, on this machine.

Results that are passed on hold no text of others. Who has the benchmark and the recorded candidates (``benchmarks``:
below DIFFTRUST_DATA or in the cache) sees them all the same: a candidate is found by model, temperature and number.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from difftrust_core.base.files import FileState, file_state
from difftrust_core.base.records import Coder
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import benchmark_names, find_benchmark, find_file, load_benchmark
from difftrust_core.exceptions import DifftrustError, NoBenchmark
from difftrust_core.languages.registry import load_language

RECORDED = ("HumanEval", "MBPP")
"""The benchmarks that the recorded candidates are for."""
_SCHEMA = {
    **{"model": pl.String, "temperature": pl.Float64, "sample_index": pl.Int64},
    **{"tree_id": pl.String, "code": pl.String},
}


def find_task(benchmark: str, task_id: str) -> Task | None:
    """Return a task of a benchmark that is on this machine; None where it is not, or has no such task."""
    if benchmark not in benchmark_names():
        return None
    try:
        path = find_benchmark(benchmark)
        return _tasks(benchmark, path, file_state(path)).get(task_id)
    except DifftrustError:  # not here, or damaged: the commands that need it say so
        return None


def find_programs(benchmark: str, task_id: str, coders: Sequence[Coder]) -> pl.DataFrame:
    """Return the recorded candidates of these coders for one task; none where they are not on this machine.

    Columns: model, temperature, sample_index, tree_id, code, sorted by the first three.
    """
    nothing = pl.DataFrame(schema=_SCHEMA)
    task = find_task(benchmark, task_id)
    if task is None or benchmark not in RECORDED:
        return nothing
    try:
        path = find_file("difftrust")
        found = _recorded(benchmark, task_id, path, file_state(path))
    except (NoBenchmark, OSError, pl.exceptions.PolarsError):
        return nothing
    coder = {name: _SCHEMA[name] for name in ("model", "temperature")}
    wanted = pl.DataFrame(list(dict.fromkeys(coders)), schema=coder, orient="row")
    rows = found.join(wanted, on=list(coder), how="semi", maintain_order="left")
    trees = pl.Series([_tree(task.language, code) for code in rows["code"]], dtype=pl.String)
    return rows.with_columns(tree_id=trees).select(_SCHEMA.keys())


def commands_for_texts(benchmark: str) -> tuple[str, ...]:
    """Return the commands that bring what is missing here of a benchmark's texts; none where all is here."""
    if benchmark not in RECORDED:
        return ()
    absent = []
    for name, command in (
        (benchmark.lower(), f"difftrust fetch {benchmark.lower()}"),
        ("difftrust", "difftrust fetch difftrust --from CLONE"),
    ):
        try:
            _ = find_file(name)
        except NoBenchmark:
            absent.append(command)
    return tuple(absent)


@lru_cache(maxsize=4)
def _tasks(benchmark: str, path: Path, state: FileState) -> dict[str, Task]:
    del path, state
    return {task.task_id: task for task in load_benchmark(benchmark)}


@lru_cache(maxsize=32)
def _recorded(benchmark: str, task_id: str, path: Path, state: FileState) -> pl.DataFrame:
    del state
    columns = ["model", "temperature", "sample_index"]
    rows = pl.scan_parquet(path, glob=False).filter(benchmark=benchmark, task_id=task_id)
    return rows.select(*columns, "code").collect().unique(columns, keep="first").sort(columns)


@lru_cache(maxsize=1 << 16)
def _tree(language: str, code: str) -> str:
    return load_language(language).tree_id(code)
