"""One task's programs on one range of its inputs, in a worker: inputs, outcomes, behaviours, executions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.equality import PAPER, STRICT, Forms, classify
from difftrust_core.exceptions import DifftrustError
from difftrust_core.inputs import MAX_ATTEMPTS, sample_input
from difftrust_core.pipeline.workers import end_if_orphaned
from difftrust_core.records import Kind
from difftrust_core.sandbox import Limits, OutcomeTable, ProgramRun, Sandbox
from difftrust_core.store import REFERENCE, Settings, Store
from difftrust_core.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program to execute: its tree, one of its texts, and how many candidates (of any coder) share it."""

    tree_id: str
    code: str
    n_candidates: int = 1


@dataclass(frozen=True, kw_only=True)
class ChunkJob:
    """Inputs ``start`` to ``stop`` and the programs that have not met them yet."""

    start: int
    stop: int
    programs: tuple[Program, ...]


@dataclass(frozen=True, kw_only=True)
class TaskJob:
    """What is missing of one task. ``jury``: the task's programs, for the quorum policy."""

    root: Path
    task: Task
    settings: Settings
    chunks: tuple[ChunkJob, ...]
    jury: tuple[Program, ...] = ()
    limits: Limits = field(default_factory=Limits)
    allow_weak: bool = False


@dataclass(frozen=True, kw_only=True)
class TaskReport:
    """What became of a task job: counts, or the reason why it failed."""

    benchmark: str
    task_id: str
    n_programs: int = 0
    n_executions: int = 0
    failure: str = ""


_started: list[tuple[Limits, bool, Sandbox]] = []


def _sandbox(limits: Limits, allow_weak: bool) -> Sandbox:
    """Return this process's sandbox, started at its first task: each task runs in a fork of its own inside it."""
    if not _started or _started[0][:2] != (limits, allow_weak):
        close_sandbox()
        _started.append((limits, allow_weak, Sandbox(limits, allow_weak=allow_weak)))
    return _started[0][2]


def close_sandbox() -> None:
    """End this process's sandbox, if it has one."""
    while _started:
        _started.pop()[2].close()


def run_task(job: TaskJob) -> TaskReport:
    """Execute what is missing of one task and write it. Failures are reported, not raised."""
    benchmark, task_id = job.task.benchmark, job.task.task_id
    try:
        sandbox = _sandbox(job.limits, job.allow_weak)
        with Store(job.root).sharing():
            end_if_orphaned()
            for chunk in job.chunks:
                _Chunk(job, chunk, sandbox).execute()
    except DifftrustError as e:
        close_sandbox()  # whatever state it is in, the next task gets a new one
        return TaskReport(benchmark=benchmark, task_id=task_id, failure=str(e))
    return TaskReport(
        benchmark=benchmark,
        task_id=task_id,
        n_programs=len({p.tree_id for c in job.chunks for p in c.programs}),
        n_executions=sum(len(c.programs) * (c.stop - c.start) for c in job.chunks),
    )


