"""Take one of a task's candidates: at random, by consensus, or by consensus of those that pass the public examples."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust.research.passed_tests import FAILS, UNKNOWN, PublicExamples
from difftrust.research.per_candidate import CODER_SCHEMA, KEY_SCHEMA, Candidates, judged_candidates, means_table
from difftrust_core.estimates.pool import Ints, Pool
from difftrust_core.metrics.estimates import clusters_by_size

_RULES: Final = dict.fromkeys(("random", "consensus", "filtered"), pl.Float64)
"""Ways to take one of the candidates."""
_GAINS: Final = {
    "consensus_gain": pl.col("consensus") - pl.col("random"),
    "filtered_gain": pl.col("filtered") - pl.col("random"),
    "filter_gain": pl.col("filtered") - pl.col("consensus"),
}
PASSES_SCHEMA: Final = {**KEY_SCHEMA, "m": pl.Int64, "n": pl.Int64, **_RULES, "has_example": pl.Boolean}


def compute_passes(
    pools: Mapping[str, Pool],
    examples: Mapping[str, PublicExamples],
    *,
    temperature: float | None,
    m: int | None,
    n: int | None,
) -> pl.DataFrame:
    """Return one row per coder and task that has a reference.

    ``random``: the share of its first m candidates that pass; ``consensus``: 1 if the consensus of them does, else 0;
    candidates that do not load have no part in it. ``filtered``: the same of the candidates that pass the task's public
    examples, of all where none does; null where ``examples`` do not say which do. To pass is to agree with the
    reference on the first n inputs (None: all). Raises WrongUsage if there are fewer.
    """
    rows = [
        _passes(one, examples.get(one.pool.benchmark))
        for one in judged_candidates(pools, temperature=temperature, m=m, n=n)
    ]
    return pl.DataFrame(rows, schema=PASSES_SCHEMA).sort("benchmark", "model", "temperature", "task_id")


def _passes(one: Candidates, examples: PublicExamples | None) -> dict[str, Any]:
    def taken(voting: Ints) -> float:
        """Return whether the consensus passes: the program of fewest tokens of the largest cluster."""
        return float(one.right[clusters_by_size(one.labels[one.rows], voting, one.tokens)[0][0]])

    told = np.full(len(one.rows), UNKNOWN) if examples is None else examples.verdicts_on(one)
    kept = one.votes * (told != FAILS)
    return one.key | {
        "m": len(one.rows),
        "n": len(one.patterns),
        "random": float(one.right.mean()),
        "consensus": taken(one.votes),
        "filtered": None if (told == UNKNOWN).any() else taken(kept if kept.any() else one.votes),
        "has_example": None if examples is None else one.task.task_id in examples.positions,
    }


def selection_table(passes: pl.DataFrame) -> pl.DataFrame:
    """Return pass@1 of a random candidate and of those taken by rule: one row per coder, then means per benchmark.

    ``passes``: of ``compute_passes``. Columns: benchmark, model, temperature, tasks, with_example (tasks), pass@1 of
    each, what the consensus and the filtered one gain over a random candidate and the filter over the consensus, each
    with the ends of its interval over tasks, paired by task. As ``means_table`` has it.
    """
    ends = {f"{name}{end}": pl.Float64 for name in _GAINS for end in ("", "_low", "_high")}
    schema = {**CODER_SCHEMA, "tasks": pl.Int64, "with_example": pl.Int64, **_RULES, **ends}
    return means_table(passes.with_columns(**_GAINS).rename({"has_example": "with_example"}), schema, resamples=10_000)
