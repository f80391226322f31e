"""Chunks over processes or a cluster, those that take long in pieces, so that no core idles while another one works."""

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from tqdm import tqdm

from difftrust_core.pipeline.chunks import run_job
from difftrust_core.pipeline.cluster import connected
from difftrust_core.pipeline.jobs import ChunkJob, ChunkReport, JoinJob, Piece, PieceJob
from difftrust_core.pipeline.workers import in_parallel

PATIENCE = 10.0
"""Seconds in one worker after which the rest of a chunk is shared out."""

_Job = ChunkJob | PieceJob | JoinJob
Spread = Callable[[Callable[[_Job], ChunkReport], Iterable[_Job]], Iterable[ChunkReport]]
"""What runs a function on each job and yields what it returns, in any order; it asks for jobs until none are left."""


@contextmanager
def spread_over(n_jobs: int, scheduler: str = "") -> Iterator[tuple[Spread, int]]:
    """Give a way to spread jobs, and over how many: ``n_jobs`` processes here, or what a dask scheduler has."""
    if not scheduler:
        yield partial(in_parallel, n_jobs=n_jobs), n_jobs
        return
    with connected(scheduler) as cluster:
        yield partial(cluster.in_parallel, lost=_lost), cluster.n_workers


def _lost(job: _Job, why: str) -> ChunkReport:
    return ChunkReport(chunk=job if isinstance(job, ChunkJob) else job.chunk, failure=why)


def run_chunks(
    jobs: Iterable[ChunkJob], spread: Spread, n_workers: int, *, n_programs: int, patience: float = PATIENCE
) -> Iterator[ChunkReport]:
    """Execute and write chunks, ``n_programs`` in all, and yield a report for each once it is written, or has failed.

    ``patience`` decides who does what, and no outcome: pieces are put together in their order.
    """
    began = time.monotonic()
    with tqdm(total=n_programs, unit=" programs", desc="execute", disable=None, file=sys.stderr, smoothing=0.05) as bar:
        queue = _Queue(chunks=iter(jobs))
        for report in spread(partial(run_job, patience=patience if n_workers > 1 else math.inf), queue):
            is_at_its_end = queue.take(report)
            bar.update(queue.n_ran - bar.n)
            bar.set_postfix_str(f"{bar.n / (time.monotonic() - began):,.0f} programs/s", refresh=False)
            if is_at_its_end:
                yield report


@dataclass(kw_only=True)
class _Queue:
    """The jobs to be done next: what is left of chunks that were begun comes before chunks that were not.

    So the pieces of few chunks are held at a time, and the end is left to chunks that take short.
    """

    chunks: Iterator[ChunkJob]
    n_ran: int = 0
    """Programs."""
    _first: deque[_Job] = field(default_factory=deque)
    _pieces: dict[tuple[str, str, int], list[Piece]] = field(default_factory=dict)
    _failed: set[tuple[str, str, int]] = field(default_factory=set)

    def __iter__(self) -> Iterator[_Job]:
        return self

    def __next__(self) -> _Job:
        return self._first.popleft() if self._first else next(self.chunks)

    def take(self, report: ChunkReport) -> bool:
        """Take in what came of a job, and tell whether its chunk is now at its end: written, or failed."""
        key = _key(report.chunk)
        if key in self._failed:  # with another piece
            return False
        if report.failure:
            self._failed.add(key)
            self._pieces.pop(key, None)
            self._first = deque(job for job in self._first if isinstance(job, ChunkJob) or _key(job.chunk) != key)
        elif report.piece is not None:
            self._take_piece(key, report.chunk, report.piece)
        elif key not in self._pieces:
            self.n_ran += len(report.chunk.programs)
        else:
            del self._pieces[key]
        return report.piece is None

    def _take_piece(self, key: tuple[str, str, int], chunk: ChunkJob, piece: Piece) -> None:
        self.n_ran += len(piece.runs)
        if key not in self._pieces:
            self._first.extend(_shares(chunk, piece))
        pieces = self._pieces.setdefault(key, [])
        pieces.append(piece)
        if sum(len(one.runs) for one in pieces) == piece.of:
            self._first.appendleft(JoinJob(chunk=chunk, pieces=tuple(pieces)))
            pieces.clear()


def _key(job: ChunkJob) -> tuple[str, str, int]:
    return job.task.benchmark, job.task.task_id, job.start


def _shares(chunk: ChunkJob, begun: Piece) -> Iterator[PieceJob]:
    """Share out what is left of a chunk, half as much a piece as was run of it in time."""
    done = len(begun.runs)
    step = max(1, done // 2)
    for first in range(done, begun.of, step):
        yield PieceJob(chunk=chunk, first=first, last=min(first + step, begun.of))
