"""The papers' own numbers, as transcribed in ``data/published``; and nothing else."""

from functools import cache
from pathlib import Path

import polars as pl

import difftrust_core
from difftrust_core.exceptions import NoBenchmark


@cache
def load_published(table: str) -> pl.DataFrame:
    """Return one published table by its file's name, e.g. ``table_4``. Raises NoBenchmark if it was not installed."""
    package = Path(difftrust_core.__file__).parent
    for folder in (package / "data", package.parent / "data"):
        path = folder / "published" / f"{table}.csv"
        if path.is_file():
            return pl.read_csv(path)
    raise NoBenchmark(f"no published {table}.csv in {package}; install difftrust again")


def in_published_set(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the 150 HumanEval and 412 MBPP tasks that the published tables speak of."""
    return frame.join(load_published("excluded_tasks"), on=["benchmark", "task_id"], how="anti", maintain_order="left")


def find_results() -> Path:
    """Return the folder of the results store that comes with the project. Raises NoBenchmark if it is not here."""
    package = Path(difftrust_core.__file__).parent
    inside, beside = package / "data" / "results", package.parent / "data" / "results"
    folder = inside if inside.is_dir() else beside
    if not folder.is_dir():
        raise NoBenchmark(f"no results in {folder}; `make reproduce` makes them from the recorded candidates")
    return folder
