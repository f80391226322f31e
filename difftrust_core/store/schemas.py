"""The tables of a store: their columns, partitions and keys, and reading files as these say.

Results are small, without program texts, without inputs: ``patterns`` and ``classes`` are the compact matrices of
``ablation``, ``members`` says which candidate has which behaviour, ``disagreements`` shows where behaviours part,
``smallest`` the smallest inputs on which they do. A store that was executed holds them beside what they were made from;
a results store holds only them and the estimates.
``witnesses`` stands apart: the distinct outcomes on each input that was sought to show a disagreement, and which
programs (``trees``) ended so. No result is made of it.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.exceptions import BadStore

CHUNK_TABLES = ("inputs", "outcomes", "behaviours", "executions")
"""One file a task and range of inputs each; every one speaks of those before it."""
STABILITY_MEASURES = (
    *("exact_match", "bleu", "jsd_structural", "jsd", "sce_structural", "sce", "gibbs_structural", "gibbs", "tsed"),
)
"""How alike the programs of one coder for one task are (``structure.MEASURES``)."""
SHARES = (
    "error", "incoherence", "incoherence_v", "p_detected", "p_erroneous", "functional_incoherence", "functional_error",
)  # fmt: skip
KIND_COUNTS = (
    *("n_values", "n_exceptions", "n_timeouts", "n_skipped", "n_memory", "n_crashes", "n_load_errors"),
    *("n_unsupported", "n_forged"),
)
"""Of a coder's m times n outcomes on a task, those of each kind."""
MEASURED = ("cpu_seconds", "peak_kb")
"""Columns of ``executions`` that differ from run to run; null in a packed store (``analysis.packing``)."""
_WHERE: dict[str, Any] = {"benchmark": pl.String, "validity": pl.String}

SCHEMAS: dict[str, dict[str, Any]] = {
    "tasks": {
        **dict.fromkeys(("task_id", "entry_point", "signature", "description", "preamble"), pl.String),
        **dict.fromkeys(("prompt", "reference"), pl.String),
        "seed_inputs": pl.List(pl.String),
        "ambiguous": pl.Boolean,
        "language": pl.String,
        "domain": pl.String,
        "public_inputs": pl.List(pl.String),
        "relation": pl.String,
        "tests": pl.String,
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
    "inputs": {
        "task_id": pl.String,
        "input_index": pl.UInt32,
        "arguments": pl.String,
        "attempts": pl.UInt8,
        "repeats": pl.UInt8,
    },
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
        **dict.fromkeys(SHARES, pl.Float64),
        "detected": pl.Boolean,
        "n_classes": pl.UInt32,
        "n_load_failures": pl.UInt32,
        **dict.fromkeys(KIND_COUNTS, pl.UInt64),
        "n_nondeterministic": pl.UInt32,
    },
    "draws": {
        "task_id": pl.String,
        **dict.fromkeys(("n", "n_distinct", "n_draws", "n_unchanged", "n_repeats"), pl.UInt32),
        "exhausted": pl.Boolean,
        "public": pl.List(pl.UInt32),
        "groups": pl.List(pl.String),
    },
    "patterns": {"task_id": pl.String, "pattern_of_input": pl.List(pl.UInt16)},
    "classes": {
        "task_id": pl.String,
        "row": pl.UInt16,
        "reference": pl.Boolean,
        "reach": pl.UInt32,
        "paper": pl.List(pl.UInt16),
        "strict": pl.List(pl.UInt16),
        "kinds": pl.List(pl.UInt8),
    },
    "members": {
        "model": pl.String,
        "temperature": pl.Float64,
        "task_id": pl.String,
        "sample_index": pl.Int64,
        "row": pl.UInt16,
        **dict.fromkeys(("prompt_tokens", "completion_tokens", "cost_nanodollars"), pl.Int64),
        "nondeterministic": pl.Boolean,
        "trimmed": pl.Boolean,
    },
    "disagreements": {
        "task_id": pl.String,
        "rank": pl.UInt8,
        "input_index": pl.UInt32,
        "arguments": pl.String,
        "label": pl.UInt16,
        "reference": pl.Boolean,
        "n_candidates": pl.UInt32,
        "kind": pl.String,
        "text": pl.String,
    },
    "smallest": {
        "task_id": pl.String,
        "kind": pl.String,
        "first": pl.UInt16,
        "second": pl.UInt16,
        "equality": pl.String,
        "input_index": pl.UInt32,
        **dict.fromkeys(("arguments", "first_kind", "first_text", "second_kind", "second_text", "place"), pl.String),
        "is_smallest": pl.Boolean,
    },
    "tokens": {"program_id": pl.String, "n_tokens": pl.UInt32},
    "witnesses": {
        "task_id": pl.String,
        "witness_index": pl.UInt32,
        "origin": pl.String,
        "arguments": pl.String,
        "outcome_id": pl.UInt16,
        "kind": pl.String,
        "text": pl.String,
        "paper_class": pl.UInt16,
        "strict_class": pl.UInt16,
        "trees": pl.List(pl.String),
        "wanted": pl.UInt32,
    },
    "stability": {
        "model": pl.String,
        "temperature": pl.Float64,
        "task_id": pl.String,
        **dict.fromkeys(("m", "n_programs", "n_parse_errors", "n_left_out"), pl.UInt32),
        **dict.fromkeys(("mean_length", "mean_nodes", *STABILITY_MEASURES), pl.Float64),
        "language": pl.String,
        "epsilon": pl.Float64,
        "base": pl.String,
        "candidates": pl.String,
    },
}
"""Columns of the files; the rest is in their paths (``PARTITIONS``)."""

