"""The tables of a store: their columns, partitions and keys, and reading files as these say.

Results are small, without program texts, without inputs: ``patterns`` and ``classes`` are the compact matrices of
``ablation``, ``members`` says which candidate has which behaviour, ``disagreements`` shows where behaviours part,
``smallest`` the smallest inputs on which they do. A store that was executed holds them beside what they were made from;
a results store holds only them and the estimates.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from difftrust_core.exceptions import BadStore

CHUNK_TABLES = ("inputs", "outcomes", "behaviours", "executions")
"""One file a task and range of inputs each; every one speaks of those before it."""
MEASURED = ("cpu_seconds", "peak_kb")
"""Columns of ``executions`` that differ from run to run; null in an exported store."""
SHARES = (
    "error", "incoherence", "incoherence_v", "p_detected", "p_erroneous", "functional_incoherence", "functional_error",
)  # fmt: skip
KIND_COUNTS = (
    *("n_values", "n_exceptions", "n_timeouts", "n_skipped", "n_memory", "n_crashes", "n_load_errors"),
    *("n_unsupported", "n_forged"),
)
"""Of a coder's m times n outcomes on a task, those of each kind."""


class _Table(NamedTuple):
    """What a table's files hold: ``columns``, beside those of ``partitions``, which stand in the paths."""

    partitions: Mapping[str, Any]
    key: tuple[str, ...]
    columns: Mapping[str, Any]
    may_be_missing: tuple[str, ...] = ()


def _of(kind: Any, *names: str) -> dict[str, Any]:
    return dict.fromkeys(names, kind)


_BENCHMARK = _of(pl.String, "benchmark")
_CODER = {**_of(pl.String, "model"), "temperature": pl.Float64}
_CODER_OF_TASK = {**_CODER, "task_id": pl.String}
_WHERE = _of(pl.String, "benchmark", "validity")
_CHUNK = {**_WHERE, "start": pl.Int64}
_BY_EQUALITY = {**_WHERE, "equality": pl.String}
_INPUT = {"task_id": pl.String, "input_index": pl.UInt32}

