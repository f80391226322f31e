"""The tables that results are made of, and nothing else: small, without program texts, without inputs.

``patterns`` and ``classes`` are the compact matrices of ``ablation``, ``members`` says which candidate has which
behaviour, ``disagreements`` shows where behaviours part. A store that was executed holds them beside what they were
made from; a results store holds only them and the estimates.
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
