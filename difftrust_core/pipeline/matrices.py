"""From the outcomes of a task's chunks to its matrix, row by behaviour; and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.ablation import MISSING, NO_KIND
from difftrust_core.equality import PAPER, STRICT
from difftrust_core.exceptions import BadStore
from difftrust_core.records import Kind
from difftrust_core.store import Store

EQUALITIES = (PAPER, STRICT)


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A task's behaviours: ``labels[equality]``, ``kinds`` and ``outcome_ids`` are (n_behaviours, n).

    A program need not have met the last chunks: its row is MISSING (NO_KIND) from ``reach[row]`` on.
    """

    labels: dict[str, NDArray[np.uint16]]
    kinds: NDArray[np.uint8]
    outcome_ids: NDArray[np.uint16]
    reach: NDArray[np.int64]
    row_of: dict[str, int]
    """Tree id -> row."""
    nondeterministic: frozenset[str]


def load_matrix(store: Store, partition: dict[str, object], task_id: str, starts: Sequence[int]) -> Matrix:
    """Return a task's matrix of outcome classes over the chunks that begin at ``starts``, in order."""
    parts = [_load_chunk(store, {**partition, "start": f"{start:06d}"}, task_id) for start in starts]
    keys: dict[tuple[int, ...], int] = {}
    row_of = {tree: keys.setdefault(_rows_of(tree, parts), len(keys)) for tree in sorted(parts[0].row_of)}
    widths = [part.kinds.shape[1] for part in parts]
    if list(starts) != [sum(widths[:i]) for i in range(len(parts))]:
        raise BadStore(f"{store.root}: inputs of {task_id} are missing; run `difftrust execute` with the same -n again")
    reach = np.array([sum(widths[: len(key)]) for key in keys], dtype=np.int64)
    rows = np.array([key + (-1,) * (len(parts) - len(key)) for key in keys], dtype=np.intp).reshape(-1, len(parts))

    def joined(matrices: list[NDArray[Any]], absent: int) -> NDArray[Any]:
        padded = [np.vstack([m, np.full((1, m.shape[1]), absent, dtype=m.dtype)]) for m in matrices]
        return np.concatenate([m[rows[:, i]] for i, m in enumerate(padded)], axis=1)  # row -1 is the absent one

    return Matrix(
        labels={e: joined([part.labels[e] for part in parts], MISSING) for e in EQUALITIES},
        kinds=joined([part.kinds for part in parts], NO_KIND),
        outcome_ids=joined([part.outcome_ids for part in parts], MISSING),
        reach=reach,
        row_of=row_of,
        nondeterministic=frozenset().union(*(p.nondeterministic for p in parts)),
    )


def _rows_of(tree: str, parts: list[Matrix]) -> tuple[int, ...]:
    """Return a program's row in each chunk, up to the first chunk that it has not met."""
    found = []
    for part in parts:
        if tree not in part.row_of:
            break
        found.append(part.row_of[tree])
    return tuple(found)


def _load_chunk(store: Store, partition: dict[str, object], task_id: str) -> Matrix:
    def read(table: str) -> pl.DataFrame:
        frame = store.read_task(table, partition, task_id)
        if frame is None:
            missing = f"{table} of {task_id} from input {int(str(partition['start']))} on are missing"
            raise BadStore(f"{store.root}: {missing}; run `difftrust verify --store {store.root}`")
        return frame

    outcomes = read("outcomes")
    ids = np.array(read("behaviours").sort("behaviour_id")["outcome_ids"].to_list(), dtype=np.uint16)
    executions = read("executions")
    position = (outcomes["input_index"] - outcomes["input_index"].min()).to_numpy()
    shape = (int(position.max()) + 1, int(outcomes["outcome_id"].max()) + 1)  # type: ignore[arg-type]
    across = np.arange(shape[0])

    def lookup(values: NDArray[Any]) -> NDArray[Any]:
        table = np.zeros(shape, dtype=values.dtype)
        table[position, outcomes["outcome_id"].to_numpy()] = values
        return np.asarray(table[across, ids])

    kinds = outcomes["kind"].replace_strict({k.name.lower(): int(k) for k in Kind}, return_dtype=pl.UInt8)
    return Matrix(
        labels={e: lookup(outcomes[f"{e}_class"].to_numpy()) for e in EQUALITIES},
        kinds=lookup(kinds.to_numpy()),
        outcome_ids=ids,
        reach=np.full(len(ids), shape[0], dtype=np.int64),
        row_of=dict(executions.select("tree_id", "behaviour_id").iter_rows()),
        nondeterministic=frozenset(executions.filter("nondeterministic")["tree_id"]),
    )
