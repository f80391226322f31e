"""The store: Parquet files with fixed schemas, written whole or not at all; and nothing else.

A store is a folder. Everything about one task on one range of inputs (a *chunk*, ``start=``) lies in one file a table,
so a finished task survives whatever happens to the next one, and raising n adds a chunk and touches nothing else.
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import polars as pl

from difftrust_core.exceptions import BadStore, NoStore, StoreInUse, WrongUsage
from difftrust_core.schemas import REMEDIES, RESULT_PARTITIONS, RESULT_SCHEMAS

SETTINGS_FILE = "difftrust-store.json"
FORMAT = 1
VALIDITIES = ("reference", "quorum", "all")

SCHEMAS: dict[str, dict[str, Any]] = {
    "tasks": {
        "task_id": pl.String,
        "entry_point": pl.String,
        "signature": pl.String,
        "description": pl.String,
        "preamble": pl.String,
        "prompt": pl.String,
        "reference": pl.String,
        "seed_inputs": pl.List(pl.String),
        "ambiguous": pl.Boolean,
        "language": pl.String,
    },
    "candidates": {
        "task_id": pl.String,
        "sample_index": pl.Int64,
        "program_id": pl.String,
        "prompt_hash": pl.String,
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
        "cost_usd": pl.Float64,
        "finish_reason": pl.String,
        "extraction": pl.String,
    },
    "programs": {"task_id": pl.String, "program_id": pl.String, "tree_id": pl.String, "code": pl.String},
    "inputs": {"task_id": pl.String, "input_index": pl.UInt32, "arguments": pl.String, "attempts": pl.UInt8},
    "outcomes": {
        "task_id": pl.String,
        "input_index": pl.UInt32,
        "outcome_id": pl.UInt16,
        "kind": pl.String,
        "text": pl.String,
        "paper_class": pl.UInt16,
        "strict_class": pl.UInt16,
    },
    "behaviours": {"task_id": pl.String, "behaviour_id": pl.UInt16, "outcome_ids": pl.List(pl.UInt16)},
    "executions": {
        "task_id": pl.String,
        "tree_id": pl.String,
        "behaviour_id": pl.UInt16,
        "restarts": pl.UInt16,
        "cpu_seconds": pl.Float64,
        "peak_kb": pl.UInt32,
        "trimmed": pl.Boolean,
        "nondeterministic": pl.Boolean,
    },
    "estimates": {
        "model": pl.String,
        "temperature": pl.Float64,
        "task_id": pl.String,
        "m": pl.UInt32,
        "n": pl.UInt32,
        "error": pl.Float64,
        "incoherence": pl.Float64,
        "incoherence_v": pl.Float64,
        "p_detected": pl.Float64,
        "p_erroneous": pl.Float64,
        "functional_incoherence": pl.Float64,
        "functional_error": pl.Float64,
        "detected": pl.Boolean,
        "n_classes": pl.UInt32,
        "n_values": pl.UInt64,
        "n_exceptions": pl.UInt64,
        "n_timeouts": pl.UInt64,
        "n_skipped": pl.UInt64,
        "n_memory": pl.UInt64,
        "n_crashes": pl.UInt64,
        "n_load_errors": pl.UInt64,
        "n_unsupported": pl.UInt64,
        "n_forged": pl.UInt64,
        "n_nondeterministic": pl.UInt32,
    },
    **RESULT_SCHEMAS,
}
"""Columns of the files; the rest is in their paths (``PARTITIONS``)."""

PARTITIONS: dict[str, dict[str, Any]] = {
    "tasks": {"benchmark": pl.String},
    "candidates": {"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64},
    "replies": {"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64},
    "programs": {"benchmark": pl.String},
    **{
        table: {"benchmark": pl.String, "validity": pl.String, "start": pl.Int64}
        for table in ("inputs", "outcomes", "behaviours", "executions")
    },
    "estimates": {"benchmark": pl.String, "validity": pl.String, "equality": pl.String},
    **RESULT_PARTITIONS,
}
_OF_REPLIES = ("prompt_hash", "prompt_tokens", "completion_tokens", "cost_usd", "finish_reason", "extraction")
MAY_BE_MISSING: dict[str, tuple[str, ...]] = {"candidates": _OF_REPLIES, "tasks": ("language",)}
"""Columns that are null where they are unknown: recorded candidates have none of these, nor have earlier files."""
REFERENCE = "reference"
"""The ``tree_id`` of a task's reference program in ``executions``."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every number in a store depends on, fixed when the store is first executed."""

    seed: int = 0
    validity: str = "reference"
    tables: tuple[str, ...] | None = None
    """The tables that are here; None: all. A results store holds a few (``schemas.RESULT_TABLES``)."""

    def __post_init__(self) -> None:
        if self.tables is not None:
            object.__setattr__(self, "tables", tuple(self.tables))  # JSON has lists


