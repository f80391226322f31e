"""Small tasks of the tests' own."""

from typing import Any

from difftrust_core.base.task import Task


def small_task(entry_point: str, signature: str = "(x)", *, benchmark: str = "tiny", **fields: Any) -> Task:
    """Return a task with one seed input and nothing else unless it is given."""
    fields = {"task_id": f"{benchmark}/{entry_point}", "description": "", "seed_inputs": ("(1,)",)} | fields
    return Task(benchmark=benchmark, entry_point=entry_point, signature=signature, **fields)
