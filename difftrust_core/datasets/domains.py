"""The domains of a benchmark's tasks, written by this project: ``data/domains/*.toml``, a table for each task."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from difftrust_core.base.files import find_shipped
from difftrust_core.base.task import Domain, Task
from difftrust_core.datasets.entries import as_entry, load_bytes
from difftrust_core.exceptions import BadBenchmark

_REMEDY = "correct the file, or install difftrust again"
_FIELDS = {"types", "requires", "generate"}


def with_domains(benchmark: str, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks of a benchmark, each with the domain written for it, if one was."""
    path = find_shipped("data") / "domains" / f"{benchmark.lower()}.toml"
    domains = load_domains(path) if path.is_file() else {}
    return [replace(task, domain=domains.get(task.task_id, task.domain)) for task in tasks]


def domain_of(benchmark: str, task_id: str) -> Domain | None:
    """Return the domain that this project has written for a task, if it has."""
    paths = {path.stem: path for path in (find_shipped("data") / "domains").glob("*.toml")}
    path = paths.get(benchmark.lower())
    return None if path is None else load_domains(path).get(task_id)


@cache
def load_domains(path: Path) -> Mapping[str, Domain]:
    """Return task id -> domain. Raises BadBenchmark naming file and task."""
    try:
        tables = tomllib.loads(load_bytes(path, remedy=_REMEDY).decode())
    except (ValueError, RecursionError) as e:
        raise BadBenchmark(f"{path}: expected TOML in UTF-8, found: {e}; {_REMEDY}") from None
    found = {}
    for task_id, table in tables.items():
        entry = as_entry(table, where=f"{path}, {task_id}", remedy=_REMEDY)
        if unknown := sorted(entry.fields.keys() - _FIELDS):
            raise entry.refusal(f"only {', '.join(sorted(_FIELDS))}", ", ".join(unknown))
        found[task_id] = Domain(**{name: entry.text(name, default="") for name in sorted(_FIELDS)})
    return found
