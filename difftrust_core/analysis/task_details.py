"""Read one task from a store: its description, inputs, outcomes and programs.

A results store holds the most telling inputs only (``disagreements``), no description and no program: these are looked
for among the benchmarks and recorded candidates of this machine (``datasets.texts``).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.clusters import Clustering, Split
from difftrust_core.base.records import Coder
from difftrust_core.base.task import Domain, Relation, Task
from difftrust_core.datasets.domains import domain_of
from difftrust_core.datasets.texts import find_programs, find_task
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.store import MERGED, PARTITIONS, REFERENCE, SCHEMAS, Store, conform, file_name, partition_of

_ANSWERS: dict[str, Any] = {"cluster": pl.Int64, "input_index": pl.Int64, "kind": pl.String, "text": pl.String}


@dataclass(frozen=True, kw_only=True)
class Description:
    """What was asked for."""

    entry_point: str
    signature: str
    text: str
    reference: str | None
    language: str
    """Of the programs: "python", or "sql"."""
    preamble: str
    """What the task itself gives: code before every program, for SQL the tables that its databases have."""
    relation: Relation | None = None
    """When two outcomes are both right; None: as the reader chooses."""
    has_domain: bool = True
    """Somebody has said what its arguments may be."""
    domain: Domain | None = None
    """What its arguments may be, where somebody has said it."""


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The programs of one task: a row a candidate, with model, temperature, sample_index, tree_id and code."""

    frame: pl.DataFrame

    def smallest(self, members: Mapping[Coder, Sequence[int]]) -> tuple[Coder, int] | None:
        """Return the candidate with the shortest text among ``members``, of equally short ones the first text's."""
        places = [
            (place, coder, index)
            for coder, indices in members.items()
            for index in indices
            if (place := self._places.get((*coder, index))) is not None
        ]
        return min(places)[1:] if places else None

    @cached_property
    def _places(self) -> dict[tuple[str, float, int], int]:
        """Return the place of each candidate among all, the shortest text first."""
        names = ["model", "temperature", "sample_index"]
        sorted_ = self.frame.sort(pl.col("code").str.len_chars(), "code", *names)
        return {row: place for place, row in enumerate(sorted_.select(names).iter_rows())}

    def code(self, coder: Coder, sample_index: int) -> str | None:
        """Return a candidate's text as recorded; None where it is not known."""
        found = self._row(coder, sample_index)
        return None if found is None else found[1]

    def tree(self, coder: Coder, sample_index: int) -> str | None:
        """Return the ``tree_id`` under which a candidate was executed."""
        found = self._row(coder, sample_index)
        return None if found is None else found[0]

    def _row(self, coder: Coder, sample_index: int) -> tuple[str, str] | None:
        model, temperature = coder
        rows = self.frame.filter(model=model, temperature=temperature, sample_index=sample_index)
        return None if rows.is_empty() else rows.select("tree_id", "code").row(0)


def read_description(store: Store, benchmark: str, task_id: str) -> Description | None:
    """Return what was asked for; None where neither the store nor this machine holds it."""
    rows = _read(store, "tasks", {"benchmark": benchmark}, task_id)
    if rows.is_empty():
        found = None if store.holds("tasks") else find_task(benchmark, task_id)
        return None if found is None else _described(found)
    row = rows.row(0, named=True)
    return Description(
        entry_point=row["entry_point"],
        signature=row["signature"],
        text=row["description"],
        reference=row["reference"] or None,
        language=row["language"] or Task.language,
        preamble=row["preamble"],
        relation=Relation(**json.loads(row["relation"])) if row["relation"] else None,
        has_domain=bool(row["domain"]),
        domain=Domain(**json.loads(row["domain"])) if row["domain"] else None,
    )


def _described(task: Task) -> Description:
    return Description(
        entry_point=task.entry_point,
        signature=task.signature,
        text=task.description,
        reference=task.reference,
        language=task.language,
        preamble=task.preamble,
        relation=task.relation,
        has_domain=task.domain is not None,
        domain=task.domain,
    )


def read_domain(benchmark: str, task_id: str, described: Description | None) -> Domain | None:
    """Return what a task's arguments may be: as described, else as this project has written for the benchmark."""
    return described.domain if described is not None and described.domain else domain_of(benchmark, task_id)


def read_programs(store: Store, benchmark: str, task_id: str, coders: Sequence[Coder]) -> Programs:
    """Return the programs of these coders; none where neither the store nor this machine holds their texts."""
    columns = ["model", "temperature", "sample_index", "program_id"]
    if not store.holds("candidates") or not store.holds("programs"):
        return Programs(frame=find_programs(benchmark, task_id, coders))
    files = store.files("candidates", {"benchmark": benchmark})
    values = [partition_of(path, "candidates") for path in files]
    of_coders = [f for f, v in zip(files, values, strict=True) if (v["model"], v["temperature"]) in set(coders)]
    candidates = _read_files(store, "candidates", of_coders, task_id).select(columns)
    texts = _read(store, "programs", {"benchmark": benchmark}, task_id).unique("program_id")
    joined = candidates.join(texts.select("program_id", "tree_id", "code"), on="program_id")
    return Programs(frame=joined.sort("model", "temperature", "sample_index"))