class _Chunk:
    """The four files of one task and one range of inputs, as found, extended and written."""

    def __init__(self, job: TaskJob, chunk: ChunkJob, sandbox: Sandbox):
        self.job, self.chunk, self.sandbox = job, chunk, sandbox
        self.store = Store(job.root)
        self.partition = {
            "benchmark": job.task.benchmark,
            "validity": job.settings.validity,
            "start": f"{chunk.start:06d}",
        }
        self.n = chunk.stop - chunk.start

    def execute(self) -> None:
        """Run the missing programs and write; the executions come last, so that they point at nothing missing."""
        distinct, which = _distinct(self._inputs()["arguments"].to_list())
        table = self._known_outcomes(which)
        behaviours = self._known_behaviours()
        executions = self._read("executions")
        self.sandbox.load(self.job.task.preamble, distinct, table)
        rows = []
        for tree_id, code in self._missing(executions):
            run = self.sandbox.run(code, self.job.task.entry_point)
            behaviour_id = behaviours.setdefault(run.outcome_ids[which].tobytes(), len(behaviours))
            rows.append(_execution_row(tree_id, behaviour_id, run))
        new = pl.DataFrame([{"task_id": self.job.task.task_id, **row} for row in rows])
        self._write("outcomes", self._outcome_frame(table, which))
        self._write("behaviours", self._behaviour_frame(behaviours))
        self._write("executions", new if executions is None else pl.concat([executions, new], how="vertical_relaxed"))

    def _missing(self, executions: pl.DataFrame | None) -> list[tuple[str, str]]:
        done = set() if executions is None else set(executions["tree_id"])
        programs = [(p.tree_id, p.code) for p in sorted(self.chunk.programs, key=lambda p: p.tree_id)]
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
            arguments, attempts = sample_valid_inputs(self.job, self.chunk, self.sandbox)
            found = pl.DataFrame(
                {
                    "task_id": [self.job.task.task_id] * self.n,
                    "input_index": range(self.chunk.start, self.chunk.stop),
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
            firsts = [self.chunk.start + position for position in first_of.values()]
            known = found.filter(pl.col("input_index").is_in(firsts)).sort("input_index", "outcome_id")
            for index, kind, text in known.select("input_index", "kind", "text").iter_rows():
                rows[which[index - self.chunk.start]].append((Kind[kind.upper()], text))
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
        positions = np.repeat(np.arange(self.chunk.start, self.chunk.stop), sizes[which])
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


def sample_valid_inputs(job: TaskJob, chunk: ChunkJob, sandbox: Sandbox) -> tuple[list[str], list[int]]:
    """Return the chunk's inputs and how many attempts each took, by the store's validity policy.

    ``reference`` keeps what the reference returns a value on (as published), ``quorum`` what at least half of the
    candidates do, ``all`` everything. After 100 attempts, or a program's whole CPU time, an unchanged seed input is
    taken, unchecked (its attempts are then 101).
    """
    task, seed = job.task, job.settings.seed
    seeds = task.arguments()
    positions = range(chunk.start, chunk.stop)
    texts = [""] * len(positions)
    attempts = [0] * len(positions)
    pending: NDArray[np.int64] = np.arange(len(positions))
    cpu_left = job.limits.program_cpu * max(1.0, len(positions) / 1000)
    for attempt in range(MAX_ATTEMPTS + 1):
        if cpu_left <= 0:  # a reference that hangs on what is drawn would hang a hundred times
            attempt = MAX_ATTEMPTS
        drawn = [
            sample_input(task.task_id, seeds, seed=seed, position=positions[i], attempt=attempt)
            for i in pending.tolist()
        ]
        for i, text in zip(pending.tolist(), drawn, strict=True):
            texts[i], attempts[i] = text, attempt + 1
        if job.settings.validity == "all" or attempt == MAX_ATTEMPTS:
            break
        valid, cpu = _valid(job, drawn, sandbox)
        cpu_left -= cpu
        pending = pending[~valid]
        if not len(pending):
            break
    return texts, attempts


def _valid(job: TaskJob, inputs: Sequence[str], sandbox: Sandbox) -> tuple[NDArray[np.bool_], float]:
    """Return on which inputs the policy's programs return a value, and the CPU seconds of the slowest of them."""
    task = job.task
    jury = job.jury
    if job.settings.validity == "reference":
        jury = (Program(tree_id=REFERENCE, code=task.reference or ""),)
    table = OutcomeTable.empty(len(inputs))
    sandbox.load(task.preamble, inputs, table)
    votes, slowest = np.zeros(len(inputs)), 0.0
    for program in jury:
        run = sandbox.run(program.code, task.entry_point)
        slowest = max(slowest, run.cpu)
        values = [table.rows[i][code][0] is Kind.VALUE for i, code in enumerate(run.outcome_ids.tolist())]
        votes += program.n_candidates * np.array(values)
    enough: NDArray[np.bool_] = 2 * votes >= sum(program.n_candidates for program in jury)
    return enough, slowest
