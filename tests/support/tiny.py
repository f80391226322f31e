"""A benchmark of three tasks with hand-written candidates, and its plain, slow, obviously right execution."""

import itertools
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.base.literals import read_literal
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded.selection import Recorded
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store

TASKS = [
    Task(
        benchmark="tiny",
        task_id="tiny/double",
        entry_point="double",
        signature="(x: int) -> int",
        description="Return twice x.",
        seed_inputs=("(1,)", "(0,)", "(-7,)"),
        reference="def double(x):\n    return 2 * x\n",
    ),
    Task(
        benchmark="tiny",
        task_id="tiny/first",
        entry_point="first",
        signature="(items: list) -> object",
        description="Return the first item, None if there is none.",
        seed_inputs=("([1, 2],)", "([],)", "(['a'],)"),
        reference="def first(items):\n    return items[0] if items else None\n",
    ),
    Task(
        benchmark="tiny",
        task_id="tiny/total",
        entry_point="total",
        signature="(items: list[int]) -> int",
        description="Return the sum of the items.",
        seed_inputs=("([1, 2, 3],)", "([],)", "([-4],)"),
        reference="def total(items):\n    return sum(items)\n",
    ),
]

RIGHT = {task.task_id: task.reference or "" for task in TASKS}
WRONG = {
    "tiny/double": "def double(x):\n    return x + x if x >= 0 else 0\n",
    "tiny/first": "def first(items):\n    return items[0]\n",
    "tiny/total": "def total(items):\n    return sum(items[1:])\n",
}
OTHER = {
    "tiny/double": "def double(x):\n    return x ** 2\n",
    "tiny/first": "def first(items):\n    return items[-1] if items else None\n",
    "tiny/total": "def total(items):\n    items.append(1)\n    return sum(items)\n",
}


def candidates(model: str, *programs: dict[str, str]) -> Recorded:
    """Return one candidate a task and program table, in order."""
    rows = [
        ("tiny", task.task_id, model, 0.6, index, program[task.task_id])
        for task, (index, program) in itertools.product(TASKS, enumerate(programs))
    ]
    columns = ["benchmark", "task_id", "model", "temperature", "sample_index", "code"]
    return Recorded(candidates=pl.DataFrame(rows, schema=columns, orient="row"))


def filled(root: Path, *programs: dict[str, str], model: str = "coder") -> Store:
    """Return a new store with one candidate a task and program table."""
    store = Store.create(root)
    add_candidates(store, candidates(model, *programs), {"tiny": TASKS}, n_jobs=1)
    return store


def contents(store: Store, *tables: str) -> dict[str, bytes]:
    """Return the bytes of every file of these tables."""
    return {str(p.relative_to(store.root)): p.read_bytes() for table in tables for p in store.files(table)}


def silent(line: str) -> None:
    """Say nothing."""


def outcome(program: str, entry_point: str, arguments: str) -> Any:
    """Run one of the programs above here and now: (type name, value) or the exception's type name."""
    namespace: dict[str, Any] = {}
    exec(program, namespace)
    try:
        value = namespace[entry_point](*read_literal(arguments))
    except Exception as e:
        return type(e).__name__
    return type(value).__name__, repr(value)


def slow_estimates(task: Task, programs: list[str], inputs: list[str]) -> tuple[float, float]:
    """Return (error, incoherence) of Eq. 9 and 8 by running everything and comparing every pair, strictly."""
    error = pairs = disagreeing = 0.0
    for arguments in inputs:
        seen = [outcome(program, task.entry_point, arguments) for program in programs]
        truth = outcome(task.reference or "", task.entry_point, arguments)
        error += sum(o != truth for o in seen) / len(seen)
        for a, b in itertools.combinations(seen, 2):
            pairs += 1
            disagreeing += a != b
    return error / len(inputs), disagreeing / pairs
