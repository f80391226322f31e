"""How the conditions read from benchmarks agree with the readers' domains: `python -m tests.bench.conditions [-n N]`.

Per benchmark, on inputs that keep the types of a task's domain and on which its reference returns, and on inputs drawn
inside the domain: how many both judge alike, how many the grammar alone leaves out, and the same without any condition.
The descriptions are found through DIFFTRUST_DATA; only figures are printed.
"""

import argparse
import ast
import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from difftrust.conditions.predicates import Predicate
from difftrust.conditions.reading import Reading, read_docstring
from difftrust.conditions.shapes import shape_of
from difftrust.types.argument_types import split_arguments
from difftrust_core.base.literals import read_literal
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Task
from difftrust_core.datasets.benchmarks import load_benchmark
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import Sandbox
from tests.domains import by_domain, fuzzed, kappa, kinds_of, spread

RETURNED = (Kind.VALUE, Kind.UNSUPPORTED)
BENCHMARKS = ("HumanEval", "MBPP", "starter")


def reading_of(task: Task) -> tuple[Reading, list[str]]:
    """Return what the grammar reads in a task's description, and the names of its parameters."""
    types = task.domain.types if task.domain is not None else ""
    signature = f"({types})" if types else task.signature.rpartition("->")[0].strip() or task.signature
    (function,) = ast.parse(f"def f{signature}: ...").body
    assert isinstance(function, ast.FunctionDef)
    arguments = [*function.args.posonlyargs, *function.args.args]
    shapes = {a.arg: shape_of(a.annotation) for a in arguments}
    return read_docstring(inspect.cleandoc(task.description), shapes), list(shapes)


def inside(predicates: tuple[Predicate, ...], names: list[str], text: str) -> bool:
    """Tell whether no condition says that an input is outside."""
    values: dict[str, Any] = dict(zip(names, split_arguments(read_literal(text))[0], strict=False))
    return all(each.holds(values) is not False for each in predicates)


def agreement(sandbox: Sandbox, task: Task, *, n: int) -> dict[str, object]:
    """Return how often grammar and domain judge alike on one task."""
    reading, names = reading_of(task)
    domain = language_of(task).domain(task)
    assert domain is not None
    seeds = [read_literal(text) for text in task.seed_inputs if domain.fits(text)]
    inputs = fuzzed(task, typed=True, n=n) if seeds else []
    kinds = kinds_of(sandbox, task, task.reference or "", task.entry_point, inputs) if inputs else []
    inputs = [text for text, kind in zip(inputs, kinds, strict=True) if kind in RETURNED]
    judged = by_domain(sandbox, task, inputs) if inputs else np.zeros(0, dtype=bool)
    sure = reading.of("docstring")
    read = np.array([inside(sure, names, text) for text in inputs], dtype=bool)
    return {
        "inputs": len(inputs),
        "alike": int((judged == read).sum()),
        "without": int(judged.sum()),
        "narrower": int((judged & ~read).sum()),
        "kappa": kappa(judged, read) if inputs else 1.0,
        "conditions": len(sure),
        "unread": len(reading.unread),
        "outside": int((~judged).sum()),
        "seen": int((~judged & ~read).sum()),
    }


def say(benchmark: str, found: pl.DataFrame) -> None:
    """Print the agreement over the tasks of a benchmark."""
    n = int(found["inputs"].sum())
    total = {name: int(found[name].sum()) for name in ("alike", "without", "narrower", "outside", "seen")}
    with_some = found.filter(pl.col("conditions") > 0)
    tasks = found.filter(pl.col("inputs") > 0)
    print(
        f"{benchmark}: {found.height} tasks, {n:,} inputs, judged alike {total['alike'] / n:.4f} "
        f"(without conditions {total['without'] / n:.4f}); of {total['outside']:,} outside the domain "
        f"{total['seen'] / max(1, total['outside']):.3f} left out; of {n - total['outside']:,} inside "
        f"{total['narrower'] / max(1, n - total['outside']):.4f} left out\n"
        f"    tasks with a condition read {with_some.height}, with a sentence unread "
        f"{found.filter(pl.col('unread') > 0).height}; median alike a task "
        f"{(tasks['alike'] / tasks['inputs']).median():.3f}; narrower than the domain in "
        f"{found.filter(pl.col('narrower') > 0).height}: "
        + ", ".join(found.filter(pl.col("narrower") > 0)["task_id"].to_list())
    )


if __name__ == "__main__":
    os.environ.setdefault("DIFFTRUST_DATA", str(Path(__file__).resolve().parents[3] / "shared" / "data"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=300)
    parser.add_argument("benchmarks", nargs="*", default=list(BENCHMARKS))
    asked = parser.parse_args()
    for name in asked.benchmarks:
        tasks = [task for task in load_benchmark(name) if task.seed_inputs and task.domain]

        def one(sandbox: Sandbox, task: Task) -> dict[str, object]:
            return agreement(sandbox, task, n=asked.n)

        say(name, spread(one, tasks, n_jobs=1))
