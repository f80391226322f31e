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
from difftrust_core.metrics.behaviour_clusters import clusters_by_size
from difftrust_core.metrics.estimators import Counts, Labels
from difftrust_core.metrics.intervals.over_tasks import paired_difference

_RESAMPLES = 10_000
_RULES = ("random", "consensus", "filtered")
"""Ways to take one of the candidates."""
_GAINS = {
    "consensus_gain": pl.col("consensus") - pl.col("random"),
    "filtered_gain": pl.col("filtered") - pl.col("random"),
    "filter_gain": pl.col("filtered") - pl.col("consensus"),
}
_SELECTION: dict[str, Any] = {
    **{"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64, "tasks": pl.Int64},
    "with_example": pl.Int64,
    **dict.fromkeys(_RULES, pl.Float64),
    **{f"{name}{end}": pl.Float64 for name in _GAINS for end in ("", "_low", "_high")},
}


def consensus(labels: Labels, counts: Counts, texts: Sequence[str]) -> int:
    """Return the row of the consensus program: the smallest one of the largest behaviour cluster.

    Raises TooFewCandidates if there is no candidate.
    """
    return _first(behaviour_clusters(labels, counts, texts))


def consensus_of_sizes(labels: Labels, counts: Counts, sizes: Sequence[int] | Counts) -> int:
    """Return the row of the consensus program where only the size of each is known; of equally small ones the first.

    Raises TooFewCandidates if there is no candidate.
    """
    return _first(clusters_by_size(labels, counts, sizes))


def _first(clusters: list[list[int]]) -> int:
    if not clusters:
        raise TooFewCandidates("the consensus needs m >= 1 candidates, got 0; generate some with -m")
    return clusters[0][0]


def selection_table(passes: pl.DataFrame, *, seed: int = 0, level: float = 0.95) -> pl.DataFrame:
    """Return pass@1 of a random candidate and of those taken by rule: one row per coder, then means per benchmark.

    ``passes``: one row per (benchmark, model, temperature, task_id) with ``random``, the share of the candidates that
    agree with the reference on all inputs, ``consensus`` and ``filtered``, whether the program taken does (0 or 1), and
    ``has_example``. Columns: benchmark, model, temperature, tasks, with_example (tasks), pass@1 of each, what the
    consensus and the filtered one gain over a random candidate and the filter over the consensus, each with the ends
    of the percentile bootstrap interval over tasks, paired by task. In the row of means a task's gain is its mean over
    the coders. What is not known of some task is null.
    """
    paired = passes.with_columns(**_GAINS)
    rows = []
    for (benchmark, temperature), part in paired.group_by("benchmark", "temperature", maintain_order=True):
        where = {"benchmark": benchmark, "temperature": temperature}
        for (model,), tasks in part.group_by("model", maintain_order=True):
            rows.append({**where, "model": model, **_selection_row(tasks, seed, level)})
        values = pl.col(*_RULES, *_GAINS)
        over_models = part.group_by("task_id", maintain_order=True).agg(
            pl.when(values.null_count() == 0).then(values.mean()), pl.col("has_example").first()
        )
        rows.append({**where, "model": MEAN, **_selection_row(over_models, seed, level)})
    order = ["benchmark", "temperature", pl.col("model") == MEAN, "model"]
    return pl.DataFrame(rows, schema=_SELECTION).sort(order)


def _selection_row(tasks: pl.DataFrame, seed: int, level: float) -> dict[str, Any]:
    known = [name for name in (*_RULES, *_GAINS) if not tasks[name].null_count()]
    row: dict[str, Any] = {name: tasks[name].mean() for name in known}
    for name in (name for name in _GAINS if name in known):
        differences = tasks.sort("task_id")[name].to_numpy()
        ends = paired_difference(differences, resamples=_RESAMPLES, seed=seed, confidence=level)
        row |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))
    examples = None if tasks["has_example"].null_count() else tasks["has_example"].sum()
    return {**row, "tasks": tasks.height, "with_example": examples}
