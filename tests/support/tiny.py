"""A benchmark of three tasks with hand-written candidates, and its plain, slow, obviously right execution."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from difftrust.demo.simulated import sample_simulated
from difftrust_core.base.literals import read_literal
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded import Recorded, as_table
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.execution.execute import Execution, execute
from difftrust_core.store.imports import Import, add_candidates
from difftrust_core.store.store import Store
from tests.support.tasks import small_task

TASKS = [
    small_task(
        "double",
        "(x: int) -> int",
        description="Return twice x.",
        seed_inputs=("(1,)", "(0,)", "(-7,)"),
        reference="def double(x):\n    return 2 * x\n",
    ),
    small_task(
        "first",
        "(items: list) -> object",
        description="Return the first item, None if there is none.",
        seed_inputs=("([1, 2],)", "([],)", "(['a'],)"),
        reference="def first(items):\n    return items[0] if items else None\n",
    ),
    small_task(
        "total",
        "(items: list[int]) -> int",
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
    return Recorded(candidates=as_table(rows))


def filled(root: Path, *programs: dict[str, str], model: str = "coder", tasks: Sequence[Task] = TASKS) -> Store:
    """Return a new store with one candidate a task and program table."""
    store = Store.create(root)
    add(store, model, *programs, tasks=tasks)
    return store


def add(store: Store, model: str, *programs: dict[str, str], tasks: Sequence[Task] = TASKS) -> Import:
    """Add one candidate a task and program table to a store."""
    return add_candidates(store, candidates(model, *programs), {"tiny": tasks}, n_jobs=1)


def run_on(store: Store, n: int, **options: Any) -> Execution:
    """Execute a store's programs on n inputs, silently."""
    return execute(store, n=n, say=silent, **options)


def measure(store: Store, n: int, **options: Any) -> Execution:
    """Execute a store's programs on n inputs and estimate."""
    done = run_on(store, n, **options)
    refresh_estimates(store)
    return done


def simulated(tasks: Sequence[Task], model: str, *, m: int, temperature: float = 0.6) -> Recorded:
    """Return m candidates a task of a simulated coder."""
    rows = [vars(c) for task in tasks for c in sample_simulated(task, model, temperature=temperature, m=m)]
    return Recorded(candidates=pl.DataFrame(rows))


def executed(
    root: Path,
    *,
    n: int,
    tasks: Sequence[Task] = TASKS,
    validity: str | None = None,
    **coders: Sequence[dict[str, str]],
) -> Store:
    """Return a new store with the programs of each coder, executed on n inputs and estimated."""
    store = Store.create(root)
    for model, programs in coders.items():
        add(store, model, *programs, tasks=list(tasks))
    measure(store, n, validity=validity)
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
