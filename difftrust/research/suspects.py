"""Suspects: tasks on which most models behave alike and unlike the reference, so that the reference may be at fault."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust.research.candidates import candidates_of
from difftrust_core.base.records import Coder
from difftrust_core.datasets.audits import audit_frame
from difftrust_core.estimates.pool import CompactTask, Pool

SHARED_BY = 0.75
"""Of the models, so many share one modal behaviour: 12 of 16."""
FEWEST = 3
"""Models that have candidates of a task, for anything to be said of it."""
SCHEMA = {
    "benchmark": pl.String,
    "task_id": pl.String,
    "n_models": pl.UInt32,
    "n_sharing": pl.UInt32,
    "unlike_reference": pl.Float64,
    "input_index": pl.UInt32,
}


def modal_behaviours(pool: Pool, *, temperature: float, m: int | None, n: int) -> pl.DataFrame:
    """Return a row for each task with a reference: what most models do there, most of the time.

    A model's modal behaviour on a task is the one that most of its first m candidates have on the first n inputs (of
    equals the first row in ``classes``). ``n_models`` have candidates of the task, ``n_sharing`` of them the most
    frequent modal behaviour, which differs from the reference on the share ``unlike_reference`` of the inputs, first on
    ``input_index`` (null: nowhere).
    """
    coders = [coder for coder in sorted(pool.members) if coder[1] == temperature]
    modal = [_modal_rows(pool, coder, m, n) for coder in coders]
    rows = []
    for task in pool.tasks:
        found = [of_coder[task.task_id] for of_coder in modal if task.task_id in of_coder]
        if task.reference is None or len(found) < FEWEST:
            continue
        row, n_sharing = min(Counter(found).items(), key=lambda item: (-item[1], item[0]))
        labels = task.labels[pool.equality][:, task.pattern_of_input[:n]]
        differs = labels[row] != labels[task.reference]
        first = int(differs.argmax()) if differs.any() else None
        rows.append((pool.benchmark, task.task_id, len(found), n_sharing, float(differs.mean()), first))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def suspects(pool: Pool, *, temperature: float, m: int | None, n: int) -> pl.DataFrame:
    """Return the tasks on which at least SHARED_BY of the models share a modal behaviour unlike the reference.

    The columns of ``modal_behaviours``, and what a reader found of the task (``audits``), null where nobody read it.
    """
    found = modal_behaviours(pool, temperature=temperature, m=m, n=n)
    enough = pl.col("n_sharing") >= SHARED_BY * pl.col("n_models")
    audits = audit_frame().select("benchmark", "task_id", "finding", "arguments", "why")
    kept = found.filter(enough & (pl.col("unlike_reference") > 0))
    kept = kept.sort("unlike_reference", descending=True, maintain_order=True)
    return kept.join(audits, on=["benchmark", "task_id"], how="left", maintain_order="left")


def _modal_rows(pool: Pool, coder: Coder, m: int | None, n: int) -> dict[str, int]:
    """Return task id -> the row of the behaviour that most of a coder's candidates have."""
    found = {}
    for one in candidates_of(pool, coder, m=m):
        rows, counts = np.unique(_alike(one.task, pool.equality, n)[one.rows], return_counts=True)
        found[one.task.task_id] = int(rows[counts.argmax()])
    return found


def _alike(task: CompactTask, equality: str, n: int) -> NDArray[np.int64]:
    """Return, for each row of a task, the first row that does the same on the first n inputs."""
    seen = np.unique(task.pattern_of_input[:n])
    keys: dict[bytes, int] = {}
    labels = np.ascontiguousarray(task.labels[equality][:, seen])
    return np.array([keys.setdefault(row.tobytes(), i) for i, row in enumerate(labels)], dtype=np.int64)


def count_findings(frame: pl.DataFrame) -> Sequence[str]:
    """Say how many suspects there are, and how many of each finding."""
    counts = (
        frame.group_by("benchmark", finding=pl.col("finding").fill_null("not read")).len().sort("benchmark", "finding")
    )
    return [f"{benchmark}, {finding}: {count} tasks" for benchmark, finding, count in counts.iter_rows()]
