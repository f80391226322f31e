"""Whether one task's inputs, outcomes, behaviours and executions on one range of inputs fit together; nothing else."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from difftrust_core.exceptions import BadStore
from difftrust_core.inputs import MAX_ATTEMPTS
from difftrust_core.pipeline.findings import Finding
from difftrust_core.records import Kind
from difftrust_core.schemas import CHUNK_TABLES, KEYS
from difftrust_core.store import Store, file_name

_KINDS = {kind.name.lower() for kind in Kind}
_Frames = dict[str, pl.DataFrame]


def check_chunk(root: Path, partition: dict[str, object], task_id: str) -> list[Finding]:
    """Return what is wrong with one task's rows of one chunk."""
    store = Store(root)
    frames: _Frames = {}
    for table in CHUNK_TABLES:
        try:
            frame = store.read_task(table, partition, task_id)
        except BadStore:
            return []  # the file itself was found to be damaged
        if frame is not None:
            frames[table] = frame
    return [
        Finding(path=_path(store, table, partition, task_id), what=f"{task_id}: {what}", table=table, task_id=task_id)
        for table, what in _wrong(frames, int(str(partition["start"])))
    ]


def _path(store: Store, table: str, partition: dict[str, object], task_id: str) -> str:
    folder = store.folder(table, partition)
    own = folder / f"{file_name(task_id)}.parquet"
    return (own if own.is_file() else folder).relative_to(store.root).as_posix()


def _wrong(frames: _Frames, start: int) -> Iterator[tuple[str, str]]:
    """Yield (table, what is wrong), of each table the first thing; those after a table that is wrong are not judged."""
    # An interrupted task has the first tables and not the last, never the other way round.
    last = max(CHUNK_TABLES.index(table) for table in frames)
    for table in CHUNK_TABLES[: last + 1]:
        frame = frames.get(table)
        if frame is None:
            yield table, f"expected rows, for {CHUNK_TABLES[last]} has some; found none"
            return
        what = _flaw(table, frames, start)
        if what:
            yield table, what
            return


def _flaw(table: str, frames: _Frames, start: int) -> str:
    frame = frames[table]
    if sum(frame.null_count().row(0)):
        return "expected a value in every column, found nulls"
    if frame.select(pl.struct(KEYS[table]).is_duplicated().any()).item():
        return f"expected every ({', '.join(KEYS[table][1:])}) once, found one twice"
    checks = {"inputs": _inputs, "outcomes": _outcomes, "behaviours": _behaviours, "executions": _executions}
    return checks[table](frames, start)


def _inputs(frames: _Frames, start: int) -> str:
    inputs = frames["inputs"]
    if sorted(inputs["input_index"]) != list(range(start, start + len(inputs))):
        return f"expected the inputs from {start} on without a gap, found others"
    if not inputs["attempts"].is_between(1, MAX_ATTEMPTS + 1).all():
        return f"expected 1 to {MAX_ATTEMPTS + 1} attempts, found others"
    return ""


def _outcomes(frames: _Frames, start: int) -> str:
    outcomes = frames["outcomes"]
    counts = _counts(frames)
    if counts["input_index"].to_list() != sorted(frames["inputs"]["input_index"]):
        return "expected outcomes on each of its inputs and on no other, found otherwise"
    if not (counts["last"] == counts["len"] - 1).all():
        return "expected outcome_id 0, 1, ... on each input, found others"
    if not set(outcomes["kind"].unique()) <= _KINDS:
        return f"expected the kinds {', '.join(sorted(_KINDS))}, found others"
    if not (counts["classes"] < counts["len"]).all():
        return "expected classes below the number of outcomes, found others"
    return ""


def _counts(frames: _Frames) -> pl.DataFrame:
    """Return the outcomes on each input, by input: how many, the last id, the last class."""
    return (
        frames["outcomes"]
        .group_by("input_index")
        .agg(
            pl.len(),
            last=pl.max("outcome_id"),
            classes=pl.max_horizontal(pl.max("paper_class"), pl.max("strict_class")),
        )
        .sort("input_index")
    )


def _behaviours(frames: _Frames, start: int) -> str:
    behaviours, n = frames["behaviours"], len(frames["inputs"])
    if sorted(behaviours["behaviour_id"]) != list(range(len(behaviours))):
        return "expected behaviour_id 0, 1, ..., found others"
    if not (behaviours["outcome_ids"].list.len() == n).all():
        return f"expected outcome_ids of {n} inputs, found another number"
    ids = behaviours["outcome_ids"].explode().to_numpy().reshape(-1, n)
    if (ids >= _counts(frames)["len"].to_numpy()[None, :]).any():
        return "expected outcome_ids of outcomes, found ids that no outcome has"
    if len(np.unique(ids, axis=0)) != len(ids):
        return "expected behaviours that differ, found two alike"
    return ""


def _executions(frames: _Frames, start: int) -> str:
    executions = frames["executions"]
    if not executions["behaviour_id"].is_in(frames["behaviours"]["behaviour_id"].implode()).all():
        return "expected behaviour_ids of behaviours, found ids that no behaviour has"
    if not (executions["cpu_seconds"] >= 0).all():
        return "expected cpu_seconds of 0 or more, found others"
    return ""
