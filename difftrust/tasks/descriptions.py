"""What the published tasks ask for, in one sentence of our own each: a benchmark's text may not be shipped."""

from dataclasses import dataclass
from functools import cache

from difftrust_core.base.files import find_shipped
from difftrust_core.datasets.entries import SHIPPED_REMEDY, as_entry, load_toml


@dataclass(frozen=True, kw_only=True)
class Description:
    """A task's signature, and what it asks for in one sentence."""

    signature: str
    sentence: str


@cache
def load_descriptions() -> dict[str, dict[str, Description]]:
    """Return benchmark -> task_id -> description of the tasks that have one; empty where the file is not shipped.

    Raises BadBenchmark naming file and task.
    """
    path = find_shipped("data") / "descriptions" / "tasks.toml"
    if not path.is_file():
        return {}
    return {
        benchmark: {task_id: _description(f"{path}, {task_id}", table) for task_id, table in of_benchmark.items()}
        for benchmark, of_benchmark in load_toml(path, remedy=SHIPPED_REMEDY).items()
    }


def _description(where: str, table: object) -> Description:
    entry = as_entry(table, where=where, remedy=SHIPPED_REMEDY)
    return Description(signature=entry.text("signature"), sentence=entry.text("sentence"))