class Store:
    """One folder of tables. Readers need no lock; writers hold ``writing()``."""

    def __init__(self, root: Path):
        self.root = root.absolute()  # workers may have another working directory

    @classmethod
    def open(cls, root: Path) -> "Store":
        """Open an existing store. Raises NoStore if the folder holds none."""
        if not (root / SETTINGS_FILE).is_file():
            raise NoStore(f"no difftrust store in {root}; make one with `difftrust import ... --store {root}`")
        store = cls(root)
        store.settings()
        return store

    @classmethod
    def create(cls, root: Path) -> "Store":
        """Open the store in ``root``, making it if the folder is new or empty."""
        cls.refuse_what_is_none(root)
        if not (root / SETTINGS_FILE).is_file():
            try:
                root.mkdir(parents=True, exist_ok=True)
            except OSError as e:
                raise NoStore(f"the store {root} cannot be made: {e.strerror}") from None
            cls(root).write_settings(Settings())
        return cls.open(root)

    @staticmethod
    def refuse_what_is_none(root: Path) -> None:
        """Raise NoStore if ``root`` is neither a store nor a place for a new one; make nothing."""
        if not (root / SETTINGS_FILE).is_file() and root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise NoStore(f"{root} is there and is no difftrust store; name a new or an empty folder")

    def settings(self) -> Settings:
        """Return the store's settings. Raises BadStore if they cannot be read."""
        path = self.root / SETTINGS_FILE
        try:
            found = json.loads(path.read_text())
            if found.pop("format") != FORMAT:
                raise ValueError("another format")
            return Settings(**found)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
            raise BadStore(f"{path} is not a store of format {FORMAT} ({e}); restore it or start a new store") from None

    def write_settings(self, settings: Settings) -> None:
        """Write the settings."""
        if settings.validity not in VALIDITIES:
            raise WrongUsage(f"validity is one of {', '.join(VALIDITIES)}, got {settings.validity!r}")
        temporary = self.root / f".{SETTINGS_FILE}.tmp"
        temporary.write_text(json.dumps({"format": FORMAT, **_written(settings)}, indent=1) + "\n")
        temporary.replace(self.root / SETTINGS_FILE)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store for writing. Raises StoreInUse if another process does."""
        try:
            handle = (self.root / ".lock").open("a")
        except OSError as e:
            raise BadStore(f"the store {self.root} cannot be written: {e.strerror}") from None
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StoreInUse(f"another difftrust command writes to {self.root}; wait until it has ended") from None
            for left_over in self.root.rglob(".*.parquet.tmp"):
                left_over.unlink(missing_ok=True)
            yield

    def folder(self, table: str, partition: Mapping[str, object]) -> Path:
        """Return the hive folder of one partition, values percent-encoded; ``partition`` may be a prefix."""
        names = [name for name in PARTITIONS[table] if name in partition]
        parts = [f"{name}={quote(str(partition[name]), safe='')}" for name in names]
        return self.root.joinpath(table, *parts)

    def holds(self, table: str) -> bool:
        """Tell whether the table belongs to this store; it may be empty."""
        tables = self.settings().tables
        return tables is None or table in tables

    def files(self, table: str, partition: Mapping[str, object] | None = None) -> list[Path]:
        """Return the Parquet files of a table, or of the part of it below ``partition``, sorted.

        Raises NoStore if this is a results store that does not hold the table, saying which command brings it.
        """
        if not self.holds(table):
            raise NoStore(f"{self.root} holds results only, no {table}; {REMEDIES[table]}")
        return sorted(self.folder(table, partition or {}).rglob("*.parquet"))

    def write(self, table: str, frame: pl.DataFrame, partition: Mapping[str, object], name: str) -> Path:
        """Write one file of a table atomically: readers see the old file, or the new one, or none."""
        if list(partition) != list(PARTITIONS[table]):
            raise BadStore(f"{table} is partitioned by {list(PARTITIONS[table])}, got {list(partition)}")
        folder = self.folder(table, partition)
        path = folder / f"{name}.parquet"
        temporary = folder / f".{name}.{os.getpid()}.parquet.tmp"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            conform(frame, table).write_parquet(temporary, compression="zstd", compression_level=9)
            temporary.replace(path)
        except OSError as e:
            raise BadStore(f"{path} could not be written: {e}; what is finished is kept, run it again") from None
        return path

    def read_file(self, table: str, path: Path) -> pl.DataFrame | None:
        """Return one file's rows, None where it does not exist. Raises BadStore if it is damaged."""
        try:
            return conform(pl.read_parquet(path, hive_partitioning=False), table)
        except FileNotFoundError:
            return None
        except (pl.exceptions.PolarsError, OSError) as e:
            raise self.damaged(path, e) from None

    def damaged(self, path: Path, error: Exception) -> BadStore:
        """Return the error for a file that cannot be read."""
        why = str(error).splitlines()[0]
        return BadStore(f"{path} is damaged ({why}); delete it and run `difftrust execute` or the import again")

    def read(self, table: str, partition: Mapping[str, object] | None = None) -> pl.DataFrame:
        """Return a table, or the part of it below ``partition``, with its partition columns first."""
        schema = {**PARTITIONS[table], **SCHEMAS[table]}
        frames = []
        for path in self.files(table, partition):
            frame = self.read_file(table, path)
            assert frame is not None
            values = partition_of(path, table)
            frames.append(frame.select(*[pl.lit(values[name], dtype=schema[name]).alias(name) for name in values], "*"))
        return pl.concat(frames) if frames else pl.DataFrame(schema=schema)


