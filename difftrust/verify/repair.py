"""What mends a damaged store: the command that brings rows back, and damaged files moved aside."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import polars as pl

from difftrust.verify.rows import Finding
from difftrust_core.base.files import is_plain
from difftrust_core.base.records import Validity
from difftrust_core.exceptions import BadStore, DifftrustError
from difftrust_core.store.checksums import LIST_FILE, forget
from difftrust_core.store.schemas import CHUNK_TABLES, REFERENCE, RESULT_TABLES, SCHEMAS
from difftrust_core.store.settings import refuse_foreign
from difftrust_core.store.store import MERGED, MERGED_NAME, Store, partition_of

DAMAGED: Final = "damaged"
"""Folder of a store to which damaged files are moved."""
_FEW = 3
"""Commands to name at most."""
_VALIDITY = "validity="
_SOURCES: Final = ("tasks", "candidates", "programs")
_ALONE: Final = {"smallest": "smallest", "stability": "structure"}
"""Results that no others speak of -> the command that makes them."""


def with_remedies(store: Store, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings with what to run once `--repair` has moved their files aside."""
    known: dict[str, str] = {}
    for finding in findings:
        is_chunk = finding.table in CHUNK_TABLES
        place = "/".join(finding.path.split("/")[1:4]) if is_chunk else finding.table + _validity_of(finding.path)
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
        return f"difftrust export --store FULL --out {store.root}, FULL the store it was made from"
    if finding.table in CHUNK_TABLES and "start=" in finding.path:
        return " ; ".join(_executions(store, finding.path))
    if finding.table in _ALONE:
        return f"repeat the `difftrust {_ALONE[finding.table]} --store {store.root}` that made it"
    if finding.table in (*RESULT_TABLES, *CHUNK_TABLES, "tokens"):
        validity = _validity_of(finding.path)
        return f"{_execute(store, validity)}{_reach(store, validity)}"
    has_replies = any((store.root / "replies").rglob("*.jsonl"))
    return f"repeat the `difftrust {'generate` or `difftrust import' if has_replies else 'import'}` that brought it"


def _execute(store: Store, validity: str) -> str:
    """Return the command, but for its n, that executes by a policy, the store's own if none is named."""
    inputs = "" if _executed_as(store, validity) == store.settings().validity else f"--inputs {validity} "
    return f"difftrust execute --store {store.root} {inputs}-n "


def _executed_as(store: Store, validity: str) -> str:
    """Return the policy to execute by so that results by another come back: those on tests come with the store's."""
    is_named = validity in tuple(Validity) and validity != Validity.TESTS
    return validity if is_named else store.settings().validity


def _reach(store: Store, validity: str) -> int:
    """Return the inputs that every task was executed on by a policy: executing that far executes nothing new."""
    try:
        inputs = store.read("inputs").filter(validity=_executed_as(store, validity))
        counts = inputs.group_by("benchmark", "task_id").agg(pl.len())["len"]
    except DifftrustError:
        return 1
    return int(counts.min() or 1)  # type: ignore[arg-type]


def _executions(store: Store, path: str) -> list[str]:
    """Return the commands that execute one chunk again: of everybody, or of the coders that had met it."""
    parts = path.split("/")[1:4]
    where = partition_of(Path(*parts), "inputs")
    validity = str(where["validity"])
    command = _execute(store, validity)
    if validity == Validity.TESTS != store.settings().validity:
        return [f"{command}{_reach(store, validity)}"]
    try:
        inputs = _readable(store, "inputs", where)
        end = int(inputs["input_index"].max() or 0) + 1  # type: ignore[arg-type]
        coders = _who(store, where)
    except (DifftrustError, OSError):
        end, coders = 1, []
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


def move_aside(store: Store, findings: Iterable[Finding]) -> list[str]:
    """Move the files of these findings to ``damaged`` and return their names; replies, which were paid for, stay.

    Missing files are no longer expected afterwards. The order is such that a kill leaves a store that can be repaired.
    """
    found = [finding for finding in findings if finding.table != "replies"]
    if any(finding.table in _SOURCES and finding.path.endswith(".parquet") for finding in found):
        # What is wrong with whole tables may come from these files alone, and be right once they are back.
        found = [finding for finding in found if finding.path not in (*_SOURCES, "executions")]
    names = {name for finding in found for name in _affected(store, finding)}
    forget(store.root, names)
    # What speaks of other files goes before them.
    order = {table: -place for place, table in enumerate(CHUNK_TABLES)}
    in_order = sorted(names, key=lambda name: (order.get(table_of(name), 0), name))
    root = store.root.resolve()  # what a link leads to is not the store's
    within = [name for name in in_order if (store.root / name).parent.resolve().is_relative_to(root)]
    moved = [name for name in within if (store.root / name).is_file() or not is_plain(store.root / name)]
    refuse_foreign(store.root / DAMAGED)
    policies = {_validity_of(name) for name in names if table_of(name) in {*RESULT_TABLES, *CHUNK_TABLES} - {*_ALONE}}
    fingerprints = [path for path in (store.root / "estimates").glob("*.fingerprint") if {path.stem, ""} & policies]
    for path in fingerprints:
        path.unlink(missing_ok=True)  # so that the next `execute` makes the results anew
    for name in moved:
        to = _free(store.root / DAMAGED / name)
        to.parent.mkdir(parents=True, exist_ok=True)
        (store.root / name).rename(to)
    return sorted(moved)


def _validity_of(name: str) -> str:
    """Return the policy that a path names, the empty text if it names none."""
    return next((part.removeprefix(_VALIDITY) for part in name.split("/") if part.startswith(_VALIDITY)), "")


def table_of(name: str) -> str:
    """Return the table that a file belongs to."""
    return name.partition("/")[0]


def _affected(store: Store, finding: Finding) -> Iterator[str]:
    path = store.root / finding.path
    if finding.path == LIST_FILE or not finding.table or (path.suffix != ".parquet" and not is_plain(path)):
        yield finding.path
        return
    _, _, below = finding.path.partition("/")
    for table in _dependents(finding.table):
        if table in CHUNK_TABLES and "start=" in finding.path:
            if path.suffix == ".parquet" and path.name[0] != MERGED:
                yield f"{table}/{below}"
            else:  # a merged file: whose rows speak of it cannot be told apart
                folder = store.root / table / below
                yield from _all_of(store, folder if folder.suffix != ".parquet" else folder.parent)
        elif path.suffix == ".parquet" and table == finding.table:
            yield finding.path
        elif finding.table in RESULT_TABLES or path.is_dir():
            policy = _validity_of(finding.path)
            names = _all_of(store, store.root / table)
            yield from (name for name in names if not policy or _validity_of(name) == policy)


def _dependents(table: str) -> tuple[str, ...]:
    """Return the tables whose rows speak of those of ``table`` within a chunk or a benchmark, itself first."""
    if table in CHUNK_TABLES:
        return CHUNK_TABLES[CHUNK_TABLES.index(table) :]
    if table in _ALONE or table not in RESULT_TABLES:
        return (table,)
    return tuple(name for name in RESULT_TABLES if name != "stability")


def _all_of(store: Store, folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet" or path.name == MERGED_NAME:
            yield path.relative_to(store.root).as_posix()


def _free(path: Path) -> Path:
    """Return the path, with a number where something was moved there before."""
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}.{number}")
    return found
