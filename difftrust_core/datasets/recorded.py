"""Which recorded candidates to read from a source, and what the source held."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import polars as pl

from difftrust_core.base.records import BadRow
from difftrust_core.base.task import name_flaw
from difftrust_core.datasets.benchmarks import known_or_own
from difftrust_core.datasets.entries import MAX_CODE, ROW
from difftrust_core.exceptions import WrongUsage

SCHEMA: dict[str, type[pl.DataType]] = {
    "benchmark": pl.String,
    "task_id": pl.String,
    "model": pl.String,
    "temperature": pl.Float64,
    "sample_index": pl.Int64,
    "code": pl.String,
}
"""Columns of ``Recorded.candidates``, in order."""
_HELD: Final = 8 * 2**20
"""Characters that wait to become a table."""
KEY = ["benchmark", "task_id", "model", "temperature", "sample_index"]
"""What identifies one candidate."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What of a source is wanted; None stands for everything."""

    benchmarks: frozenset[str] | None = None
    models: frozenset[str] | None = None
    temperatures: frozenset[float] | None = None
    m: int | None = None
    """The candidates with ``sample_index`` below m; no later one makes up for a bad row."""

    def __post_init__(self) -> None:
        if self.m is not None and self.m < 1:
            raise WrongUsage(f"m must be at least 1, got {self.m}; leave it out to take every candidate")

    def wants(self, benchmark: str, model: str, temperature: float) -> bool:
        """Tell whether the candidates of this coder for this benchmark are wanted."""
        return (
            (self.benchmarks is None or benchmark in self.benchmarks)
            and (self.models is None or model in self.models)
            and (self.temperatures is None or temperature in self.temperatures)
        )

    def predicate(self) -> pl.Expr:
        """Return the same, with m, as a condition on rows; null where a needed value is null."""
        wanted = pl.lit(value=True)
        for column in ("benchmark", "model", "temperature"):
            if (values := getattr(self, f"{column}s")) is not None:
                wanted &= pl.col(column).is_in(sorted(values))
        return wanted if self.m is None else wanted & (pl.col("sample_index") < self.m)


def selection_of(
    *,
    benchmarks: Iterable[str] = (),
    models: Iterable[str] = (),
    temperatures: Iterable[float] = (),
    m: int | None = None,
) -> Selection:
    """Return a selection from lists of which an empty one stands for everything. Raises WrongUsage if m < 1.

    A known benchmark may be written in any case; another name is that of a user's own.
    """
    return Selection(
        benchmarks=frozenset(map(known_or_own, benchmarks)) or None,
        models=frozenset(models) or None,
        temperatures=frozenset(temperatures) or None,
        m=m,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Recorded:
    """What a source held of a selection; nothing is left out without a word."""

    candidates: pl.DataFrame
    """Columns as in SCHEMA, no nulls, every KEY once."""
    bad_rows: tuple[BadRow, ...] = ()
    """What cannot be used. Rows with the same flaw may share one entry, which then gives their number."""
    skipped: dict[str, int] = field(default_factory=dict)
    """What is no candidate and does not mean to be, and how many: ``{"refined_* files": 3}``."""


Row = tuple[str, str, str, float, int, str]
"""One candidate in the order of SCHEMA."""


def as_table(rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows in the order of SCHEMA as a table."""
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


class Found:
    """What a reader has found so far. In a table texts take a byte a character, in Python up to four."""

    def __init__(self) -> None:
        self.bad: list[BadRow] = []
        self.skipped = Counter[str]()
        self._tables = [as_table([])]
        self._rows: list[Row] = []
        self._length = 0

    def add(self, *row: *Row) -> None:
        """Add a candidate."""
        self._rows.append(row)
        self._length += len(row[-1]) + ROW
        if self._length > _HELD:
            self._tables, self._rows, self._length = [*self._tables, as_table(self._rows)], [], 0

    def refuse(self, where: str | Path, why: str) -> None:
        """Name what cannot be used, and why."""
        self.bad.append(BadRow(where=str(where), why=why))

    def recorded(self) -> Recorded:
        """Return all that was found."""
        table = pl.concat([*self._tables, as_table(self._rows)], rechunk=False)
        return Recorded(candidates=table, bad_rows=tuple(self.bad), skipped=dict(+self.skipped))


def flaw_of(code: str) -> str:
    """Return what was expected of a candidate's text and found; empty where nothing is wrong.

    Lone surrogates have no form in UTF-8, and the sandbox takes no text of any length.
    """
    try:
        size = len(code.encode())
    except UnicodeEncodeError:
        return "expected text in UTF-8, found lone surrogates"
    return f"expected at most {MAX_CODE:,} bytes of code, found {size:,}" if size > MAX_CODE else ""


def check_coder(model: str, temperature: float, m: int | None) -> None:
    """Raise WrongUsage unless the model has a name, the temperature is finite and >= 0, and m, if given, is >= 1."""
    Selection(m=m)
    if flaw := name_flaw(model):
        raise WrongUsage(f"{flaw}; correct --model")
    if not (math.isfinite(temperature) and temperature >= 0):
        raise WrongUsage(f"a temperature is a finite number >= 0, got {temperature}; give it with --temperature")


def split_unknown(recorded: Recorded, known: set[tuple[str, str]]) -> Recorded:
    """Move candidates of tasks outside ``known`` (benchmark, task_id) to the bad rows, one entry a task."""
    tasks = recorded.candidates.group_by("benchmark", "task_id", maintain_order=True).len()
    unknown = [row for row in tasks.rows() if (row[0], row[1]) not in known]
    if not unknown:
        return recorded
    names = pl.DataFrame([row[:2] for row in unknown], schema=["benchmark", "task_id"], orient="row")
    bad = tuple(
        BadRow(
            where=f"{benchmark} {task_id}",
            why=f"expected a task of the benchmarks loaded, found {n} candidates of an unknown one",
        )
        for benchmark, task_id, n in unknown
    )
    kept = recorded.candidates.join(names, on=["benchmark", "task_id"], how="anti", maintain_order="left")
    return replace(recorded, candidates=kept, bad_rows=recorded.bad_rows + bad)