_TABLES = {
    "tasks": _Table(
        _BENCHMARK,
        ("task_id",),
        {
            **_of(pl.String, "task_id", "entry_point", "signature", "description", "preamble", "prompt", "reference"),
            "seed_inputs": pl.List(pl.String),
            "ambiguous": pl.Boolean,
            **_of(pl.String, "language", "domain"),
            "public_inputs": pl.List(pl.String),
            **_of(pl.String, "relation", "tests"),
        },
        ("language", "domain", "public_inputs", "relation", "tests"),
    ),
    "candidates": _Table(
        {**_BENCHMARK, **_CODER},
        ("task_id", "sample_index"),
        {
            "task_id": pl.String,
            "sample_index": pl.Int64,
            **_of(pl.String, "program_id", "prompt_hash"),
            **_of(pl.Int64, "prompt_tokens", "completion_tokens"),
            "cost_usd": pl.Float64,
            **_of(pl.String, "finish_reason", "extraction"),
        },
        ("prompt_hash", "prompt_tokens", "completion_tokens", "cost_usd", "finish_reason", "extraction"),
    ),
    "replies": _Table({**_BENCHMARK, **_CODER}, (), {}),
    "programs": _Table(
        _BENCHMARK, ("task_id", "program_id"), _of(pl.String, "task_id", "program_id", "tree_id", "code")
    ),
    "inputs": _Table(
        _CHUNK,
        ("task_id", "input_index"),
        {**_INPUT, "arguments": pl.String, **_of(pl.UInt8, "attempts", "repeats")},
        ("repeats",),
    ),
    "outcomes": _Table(
        _CHUNK,
        ("task_id", "input_index", "outcome_id"),
        {
            **_INPUT,
            "outcome_id": pl.UInt16,
            **_of(pl.String, "kind", "text"),
            **_of(pl.UInt16, "paper_class", "strict_class"),
        },
    ),
    "behaviours": _Table(
        _CHUNK,
        ("task_id", "behaviour_id"),
        {"task_id": pl.String, "behaviour_id": pl.UInt16, "outcome_ids": pl.List(pl.UInt16)},
    ),
    "executions": _Table(
        _CHUNK,
        ("task_id", "tree_id"),
        {
            **_of(pl.String, "task_id", "tree_id"),
            **_of(pl.UInt16, "behaviour_id", "restarts"),
            "cpu_seconds": pl.Float64,
            "peak_kb": pl.UInt32,
            **_of(pl.Boolean, "trimmed", "nondeterministic"),
        },
    ),
    "estimates": _Table(
        _BY_EQUALITY,
        ("model", "temperature", "task_id"),
        {
            **_CODER_OF_TASK,
            **_of(pl.UInt32, "m", "n"),
            **_of(pl.Float64, *SHARES),
            "detected": pl.Boolean,
            **_of(pl.UInt32, "n_classes", "n_load_failures"),
            **_of(pl.UInt64, *KIND_COUNTS),
            "n_nondeterministic": pl.UInt32,
        },
        ("n_load_failures",),
    ),
    "draws": _Table(
        _WHERE,
        ("task_id",),
        {
            "task_id": pl.String,
            **_of(pl.UInt32, "n", "n_distinct", "n_draws", "n_unchanged", "n_repeats"),
            "exhausted": pl.Boolean,
            "public": pl.List(pl.UInt32),
            "groups": pl.List(pl.String),
        },
        ("n_repeats", "exhausted", "public", "groups"),
    ),
    "patterns": _Table(_WHERE, ("task_id",), {"task_id": pl.String, "pattern_of_input": pl.List(pl.UInt16)}),
    "classes": _Table(
        _WHERE,
        ("task_id", "row"),
        {
            "task_id": pl.String,
            "row": pl.UInt16,
            "reference": pl.Boolean,
            "reach": pl.UInt32,
            **_of(pl.List(pl.UInt16), "paper", "strict"),
            "kinds": pl.List(pl.UInt8),
        },
    ),
    "members": _Table(
        _WHERE,
        ("model", "temperature", "task_id", "sample_index"),
        {
            **_CODER_OF_TASK,
            "sample_index": pl.Int64,
            "row": pl.UInt16,
            **_of(pl.Int64, "prompt_tokens", "completion_tokens", "cost_nanodollars"),
            **_of(pl.Boolean, "nondeterministic", "trimmed"),
        },
        ("trimmed",),
    ),
    "disagreements": _Table(
        _BY_EQUALITY,
        ("task_id", "rank", "label"),
        {
            "task_id": pl.String,
            "rank": pl.UInt8,
            "input_index": pl.UInt32,
            "arguments": pl.String,
            "label": pl.UInt16,
            "reference": pl.Boolean,
            "n_candidates": pl.UInt32,
            **_of(pl.String, "kind", "text"),
        },
    ),
    "smallest": _Table(
        _WHERE,
        ("task_id", "kind", "first", "second", "equality"),
        {
            **_of(pl.String, "task_id", "kind"),
            **_of(pl.UInt16, "first", "second"),
            "equality": pl.String,
            "input_index": pl.UInt32,
            **_of(pl.String, "arguments", "first_kind", "first_text", "second_kind", "second_text", "place"),
            "is_smallest": pl.Boolean,
        },
    ),
    "tokens": _Table(_BENCHMARK, ("program_id",), {"program_id": pl.String, "n_tokens": pl.UInt32}),
    "stability": _Table(
        {**_of(pl.String, "benchmark", "options"), "first": pl.Int64},
        ("model", "temperature", "task_id"),
        {
            **_CODER_OF_TASK,
            **_of(pl.UInt32, "m", "n_programs", "n_parse_errors", "n_left_out"),
            **_of(pl.Float64, "mean_length", "mean_nodes", "exact_match", "bleu", "jsd_structural", "jsd"),
            **_of(pl.Float64, "sce_structural", "sce", "gibbs_structural", "gibbs", "tsed"),
            "language": pl.String,
            "epsilon": pl.Float64,
            **_of(pl.String, "base", "candidates"),
        },
    ),
}
SCHEMAS = {name: dict(table.columns) for name, table in _TABLES.items() if table.columns}
"""Columns of the files; the rest is in their paths (``PARTITIONS``)."""
PARTITIONS = {name: dict(table.partitions) for name, table in _TABLES.items()}
KEYS = {name: table.key for name, table in _TABLES.items() if table.key}
"""Columns that are together unique within a partition."""
MAY_BE_MISSING = {name: table.may_be_missing for name, table in _TABLES.items() if table.may_be_missing}
"""Columns that are null where they are unknown: recorded candidates have none of these, nor have earlier files."""
NEVER_NULL = (
    *(*_CODER, "task_id", "program_id", "tree_id", "code"),
    *("entry_point", "signature", "description", "arguments"),
)
"""Columns that no table's rows are read without."""
REFERENCE = "reference"
"""The ``tree_id`` of a task's reference program in ``executions``."""
FORMER_TABLES = ("witnesses",)
"""Tables that an earlier version wrote and none reads today; their files may stay."""
RESULT_TABLES = ("draws", "patterns", "classes", "members", "disagreements", "estimates", "stability", "smallest")
"""What a results store holds."""

