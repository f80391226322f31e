"""One task's programs on one range of its inputs, in a worker: inputs, outcomes, behaviours, executions."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.base.parallel import end_if_orphaned
from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.exceptions import DifftrustError, StoreUnreachable
from difftrust_core.execution.answers import has_answers, run_answers
from difftrust_core.execution.plan import ChunkJob
from difftrust_core.execution.relations import CHECKER_LIMITS, Checker, check_reference
from difftrust_core.execution.transfer import at_hand
from difftrust_core.execution.validity import run_program, sample_valid_inputs
from difftrust_core.languages.language import language_of
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.metrics.relation import Classes, Said, has_checker
from difftrust_core.sandbox.host import Limits, ProgramRun, Sandbox
from difftrust_core.sandbox.layers import PYTHON
from difftrust_core.sandbox.outcomes import OutcomeTable
from difftrust_core.sandbox.runner import Runner
from difftrust_core.store.store import REFERENCE, Store, chunk_name


class _Started(threading.local):
    """The sandboxes of this thread (workers of a cluster have several), and what each was started for."""

    def __init__(self) -> None:
        self.sandboxes: dict[str, tuple[tuple[Limits, bool, Runner], Sandbox]] = {}


_started = _Started()


def sandbox_for(job: ChunkJob) -> Sandbox:
    """Return this worker's sandbox, started at its first task: each task runs in a fork of its own inside it."""
    return _sandbox("programs", job.limits, job.allow_weak, language_of(job.task).runner)


def checker_for(job: ChunkJob) -> Checker | None:
    """Return the checker or normal form of a task, in a sandbox of its own that runs Python; None: it has neither."""
    if not has_checker(job.task.relation):
        return None
    return Checker(job.task, _sandbox("checkers", CHECKER_LIMITS, job.allow_weak, PYTHON))


def _sandbox(purpose: str, *wanted: *tuple[Limits, bool, Runner]) -> Sandbox:
    found = _started.sandboxes.get(purpose)
    if found is None or found[0] != wanted:
        _close(purpose)
        limits, allow_weak, runner = wanted
        found = _started.sandboxes[purpose] = (wanted, Sandbox(limits, allow_weak=allow_weak, runner=runner))
    return found[1]


def close_sandbox() -> None:
    """End this worker's sandboxes, if it has any."""
    for purpose in tuple(_started.sandboxes):
        _close(purpose)


def _close(purpose: str) -> None:
    _, sandbox = _started.sandboxes.pop(purpose, (None, None))
    if sandbox is not None:
        sandbox.close()


@dataclass(frozen=True, kw_only=True)
class ChunkReport:
    """What became of a chunk: written, or why it failed."""

    chunk: ChunkJob
    failure: str = ""


def run_chunk(job: ChunkJob) -> ChunkReport:
    """Execute what is missing of a chunk and write it. A failure is reported; only StoreUnreachable is raised."""
    try:
        with at_hand(job) as here:
            end_if_orphaned()
            _Chunk(here).execute()
    except StoreUnreachable:  # nor would the other chunks be kept
        close_sandbox()
        raise
    except DifftrustError as e:
        close_sandbox()  # whatever state it is in, the next task gets a new one
        return ChunkReport(chunk=job, failure=str(e))
    return ChunkReport(chunk=job)


