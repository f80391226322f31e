"""Which candidates of a store pass, and whether the consensus candidate does, task by task; and nothing else."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tqdm import tqdm

from difftrust_core.estimators import pass_at_1_candidates
from difftrust_core.exceptions import WrongUsage
from difftrust_core.pipeline.matrices import load_matrix
from difftrust_core.pipeline.workers import in_parallel
from difftrust_core.selection import consensus
from difftrust_core.store import REFERENCE, Store

_BATCH = 8
_SCHEMA = {
    **{"benchmark": pl.String, "task_id": pl.String, "model": pl.String, "temperature": pl.Float64},
    **{"m": pl.Int64, "n": pl.Int64, "random": pl.Float64, "consensus": pl.Float64},
}


@dataclass(frozen=True, kw_only=True)
class _TaskPasses:
    root: Path
    benchmark: str
    validity: str
    equality: str
    task_id: str
    starts: tuple[int, ...]
    n: int
    coders: tuple[tuple[str, float, tuple[str, ...], tuple[str, ...]], ...]
    """(model, temperature, tree ids, texts) of its candidates in the order of their sample index."""


def compute_passes(
    store: Store,
    *,
    equality: str,
    temperature: float | None = None,
    m: int | None = None,
    n: int | None = None,
    n_jobs: int = 1,
) -> pl.DataFrame:
    """Return one row per coder and task that has a reference.

    ``random``: the share of its first m candidates that pass; ``consensus``: 1 if the consensus of them does, else 0.
    To pass is to agree with the reference on the first n inputs (None: all). Raises WrongUsage if there are fewer.
    """
    jobs = list(_jobs(store, equality=equality, temperature=temperature, m=m, n=n))
    batches = [jobs[i : i + _BATCH] for i in range(0, len(jobs), _BATCH)]
    rows: list[dict[str, Any]] = []
    with tqdm(total=len(jobs), unit="task", desc="select", disable=None, file=sys.stderr, delay=2) as bar:
        for size, found in in_parallel(_passes_of, batches, n_jobs=n_jobs):
            rows += found
            bar.update(size)
    return pl.DataFrame(rows, schema=_SCHEMA).sort("benchmark", "model", "temperature", "task_id")


def _jobs(
    store: Store, *, equality: str, temperature: float | None, m: int | None, n: int | None
) -> Iterator[_TaskPasses]:
    validity = store.settings().validity
    candidates = store.read("candidates").filter(
        pl.lit(m is None) | (pl.col("sample_index") < (m or 0)),
        pl.lit(temperature is None) | (pl.col("temperature") == (temperature or 0.0)),
    )
    for benchmark in sorted(candidates["benchmark"].unique()):
        programs = store.read("programs", {"benchmark": benchmark}).unique(["task_id", "program_id"])
        by_task = _coders(candidates.filter(pl.col("benchmark") == benchmark), programs.drop("benchmark"))
        inputs = store.read("inputs", {"benchmark": benchmark, "validity": validity})
        spans = inputs.group_by("task_id", "start").len().sort("task_id", "start")
        for (task_id,), part in spans.group_by("task_id", maintain_order=True):
            reached = int(part["len"].sum())
            if n is not None and n > reached:
                raise WrongUsage(f"{task_id} was executed on {reached} inputs, not {n}; run `difftrust execute -n {n}`")
            if task_id in by_task:
                yield _TaskPasses(
                    root=store.root,
                    benchmark=benchmark,
                    validity=validity,
                    equality=equality,
                    task_id=str(task_id),
                    starts=tuple(start for start in part["start"] if start < (n or reached)),
                    n=n or reached,
                    coders=by_task[str(task_id)],
                )


def _coders(candidates: pl.DataFrame, programs: pl.DataFrame) -> dict[str, tuple[Any, ...]]:
    """Return each task's coders with their candidates' trees and texts."""
    grouped = (
        candidates.join(programs, on=["task_id", "program_id"])
        .sort("task_id", "model", "temperature", "sample_index")
        .group_by("task_id", "model", "temperature", maintain_order=True)
        .agg("tree_id", "code")
    )
    found: dict[str, list[Any]] = {}
    for task_id, model, temperature, trees, codes in grouped.iter_rows():
        found.setdefault(task_id, []).append((model, temperature, tuple(trees), tuple(codes)))
    return {task_id: tuple(coders) for task_id, coders in found.items()}


def _passes_of(jobs: list[_TaskPasses]) -> tuple[int, list[dict[str, Any]]]:
    return len(jobs), [row for job in jobs for row in _task_rows(job)]


def _task_rows(job: _TaskPasses) -> Iterator[dict[str, Any]]:
    partition: dict[str, object] = {"benchmark": job.benchmark, "validity": job.validity}
    matrix = load_matrix(Store(job.root), partition, job.task_id, job.starts)
    at = matrix.row_of.get(REFERENCE)
    if at is None:
        return
    for model, temperature, trees, codes in job.coders:
        executed = [(matrix.row_of[t], code) for t, code in zip(trees, codes, strict=True) if t in matrix.row_of]
        if not executed:
            continue
        rows = [row for row, _ in executed]
        labels = matrix.labels[job.equality][:, : min(job.n, int(matrix.reach[rows].min()))]  # which all of them met
        counts = np.bincount(rows, minlength=len(labels))
        # A candidate a row: texts of one behaviour are of different lengths, and the shortest one is taken.
        chosen = consensus(labels[rows], np.ones(len(rows), dtype=np.int64), [code for _, code in executed])
        yield {
            "benchmark": job.benchmark,
            "task_id": job.task_id,
            "model": model,
            "temperature": temperature,
            "m": len(rows),
            "n": labels.shape[1],
            "random": pass_at_1_candidates(labels, counts, at),
            "consensus": float((labels[rows[chosen]] == labels[at]).all()),
        }
