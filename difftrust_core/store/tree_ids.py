"""The ids by which a store knows that two texts are one program, and bringing those of earlier versions up to date."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from difftrust_core.base.parallel import Progress, in_parallel
from difftrust_core.base.task import Task
from difftrust_core.languages.registry import load_language
from difftrust_core.store.store import Store, partition_of

FORMER: Final = "^[tp]"
"""How ids of programs in Python began that joined, now and then, programs that behave differently."""
TEXT: Final = ["language", "program_id"]
"""What tells the texts of programs apart."""
_BATCH: Final = 256 * 2**10
"""Bytes of the programs that are parsed at a time."""
_OF_ANY: Final = 256
"""Bytes that each counts beside its own."""
_TASK = ["benchmark", "task_id"]
_Renamed = dict[tuple[str, str, str], str | None]
"""Benchmark, task and former id -> today's; None where the texts that had it are several programs today."""


def tree_ids_of(programs: pl.DataFrame, n_jobs: int) -> pl.DataFrame:
    """Return the id of each text (TEXT, code) in batches that take about as long: columns TEXT and tree_id."""
    texts = programs.select(*TEXT, "code").unique(TEXT, maintain_order=True)
    sizes = texts["code"].str.len_bytes().cast(pl.Int64) + _OF_ANY
    batches = texts.with_columns(at=sizes.cum_sum() // _BATCH).partition_by("at", maintain_order=True)
    found = [texts.select(*TEXT, tree_id=pl.lit("")).clear()]
    with Progress(total=len(texts), unit="program", desc="parse", delay=1) as bar:
        for ids in in_parallel(_of_batch, batches, n_jobs=n_jobs if len(batches) > 1 else 1):
            found.append(ids)
            bar.update(len(ids))
    return pl.concat(found)


def _of_batch(texts: pl.DataFrame) -> pl.DataFrame:
    ids = [load_language(language).tree_id(code) for language, code in texts.select("language", "code").iter_rows()]
    return texts.select(*TEXT, tree_id=pl.Series(ids, dtype=pl.String))


def count_former_ids(store: Store) -> int:
    """Return how many programs have ids of an earlier version."""
    return _former(store).height if store.holds("programs") else 0


def renew_tree_ids(store: Store, n_jobs: int = 2) -> None:
    """Give the programs of a store that is held for writing today's ids, and what was executed of them as well.

    Where texts that were one program are several today, it is not known which of them ran: what ran is due again.
    Programs that had two ids and are one keep what ran of the first. Can be killed at any moment and done again.
    """
    if not count_former_ids(store):
        return
    tasks = store.read("tasks", columns=["task_id", "language"])
    programs = with_language(store.read("programs").join(_former(store), on=_TASK, how="semi"), tasks)
    ids = tree_ids_of(programs, n_jobs).rename({"tree_id": "today"})
    renamed = _renamed(programs.join(ids, on=TEXT, how="left"))
    for path, where, frame in _files(store, "executions"):
        today = pl.Series(_today(frame, where["benchmark"], renamed), dtype=pl.String)
        frame = frame.with_columns(tree_id=today).drop_nulls("tree_id")
        store.write("executions", frame.unique(["task_id", "tree_id"], keep="first"), where, path.stem)
    for path, where, frame in _files(store, "programs"):  # last: until then there is something to renew
        of = with_language(frame.with_columns(benchmark=pl.lit(where["benchmark"])), tasks)
        both = of.join(ids, on=TEXT, how="left", maintain_order="left")
        store.write("programs", both.with_columns(tree_id=pl.coalesce("today", "tree_id")), where, path.stem)


def _files(store: Store, table: str) -> Iterator[tuple[Path, dict[str, Any], pl.DataFrame]]:
    """Yield the files of a table with the partition of each and its rows."""
    for path in store.files(table):
        if (frame := store.read_file(table, path)) is not None:
            yield path, partition_of(path, table), frame


def _today(frame: pl.DataFrame, benchmark: str, renamed: _Renamed) -> list[str | None]:
    of = zip(frame["task_id"], frame["tree_id"], strict=True)
    return [renamed.get((benchmark, task_id, tree), tree) for task_id, tree in of]


def _former(store: Store) -> pl.DataFrame:
    return store.read("programs", columns=["task_id", "tree_id"]).filter(pl.col("tree_id").str.contains(FORMER))


def with_language(programs: pl.DataFrame, tasks: pl.DataFrame) -> pl.DataFrame:
    """Return programs or candidates with the language of their tasks."""
    joined = programs.join(tasks.select(*_TASK, "language"), on=_TASK, how="left", maintain_order="left")
    return joined.with_columns(pl.col("language").fill_null(Task.language))


def _renamed(programs: pl.DataFrame) -> _Renamed:
    found = programs.group_by(*_TASK, "tree_id").agg(pl.col("today").unique()).iter_rows()
    return {(benchmark, task, former): None if len(ids) > 1 else ids[0] for benchmark, task, former, ids in found}
