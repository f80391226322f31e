"""Measure what answered questions are worth: the reference as the user, on recorded candidates."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust_core.analysis.ablation.compact import CompactTask, Ints
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.estimates import check_reach
from difftrust_core.base.records import Coder, Kind
from difftrust_core.metrics.aggregate import MEAN
from difftrust_core.metrics.behaviour_clusters import clusters_by_size
from difftrust_core.metrics.intervals.over_tasks import paired_difference
from difftrust_core.metrics.questions import Answered, answered, ask_best, ask_random

MOST: Final = 5
"""Questions that are asked at most."""
BEST, RANDOM = "best input", "random input"
AFTER: Final = tuple(f"after_{k}" for k in range(MOST + 1))
ANSWERS_SCHEMA: Final[dict[str, Any]] = {
    **{"benchmark": pl.String, "task_id": pl.String, "model": pl.String, "temperature": pl.Float64},
    **{"m": pl.Int64, "n": pl.Int64, "question": pl.String, "pass_at_1": pl.Float64, "some_right": pl.Float64},
    **dict.fromkeys((*AFTER, "none_left", "questions"), pl.Float64),
}
_SAID: Final = (Kind.VALUE, Kind.EXCEPTION)
"""Outcomes of the reference that a user can give as an answer."""


def compute_answers(
    pools: Mapping[str, Pool], *, temperature: float | None, m: int | None, n: int | None
) -> pl.DataFrame:
    """Return two rows per coder and task that has a reference: asked about the best input, and about a random one.

    ``pass_at_1``: the share of its first m candidates that are right; ``some_right``: whether any is (0 or 1);
    ``after_k``: the probability that the program taken after k answers is; ``none_left``: that after ``MOST`` answers
    no candidate is left; ``questions``: how many are asked. To be right is to agree with the reference on the first n
    inputs (None: all). Asked is about those of them on which the reference returns or raises, and the answer is its
    outcome. Candidates that do not load have no part, unless none loads. Taken is the program of fewest tokens of the
    largest cluster that contradicts no answer; without an answer that is the consensus of ``selection``. Where nothing
    splits the candidates that are left nothing more is asked. Raises WrongUsage if there are fewer than n inputs.
    """
    rows: list[dict[str, Any]] = []
    for _, pool in sorted(pools.items()):
        check_reach(pool, n)
        for coder in sorted(pool.members):
            if temperature in (None, coder[1]):
                rows += _of_coder(pool, coder, m=m, n=n)
    return pl.DataFrame(rows, schema=ANSWERS_SCHEMA).sort("benchmark", "model", "temperature", "task_id", "question")


def _of_coder(pool: Pool, coder: Coder, *, m: int | None, n: int | None) -> Iterator[dict[str, Any]]:
    own = pool.of(coder).first(m)
    starts = np.searchsorted(own.task, np.arange(len(pool.tasks) + 1))
    for task, begin, end in zip(pool.tasks, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        if task.reference is None or begin == end:
            continue
        rows, sizes = own.row[begin:end], own.completion_tokens[begin:end]
        used = task.pattern_of_input[:n][: int(task.reach[rows].min())]  # inputs that all of them met
        n_inputs = np.bincount(used)  # patterns are numbered as they appear
        labels = task.labels[pool.equality][:, : len(n_inputs)]
        right = (labels[rows] == labels[task.reference]).all(axis=1)
        where = {
            **{"benchmark": pool.benchmark, "task_id": task.task_id, "model": coder[0], "temperature": coder[1]},
            **{"m": len(rows), "n": len(used), "pass_at_1": float(right.mean()), "some_right": float(right.any())},
        }
        for question, found in _asked(task, rows, sizes, pool.equality, n_inputs).items():
            yield {
                **where,
                "question": question,
                **dict(zip(AFTER, found.right.tolist(), strict=True)),
                "none_left": float(found.none_left[-1]),
                "questions": found.questions,
            }


def _asked(task: CompactTask, rows: Ints, sizes: Ints, equality: str, n_inputs: Ints) -> dict[str, Answered]:
    """Return what is expected of the questions about one task; ``rows``: of its candidates, ``sizes``: their tokens."""
    assert task.reference is not None
    width = len(n_inputs)
    matrix, kinds = task.labels[equality][:, :width], task.kinds[:, :width]
    loads = kinds[rows, 0] != Kind.LOAD_ERROR
    votes = loads | ~loads.any()
    clusters = clusters_by_size(matrix[rows], votes, sizes)
    labels, truth = matrix[rows[[members[0] for members in clusters]]], matrix[task.reference]
    counts = np.array([len(members) for members in clusters])
    allowed = np.logical_or.reduce([kinds[task.reference] == kind for kind in _SAID])
    best = answered(labels, truth, ask_best(labels, counts, allowed), most=MOST)
    if len(clusters) == 1:
        return {BEST: best, RANDOM: best}
    random = answered(labels, truth, ask_random(labels, counts, allowed, n_inputs), most=MOST)
    return {BEST: best, RANDOM: random}


GAINS: Final = {"gain_1": ("after_1", "consensus"), "gain_5": ("after_5", "consensus")}
"""Name -> what the mean difference is of."""
OVER_RANDOM: Final = "gain_1_over_random"
SHARES: Final = ("pass_at_1", "consensus", *AFTER[1:], "some_right", "none_left", "questions")


def answers_table(
    answers: pl.DataFrame, *, resamples: int, seed: int, level: float = 0.95, of_models: bool = True
) -> pl.DataFrame:
    """Return the means of ``compute_answers`` over tasks: a row per coder and question, then means per benchmark.

    Columns: benchmark, temperature, model, question, tasks, and each of SHARES, GAINS (what the first, and five
    answers gain over the consensus) and OVER_RANDOM (what the best input gains over a random one after one answer),
    with the ends of the percentile bootstrap interval over tasks, differences paired by task. In the rows of means a
    task counts with its mean over the coders. ``of_models``: rows of coders too.
    """
    random = answers.filter(question=RANDOM).select(*_CODER, "task_id", by_chance="after_1")
    paired = answers.rename({"after_0": "consensus"}).join(random, on=[*_CODER, "task_id"], maintain_order="left")
    paired = paired.with_columns(
        *[(pl.col(a) - pl.col(b)).alias(name) for name, (a, b) in GAINS.items()],
        pl.when(question=BEST).then(pl.col("after_1") - pl.col("by_chance")).alias(OVER_RANDOM),
    )
    rows = []
    for (benchmark, temperature, question), part in paired.group_by("benchmark", "temperature", "question"):
        where = {"benchmark": benchmark, "temperature": temperature, "question": question}
        if of_models:
            for (model,), tasks in part.group_by("model"):
                rows.append({**where, "model": model, **_means(tasks, resamples, seed, level)})
        over_models = part.group_by("task_id").agg(pl.col(*SHARES, *_DIFFERENCES).mean())
        rows.append({**where, "model": MEAN, **_means(over_models, resamples, seed, level)})
    order = ["benchmark", "temperature", pl.col("model") == MEAN, "model", "question"]
    return pl.DataFrame(rows, schema=_TABLE).sort(order)


_CODER: Final = ("benchmark", "model", "temperature")
_DIFFERENCES: Final = (*GAINS, OVER_RANDOM)
_TABLE: Final[dict[str, Any]] = {
    **{"benchmark": pl.String, "temperature": pl.Float64, "model": pl.String, "question": pl.String, "tasks": pl.Int64},
    **{f"{name}{end}": pl.Float64 for name in (*SHARES, *_DIFFERENCES) for end in ("", "_low", "_high")},
}


def _means(tasks: pl.DataFrame, resamples: int, seed: int, level: float) -> dict[str, Any]:
    row: dict[str, Any] = {"tasks": tasks.height}
    tasks = tasks.sort("task_id")
    for name in (name for name in (*SHARES, *_DIFFERENCES) if not tasks[name].null_count()):
        values = tasks[name].to_numpy()
        low, high = paired_difference(values, resamples=resamples, seed=seed, confidence=level)
        row |= {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}
    return row
