"""What readers found of the references."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from difftrust_core.base.files import find_shipped
from difftrust_core.base.records import References
from difftrust_core.datasets.entries import SHIPPED_REMEDY, Entry, as_entry, load_bytes


class Finding(StrEnum):
    """What a reader found of a task on which programs and reference differ."""

    REFERENCE_WRONG = "reference wrong"
    """The reference contradicts the description on an input of the domain."""
    SILENT = "description silent"
    """The description does not speak of such inputs, although the domain allows them."""
    SEVERAL_RIGHT = "description admits both"
    """The description does not decide between the reference and the programs."""
    PROGRAMS_WRONG = "programs wrong"
    """The description decides for the reference."""
    NOTHING_FOUND = "nothing found"
    """Reference and description were read, and no input was found on which they differ."""
    UNDECIDED = "undecided"
    """The reader could not tell."""


FAULTS: Final = (Finding.REFERENCE_WRONG, Finding.SILENT, Finding.SEVERAL_RIGHT)
"""Findings for which `--references audited` leaves a task out."""
SETTLED_BY: Final = ("first reading", "both readers", "third reader")
"""How a finding came about: one reader, before there were two; two who agree; a third where two differ."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What was found of one task: a row of the file."""

    benchmark: str
    task_id: str
    finding: Finding
    arguments: str
    """The deciding input, an argument tuple; empty where nothing was found."""
    why: str
    drawn: bool
    """Whether the task was drawn at random, and not read for a suspicion."""
    settled_by: str = SETTLED_BY[0]
    former: str = ""
    """The finding of the first reading, where two readers have read the task since."""
    reader_a: str = ""
    """A reader's own finding; empty where two have not read the task."""
    arguments_a: str = ""
    why_a: str = ""
    reader_b: str = ""
    arguments_b: str = ""
    why_b: str = ""


AUDIT_COLUMNS: Final = tuple(field.name for field in fields(Audit))


@cache
def load_audits() -> tuple[Audit, ...]:
    """Return all audits that come with the project. Raises BadBenchmark naming file and line."""
    path = find_shipped("data") / "audits" / "audits.csv"
    return tuple(read_audits(path)) if path.is_file() else ()


def read_audits(path: Path) -> Iterator[Audit]:
    """Yield the audits of a CSV file with the columns of ``Audit``. Raises BadBenchmark naming file and line.

    Columns that a row may leave empty may be missing.
    """
    text = load_bytes(path, remedy=SHIPPED_REMEDY).decode(errors="replace")
    for number, row in enumerate(csv.DictReader(io.StringIO(text, newline="")), 2):
        named = {name: value for name, value in row.items() if name and value is not None}
        yield _audit(as_entry(named, where=f"{path}, line {number}", remedy=SHIPPED_REMEDY))


def _audit(entry: Entry) -> Audit:
    if unknown := sorted(entry.fields.keys() - set(AUDIT_COLUMNS)):
        raise entry.refusal(f"columns among {', '.join(AUDIT_COLUMNS)}", ", ".join(unknown))
    texts = {name: entry.text(name) for name in ("benchmark", "task_id", "why")}
    texts |= {name: entry.text(name, default="") for name in AUDIT_COLUMNS if name not in texts}
    for name, allowed in _ALLOWED.items():
        if texts[name] not in allowed:
            raise entry.refusal(f"one of {', '.join(filter(None, allowed))} in field {name!r}", repr(texts[name]))
    drawn, finding = texts.pop("drawn") == "true", Finding(texts.pop("finding"))
    settled_by = texts.pop("settled_by") or SETTLED_BY[0]
    return Audit(finding=finding, drawn=drawn, settled_by=settled_by, **texts)


_ALLOWED: Final = {
    "finding": tuple(Finding),
    "drawn": ("true", "false", ""),
    "settled_by": (*SETTLED_BY, ""),
    **dict.fromkeys(("former", "reader_a", "reader_b"), (*Finding, "")),
}


def tasks_left_out(benchmark: str, references: str) -> frozenset[str]:
    """Return the tasks of a benchmark that do not count."""
    if references != References.AUDITED:
        return frozenset()
    return frozenset(a.task_id for a in load_audits() if a.benchmark == benchmark and a.finding in FAULTS)


def audit_frame() -> pl.DataFrame:
    """Return the audits as a table with the columns of ``Audit``, the unknown null."""
    kinds = {name: pl.Boolean if name == "drawn" else pl.String for name in AUDIT_COLUMNS}
    rows = [{name: str(value) if name != "drawn" else value for name, value in vars(a).items()} for a in load_audits()]
    late = pl.col(AUDIT_COLUMNS[AUDIT_COLUMNS.index("former") :])
    return pl.DataFrame(rows, schema=kinds).with_columns(pl.when(late != "").then(late))
