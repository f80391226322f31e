"""Read one task from a store: its description, inputs, outcomes and programs.

A results store holds the most telling inputs only (``disagreements``), no description and no program: these are looked
for among the benchmarks and recorded candidates of this machine (``tasks.texts``).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust.tables.request import record_of
from difftrust.tasks.clusters import Clustering
from difftrust.tasks.find_texts import find_programs, find_task
from difftrust_core.base.records import Coder
from difftrust_core.base.task import Domain, Relation, Task
from difftrust_core.estimates.pool import Pool
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.schemas import CHUNK_TABLES, PARTITIONS, REFERENCE, SCHEMAS
from difftrust_core.store.store import Store, partition_of

WRONG: Final = "wrong"
DISAGREEING: Final = "disagreeing"
"""The kinds of inputs worth reading: on which a program is wrong, and on which two disagree."""
_ANSWERS: dict[str, Any] = {"cluster": pl.Int64, "input_index": pl.Int64, "kind": pl.String, "text": pl.String}


@dataclass(frozen=True, kw_only=True)
class Described:
    """What was asked for, to be shown: unlike a ``Task`` it says whatever a store says, which may be a stranger's."""

    entry_point: str
    signature: str
    description: str
    reference: str | None
    language: str
    relation: Relation | None
    domain: Domain | None


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The programs of one task: a row a candidate, with model, temperature, sample_index, tree_id and code."""

    frame: pl.DataFrame

    def smallest(self, members: Mapping[Coder, Sequence[int]]) -> tuple[Coder, int] | None:
        """Return the candidate with the shortest text among ``members``, of equally short ones the first text's."""
        own = [(coder, index) for coder, indices in members.items() for index in indices]
        known = [(found[0], *one) for one in own if (found := self._known.get((*one[0], one[1])))]
        return min(known)[1:] if known else None

    @cached_property
    def _known(self) -> dict[tuple[str, float, int], tuple[int, str, str]]:
        """Return of each candidate its place among all, the shortest text first, its ``tree_id`` and its text."""
        names = ["model", "temperature", "sample_index"]
        rows = self.frame.sort(pl.col("code").str.len_chars(), "code", *names).select(*names, "tree_id", "code")
        return {row[:3]: (place, *row[3:]) for place, row in enumerate(rows.iter_rows())}

    def code(self, coder: Coder, sample_index: int) -> str | None:
        """Return a candidate's text as recorded; None where it is not known."""
        found = self._known.get((*coder, sample_index))
        return found and found[2]

    def tree(self, coder: Coder, sample_index: int) -> str | None:
        """Return the ``tree_id`` under which a candidate was executed."""
        found = self._known.get((*coder, sample_index))
        return found and found[1]


def read_task(store: Store, benchmark: str, task_id: str) -> Described | None:
    """Return what was asked for; None where neither the store nor this machine holds it."""
    if not store.holds("tasks"):
        task = find_task(benchmark, task_id)
        return record_of(Described, vars(task)) if task else None
    rows = _read(store, "tasks", benchmark, task_id)
    if rows.is_empty():
        return None
    said = rows.select(field.name for field in fields(Described)).row(0, named=True)
    return Described(
        **{
            **said,
            "language": said["language"] or Task.language,
            "relation": Relation(**json.loads(said["relation"])) if said["relation"] else None,
            "domain": Domain(**json.loads(said["domain"])) if said["domain"] else None,
        }
    )


def read_programs(store: Store, benchmark: str, task_id: str, coders: Sequence[Coder]) -> Programs:
    """Return the programs of these coders; none where neither the store nor this machine holds their texts."""
    if not store.holds("candidates") or not store.holds("programs"):
        return Programs(frame=find_programs(benchmark, task_id, coders))
    candidates = pl.concat(
        [
            _read(store, "candidates", benchmark, task_id, model=model, temperature=t)
            for model, t in dict.fromkeys(coders)
        ]
    )
    texts = _read(store, "programs", benchmark, task_id).unique("program_id")
    names = ["model", "temperature", "sample_index"]
    joined = candidates.select(*names, "program_id").join(
        texts.select("program_id", "tree_id", "code"), on="program_id"
    )
    return Programs(frame=joined.sort(names))


