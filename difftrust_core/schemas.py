"""The tables of a store: their columns, partitions and keys; and nothing else.

Results are small, without program texts, without inputs: ``patterns`` and ``classes`` are the compact matrices of
``ablation``, ``members`` says which candidate has which behaviour, ``disagreements`` shows where behaviours part. A
store that was executed holds them beside what they were made from; a results store holds only them and the estimates.
"""

from typing import Any

import polars as pl

STABILITY_MEASURES = (
    *("exact_match", "bleu", "jsd_structural", "jsd", "sce_structural", "sce", "gibbs_structural", "gibbs", "tsed"),
)
"""How alike the programs of one coder for one task are (``structure.MEASURES``)."""
_WHERE: dict[str, Any] = {"benchmark": pl.String, "validity": pl.String}

RESULT_PARTITIONS: dict[str, dict[str, Any]] = {
    "patterns": _WHERE,
    "classes": _WHERE,
    "members": _WHERE,
    "disagreements": {**_WHERE, "equality": pl.String},
    "tokens": {"benchmark": pl.String},
    "stability": {"benchmark": pl.String, "options": pl.String, "first": pl.Int64},
}
RESULT_SCHEMAS: dict[str, dict[str, Any]] = {
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
        "prompt_tokens": pl.Int64,
        "completion_tokens": pl.Int64,
        "cost_nanodollars": pl.Int64,
        "nondeterministic": pl.Boolean,
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
    "tokens": {"program_id": pl.String, "n_tokens": pl.UInt32},
    "stability": {
        "model": pl.String,
        "temperature": pl.Float64,
        "task_id": pl.String,
        "m": pl.UInt32,
        "n_programs": pl.UInt32,
        "n_parse_errors": pl.UInt32,
        "n_left_out": pl.UInt32,
        "mean_length": pl.Float64,
        "mean_nodes": pl.Float64,
        **dict.fromkeys(STABILITY_MEASURES, pl.Float64),
        "language": pl.String,
        "epsilon": pl.Float64,
        "base": pl.String,
        "candidates": pl.String,
    },
}
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
KEYS: dict[str, tuple[str, ...]] = {
    "tasks": ("task_id",),
    "candidates": ("task_id", "sample_index"),
    "programs": ("task_id", "program_id"),
    "inputs": ("task_id", "input_index"),
    "outcomes": ("task_id", "input_index", "outcome_id"),
    "behaviours": ("task_id", "behaviour_id"),
    "executions": ("task_id", "tree_id"),
    "estimates": ("model", "temperature", "task_id"),
    "patterns": ("task_id",),
    "classes": ("task_id", "row"),
    "members": ("model", "temperature", "task_id", "sample_index"),
    "disagreements": ("task_id", "rank", "label"),
    "tokens": ("program_id",),
    "stability": ("model", "temperature", "task_id"),
}
"""Columns that are together unique within a partition."""
CHUNK_TABLES = ("inputs", "outcomes", "behaviours", "executions")
"""One file a task and range of inputs each; every one speaks of those before it."""
RESULT_TABLES = ("patterns", "classes", "members", "disagreements", "estimates", "stability")
"""What a results store holds."""

REMEDIES = {
    **dict.fromkeys(
        ("tasks", "candidates", "programs", "tokens"),
        "bring them with `difftrust import difftrust --store DIR`, DIR a new folder",
    ),
    **dict.fromkeys(
        ("inputs", "outcomes", "behaviours", "executions", "program_texts"),
        "make them with `difftrust import difftrust --store DIR` and `difftrust execute --store DIR`, DIR a new folder",
    ),
    "stability": "make it with `difftrust structure --store DIR`, DIR a store that holds the programs",
}
"""Table that a results store does not hold -> which commands make a store that does."""
