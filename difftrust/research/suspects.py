"""Suspects: tasks on which most models answer alike and unlike the reference, so that the reference may be at fault."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from difftrust.research.other_models import NO_ANSWER, answer_rows
from difftrust_core.datasets.audits import audit_frame
from difftrust_core.estimates.pool import Pool

SHARED_BY = 0.75
"""Of the models, so many share one answer: 12 of 16."""
FEWEST = 3
"""Models that have an answer to a task, for anything to be said of it."""
SCHEMA = {
    "benchmark": pl.String,
    "task_id": pl.String,
    "n_models": pl.UInt32,
    "n_sharing": pl.UInt32,
    "unlike_reference": pl.Float64,
    "input_index": pl.UInt32,
}


def shared_answers(pool: Pool, *, temperature: float, m: int | None, n: int) -> pl.DataFrame:
    """Return a row for each task with a reference: what most models answer there.

    A model's answer is that of ``answer_rows``, from its first m candidates on the first n inputs. ``n_models`` have
    one, ``n_sharing`` of them the most frequent one, which differs from the reference on the share
    ``unlike_reference`` of the inputs, first on ``input_index`` (null: nowhere).
    """
    coders = [coder for coder in sorted(pool.members) if coder[1] == temperature]
    inputs = np.full(len(pool.tasks), n)
    answers = np.array([answer_rows(pool, coder, m=m, inputs=inputs) for coder in coders]).reshape(-1, len(inputs))
    rows = []
    for task, start, answer in zip(pool.tasks, pool.flat.first_row.tolist(), answers.T, strict=True):
        found = answer[answer != NO_ANSWER].tolist()
        if task.reference is None or len(found) < FEWEST:
            continue
        row, n_sharing = min(Counter(found).items(), key=lambda item: (-item[1], item[0]))
        labels = task.labels[pool.equality][:, task.pattern_of_input[:n]]
        differs = labels[row - start] != labels[task.reference]
        first = int(differs.argmax()) if differs.any() else None
        rows.append((pool.benchmark, task.task_id, len(found), n_sharing, float(differs.mean()), first))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def suspects(pool: Pool, *, temperature: float, m: int | None, n: int) -> pl.DataFrame:
    """Return the tasks on which at least SHARED_BY of the models share an answer unlike the reference.

    The columns of ``shared_answers``, and what a reader found of the task (``audits``), null where nobody read it.
    """
    found = shared_answers(pool, temperature=temperature, m=m, n=n)
    enough = pl.col("n_sharing") >= SHARED_BY * pl.col("n_models")
    audits = audit_frame().select("benchmark", "task_id", "finding", "arguments", "why")
    kept = found.filter(enough & (pl.col("unlike_reference") > 0))
    kept = kept.sort("unlike_reference", descending=True, maintain_order=True)
    return kept.join(audits, on=["benchmark", "task_id"], how="left", maintain_order="left")


def count_findings(frame: pl.DataFrame) -> Sequence[str]:
    """Say how many suspects there are, and how many of each finding."""
    counts = (
        frame.group_by("benchmark", finding=pl.col("finding").fill_null("not read")).len().sort("benchmark", "finding")
    )
    return [f"{benchmark}, {finding}: {count} tasks" for benchmark, finding, count in counts.iter_rows()]