def read_arguments(store: Store, benchmark: str, task_id: str, *, equality: str = Equality.PAPER) -> dict[int, str]:
    """Return input index -> arguments, in the text form of ``literals``; a results store knows a few, cut."""
    if store.holds("inputs"):
        rows = _read(store, "inputs", benchmark, task_id)
    else:
        rows = read_disagreements(store, benchmark, task_id, equality=equality)
    return dict(rows.select("input_index", "arguments").iter_rows())


def read_outcomes(store: Store, benchmark: str, task_id: str, *, trees: Sequence[str]) -> pl.DataFrame:
    """Return what these programs did: tree_id, input_index, kind, text; none where the store has no outcomes."""
    ran = _read(store, "executions", benchmark, task_id).filter(pl.col("tree_id").is_in(list(trees)))
    cells = (
        ran.join(_read(store, "behaviours", benchmark, task_id), on=["task_id", "start", "behaviour_id"])
        .with_columns(
            input_index=pl.int_ranges(pl.col("start"), pl.col("start") + pl.col("outcome_ids").list.len()),
            outcome_id="outcome_ids",
        )
        .select("tree_id", pl.col("input_index").cast(pl.List(pl.UInt32)), "outcome_id")
        .explode("input_index", "outcome_id")
    )
    outcomes = _read(store, "outcomes", benchmark, task_id).select("input_index", "outcome_id", "kind", "text")
    return cells.join(outcomes, on=["input_index", "outcome_id"]).drop("outcome_id").sort("tree_id", "input_index")


def read_answers(store: Store, pool: Pool, clustering: Clustering, programs: Programs) -> pl.DataFrame:
    """Return what each cluster does on each input: cluster, input_index, kind, text; cluster 0 is the reference.

    From the outcomes where the store has them; else from the most telling inputs, what most of all recorded candidates
    of that class say.
    """
    if not store.holds("outcomes"):
        return _answers_of_results(store, pool, clustering)
    trees = {REFERENCE: [0]}
    for cluster in clustering.clusters:
        coder, indices = next(iter(cluster.members.items()))
        tree = programs.tree(coder, indices[0])
        if tree is not None:
            trees.setdefault(tree, []).append(cluster.number)
    found = read_outcomes(store, pool.benchmark, clustering.task_id, trees=list(trees))
    numbers = pl.DataFrame({"tree_id": list(trees), "cluster": list(trees.values())}).explode("cluster")
    return found.join(numbers, on="tree_id").select(pl.col(name).cast(kind) for name, kind in _ANSWERS.items())


def _answers_of_results(store: Store, pool: Pool, clustering: Clustering) -> pl.DataFrame:
    shown = read_disagreements(store, pool.benchmark, clustering.task_id, equality=pool.equality).filter(
        pl.col("input_index") < clustering.n
    )
    rows = []
    for index, label, is_reference, kind, text in shown.select(
        "input_index", "label", "reference", "kind", "text"
    ).iter_rows():
        column = clustering.labels[:, clustering.pattern_of_input[index]]
        numbers = [0] * is_reference + [i + 1 for i, own in enumerate(column.tolist()) if own == label]
        rows += [(number, index, kind, text) for number in numbers]
    return pl.DataFrame(rows, schema=_ANSWERS, orient="row")


def read_disagreements(store: Store, benchmark: str, task_id: str, *, equality: str = Equality.PAPER) -> pl.DataFrame:
    """Return the most telling inputs of a task and what each class of outcomes says there (``schemas``)."""
    return _read(store, "disagreements", benchmark, task_id, equality=equality)


