"""What is wrong with a store, and what brings it back; and nothing else."""

from dataclasses import dataclass
from typing import Final

from difftrust_core.schemas import CHUNK_TABLES, RESULT_TABLES

DAMAGED: Final = "damaged"
"""Folder of a store to which damaged files are moved."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is not as it must be."""

    path: str
    """The file, or the folder of a partition, below the store's root."""
    what: str
    """What was expected, and what was found."""
    table: str = ""
    """The table that it belongs to; empty: none."""
    task_id: str = ""
    """The task whose rows are wrong, where it is one task's."""
    remedy: str = ""
    """The command that brings back what `--repair` moves aside."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What a store was found to be."""

    n_files: int
    n_bytes: int
    n_unsealed: int
    """Files without a checksum, written before there were any; their rows were checked."""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What is unusual and not wrong."""
    moved: tuple[str, ...] = ()
    """Files that were moved to the folder ``damaged``."""


def dependents(table: str) -> tuple[str, ...]:
    """Return the tables whose rows speak of those of ``table`` within a chunk or a benchmark, itself first."""
    if table in CHUNK_TABLES:
        return CHUNK_TABLES[CHUNK_TABLES.index(table) :]
    return RESULT_TABLES if table in RESULT_TABLES else (table,)
