"""Chunks over processes or a cluster, those that take long in pieces, so that no core idles while another one works."""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from tqdm import tqdm

from difftrust_core.pipeline.chunks import run_chunk, run_piece, write_pieces
from difftrust_core.pipeline.cluster import connected
from difftrust_core.pipeline.jobs import ChunkJob, ChunkReport, PieceJob
from difftrust_core.pipeline.workers import in_parallel

PATIENCE = 10.0
"""Seconds in one worker after which the rest of a chunk is shared out."""


Spread = Callable[[Callable[[Any], ChunkReport], Sequence[Any]], Iterable[ChunkReport]]
"""What runs a function on each job and yields what it returns, in any order."""


@contextmanager
def spread_over(n_jobs: int, scheduler: str = "") -> Iterator[tuple[Spread, int]]:
    """Give a way to spread jobs, and over how many: ``n_jobs`` processes here, or what a dask scheduler has."""
    if not scheduler:
        yield lambda function, jobs: in_parallel(function, jobs, n_jobs=min(n_jobs, len(jobs))), n_jobs
        return
    with connected(scheduler) as cluster:
        yield partial(cluster.in_parallel, lost=_lost), cluster.n_workers


def _lost(job: ChunkJob | PieceJob, why: str) -> ChunkReport:
    return ChunkReport(chunk=job.chunk if isinstance(job, PieceJob) else job, failure=why)


def run_chunks(
    jobs: list[ChunkJob], spread: Spread, n_workers: int, *, patience: float = PATIENCE
) -> Iterator[ChunkReport]:
    """Execute and write chunks, and yield a report for each once it is written, or has failed.

    ``patience`` decides who does what, and no outcome: pieces are put together in their order.
    """
    began = time.monotonic()
    with tqdm(
        total=sum(len(job.programs) for job in jobs),
        unit=" programs",
        desc="execute",
        disable=None,
        file=sys.stderr,
        smoothing=0.05,
    ) as bar:
        for report in _reports(jobs, spread, patience if n_workers > 1 else math.inf, bar):
            bar.set_postfix_str(f"{bar.n / (time.monotonic() - began):,.0f} programs/s", refresh=False)
            yield report


def _reports(jobs: list[ChunkJob], spread: Spread, patience: float, bar: "tqdm[None]") -> Iterator[ChunkReport]:
    begun: list[ChunkReport] = []
    for report in spread(partial(run_chunk, patience=patience), jobs):
        if report.piece is None:
            bar.update(len(report.chunk.programs))
            yield report
        else:
            bar.update(len(report.piece.runs))
            begun.append(report)
    if begun:
        yield from _rest(begun, spread, bar)


def _rest(begun: list[ChunkReport], spread: Spread, bar: "tqdm[None]") -> Iterator[ChunkReport]:
    """Run what is left of the chunks that were begun, half as long a piece, and write each once it is whole."""
    pieces = {_key(report.chunk): [report.piece] for report in begun if report.piece is not None}
    jobs = [job for report in begun for job in _shares(report)]
    failed = set()
    for report in spread(run_piece, jobs):
        key = _key(report.chunk)
        if report.piece is not None:
            bar.update(len(report.piece.runs))
            pieces[key].append(report.piece)
            if sum(len(piece.runs) for piece in pieces[key]) == report.piece.of:
                write_pieces(report.chunk, pieces.pop(key))
                yield replace(report, piece=None)
        elif key not in failed:
            failed.add(key)
            yield report


def _key(job: ChunkJob) -> tuple[str, str, int]:
    return job.task.benchmark, job.task.task_id, job.start


def _shares(report: ChunkReport) -> Iterator[PieceJob]:
    assert report.piece is not None
    done = len(report.piece.runs)
    step = max(1, done // 2)
    for first in range(done, report.piece.of, step):
        yield PieceJob(chunk=report.chunk, first=first, last=min(first + step, report.piece.of))