def _read(store: Store, table: str, benchmark: str, task_id: str, **where: object) -> pl.DataFrame:
    """Return a task's rows of a table, all of its chunks; none where the store does not hold the table.

    Inputs and what was seen on them are those that the store is read on; ``where``: of other partitions. Raises
    BadStore if a file is damaged.
    """
    schema = {**PARTITIONS[table], **SCHEMAS[table]}
    if not store.holds(table):
        return pl.DataFrame(schema=schema)
    where["benchmark"] = benchmark
    if "validity" in PARTITIONS[table]:
        where["validity"] = store.settings().validity
    if table not in CHUNK_TABLES:
        return store.read(table, where, tasks=[task_id])
    parts = [pl.DataFrame(schema=schema)]
    for folder in sorted({path.parent for path in store.files(table, where)}):
        values = partition_of(folder, table)
        rows = store.read_task(table, values, task_id)
        if rows is not None:
            parts.append(rows.select(*[pl.lit(value, schema[name]).alias(name) for name, value in values.items()], "*"))
    return pl.concat(parts)


@dataclass(frozen=True, kw_only=True)
class SmallestInput:
    """The smallest input found on which a cluster differs from the reference, or from another cluster."""

    kind: str
    """WRONG or DISAGREEING."""
    first: int
    """The number of a cluster."""
    second: int
    """That of another one, which comes later; 0: the reference."""
    arguments: str
    outcomes: tuple[tuple[int, str, str], ...]
    """(number, kind, text) of both; of the first alone where only a checker knows what is right."""
    place: str | None
    """``domain``, ``types`` (outside the declared types) or ``outside`` (the domain); None: the task has no domain."""
    is_smallest: bool
    """Shrinking ended by itself: no single smaller step shows the difference."""


def read_smallest(store: Store, benchmark: str, task_id: str, *, equality: str = Equality.PAPER) -> pl.DataFrame:
    """Return a task's rows of ``smallest`` under an equality; none where the store has none.

    What differs under the tolerant comparison differs under the strict one, too.
    """
    rows = _read(store, "smallest", benchmark, task_id).select(SCHEMAS["smallest"].keys())
    usable = list(dict.fromkeys((equality, str(Equality.PAPER))))
    keys = ["task_id", "kind", "first", "second"]
    ranked = pl.concat([rows.filter(equality=name) for name in usable])
    return ranked.unique(keys, keep="first", maintain_order=True).sort(keys)


def smallest_of(clustering: Clustering, frame: pl.DataFrame, pool: Pool) -> list[SmallestInput]:
    """Return what ``read_smallest`` knows of these clusters: each against the reference, then pairs of them.

    In the order of the clusters' numbers. ``pool``: the one that was clustered; a behaviour that equals one in the
    table on all these inputs is taken for it.
    """
    task = next(task for task in pool.tasks if task.task_id == clustering.task_id)
    labels = task.labels[pool.equality][:, : clustering.labels.shape[1]]
    numbers = {own.tobytes(): number for number, own in enumerate(np.ascontiguousarray(clustering.labels), 1)}
    number_of = {row: numbers.get(own.tobytes()) for row, own in enumerate(labels)} | {None: 0}
    found: dict[tuple[bool, int, int], SmallestInput] = {}
    for row in frame.iter_rows(named=True):
        sides = [
            (number, row[f"{name}_kind"], row[f"{name}_text"])
            for name in ("first", "second")
            if (number := number_of[row[name]]) is not None
        ]
        if len(sides) < 2 or sides[0][0] == sides[1][0]:
            continue
        sides.sort(key=lambda side: side[0] or len(clustering.clusters) + 1)  # the reference comes second
        one = SmallestInput(
            kind=row["kind"],
            first=sides[0][0],
            second=sides[1][0],
            arguments=row["arguments"],
            outcomes=tuple(side for side in sides if side[1] is not None),
            place=row["place"],
            is_smallest=row["is_smallest"],
        )
        key = (one.kind != WRONG, one.first, one.second)
        if key not in found or len(one.arguments) < len(found[key].arguments):
            found[key] = one
    return [found[key] for key in sorted(found)]
