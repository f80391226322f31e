"""Small tasks of the tests' own, with the programs of coders, and their jobs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded import Recorded, as_table
from difftrust_core.execution.jobs import ChunkJob
from difftrust_core.sandbox.host import Limits
from difftrust_core.store.imports import Import, add_candidates
from difftrust_core.store.settings import Settings
from difftrust_core.store.store import Store


def small_task(entry_point: str, signature: str = "(x)", *, benchmark: str = "tiny", **fields: Any) -> Task:
    """Return a task with one seed input and nothing else unless it is given."""
    fields = {"task_id": f"{benchmark}/{entry_point}", "description": "", "seed_inputs": ("(1,)",)} | fields
    return Task(benchmark=benchmark, entry_point=entry_point, signature=signature, **fields)


def add_programs(store: Store, *programs: tuple[Task, str, Sequence[str]]) -> Import:
    """Add programs to a store: of a task, by a model at temperature 0.6."""
    rows = [
        (task.benchmark, task.task_id, model, 0.6, index, code)
        for task, model, codes in programs
        for index, code in enumerate(codes)
    ]
    tasks: dict[str, list[Task]] = {}
    for task in dict.fromkeys(task for task, _, _ in programs):
        tasks.setdefault(task.benchmark, []).append(task)
    return add_candidates(store, Recorded(candidates=as_table(rows)), tasks, n_jobs=1)


def chunk_job(task: Task, validity: str = "reference", **fields: Any) -> ChunkJob:
    """Return the job of a task that was never executed, on inputs of a policy."""
    given: dict[str, Any] = {"root": Path(), "jury": (), "limits": Limits(), "allow_weak": False, "holding": None}
    return ChunkJob(task=task, settings=Settings(validity=validity), is_here=True, **given | fields)
