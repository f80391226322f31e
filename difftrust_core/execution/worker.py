"""One task's programs on one range of its inputs, in a worker: inputs, outcomes, behaviours, executions.

Where the store has a URL, the few files of the chunk are brought from there first, and sent back.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.base.files import file_state, scratch_folder
from difftrust_core.base.records import Kind, Outcome, Program
from difftrust_core.execution.answers import CHECKER_LIMITS, Checker, check_reference, has_answers, run_answers
from difftrust_core.execution.jobs import ChunkJob
from difftrust_core.execution.resumable import sandbox_of_worker
from difftrust_core.execution.validity import run_program, sample_valid_inputs
from difftrust_core.languages.registry import language_of
from difftrust_core.metrics.equality import EQUALITIES, Equality, numbered
from difftrust_core.metrics.relation import Classes, Said, has_checker
from difftrust_core.sandbox.host import OutcomeTable, ProgramRun, Sandbox
from difftrust_core.sandbox.layers import PYTHON
from difftrust_core.store.mirror import Mirror
from difftrust_core.store.schemas import CHUNK_TABLES
from difftrust_core.store.settings import share
from difftrust_core.store.store import MERGED_NAME, REFERENCE, Store, file_names
from difftrust_core.store.url import Remote


def sandbox_for(job: ChunkJob) -> Sandbox:
    """Return this worker's sandbox for the programs of a task."""
    return sandbox_of_worker("programs", job.limits, job.allow_weak, language_of(job.task).runner)


def checker_for(job: ChunkJob) -> Checker | None:
    """Return the checker or normal form of a task, in a sandbox of its own that runs Python; None: it has neither."""
    if not has_checker(job.task.relation):
        return None
    return Checker(job.task, sandbox_of_worker("checkers", CHECKER_LIMITS, job.allow_weak, PYTHON))


def run_chunk(job: ChunkJob) -> None:
    """Execute what is missing of a chunk and write it."""
    with _at_hand(job) as here:
        _Chunk(here).execute()


class _Chunk:
    """The four files of one task and one range of inputs, as found, extended and written."""

    def __init__(self, job: ChunkJob):
        self.job = job
        self.store = Store(job.root)

    def execute(self) -> None:
        """Run the missing programs and write; the executions come last, so that they point at nothing missing."""
        inputs = self._inputs()["arguments"].to_list()
        distinct, which = list(dict.fromkeys(inputs)), np.array(numbered(inputs), dtype=np.intp)
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
            behaviour_id = behaviours.setdefault(np.asarray(run.outcome_ids)[which].tobytes(), len(behaviours))
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
        source, sandbox = language.source(task, task.reference), sandbox_for(self.job)
        outcomes, _ = sandbox.outcomes(language.preamble(task), distinct, source, task.entry_point)
        check_reference(task, distinct, outcomes, checker)

    def _read(self, table: str) -> pl.DataFrame | None:
        return self.store.read_task(table, self.job.partition, self.job.task.task_id)

    def _write(self, table: str, frame: pl.DataFrame) -> None:
        self.store.write_task(table, frame, self.job.partition, self.job.task.task_id)

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
        classes = classes_of(self.job, distinct, table.rows)
        outcomes = [outcome for row in table.rows for outcome in row]
        sizes = np.array([len(row) for row in table.rows])
        starts = np.cumsum(sizes) - sizes
        frame = pl.DataFrame(
            {
                "task_id": [self.job.task.task_id] * len(outcomes),
                "outcome_id": [i for row in table.rows for i in range(len(row))],
                "kind": [names[kind] for kind, _ in outcomes],
                "text": [text for _, text in outcomes],
                **{f"{equality}_class": list(chain.from_iterable(labels)) for equality, labels in classes.items()},
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
) -> dict[Equality, list[list[int]]]:
    """Return the classes of the outcomes on each input, under each equality, as the task's relation has them.

    Raises BadTask if its checker or normal form is not valid.
    """
    checker = checker_for(job)
    said: Sequence[Sequence[Said]] = [()] * len(rows) if checker is None else checker.says(inputs, rows)
    rules = {equality: Classes(equality, job.task.relation) for equality in EQUALITIES}
    return {e: [rule.classify(row, words) for row, words in zip(rows, said, strict=True)] for e, rule in rules.items()}


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


@contextmanager
def _at_hand(job: ChunkJob) -> Iterator[ChunkJob]:
    """Give the job on a folder that holds its files, and share that folder; then send what is new to the store's URL.

    Where the store is but a folder nothing is brought or sent. Raises StoreUnreachable, and StoreInUse once the command
    that began the job no longer holds the URL.
    """
    if job.holding is None or job.is_here:
        with _sent(job):
            yield job
        return
    with scratch_folder(_workers_own()) as folder:
        moved = replace(job, root=folder / "chunk")
        moved.root.mkdir()
        _fetch(Remote(url=job.holding.url), moved, keep=_workers_own() or folder)
        with _sent(moved):
            yield moved


@contextmanager
def _sent(job: ChunkJob) -> Iterator[None]:
    with share(job.root):
        paths = [job.root / name for name in _names(job)]
        before = [file_state(path) for path in paths]
        yield
        new = [path for path, state in zip(paths, before, strict=True) if file_state(path) != state]
        if job.holding is not None:
            names, mirror = [path.relative_to(job.root).as_posix() for path in new], Mirror.of(job.root)
            if mirror:
                mirror.send(names, job.holding)
            else:
                job.holding.send(names, job.root)


def _folders(job: ChunkJob) -> list[str]:
    """Return the folders of the chunk's partition, in the order in which their files speak of each other."""
    store = Store(job.root)
    return [store.folder(table, job.partition).relative_to(store.root).as_posix() for table in CHUNK_TABLES]


def _names(job: ChunkJob) -> list[str]:
    """Return the files that may hold the chunk's rows of its task."""
    return [f"{folder}/{name}.parquet" for folder in _folders(job) for name in file_names(job.task.task_id)]


def _fetch(remote: Remote, job: ChunkJob, *, keep: Path) -> None:
    folders = _folders(job)
    notes = [f"{folder}/{MERGED_NAME}" for folder in folders]
    gone = remote.get([*notes, *_names(job)], job.root)
    for note in notes:
        if note not in gone:
            _fetch_merged(remote, job.root / note, job.root, keep=keep)


def _fetch_merged(remote: Remote, note: Path, root: Path, *, keep: Path) -> None:
    """Fetch a partition's merged file, once a worker: its name changes with its content."""
    path = note.with_name(note.read_text())
    kept = keep / path.name
    with suppress(FileNotFoundError):
        os.link(kept, path)
        return
    remote.get([path.relative_to(root).as_posix()], root)
    with suppress(FileExistsError):
        os.link(path, kept)


def _workers_own() -> Path | None:
    """Return the folder of this worker of a cluster, None elsewhere: the system's own for passing files."""
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        return Path(get_worker().local_directory)
    return None
