"""From a store's outcomes to its compact matrices, members and disagreements, task by task in parallel."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tqdm import tqdm

from difftrust_core.ablation import CompactTask, compress
from difftrust_core.pipeline.costs import member_costs
from difftrust_core.pipeline.disagreements import disagreement_rows
from difftrust_core.pipeline.matrices import EQUALITIES, Matrix, load_matrix
from difftrust_core.pipeline.workers import in_parallel
from difftrust_core.results import compact_frames
from difftrust_core.store import REFERENCE, SCHEMAS, Store

_BATCH = 16


@dataclass(frozen=True, kw_only=True)
class _Job:
    root: Path
    benchmark: str
    validity: str
    task_id: str
    starts: tuple[int, ...]
    votes: dict[str, int]
    """Tree id -> candidates, of all coders together."""


@dataclass(frozen=True, kw_only=True)
class _Made:
    task: CompactTask
    rows: list[tuple[str, str, int, bool]]
    """(task_id, tree_id, row, nondeterministic)."""
    disagreements: list[dict[str, Any]]


def compact(store: Store, benchmark: str, *, n_jobs: int = 1) -> dict[str, pl.DataFrame]:
    """Return the tables ``patterns``, ``classes``, ``members`` and ``disagreements`` of one benchmark.

    ``disagreements`` has its equality too. Candidates that were not executed are left out.
    Raises BadStore if a file is missing or damaged.
    """
    jobs = list(_jobs(store, benchmark))
    batches = [jobs[i : i + _BATCH] for i in range(0, len(jobs), _BATCH)]
    made: list[_Made] = []
    with tqdm(total=len(jobs), unit="task", desc=f"compact {benchmark}", disable=None, file=sys.stderr, delay=2) as bar:
        for batch in in_parallel(_make_batch, batches, n_jobs=min(n_jobs, max(1, len(batches)))):
            made += batch
            bar.update(len(batch))
    made.sort(key=lambda one: one.task.task_id)
    rows = pl.DataFrame(
        [row for one in made for row in one.rows],
        schema={"task_id": pl.String, "tree_id": pl.String, "row": pl.UInt16, "nondeterministic": pl.Boolean},
        orient="row",
    )
    disagreements = [row for one in made for row in one.disagreements]
    return {
        **compact_frames([one.task for one in made]),
        "members": _members(store, benchmark, rows),
        "disagreements": pl.DataFrame(disagreements, schema={"equality": pl.String, **SCHEMAS["disagreements"]}),
    }


def candidate_trees(store: Store, benchmark: str) -> pl.DataFrame:
    """Return the candidates of one benchmark with the tree of each, sorted by coder, task and sample."""
    ids = ["task_id", "program_id", "tree_id"]
    trees = store.read("programs", {"benchmark": benchmark}, columns=ids).unique(ids[:2])
    return (
        store.read("candidates", {"benchmark": benchmark})
        .join(trees.select(ids), on=ids[:2])
        .sort("model", "temperature", "task_id", "sample_index")
    )


def _jobs(store: Store, benchmark: str) -> Iterator[_Job]:
    validity = store.settings().validity
    votes = candidate_trees(store, benchmark).group_by("task_id", "tree_id").len()
    by_task = {key[0]: dict(part.select("tree_id", "len").iter_rows()) for key, part in votes.group_by("task_id")}
    # A chunk counts once its executions are written: they come last.
    chunks = store.read("executions", {"benchmark": benchmark, "validity": validity}, columns=["task_id"])
    starts = chunks.select("task_id", "start").unique().sort("task_id", "start").group_by("task_id").agg("start")
    for task_id, of_task in starts.sort("task_id").iter_rows():
        if task_id in by_task:
            yield _Job(
                root=store.root,
                benchmark=benchmark,
                validity=validity,
                task_id=task_id,
                starts=tuple(of_task),
                votes=by_task[task_id],
            )


def _make_batch(jobs: list[_Job]) -> list[_Made]:
    return [_make(job) for job in jobs]


def _make(job: _Job) -> _Made:
    store = Store(job.root)
    partition: dict[str, object] = {"benchmark": job.benchmark, "validity": job.validity}
    matrix, votes = _in_order(load_matrix(store, partition, job.task_id, job.starts), job.votes)
    task = compress(
        job.task_id, matrix.labels, matrix.kinds, reach=matrix.reach, reference=matrix.row_of.get(REFERENCE)
    )
    first: dict[str, object] = {**partition, "start": f"{job.starts[0]:06d}"}
    rows = [
        (job.task_id, tree, matrix.row_of[tree], tree in matrix.nondeterministic)
        for tree in sorted(job.votes)
        if tree in matrix.row_of
    ]
    return _Made(task=task, rows=rows, disagreements=disagreement_rows(store, first, matrix, task, votes))


def _in_order(matrix: Matrix, votes: dict[str, int]) -> tuple[Matrix, NDArray[np.int64]]:
    """Return the rows that are somebody's, the reference's first, then by their candidates; and these numbers."""
    counts = np.zeros(len(matrix.reach), dtype=np.int64)
    for tree, row in matrix.row_of.items():
        counts[row] += votes.get(tree, 0)
    reference = matrix.row_of.get(REFERENCE, -1)
    order = [row for row in np.argsort(-counts, kind="stable").tolist() if counts[row] and row != reference]
    order = ([reference] if reference >= 0 else []) + order
    place = {row: i for i, row in enumerate(order)}
    return replace(
        matrix,
        labels={equality: matrix.labels[equality][order] for equality in EQUALITIES},
        kinds=matrix.kinds[order],
        outcome_ids=matrix.outcome_ids[order],
        reach=matrix.reach[order],
        row_of={tree: place[row] for tree, row in matrix.row_of.items() if row in place},
    ), counts[order]


def _members(store: Store, benchmark: str, rows: pl.DataFrame) -> pl.DataFrame:
    executed = candidate_trees(store, benchmark).join(rows, on=["task_id", "tree_id"], maintain_order="left")
    return member_costs(store, benchmark, executed).select(SCHEMAS["members"].keys())