REMEDIES = {
    **dict.fromkeys(
        ("tasks", "candidates", "programs", "tokens"),
        "bring them with `difftrust import difftrust --store DIR`, DIR a new folder",
    ),
    **dict.fromkeys(
        (*CHUNK_TABLES, "program_texts", "draws"),
        "make them with `difftrust import difftrust --store DIR` and `difftrust execute --store DIR`, DIR a new folder",
    ),
    "smallest": "make it with `difftrust smallest --store DIR`, DIR a store that holds the programs",
    "stability": "make it with `difftrust structure --store DIR`, DIR a store that holds the programs",
}
"""Table that a results store does not hold -> which commands make a store that does."""


def conform(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """Return ``frame`` with exactly the schema of ``table``, NaN as null: what is undefined has no value.

    Raises BadStore naming the column that breaks the schema.
    """
    schema = SCHEMAS[table]
    absent = set(MAY_BE_MISSING.get(table, ())).difference(frame.columns)
    frame = frame.with_columns([pl.lit(None).alias(name) for name in absent])
    missing = [name for name in schema if name not in frame.columns]
    if missing:
        raise BadStore(f"{table} needs the columns {', '.join(schema)}; missing: {', '.join(missing)}")
    try:
        found = frame.select([pl.col(name).cast(kind) for name, kind in schema.items()]).fill_nan(None)
    except pl.exceptions.PolarsError as e:
        raise BadStore(f"{table} breaks its schema: {str(e).splitlines()[0]}") from None
    if found.schema != schema:  # of a record, polars casts what is in it
        raise BadStore(f"{table} breaks its schema: expected {schema}, found {frame.schema}")
    if empty := columns_with_nulls(found):
        raise BadStore(f"{table} breaks its schema: expected a value in every row, found nulls in {', '.join(empty)}")
    return found


def columns_with_nulls(frame: pl.DataFrame) -> list[str]:
    """Return the columns of ``NEVER_NULL`` that hold nulls."""
    return [column.name for column in frame if column.name in NEVER_NULL and column.null_count()]


def read_at_once(
    table: str, paths: list[Path], columns: Sequence[str], rows: pl.Expr | bool = True
) -> pl.DataFrame | None:
    """Return these columns of a table behind those of its partitions, and these ``rows``, from all files at once.

    That is five times as fast as one by one. None where it cannot be: a file is damaged, gone, or lacks a column.
    """
    kinds = {**PARTITIONS[table], **{name: SCHEMAS[table][name] for name in columns}}
    if not paths or set(columns) & set(MAY_BE_MISSING.get(table, ())):
        return None
    try:
        found = pl.scan_parquet(paths, hive_partitioning=True, hive_schema=PARTITIONS[table], glob=False)
        read = (
            found.filter(rows)
            .select([pl.col(name).cast(kind) for name, kind in kinds.items()])
            .fill_nan(None)
            .collect()
        )
        return None if columns_with_nulls(read) else read
    except (pl.exceptions.PolarsError, OSError):
        return None
