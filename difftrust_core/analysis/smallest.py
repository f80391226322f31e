"""Read the smallest inputs on which behaviours of a task differ (``smallest_inputs`` makes them)."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from difftrust_core.analysis.ablation.compact import CompactTask
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.clusters import Clustering
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.store import SCHEMAS, Store

WRONG, DISAGREEING = "wrong", "disagreeing"


@dataclass(frozen=True, kw_only=True)
class SmallestInput:
    """The smallest input found on which a cluster differs from the reference, or from another cluster."""

    kind: str
    """WRONG or DISAGREEING."""
    first: int
    """The number of a cluster."""
    second: int | None
    """That of another one, which comes later; None: the reference."""
    input_index: int
    """Of the measured input that it was made from."""
    arguments: str
    first_kind: str
    first_text: str
    second_kind: str | None
    """None where only a checker knows what is right."""
    second_text: str | None
    place: str | None
    """``domain``, ``types`` (outside the declared types) or ``outside`` (the domain); None: the task has no domain."""
    is_smallest: bool
    """Shrinking ended by itself: no single smaller step shows the difference."""


def read_smallest(store: Store, benchmark: str, task_id: str, *, equality: str = Equality.PAPER) -> pl.DataFrame:
    """Return a task's rows of ``smallest`` under an equality; none where the store has none.

    What differs under the tolerant comparison differs under the strict one, too.
    """
    if not store.holds("smallest"):
        return pl.DataFrame(schema=SCHEMAS["smallest"])
    where = {"benchmark": benchmark, "validity": store.settings().validity}
    rows = store.read("smallest", where, tasks=[task_id]).select(SCHEMAS["smallest"].keys())
    usable = [equality] if equality == Equality.PAPER else [equality, Equality.PAPER]
    order = {name: place for place, name in enumerate(usable)}
    keys = ["task_id", "kind", "first", "second"]
    of_equality = rows.filter(pl.col("equality").is_in(usable)).with_columns(
        rank=pl.col("equality").replace_strict(order, default=len(order), return_dtype=pl.Int64)
    )
    return of_equality.sort(*keys, "rank").unique(keys, keep="first", maintain_order=True).drop("rank")


def smallest_of(clustering: Clustering, frame: pl.DataFrame, pool: Pool) -> list[SmallestInput]:
    """Return what ``read_smallest`` knows of these clusters: each against the reference, then pairs of them.

    In the order of the clusters' numbers. ``pool``: the one that was clustered; a behaviour that equals one in the
    table on all these inputs is taken for it.
    """
    task = next(task for task in pool.tasks if task.task_id == clustering.task_id)
    number_of = _numbers(task, clustering, pool.equality)
    found: dict[tuple[str, int, int], SmallestInput] = {}
    for row in frame.iter_rows(named=True):
        first, second = number_of.get(row["first"]), 0 if row["second"] is None else number_of.get(row["second"])
        if first is None or second is None or first == second:
            continue
        swapped = second > 0 and first > second
        here, there = ("second", "first") if swapped else ("first", "second")
        one = SmallestInput(
            kind=row["kind"],
            first=second if swapped else first,
            second=(first if swapped else second) or None,
            input_index=row["input_index"],
            arguments=row["arguments"],
            first_kind=row[f"{here}_kind"],
            first_text=row[f"{here}_text"],
            second_kind=row[f"{there}_kind"],
            second_text=row[f"{there}_text"],
            place=row["place"],
            is_smallest=row["is_smallest"],
        )
        key = (one.kind, one.first, one.second or 0)
        if key not in found or len(one.arguments) < len(found[key].arguments):
            found[key] = one
    return [found[key] for key in sorted(found, key=lambda key: (key[0] != WRONG, *key[1:]))]


def _numbers(task: CompactTask, clustering: Clustering, equality: str) -> dict[int, int]:
    """Return, of each row that behaves like a cluster on its inputs, the cluster's number."""
    width = clustering.labels.shape[1]
    labels = task.labels[equality][:, :width]
    numbers = {own.tobytes(): number for number, own in enumerate(np.ascontiguousarray(clustering.labels), 1)}
    return {row: numbers[own.tobytes()] for row, own in enumerate(labels) if own.tobytes() in numbers}
