"""One task's programs on one range of its inputs, in a worker: inputs, outcomes, behaviours, executions."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.equality import PAPER, STRICT, Forms, classify
from difftrust_core.exceptions import DifftrustError, StoreUnreachable
from difftrust_core.pipeline.afar import at_hand
from difftrust_core.pipeline.jobs import ChunkJob, ChunkReport, JoinJob, Piece, PieceJob
from difftrust_core.pipeline.languages import preamble_of, source_of
from difftrust_core.pipeline.valid_inputs import sample_valid_inputs
from difftrust_core.pipeline.workers import end_if_orphaned
from difftrust_core.records import Kind
from difftrust_core.sandbox import Limits, OutcomeTable, ProgramRun, Sandbox
from difftrust_core.sandbox.outcomes import Outcome
from difftrust_core.store import REFERENCE, Store


class _Started(threading.local):
    """The sandbox of this thread (workers of a cluster have several), and what it was started for."""

    sandbox: Sandbox | None = None
    wanted: tuple[Limits, bool, str] | None = None


_started = _Started()


def _sandbox(job: ChunkJob) -> Sandbox:
    """Return this worker's sandbox, started at its first task: each task runs in a fork of its own inside it."""
    wanted = (job.limits, job.allow_weak, job.task.language)
    if _started.sandbox is None or _started.wanted != wanted:
        close_sandbox()
        _started.sandbox = Sandbox(job.limits, allow_weak=job.allow_weak, language=job.task.language)
        _started.wanted = wanted
    return _started.sandbox


def close_sandbox() -> None:
    """End this worker's sandbox, if it has one."""
    if _started.sandbox is not None:
        _started.sandbox.close()
    _started.sandbox = None


def run_job(job: ChunkJob | PieceJob | JoinJob, patience: float) -> ChunkReport:
    """Execute what is missing of a chunk and write it; or, after ``patience`` seconds, return what ran so far.

    Of a chunk whose inputs are written, execute some programs and return what ran; or write it from all its pieces:
    the same bytes as if one worker had run it. Failures are reported, not raised.
    """
    match job:
        case ChunkJob():
            return _reported(job, lambda chunk: chunk.execute(patience))
        case PieceJob():
            return _reported(job.chunk, lambda chunk: chunk.run(job.first, job.last))
        case JoinJob():
            return _reported(job.chunk, lambda chunk: chunk.write(sorted(job.pieces, key=lambda piece: piece.first)))


def _reported(job: ChunkJob, do: Callable[["_Chunk"], Piece | None]) -> ChunkReport:
    try:
        with at_hand(job) as here:
            end_if_orphaned()
            return ChunkReport(chunk=job, piece=do(_Chunk(here)))
    except StoreUnreachable:  # nor would the other chunks be kept
        close_sandbox()
        raise
    except DifftrustError as e:
        close_sandbox()  # whatever state it is in, the next task gets a new one
        return ChunkReport(chunk=job, failure=str(e))