class _Chunk:
    """The four files of one task and one range of inputs, as found, extended and written."""

    def __init__(self, job: ChunkJob):
        self.job = job
        self.store = Store(job.root)
        self.partition = {
            "benchmark": job.task.benchmark,
            "validity": job.settings.validity,
            "start": chunk_name(job.start),
        }

    def execute(self) -> None:
        """Run the missing programs and write; the executions come last, so that they point at nothing missing."""
        distinct, which = _distinct(self._inputs()["arguments"].to_list())
        executions = self._read("executions")
        missing = self._missing(executions)
        if not missing:  # another worker wrote it, and was lost before it said so
            return
        behaviours, table = self._known_behaviours(), self._known_outcomes(which)
        sandbox, task = sandbox_for(self.job), self.job.task
        if any(program.tree_id == REFERENCE for program in missing):
            self._check_reference(distinct)
        sandbox.load(language_of(task).preamble(task), distinct, table)
        rows = []
        for program in missing:
            run = self._run(sandbox, program, distinct, table)
            behaviour_id = behaviours.setdefault(run.outcome_ids[which].tobytes(), len(behaviours))
            rows.append(_execution_row(program.tree_id, behaviour_id, run))
        new = pl.DataFrame([{"task_id": task.task_id, **row} for row in rows])
        self._write("outcomes", self._outcome_frame(table, distinct, which))
        self._write("behaviours", self._behaviour_frame(behaviours))
        self._write("executions", new if executions is None else pl.concat([executions, new], how="vertical_relaxed"))

    def _missing(self, executions: pl.DataFrame | None) -> list[Program]:
        done = set() if executions is None else set(executions["tree_id"])
        programs = sorted(self.job.programs, key=lambda p: p.tree_id)
        if has_answers(self.job.task, self.job.settings.validity):
            programs.insert(0, Program(tree_id=REFERENCE, code=self.job.task.reference or ""))
        return [program for program in programs if program.tree_id not in done]

    def _run(self, sandbox: Sandbox, program: Program, inputs: list[str], table: OutcomeTable) -> ProgramRun:
        task = self.job.task

        def run() -> ProgramRun:
            return run_program(sandbox, task, program)

        if program.tree_id != REFERENCE:
            return run()
        return run_answers(task, self.job.settings.validity, inputs, table, run)

    def _check_reference(self, distinct: list[str]) -> None:
        """Raise BadTask if the checker rejects what the reference program returns on one of these inputs."""
        task, language, checker = self.job.task, language_of(self.job.task), checker_for(self.job)
        if task.reference is None or checker is None or not checker.is_accept:
            return
        table, sandbox = OutcomeTable.empty(len(distinct)), sandbox_for(self.job)
        sandbox.load(language.preamble(task), distinct, table)
        run = sandbox.run(language.source(task, task.reference), task.entry_point)
        outcomes = [row[outcome_id] for row, outcome_id in zip(table.rows, run.outcome_ids.tolist(), strict=True)]
        check_reference(task, distinct, outcomes, checker)

    def _read(self, table: str) -> pl.DataFrame | None:
        return self.store.read_task(table, self.partition, self.job.task.task_id)

    def _write(self, table: str, frame: pl.DataFrame) -> None:
        self.store.write_task(table, frame, self.partition, self.job.task.task_id)

    def _inputs(self) -> pl.DataFrame:
        found = self._read("inputs")
        if found is None:
            drawn = sample_valid_inputs(self.job, sandbox_for(self.job))
            found = pl.DataFrame(
                {
                    "task_id": [self.job.task.task_id] * self.job.n,
                    "input_index": range(self.job.start, self.job.stop),
                    "arguments": drawn.texts,
                    "attempts": drawn.attempts,
                    "repeats": drawn.repeats,
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

    def _outcome_frame(self, table: OutcomeTable, distinct: list[str], which: NDArray[np.intp]) -> pl.DataFrame:
        names = {kind: kind.name.lower() for kind in Kind}
        paper, strict = classes_of(self.job, distinct, table.rows)
        outcomes = [outcome for row in table.rows for outcome in row]
        sizes = np.array([len(row) for row in table.rows])
        starts = np.cumsum(sizes) - sizes
        frame = pl.DataFrame(
            {
                "task_id": [self.job.task.task_id] * len(outcomes),
                "outcome_id": [i for row in table.rows for i in range(len(row))],
                "kind": [names[kind] for kind, _ in outcomes],
                "text": [text for _, text in outcomes],
                "paper_class": [label for labels in paper for label in labels],
                "strict_class": [label for labels in strict for label in labels],
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


def classes_of(
    job: ChunkJob, inputs: Sequence[str], rows: Sequence[Sequence[Outcome]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the classes of the outcomes on each input, under PAPER and under STRICT, as the task's relation has them.

    Raises BadTask if its checker or normal form is not valid.
    """
    checker = checker_for(job)
    said: Sequence[Sequence[Said]] = [()] * len(rows) if checker is None else checker.says(inputs, rows)
    paper, strict = (Classes(equality, job.task.relation) for equality in EQUALITIES)
    return (
        [paper.classify(row, words) for row, words in zip(rows, said, strict=True)],
        [strict.classify(row, words) for row, words in zip(rows, said, strict=True)],
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
