"""Take one of a task's candidates: at random, by consensus, or by consensus of those that pass the public examples."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.estimates import check_reach
from difftrust_core.analysis.public_examples import FAILS, UNKNOWN, PublicExamples
from difftrust_core.base.records import Coder, Kind
from difftrust_core.metrics.consensus import consensus_of_sizes

PASSES_SCHEMA: Final[dict[str, Any]] = {
    **{"benchmark": pl.String, "task_id": pl.String, "model": pl.String, "temperature": pl.Float64},
    **{"m": pl.Int64, "n": pl.Int64, "random": pl.Float64, "consensus": pl.Float64, "filtered": pl.Float64},
    "has_example": pl.Boolean,
}


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
    rows: list[dict[str, Any]] = []
    for benchmark, pool in sorted(pools.items()):
        check_reach(pool, n)
        for coder in sorted(pool.members):
            if temperature in (None, coder[1]):
                rows += _of_coder(pool, coder, examples.get(benchmark), m=m, n=n)
    return pl.DataFrame(rows, schema=PASSES_SCHEMA).sort("benchmark", "model", "temperature", "task_id")


def _of_coder(
    pool: Pool, coder: Coder, examples: PublicExamples | None, *, m: int | None, n: int | None
) -> Iterator[dict[str, Any]]:
    own = pool.of(coder)
    verdicts = np.full(len(own.task), UNKNOWN) if examples is None else examples.verdicts(pool, coder)
    verdicts = verdicts if m is None else verdicts[own.sample_index < m]
    own = own.first(m)
    for index in np.unique(own.task).tolist():
        task = pool.tasks[index]
        if task.reference is None:
            continue
        at = own.task == index
        rows, told = own.row[at], verdicts[at]
        patterns = task.pattern_of_input[:n][: int(task.reach[rows].min())]  # inputs that all of them met
        labels = task.labels[pool.equality][:, : int(patterns.max()) + 1]  # numbered as they appear
        right = (labels[rows] == labels[task.reference]).all(axis=1)
        loads = task.kinds[rows, 0] != Kind.LOAD_ERROR
        votes = loads | ~loads.any()
        kept = votes & (told != FAILS)
        sizes = own.completion_tokens[at]
        filtered = consensus_of_sizes(labels[rows], kept if kept.any() else votes, sizes)
        yield {
            "benchmark": pool.benchmark,
            "task_id": task.task_id,
            "model": coder[0],
            "temperature": coder[1],
            "m": len(rows),
            "n": len(patterns),
            "random": float(right.mean()),
            "consensus": float(right[consensus_of_sizes(labels[rows], votes, sizes)]),
            "filtered": None if (told == UNKNOWN).any() else float(right[filtered]),
            "has_example": None if examples is None else task.task_id in examples.positions,
        }
