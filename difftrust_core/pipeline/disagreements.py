"""Which inputs tell most about how a task's candidates differ, and what each cluster of them says there."""

from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.ablation import MISSING, CompactTask
from difftrust_core.pipeline.matrices import Matrix
from difftrust_core.store import Store

SHOWN: Final = 5
"""Inputs a task at most."""
CUT: Final = 200
"""Characters of a value at most."""

Ints = NDArray[np.int64]


def telling_patterns(labels: NDArray[np.uint16], size: Ints, *, limit: int = SHOWN) -> list[int]:
    """Return up to ``limit`` patterns that together tell most behaviours apart, the most telling first.

    ``labels``: (n_rows, n_patterns), ``size``: (n_patterns,). Each pattern is the one that splits what the ones before
    it left together into most clusters, so the first has most clusters of its own; then the one with most of its own,
    then the one of the smallest size, then the first. Patterns that split nothing more are left out.
    """
    together: Ints = np.zeros(len(labels), dtype=np.int64)
    own = _n_clusters(labels.astype(np.int64))
    found: list[int] = []
    while len(found) < limit and labels.size:
        split = _n_clusters(together[:, None] * (MISSING + 1) + labels)
        best = int(np.lexsort((np.arange(len(size)), size, -own, -split))[0])
        if split[best] <= len(np.unique(together)):
            break
        found.append(best)
        together = np.unique(together * (MISSING + 1) + labels[:, best], return_inverse=True)[1].astype(np.int64)
    return found


def _n_clusters(keys: Ints) -> Ints:
    ordered = np.sort(keys, axis=0)
    clusters: Ints = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    return clusters


def disagreement_rows(
    store: Store, partition: dict[str, object], matrix: Matrix, task: CompactTask, votes: Ints
) -> list[dict[str, Any]]:
    """Return the rows of ``disagreements`` for one task, under each equality; inputs of the first chunk only.

    ``matrix`` has the rows of ``task``, ``votes`` (n_rows,) the candidates of each, of all coders together. A cluster
    shows what most of its candidates say.
    """
    inputs = store.read_task("inputs", partition, task.task_id)
    assert inputs is not None
    texts = inputs.sort("input_index")["arguments"].to_list()
    input_of, size = _shortest(task.pattern_of_input[: len(texts)], texts)
    rows = []
    for equality, labels in task.labels.items():
        chosen = telling_patterns(labels[:, : len(size)], size)
        indices = [input_of[pattern] for pattern in chosen]
        outcomes = _outcomes(store, partition, task.task_id, indices)
        for rank, index in enumerate(indices, 1):
            shown = {"equality": equality, "task_id": task.task_id, "rank": rank, "input_index": index}
            shown["arguments"] = _cut(texts[index])
            column = labels[:, task.pattern_of_input[index]]
            for label in np.unique(column).tolist():
                members = np.flatnonzero(column == label)
                leader = int(members[votes[members].argmax()])
                kind, text = outcomes[index, int(matrix.outcome_ids[leader, index])]
                rows.append(
                    {
                        **shown,
                        "label": label,
                        "reference": task.reference in members,
                        "n_candidates": int(votes[members].sum()),
                        "kind": kind,
                        "text": _cut(text),
                    }
                )
    return rows


def _shortest(pattern_of_input: NDArray[np.uint16], texts: list[str]) -> tuple[list[int], Ints]:
    """Return, per pattern, the input with the shortest arguments (the first of them) and how long these are."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    order = np.lexsort((np.arange(len(texts)), lengths, pattern_of_input))
    first = np.unique(pattern_of_input[order], return_index=True)[1]
    return order[first].tolist(), lengths[order[first]]


def _outcomes(
    store: Store, partition: dict[str, object], task_id: str, indices: list[int]
) -> dict[tuple[int, int], tuple[str, str]]:
    frame = store.read_task("outcomes", partition, task_id)
    assert frame is not None
    wanted = frame.filter(pl.col("input_index").is_in(indices)).select("input_index", "outcome_id", "kind", "text")
    return {(index, outcome): (kind, text) for index, outcome, kind, text in wanted.iter_rows()}


def _cut(text: str) -> str:
    return text if len(text) <= CUT else f"{text[: CUT - 1]}…"
