"""Select one of several programs: the consensus of their behaviours.

``labels`` is a (n_programs, n) integer array: equal labels on an input (a column) mean equal outcomes on it.
``counts`` is (n_programs,): how many of the m candidates are that program. ``texts`` are the programs' sources.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from difftrust_core.exceptions import TooFewCandidates
from difftrust_core.metrics.aggregate import MEAN
from difftrust_core.metrics.behaviour_clusters import behaviour_clusters as behaviour_clusters
from difftrust_core.metrics.estimators import Counts, Labels
from difftrust_core.metrics.intervals.over_tasks import paired_difference

_RESAMPLES = 10_000
_SELECTION: dict[str, Any] = {
    **{"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64, "tasks": pl.Int64},
    **dict.fromkeys(("random", "consensus", "difference", "low", "high"), pl.Float64),
}


def consensus(labels: Labels, counts: Counts, texts: Sequence[str]) -> int:
    """Return the row of the consensus program: the smallest one of the largest behaviour cluster.

    Raises TooFewCandidates if there is no candidate.
    """
    clusters = behaviour_clusters(labels, counts, texts)
    if not clusters:
        raise TooFewCandidates("the consensus needs m >= 1 candidates, got 0; generate some with -m")
    return clusters[0][0]


def selection_table(passes: pl.DataFrame, *, seed: int = 0, level: float = 0.95) -> pl.DataFrame:
    """Return pass@1 of a random candidate and of the consensus: one row per coder, then their means per benchmark.

    ``passes``: one row per (benchmark, model, temperature, task_id) with ``random``, the share of the candidates that
    agree with the reference on all inputs, and ``consensus``, whether the consensus program does (0 or 1). Columns:
    benchmark, model, temperature, tasks, random, consensus, difference, and low and high, the percentile bootstrap
    interval of the difference over tasks, paired by task. In the row of means a task's difference is its mean over
    the coders.
    """
    paired = passes.with_columns(difference=pl.col("consensus") - pl.col("random"))
    rows = []
    for (benchmark, temperature), part in paired.group_by("benchmark", "temperature", maintain_order=True):
        where = {"benchmark": benchmark, "temperature": temperature}
        for (model,), tasks in part.group_by("model", maintain_order=True):
            rows.append({**where, "model": model, **_selection_row(tasks, seed, level)})
        over_models = part.group_by("task_id", maintain_order=True).agg(
            pl.col("random", "consensus", "difference").mean()
        )
        rows.append({**where, "model": MEAN, **_selection_row(over_models, seed, level)})
    order = ["benchmark", "temperature", pl.col("model") == MEAN, "model"]
    return pl.DataFrame(rows, schema=_SELECTION).sort(order)


def _selection_row(tasks: pl.DataFrame, seed: int, level: float) -> dict[str, Any]:
    differences = tasks.sort("task_id")["difference"].to_numpy()
    low, high = paired_difference(differences, resamples=_RESAMPLES, seed=seed, confidence=level)
    means = {name: tasks[name].mean() for name in ("random", "consensus", "difference")}
    return {"tasks": tasks.height, **means, "low": low, "high": high}
