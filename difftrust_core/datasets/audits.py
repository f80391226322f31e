"""What readers found of the references."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import polars as pl

from difftrust_core.base.files import find_shipped
from difftrust_core.base.records import References
from difftrust_core.datasets.entries import SHIPPED_REMEDY, as_entry, load_toml


class Finding(StrEnum):
    """What a reader found of a task on which programs and reference part."""

    REFERENCE_WRONG = "reference wrong"
    """The reference contradicts the description on an input of the domain."""
    SEVERAL_RIGHT = "description admits both"
    """The description does not decide between the reference and the programs."""
    PROGRAMS_WRONG = "programs wrong"
    """The description decides for the reference."""
    NOTHING_FOUND = "nothing found"
    """Reference and description were read, and no input was found on which they part."""


FAULTS = (Finding.REFERENCE_WRONG, Finding.SEVERAL_RIGHT)
"""Findings for which `--references audited` leaves a task out."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What was found of one task."""

    benchmark: str
    task_id: str
    finding: Finding
    arguments: str
    """The deciding input, an argument tuple; empty where nothing was found."""
    why: str
    drawn: bool
    """Whether the task was drawn at random, and not read for a suspicion."""


@cache
def load_audits() -> tuple[Audit, ...]:
    """Return all audits that come with the project. Raises BadBenchmark naming file and task."""
    path = find_shipped("data") / "audits" / "references.toml"
    return read_audits(path) if path.is_file() else ()


def read_audits(path: Path) -> tuple[Audit, ...]:
    """Return the audits of one file, a table for each task that was read. Raises BadBenchmark naming file and task."""
    found = []
    for benchmark, of_benchmark in load_toml(path, remedy=SHIPPED_REMEDY).items():
        for task_id, table in of_benchmark.items():
            entry = as_entry(table, where=f"{path}, {task_id}", remedy=SHIPPED_REMEDY)
            if entry.text("finding") not in tuple(Finding):
                raise entry.refusal(f"a finding of {', '.join(Finding)}", entry.text("finding"))
            audit = Audit(
                benchmark=benchmark,
                task_id=task_id,
                finding=Finding(entry.text("finding")),
                arguments=entry.text("arguments", default=""),
                why=entry.text("why"),
                drawn=entry.flag("drawn"),
            )
            found.append(audit)
    return tuple(found)


def tasks_left_out(benchmark: str, references: str) -> frozenset[str]:
    """Return the tasks of a benchmark that do not count."""
    if references != References.AUDITED:
        return frozenset()
    return frozenset(a.task_id for a in load_audits() if a.benchmark == benchmark and a.finding in FAULTS)


def audit_frame() -> pl.DataFrame:
    """Return the audits as a table: benchmark, task_id, finding, arguments, why, drawn."""
    names = ("benchmark", "task_id", "finding", "arguments", "why")
    rows = [{**{name: str(getattr(audit, name)) for name in names}, "drawn": audit.drawn} for audit in load_audits()]
    return pl.DataFrame(rows, schema={**dict.fromkeys(names, pl.String), "drawn": pl.Boolean})
