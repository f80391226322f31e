"""What comes with the tool: the paper's setting and numbers, and stores of results."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from difftrust_core.base.files import find_shipped
from difftrust_core.exceptions import NoBenchmark


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One model's programs and inputs: m programs a task, sampled at one temperature, each executed on n inputs."""

    m: int
    n: int
    temperature: float
    model: str


PAPER_SETTING: Final = Setting(m=10, n=1000, temperature=0.6, model="gpt_4o")
"""What the paper holds fixed while something else varies."""


def usual_temperature(there: Collection[float]) -> float:
    """Return the paper's temperature where it is there, else the lowest."""
    return PAPER_SETTING.temperature if PAPER_SETTING.temperature in there else min(there)


@cache
def load_published(table: str) -> pl.DataFrame:
    """Return one published table by its file's name, e.g. ``table_4``. Raises NoBenchmark if it was not installed."""
    path = find_shipped(f"data/published/{table}.csv")
    if not path.is_file():
        raise NoBenchmark(f"no published table {path}; install difftrust again")
    return pl.read_csv(path)


def in_published_set(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the 150 HumanEval and 412 MBPP tasks that the published tables speak of."""
    return frame.join(load_published("excluded_tasks"), on=["benchmark", "task_id"], how="anti", maintain_order="left")


def find_results() -> Path:
    """Return the folder of the results store that comes with the project. Raises NoBenchmark if it is not here."""
    return _find_store("data/results", "no results", "`make reproduce` makes them from the recorded candidates")


def find_starter_results() -> Path:
    """Return the folder of the executed store of simulated coders that comes with the project, texts included.

    Raises NoBenchmark if it is not here.
    """
    return _find_store("data/starter-results", "no store", "`make starter-results` makes it in two minutes")


def _find_store(path: str, missing: str, remedy: str) -> Path:
    folder = find_shipped(path)
    if not folder.is_dir():
        raise NoBenchmark(f"{missing} in {folder}; {remedy}")
    return folder