class _Chunk:
    """The four files of one task and one range of inputs, as found, extended and written."""

    def __init__(self, job: ChunkJob):
        self.job = job
        self.store = Store(job.root)
        self.partition = {
            "benchmark": job.task.benchmark,
            "validity": job.settings.validity,
            "start": f"{job.start:06d}",
        }

    def execute(self, patience: float) -> Piece | None:
        """Run the missing programs and write; or return those that ran, if others are left after ``patience``."""
        began = time.monotonic()
        piece = self.run(0, None, until=began + patience)
        if len(piece.runs) < piece.of:
            return piece
        self.write([piece])
        return None

    def run(self, first: int, last: int | None, *, until: float = math.inf) -> Piece:
        """Run the programs ``first`` to ``last`` of those that are missing, and at least one, ``until`` a time."""
        distinct, _ = _distinct(self._inputs()["arguments"].to_list())
        missing = self._missing(self._read("executions"))
        sandbox, task = _sandbox(self.job), self.job.task
        table = OutcomeTable.empty(len(distinct))
        sandbox.load(preamble_of(task), distinct, table)
        runs: list[ProgramRun] = []
        for _, code in missing[first:last]:
            if runs and time.monotonic() > until:
                break
            runs.append(sandbox.run(source_of(task, code), task.entry_point))
        return Piece(first=first, of=len(missing), runs=tuple(runs), outcomes=tuple(map(tuple, table.rows)))

    def write(self, pieces: Sequence[Piece]) -> None:
        """Write what ran; the executions come last, so that they point at nothing missing."""
        _, which = _distinct(self._inputs()["arguments"].to_list())
        executions, behaviours, table = self._read("executions"), self._known_behaviours(), self._known_outcomes(which)
        trees = [tree_id for tree_id, _ in self._missing(executions)]
        rows = []
        for piece in pieces:
            ids_in_table = _taken_over(piece.outcomes, table)
            for tree_id, run in zip(trees[piece.first :], piece.runs, strict=False):
                ids = ids_in_table[np.arange(len(table.rows)), run.outcome_ids][which]
                behaviour_id = behaviours.setdefault(ids.tobytes(), len(behaviours))
                rows.append(_execution_row(tree_id, behaviour_id, run))
        new = pl.DataFrame([{"task_id": self.job.task.task_id, **row} for row in rows])
        self._write("outcomes", self._outcome_frame(table, which))
        self._write("behaviours", self._behaviour_frame(behaviours))
        self._write("executions", new if executions is None else pl.concat([executions, new], how="vertical_relaxed"))

    def _missing(self, executions: pl.DataFrame | None) -> list[tuple[str, str]]:
        done = set() if executions is None else set(executions["tree_id"])
        programs = [(p.tree_id, p.code) for p in sorted(self.job.programs, key=lambda p: p.tree_id)]
        if self.job.task.reference is not None:
            programs.insert(0, (REFERENCE, self.job.task.reference))
        return [(tree_id, code) for tree_id, code in programs if tree_id not in done]

    def _read(self, table: str) -> pl.DataFrame | None:
        return self.store.read_task(table, self.partition, self.job.task.task_id)

    def _write(self, table: str, frame: pl.DataFrame) -> None:
        self.store.write_task(table, frame, self.partition, self.job.task.task_id)

    def _inputs(self) -> pl.DataFrame:
        found = self._read("inputs")
        if found is None:
            arguments, attempts = sample_valid_inputs(self.job, _sandbox(self.job))
            found = pl.DataFrame(
                {
                    "task_id": [self.job.task.task_id] * self.job.n,
                    "input_index": range(self.job.start, self.job.stop),
                    "arguments": arguments,
                    "attempts": attempts,
                }
            )
            self._write("inputs", found)
        return found

    def _known_outcomes(self, which: NDArray[np.intp]) -> OutcomeTable:
        """Return the outcomes on each distinct input; ``which`` (n,) numbers the distinct input at each position."""
        rows: list[list[tuple[Kind, str]]] = [[] for _ in range(int(which.max()) + 1)]
        found = self._read("outcomes")
        if found is not None:
            first_of = {int(d): position for position, d in reversed(list(enumerate(which)))}
            firsts = [self.job.start + position for position in first_of.values()]
            known = found.filter(pl.col("input_index").is_in(firsts)).sort("input_index", "outcome_id")
            for index, kind, text in known.select("input_index", "kind", "text").iter_rows():
                rows[which[index - self.job.start]].append((Kind[kind.upper()], text))
        return OutcomeTable(rows)

    def _known_behaviours(self) -> dict[bytes, int]:
        found = self._read("behaviours")
        if found is None:
            return {}
        rows = found.sort("behaviour_id")["outcome_ids"].to_list()
        return {np.array(ids, dtype=np.uint16).tobytes(): i for i, ids in enumerate(rows)}

    def _outcome_frame(self, table: OutcomeTable, which: NDArray[np.intp]) -> pl.DataFrame:
        forms, names = Forms(), {kind: kind.name.lower() for kind in Kind}
        outcomes = [outcome for row in table.rows for outcome in row]
        sizes = np.array([len(row) for row in table.rows])
        starts = np.cumsum(sizes) - sizes
        frame = pl.DataFrame(
            {
                "task_id": [self.job.task.task_id] * len(outcomes),
                "outcome_id": [i for row in table.rows for i in range(len(row))],
                "kind": [names[kind] for kind, _ in outcomes],
                "text": [text for _, text in outcomes],
                "paper_class": [c for row in table.rows for c in classify(row, policy=PAPER, forms=forms)],
                "strict_class": [c for row in table.rows for c in classify(row, policy=STRICT, forms=forms)],
            }
        )
        rows_at = np.concatenate([np.arange(starts[d], starts[d] + sizes[d]) for d in which])
        positions = np.repeat(np.arange(self.job.start, self.job.stop), sizes[which])
        return frame[rows_at].with_columns(input_index=pl.Series(positions))

    def _behaviour_frame(self, behaviours: dict[bytes, int]) -> pl.DataFrame:
        rows = [np.frombuffer(ids, dtype=np.uint16) for ids in behaviours]
        return pl.DataFrame(
            {
                "task_id": [self.job.task.task_id] * len(rows),
                "behaviour_id": list(behaviours.values()),
                "outcome_ids": pl.Series(rows, dtype=pl.List(pl.UInt16)),
            }
        )


def _distinct(texts: list[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts in the order of their first appearance, and which of them stands where."""
    numbers: dict[str, int] = {}
    which = [numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), np.array(which, dtype=np.intp)


def _taken_over(outcomes: Sequence[Sequence[Outcome]], table: OutcomeTable) -> NDArray[np.uint16]:
    """Return the id in ``table`` of each of a piece's outcomes: (distinct inputs, most outcomes); new ones are added.

    Taken over piece by piece they are numbered as if all programs had met the table one after the other.
    """
    found = np.zeros((len(outcomes), max(map(len, outcomes))), dtype=np.uint16)
    for place in range(found.shape[1]):
        rows = [d for d, row in enumerate(outcomes) if place < len(row)]
        found[rows, place] = table.ids_at(rows, [outcomes[d][place] for d in rows])
    return found


def _execution_row(tree_id: str, behaviour_id: int, run: ProgramRun) -> dict[str, Any]:
    return {
        "tree_id": tree_id,
        "behaviour_id": behaviour_id,
        "restarts": run.restarts,
        "cpu_seconds": run.cpu,
        "peak_kb": run.peak_kb,
        "trimmed": run.trimmed,
        "nondeterministic": run.nondeterministic,
    }
