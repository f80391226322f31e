"""Compact matrices as tables of a store, there and back; and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.ablation import CompactTask, Members, Pool
from difftrust_core.exceptions import NoStore
from difftrust_core.store import SCHEMAS, Store

EQUALITIES = ("paper", "strict")
_NUMBERS = ("task", "sample_index", "row", "prompt_tokens", "completion_tokens", "cost_nanodollars")


def compact_frames(tasks: Sequence[CompactTask]) -> dict[str, pl.DataFrame]:
    """Return the tables ``patterns`` and ``classes`` of these tasks, in their order."""
    patterns = [{"task_id": t.task_id, "pattern_of_input": t.pattern_of_input.tolist()} for t in tasks]
    classes = [
        {
            "task_id": t.task_id,
            "row": row,
            "reference": row == t.reference,
            "reach": int(t.reach[row]),
            **{equality: t.labels[equality][row].tolist() for equality in EQUALITIES},
            "kinds": t.kinds[row].tolist(),
        }
        for t in tasks
        for row in range(len(t.kinds))
    ]
    return {
        "patterns": pl.DataFrame(patterns, schema=SCHEMAS["patterns"]),
        "classes": pl.DataFrame(classes, schema=SCHEMAS["classes"]),
    }


def pool_of(frames: Mapping[str, pl.DataFrame], benchmark: str, equality: str) -> Pool:
    """Return the pool that the tables ``patterns``, ``classes`` and ``members`` of one benchmark hold."""
    classes = {key[0]: part for key, part in frames["classes"].group_by("task_id", maintain_order=True)}
    tasks = [
        _task(str(task_id), np.array(patterns, dtype=np.uint16), classes[task_id])
        for task_id, patterns in frames["patterns"].select("task_id", "pattern_of_input").iter_rows()
    ]
    numbers = pl.DataFrame({"task_id": [t.task_id for t in tasks], "task": range(len(tasks))})
    members = frames["members"].join(numbers, on="task_id").sort("model", "temperature", "task", "sample_index")
    return Pool(
        benchmark=benchmark,
        equality=equality,
        tasks=tuple(tasks),
        members={
            (str(model), float(temperature)): _members(part)
            for (model, temperature), part in members.group_by("model", "temperature", maintain_order=True)
        },
    )


def _task(task_id: str, pattern_of_input: NDArray[np.uint16], rows: pl.DataFrame) -> CompactTask:
    rows = rows.sort("row")
    width = int(pattern_of_input.max()) + 1

    def matrix(name: str) -> NDArray[np.uint16]:
        return rows[name].explode().to_numpy().reshape(len(rows), width)

    references = rows.filter("reference")["row"].to_list()
    return CompactTask(
        task_id=task_id,
        pattern_of_input=pattern_of_input,
        labels={equality: matrix(equality) for equality in EQUALITIES},
        kinds=matrix("kinds").astype(np.uint8),
        reach=rows["reach"].to_numpy().astype(np.int64),
        reference=references[0] if references else None,
    )


def _members(rows: pl.DataFrame) -> Members:
    numbers = {name: rows[name].cast(pl.Int64).fill_null(-1).to_numpy() for name in _NUMBERS}
    return Members(**numbers, nondeterministic=rows["nondeterministic"].to_numpy())


def load_pool(store: Store, benchmark: str, *, equality: str = "paper", validity: str | None = None) -> Pool:
    """Return the behaviours recorded for one benchmark, kept in memory while the store's files are the same.

    Raises NoStore if there are none, saying which command makes them or which benchmarks there are.
    """
    validity = validity or store.settings().validity
    files = store.files("classes", {"benchmark": benchmark, "validity": validity})
    if not files:
        names = sorted(store.read("patterns")["benchmark"].unique())
        found = f"there are: {', '.join(names)}" if names else f"run `difftrust execute --store {store.root}`"
        raise NoStore(f"{store.root} holds no results for {benchmark} with validity {validity}; {found}")
    pools = _load_pools(store.root, benchmark, validity, tuple(_state(path) for path in files))
    return pools[equality]


def _state(path: Path) -> tuple[int, ...]:
    """Return what tells a file from the one written over it, whatever the clock did meanwhile."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=8)
def _load_pools(root: Path, benchmark: str, validity: str, written: tuple[tuple[int, ...], ...]) -> dict[str, Pool]:
    """Return equality -> pool: they share all that is read, so another equality is there at once."""
    store, where = Store(root), {"benchmark": benchmark, "validity": validity}
    read = {t: store.read(t, where) for t in ("patterns", "classes", "members")}
    first = pool_of(read, benchmark, EQUALITIES[0])
    return {equality: replace(first, equality=equality) for equality in EQUALITIES}


def pool_names(store: Store) -> list[str]:
    """Return the benchmarks that the store holds compact matrices of."""
    validity = store.settings().validity
    return sorted(store.read("patterns").filter(pl.col("validity") == validity)["benchmark"].unique())
