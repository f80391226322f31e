"""Suspects: tasks on which most models behave alike and unlike the reference, so that the reference may be at fault."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.analysis.ablation.compact import CompactTask
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.base.records import Coder
from difftrust_core.datasets.audits import audit_frame

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
    for number, task in enumerate(pool.tasks):
        found = [of_coder[number] for of_coder in modal if number in of_coder]
        if task.reference is None or len(found) < FEWEST:
            continue
        row, n_sharing = min(Counter(found).items(), key=lambda item: (-item[1], item[0]))
        differs = _differs(task, row, pool.equality)[task.pattern_of_input[:n]]
        first = int(differs.argmax()) if differs.any() else None
        rows.append((pool.benchmark, task.task_id, len(found), n_sharing, float(differs.mean()), first))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def suspects(pool: Pool, *, temperature: float, m: int | None, n: int, shared_by: float = SHARED_BY) -> pl.DataFrame:
    """Return the tasks on which at least ``shared_by`` of the models share a modal behaviour unlike the reference.

    The columns of ``modal_behaviours``, and what a reader found of the task (``audits``), null where nobody read it.
    """
    found = modal_behaviours(pool, temperature=temperature, m=m, n=n)
    enough = pl.col("n_sharing") >= shared_by * pl.col("n_models")
    kept = found.filter(enough & (pl.col("unlike_reference") > 0))
    return _with_findings(kept).sort("benchmark", "unlike_reference", descending=[False, True])


def drawn(pool: Pool, *, temperature: float, m: int | None, n: int, count: int, seed: int = 0) -> list[str]:
    """Return ``count`` tasks of a benchmark that are no suspects, drawn at random: to see what suspicion misses."""
    suspected = set(suspects(pool, temperature=temperature, m=m, n=n)["task_id"])
    others = [task.task_id for task in pool.tasks if task.task_id not in suspected]
    return sorted(sorted(others, key=lambda name: hashlib.blake2b(f"{seed}/{name}".encode()).digest())[:count])


def _with_findings(frame: pl.DataFrame) -> pl.DataFrame:
    audits = audit_frame().select("benchmark", "task_id", "finding", "arguments", "why")
    return frame.join(audits, on=["benchmark", "task_id"], how="left", maintain_order="left")


def _modal_rows(pool: Pool, coder: Coder, m: int | None, n: int) -> dict[int, int]:
    """Return task number -> the row of the behaviour that most of a coder's candidates have."""
    members = pool.of(coder).first(m)
    found: dict[int, int] = {}
    for number in np.unique(members.task).tolist():
        alike = _alike(pool.tasks[number], pool.equality, n)[members.row[members.task == number]]
        rows, counts = np.unique(alike, return_counts=True)
        found[number] = int(rows[counts.argmax()])
    return found


def _alike(task: CompactTask, equality: str, n: int) -> NDArray[np.int64]:
    """Return, for each row of a task, the first row that does the same on the first n inputs."""
    seen = np.unique(task.pattern_of_input[:n])
    keys: dict[bytes, int] = {}
    labels = np.ascontiguousarray(task.labels[equality][:, seen])
    return np.array([keys.setdefault(row.tobytes(), i) for i, row in enumerate(labels)], dtype=np.int64)


def _differs(task: CompactTask, row: int, equality: str) -> NDArray[np.bool_]:
    """Return on which patterns a row's outcome differs from the reference's."""
    labels = task.labels[equality]
    return np.asarray(labels[row] != labels[task.reference])


def count_findings(frame: pl.DataFrame) -> Sequence[str]:
    """Say how many suspects there are, and how many of each finding."""
    counts = (
        frame.group_by("benchmark", finding=pl.col("finding").fill_null("not read")).len().sort("benchmark", "finding")
    )
    return [f"{benchmark}, {finding}: {count} tasks" for benchmark, finding, count in counts.iter_rows()]