def _written(settings: Settings) -> dict[str, object]:
    return {name: value for name, value in asdict(settings).items() if value is not None}


def conform(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Return ``frame`` with exactly the schema of ``table``. Raises BadStore naming the column that breaks it."""
    schema = SCHEMAS[table]
    absent = [name for name in MAY_BE_MISSING.get(table, ()) if name not in frame.columns]
    frame = frame.with_columns([pl.lit(None, dtype=schema[name]).alias(name) for name in absent])
    missing = [name for name in schema if name not in frame.columns]
    if missing:
        raise BadStore(f"{table} needs the columns {', '.join(schema)}; missing: {', '.join(missing)}")
    try:
        return frame.select([pl.col(name).cast(kind) for name, kind in schema.items()])
    except pl.exceptions.PolarsError as e:
        raise BadStore(f"{table} breaks its schema: {str(e).splitlines()[0]}") from None


def partition_of(path: Path, table: str) -> dict[str, Any]:
    """Return the partition values that a file's path spells."""
    spelled = dict(part.split("=", 1) for part in path.parts if "=" in part)
    convert = {pl.Float64: float, pl.Int64: int}
    return {name: convert.get(kind, str)(unquote(spelled[name])) for name, kind in PARTITIONS[table].items()}


def file_name(task_id: str) -> str:
    """Return the name of a task's files: its id, with whatever a file system may mind replaced."""
    return re.sub(r"[^A-Za-z0-9.\-]", "_", task_id)


def chunk_starts(spans: Sequence[tuple[int, int]], n: int) -> list[tuple[int, int]]:
    """Return the chunks that n inputs need: of those at hand (``spans``, ascending, gapless), and one for the rest."""
    reached = spans[-1][1] if spans else 0
    return [*(span for span in spans if span[0] < n), *([(reached, n)] if n > reached else [])]
