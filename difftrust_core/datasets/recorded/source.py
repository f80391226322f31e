"""Read recorded candidates from a path, whatever it holds: a folder, Parquet or JSONL."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded.artifact import read_artifact
from difftrust_core.datasets.recorded.jsonl import read_jsonl
from difftrust_core.datasets.recorded.parquet import read_parquet
from difftrust_core.datasets.recorded.selection import Recorded, Selection
from difftrust_core.exceptions import BadSource, WrongUsage

JSONL = (".jsonl", ".jsonl.gz")
_ACCEPTED = "a folder of the published artifact, a .parquet file, or a .jsonl or .jsonl.gz file"


def read_source(
    path: Path,
    selection: Selection | None = None,
    *,
    tasks: Mapping[str, Task] | None = None,
    model: str | None = None,
    temperature: float | None = None,
) -> Recorded:
    """Return the candidates in ``path``: a folder is read as the artifact, a file by the end of its name.

    ``tasks`` (by task id), ``model`` and ``temperature`` are for JSONL, which does not say them itself.
    Raises BadSource if the path is none of these, WrongUsage if a JSONL file comes without its coder.
    """
    selection = selection or Selection()
    if path.is_dir():
        return read_artifact(path, selection)
    if not path.is_file():
        raise BadSource(f"{path}: expected {_ACCEPTED}, found nothing there; check the path")
    if path.name.endswith(".parquet"):
        return read_parquet(path, selection)
    if not path.name.endswith(JSONL):
        raise BadSource(f"{path}: expected {_ACCEPTED}, found a file of another name; rename or convert it")
    if tasks is None or model is None or temperature is None:
        raise WrongUsage(f"{path}: a JSONL file does not name its coder; give --model and --temperature")
    recorded = read_jsonl(path, tasks, model=model, temperature=temperature, m=selection.m)
    if selection.benchmarks is None:
        return recorded
    wanted = pl.col("benchmark").is_in(sorted(selection.benchmarks))
    return replace(recorded, candidates=recorded.candidates.filter(wanted))
