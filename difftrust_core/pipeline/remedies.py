"""Which command brings back what is wrong in a store; and nothing else."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from difftrust_core.exceptions import BadStore, DifftrustError
from difftrust_core.pipeline.findings import Finding
from difftrust_core.schemas import CHUNK_TABLES, REFERENCE, RESULT_TABLES, SCHEMAS
from difftrust_core.seals import LIST_FILE
from difftrust_core.store import Store, partition_of

_FEW = 3
"""Commands to name at most."""


def with_remedies(store: Store, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings with what to run once `--repair` has moved their files aside."""
    known: dict[str, str] = {}
    for finding in findings:
        place = "/".join(finding.path.split("/")[1:4]) if finding.table in CHUNK_TABLES else finding.table
        if place not in known:
            known[place] = _remedy(store, finding)
        yield replace(finding, remedy=known[place])


def _remedy(store: Store, finding: Finding) -> str:
    if not finding.table:
        is_list = finding.path == LIST_FILE
        return "any command that writes to the store makes it anew" if is_list else "no command; it is not the store's"
    if finding.table == "replies":
        return "take the line out and repeat the `difftrust generate` that asked for it, or restore the file"
    if store.settings().tables is not None:
        return f"difftrust export --store FULL --to {store.root}, FULL the store it was made from"
    if finding.table in CHUNK_TABLES and "start=" in finding.path:
        return " ; ".join(_executions(store, finding.path))
    if finding.table in (*RESULT_TABLES, *CHUNK_TABLES, "tokens"):
        return f"difftrust execute --store {store.root} -n {_reach(store)}"
    has_replies = any((store.root / "replies").rglob("*.jsonl"))
    return f"repeat the `difftrust {'generate` or `difftrust import' if has_replies else 'import'}` that brought it"


def _reach(store: Store) -> int:
    """Return the inputs that every task was executed on: executing that far executes nothing new."""
    try:
        counts = store.read("inputs").group_by("benchmark", "task_id").agg(pl.len())["len"]
    except DifftrustError:
        return 1
    return int(counts.min() or 1)  # type: ignore[arg-type]


def _executions(store: Store, path: str) -> list[str]:
    """Return the commands that execute one chunk again: of everybody, or of the coders that had met it."""
    parts = path.split("/")[1:4]
    where = partition_of(Path(*parts), "inputs")
    where["start"] = f"{where['start']:06d}"
    command = f"difftrust execute --store {store.root} -n "
    try:
        inputs = _readable(store, "inputs", where)
        end = int(inputs["input_index"].max() or 0) + 1  # type: ignore[arg-type]
        coders = [] if int(where["start"]) == 0 else _who(store, where)
    except (DifftrustError, OSError):
        return [f"{command}N, N as before"]
    if end == 1:
        return [f"{command}N, N as before"]
    if not coders or len(coders) > _FEW:
        return [f"{command}{end}"]
    return [f"{command}{end} --model {unquote(model)} --temperature {t}" for model, t in coders]


def _readable(store: Store, table: str, where: dict[str, object]) -> pl.DataFrame:
    """Return the rows of the files that are not damaged."""
    frames = [pl.DataFrame(schema=SCHEMAS[table])]
    for path in store.files(table, where):
        with contextlib.suppress(BadStore):
            frame = store.read_file(table, path)
            frames += [] if frame is None else [frame]
    return pl.concat(frames)


def _who(store: Store, where: dict[str, object]) -> list[tuple[str, float]]:
    """Return the coders all of whose programs met the chunk, on the tasks that have it; none if all of them did."""
    met = _readable(store, "executions", where).select("task_id", "tree_id").unique()
    met = met.filter(pl.col("tree_id") != REFERENCE).with_columns(met=True)
    benchmark = {"benchmark": where["benchmark"]}
    trees = store.read("programs", benchmark).select("task_id", "program_id", "tree_id").unique()
    programs = store.read("candidates", benchmark).join(trees, on=["task_id", "program_id"])
    programs = programs.join(met.select("task_id").unique(), on="task_id", how="semi")
    shares = (
        programs.join(met, on=["task_id", "tree_id"], how="left")
        .group_by("model", "temperature")
        .agg(pl.col("met").fill_null(value=False).all())
        .sort("model", "temperature")
    )
    return [] if shares["met"].all() else list(shares.filter("met").select("model", "temperature").iter_rows())
