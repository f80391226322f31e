"""Which coders' candidates differ on a witness, beside which were detected on the measured inputs."""

from collections.abc import Iterator

import polars as pl

from difftrust_core.base.records import Kind
from difftrust_core.store.store import Store

UNTELLING = tuple(kind.name.lower() for kind in (Kind.TIMEOUT, Kind.SKIPPED, Kind.MEMORY))
"""Outcomes that say nothing on a witness: it may be larger than what a program is made for."""
_CODER = ["benchmark", "model", "temperature", "task_id"]
_SCHEMA = {
    **{"benchmark": pl.String, "model": pl.String, "temperature": pl.Float64, "task_id": pl.String},
    **{"n_witnesses": pl.UInt32, "witnessed": pl.Boolean},
}
_SHARES = ("detected", "witnessed", "witnessed_only", "either")


def witnessed_tasks(store: Store, sizes: pl.DataFrame, *, equality: str) -> pl.DataFrame:
    """Return, for each row of ``sizes``, whether some two of the coder's first m candidates differ on a witness.

    ``sizes``: (benchmark, model, temperature, task_id, m), as estimates have them. The answer adds ``n_witnesses``, on
    which all of these candidates were run, and ``witnessed``; a coder and task whose programs were not run on the
    task's witnesses, or that has m < 2, is left out. Timeouts and lack of memory differ from nothing.
    """
    found = [pl.DataFrame(schema=_SCHEMA)]
    for (benchmark,), rows in sizes.group_by("benchmark", maintain_order=True):
        where = {"benchmark": benchmark, "validity": store.settings().validity}
        columns = ["task_id", "witness_index", "kind", f"{equality}_class", "trees"]
        cells = store.read("witnesses", where, columns=columns).explode("trees").rename({"trees": "tree_id"})
        if not cells.is_empty():
            found += [_of_coder(trees, cells, f"{equality}_class") for trees in _trees(store, str(benchmark), rows)]
    return pl.concat(found)


def _trees(store: Store, benchmark: str, sizes: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield for each coder the trees of its first m candidates of each task."""
    ids = ["task_id", "program_id"]
    texts = store.read("programs", {"benchmark": benchmark}, columns=[*ids, "tree_id"]).unique(ids)
    for (model, temperature), rows in sizes.group_by("model", "temperature", maintain_order=True):
        where = {"benchmark": benchmark, "model": model, "temperature": temperature}
        candidates = store.read("candidates", where, columns=[*ids, "sample_index"])
        place = pl.col("sample_index").rank("ordinal").over("task_id")
        chosen = candidates.with_columns(place=place).join(rows.select("task_id", "m"), on="task_id")
        yield (
            chosen.filter((pl.col("place") <= pl.col("m")) & (pl.col("m") > 1))
            .join(texts, on=ids)
            .select(*_CODER, "tree_id")
            .unique(maintain_order=True)
        )


def _of_coder(trees: pl.DataFrame, cells: pl.DataFrame, label: str) -> pl.DataFrame:
    telling = pl.col(label).filter(~pl.col("kind").is_in(UNTELLING))
    absent = trees.join(cells.select("task_id", "tree_id").unique(), on=["task_id", "tree_id"], how="anti")
    return (
        trees.join(absent, on="task_id", how="anti")
        .join(cells, on=["task_id", "tree_id"])
        .group_by(*_CODER, "witness_index")
        .agg(differs=telling.n_unique() > 1)
        .group_by(_CODER)
        .agg(n_witnesses=pl.len(), witnessed=pl.col("differs").any())
        .select([pl.col(name).cast(kind) for name, kind in _SCHEMA.items()])
        .sort(_CODER)
    )


def witness_table(estimates: pl.DataFrame, witnessed: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each benchmark and coder: shares of the tasks that were detected, witnessed, or both.

    ``tasks``: those with witnesses; ``witnessed_only``: not detected on the measured inputs; ``silent``: tasks with
    E > 0 that were not detected, ``silent_witnessed``: how many of these a witness shows (null without a reference).
    """
    detected, witnessed_too = pl.col("detected"), pl.col("witnessed")
    erroneous = pl.col("error").fill_nan(None) > 0
    rows = estimates.join(witnessed, on=_CODER).with_columns(
        witnessed_only=witnessed_too & ~detected,
        either=witnessed_too | detected,
        silent=erroneous & ~detected,
        silent_witnessed=erroneous & ~detected & witnessed_too,
    )
    known = pl.col("silent").is_not_null().any()
    return (
        rows.group_by("benchmark", "model", "temperature")
        .agg(
            pl.len().alias("tasks"),
            pl.col("n_witnesses").mean(),
            *[pl.col(name).mean() for name in _SHARES],
            **{name: pl.when(known).then(pl.col(name).sum()) for name in ("silent", "silent_witnessed")},
        )
        .sort("benchmark", "model", "temperature")
    )