def read_arguments(store: Store, benchmark: str, task_id: str, *, equality: str = Equality.PAPER) -> dict[int, str]:
    """Return input index -> arguments, in the text form of ``literals``; a results store knows a few, cut."""
    where = {"benchmark": benchmark, "validity": store.settings().validity}
    if store.holds("inputs"):
        rows = _read(store, "inputs", where, task_id)
    else:
        rows = _read(store, "disagreements", {**where, "equality": equality}, task_id)
    return dict(rows.select("input_index", "arguments").iter_rows())


def read_outcomes(store: Store, benchmark: str, task_id: str, *, trees: Sequence[str]) -> pl.DataFrame:
    """Return what these programs did: tree_id, input_index, kind, text; none where the store has no outcomes."""
    where = {"benchmark": benchmark, "validity": store.settings().validity}
    keys = ["task_id", "start"]
    ran = _read(store, "executions", where, task_id).filter(pl.col("tree_id").is_in(list(trees)))
    cells = (
        ran.join(_read(store, "behaviours", where, task_id), on=[*keys, "behaviour_id"])
        .with_columns(
            input_index=pl.int_ranges(pl.col("start"), pl.col("start") + pl.col("outcome_ids").list.len()),
            outcome_id="outcome_ids",
        )
        .select("tree_id", pl.col("input_index").cast(pl.List(pl.UInt32)), "outcome_id")
        .explode("input_index", "outcome_id")
    )
    outcomes = _read(store, "outcomes", where, task_id).select("input_index", "outcome_id", "kind", "text")
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
    names = pl.DataFrame(
        [(tree, number) for tree, numbers in trees.items() for number in numbers],
        schema={"tree_id": pl.String, "cluster": pl.Int64},
        orient="row",
    )
    joined = found.join(names, on="tree_id")
    return joined.select([pl.col(name).cast(kind) for name, kind in _ANSWERS.items()])


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


@dataclass(frozen=True, kw_only=True)
class TellingInput:
    """An input that parts the clusters, for all inputs that part them in the same way."""

    index: int
    arguments: str
    split: Split


def telling_inputs(found: Sequence[Split], arguments: Mapping[int, str]) -> list[TellingInput]:
    """Return the shortest known input of each split: most groups first, then the shortest arguments.

    Splits of which no input is known are left out.
    """
    telling = []
    for split in found:
        known = [index for index in split.inputs if index in arguments]
        if known:
            index = min(known, key=lambda i: (len(arguments[i]), i))
            telling.append(TellingInput(index=index, arguments=arguments[index], split=split))
    return sorted(telling, key=lambda one: (-len(one.split.groups), len(one.arguments), one.index))


def read_disagreements(store: Store, benchmark: str, task_id: str, *, equality: str = Equality.PAPER) -> pl.DataFrame:
    """Return the most telling inputs of a task and what each class of outcomes says there (``schemas``)."""
    where = {"benchmark": benchmark, "validity": store.settings().validity, "equality": equality}
    return _read(store, "disagreements", where, task_id)


def _read(store: Store, table: str, where: Mapping[str, object], task_id: str) -> pl.DataFrame:
    """Return a task's rows of a table, all of its chunks; none where the store does not hold the table.

    Raises BadStore if a file is damaged.
    """
    if not store.holds(table):
        return pl.DataFrame(schema={**PARTITIONS[table], **SCHEMAS[table]})
    return _read_files(store, table, store.files(table, where), task_id)


def _read_files(store: Store, table: str, files: Sequence[Path], task_id: str) -> pl.DataFrame:
    schema = {**PARTITIONS[table], **SCHEMAS[table]}
    own = [path for path in files if path.stem == file_name(task_id)]
    paths = [*own, *(path for path in files if path.stem.startswith(MERGED))] if own else files
    rows = [pl.scan_parquet(path, hive_partitioning=False, glob=False).filter(task_id=task_id) for path in paths]
    try:
        found = pl.collect_all(rows)
    except (pl.exceptions.PolarsError, OSError):  # says not which
        found = [_read_file(store, path, of_task) for path, of_task in zip(paths, rows, strict=True)]
    parts = [pl.DataFrame(schema=schema)]
    for path, part in zip(paths, found, strict=True):
        if not part.is_empty():
            values = partition_of(path, table)
            keys = [pl.lit(values[name], dtype=schema[name]).alias(name) for name in values]
            parts.append(conform(part, table).select(*keys, "*"))
    return pl.concat(parts)


def _read_file(store: Store, path: Path, rows: pl.LazyFrame) -> pl.DataFrame:
    try:
        return rows.collect()
    except (pl.exceptions.PolarsError, OSError) as e:
        raise store.damaged(path, e) from None