PARTITIONS: dict[str, dict[str, Any]] = {
    "tasks": {"benchmark": pl.String},
    "candidates": {"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64},
    "replies": {"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64},
    "programs": {"benchmark": pl.String},
    **{table: {**_WHERE, "start": pl.Int64} for table in CHUNK_TABLES},
    "estimates": {**_WHERE, "equality": pl.String},
    "draws": _WHERE,
    "patterns": _WHERE,
    "classes": _WHERE,
    "members": _WHERE,
    "disagreements": {**_WHERE, "equality": pl.String},
    "smallest": _WHERE,
    "tokens": {"benchmark": pl.String},
    "witnesses": _WHERE,
    "stability": {"benchmark": pl.String, "options": pl.String, "first": pl.Int64},
}
_OF_REPLIES = ("prompt_hash", "prompt_tokens", "completion_tokens", "cost_usd", "finish_reason", "extraction")
MAY_BE_MISSING: dict[str, tuple[str, ...]] = {
    "candidates": _OF_REPLIES,
    "tasks": ("language", "domain", "public_inputs", "relation", "tests"),
    "inputs": ("repeats",),
    "draws": ("n_repeats", "exhausted", "public", "groups"),
    "estimates": ("n_load_failures",),
    "members": ("trimmed",),
}
"""Columns that are null where they are unknown: recorded candidates have none of these, nor have earlier files."""
REFERENCE = "reference"
"""The ``tree_id`` of a task's reference program in ``executions``."""
KEYS: dict[str, tuple[str, ...]] = {
    "tasks": ("task_id",),
    "candidates": ("task_id", "sample_index"),
    "programs": ("task_id", "program_id"),
    "inputs": ("task_id", "input_index"),
    "outcomes": ("task_id", "input_index", "outcome_id"),
    "behaviours": ("task_id", "behaviour_id"),
    "executions": ("task_id", "tree_id"),
    "estimates": ("model", "temperature", "task_id"),
    "draws": ("task_id",),
    "patterns": ("task_id",),
    "classes": ("task_id", "row"),
    "members": ("model", "temperature", "task_id", "sample_index"),
    "disagreements": ("task_id", "rank", "label"),
    "smallest": ("task_id", "kind", "first", "second", "equality"),
    "tokens": ("program_id",),
    "witnesses": ("task_id", "witness_index", "outcome_id"),
    "stability": ("model", "temperature", "task_id"),
}
"""Columns that are together unique within a partition."""
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
    "witnesses": (
        "make it with `difftrust import difftrust --store DIR` and `difftrust execute --store DIR --witnesses 100`, "
        "DIR a new folder"
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
    absent = [name for name in MAY_BE_MISSING.get(table, ()) if name not in frame.columns]
    frame = frame.with_columns([pl.lit(None, dtype=schema[name]).alias(name) for name in absent])
    missing = [name for name in schema if name not in frame.columns]
    if missing:
        raise BadStore(f"{table} needs the columns {', '.join(schema)}; missing: {', '.join(missing)}")
    try:
        return frame.select([pl.col(name).cast(kind) for name, kind in schema.items()]).fill_nan(None)
    except pl.exceptions.PolarsError as e:
        raise BadStore(f"{table} breaks its schema: {str(e).splitlines()[0]}") from None


def read_at_once(
    table: str, paths: list[Path], columns: Sequence[str], rows: pl.Expr | None = None
) -> pl.DataFrame | None:
    """Return these columns of a table behind those of its partitions, and these ``rows``, from all files at once.

    That is five times as fast as one by one. None where it cannot be: a file is damaged, gone, or lacks a column.
    """
    kinds = {**PARTITIONS[table], **{name: SCHEMAS[table][name] for name in columns}}
    if not paths or set(columns) & set(MAY_BE_MISSING.get(table, ())):
        return None
    try:
        found = pl.scan_parquet(paths, hive_partitioning=True, hive_schema=PARTITIONS[table], glob=False)
        found = found if rows is None else found.filter(rows)
        return found.select([pl.col(name).cast(kind) for name, kind in kinds.items()]).fill_nan(None).collect()
    except (pl.exceptions.PolarsError, OSError):
        return None


def rewrite(frame: pl.DataFrame, names: Iterable[str], spell: Callable[[Any], str]) -> pl.DataFrame:
    """Return ``frame`` with each value of these columns as the text that ``spell`` makes of it; None stays.

    Not by ``map_elements``: there threads of polars call Python, and if meanwhile another thread turns a frame into
    pandas', as Streamlit does, the process stands still for ever (polars issue 26821).
    """
    spelled = {name: [None if value is None else spell(value) for value in frame[name].to_list()] for name in names}
    return frame.with_columns(pl.Series(name, texts, dtype=pl.String) for name, texts in spelled.items())
