"""A benchmark by its name: where it lies and its tasks, and nothing else."""

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from difftrust_core.corpora.bigcodebench import load_bigcodebench
from difftrust_core.corpora.humaneval import load_humaneval
from difftrust_core.corpora.mbpp import load_mbpp
from difftrust_core.corpora.places import find_file, find_starter
from difftrust_core.corpora.starter import load_starter, load_starter_queries
from difftrust_core.exceptions import BadBenchmark, NoBenchmark
from difftrust_core.tasks import Task


def _load_spider(path: Path) -> list[Task]:
    from difftrust_core.corpora.spider import load_spider  # it brings sqlglot, which takes long to load

    return load_spider(path)


_LOADERS: dict[str, Callable[[Path], list[Task]]] = {
    "HumanEval": load_humaneval,
    "MBPP": load_mbpp,
    "starter": load_starter,
    "starter-sql": load_starter_queries,
    "BigCodeBench": load_bigcodebench,
    "Spider": _load_spider,
}
BENCHMARKS = tuple(_LOADERS)
"""Canonical names, as in ``Task.benchmark``."""


def canonical_name(name: str) -> str:
    """Return the spelling of ``Task.benchmark`` for ``name`` in any case. Raises NoBenchmark."""
    for known in BENCHMARKS:
        if known.lower() == name.lower():
            return known
    raise NoBenchmark(f"no benchmark is called {name!r}; the known ones are {', '.join(BENCHMARKS)}")


def find_benchmark(name: str) -> Path:
    """Return the file of ``name`` (starter: its folder).

    Looked for below DIFFTRUST_DATA, then in the cache; the starter tasks come with the package.
    Raises NoBenchmark, saying how to get it.
    """
    known = canonical_name(name)
    return find_starter(known) if known.startswith("starter") else find_file(known.lower())


def load_benchmark(name: str, *, path: Path | None = None) -> list[Task]:
    """Return the tasks of benchmark ``name`` in natural order, from ``path`` or wherever it is found.

    A task whose tests hold no literal input has no seed inputs. Raises NoBenchmark if it is not on this
    machine, BadBenchmark if its file is damaged.
    """
    known = canonical_name(name)
    source = path if path is not None else find_benchmark(known)
    if not source.exists():
        raise NoBenchmark(f"{source} does not exist; name a file of {known}, or leave the path out")
    with warnings.catch_warnings():
        # Python warns of invalid escapes while it parses: these programs are recorded, not ours to mend.
        warnings.simplefilter("ignore")
        tasks = _LOADERS[known](source)
    if not tasks:
        raise BadBenchmark(f"{source}: expected at least one task, found none; get the file again")
    repeated = [task_id for task_id, n in Counter(t.task_id for t in tasks).items() if n > 1]
    if repeated:
        found = ", ".join(repeated[:5])
        raise BadBenchmark(f"{source}: expected every task once, found again: {found}; get the file again")
    return tasks
