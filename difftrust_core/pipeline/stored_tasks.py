"""The tasks of a store, as tasks; and nothing else."""

from collections.abc import Sequence

from difftrust_core.store import Store
from difftrust_core.tasks import Task


def load_tasks(store: Store, benchmark: str, names: Sequence[str] | None = None) -> list[Task]:
    """Return the tasks of one benchmark, or those named; those that say no language are in Python."""
    rows = store.read("tasks", {"benchmark": benchmark}, tasks=names).iter_rows(named=True)
    return [
        Task(**{**row, "seed_inputs": tuple(row["seed_inputs"]), "language": row["language"] or "python"})
        for row in rows
    ]
