"""Results as a store of their own: small, without texts, or in few files with them; the same bytes every time."""

import shutil
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from difftrust_core.base.records import Reading
from difftrust_core.estimates.refresh import policies_executed, refresh_estimates
from difftrust_core.exceptions import NoStore
from difftrust_core.store.checksums import forget
from difftrust_core.store.schemas import KEYS, MEASURED, PARTITIONS, RESULT_TABLES, SCHEMAS
from difftrust_core.store.store import MERGED, MERGED_NAME, SETTINGS_FILE, Settings, Store, partition_of


def export_results(store: Store, to: Path, *, n_jobs: int = 1, beside: Store | None = None) -> Store:
    """Write the results of ``store`` to the folder ``to`` and return that results store.

    It holds the results of every validity policy that the store was executed with, and those of ``beside`` under
    further policies. The stores' matrices and estimates are brought up to date first. ``to`` is new, empty, or a
    results store, which is replaced. Raises NoStore for another folder, or if nothing was executed.
    """
    for one in (store, beside) if beside else (store,):
        _refreshed(one, n_jobs)
    if not store.files("classes"):
        raise NoStore(f"{store.root} holds no results to export; run `difftrust execute --store {store.root}`")
    made = _results_store(to, replace(store.settings(), tables=RESULT_TABLES, executed=day_of(store)))
    with made.writing():
        for table in RESULT_TABLES:
            shutil.rmtree(made.root / table, ignore_errors=True)
        _copy(store, made, {})
        if beside:
            own = {partition_of(path, "classes")["validity"] for path in store.files("classes")}
            _copy(beside, made, dict.fromkeys(own))
    return made


def _refreshed(store: Store, n_jobs: int) -> list[str]:
    """Bring the estimates of every policy that a store was executed with up to date; return the policies."""
    policies = sorted(policies_executed(store))
    for validity in policies:
        refresh_estimates(Store.open(store.root, Reading(inputs=validity)), n_jobs=n_jobs)
    return policies


def megabytes(folder: Path) -> float:
    """Return how much the files of a folder hold."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def day_of(store: Store) -> str | None:
    """Return the day on which the store's newest execution was written; None for a store without."""
    written = [path.stat().st_mtime for path in store.files("executions")]
    return f"{datetime.fromtimestamp(max(written), tz=UTC):%Y-%m-%d}" if written else store.settings().executed


def _copy(store: Store, to: Store, left_out: Mapping[str, None]) -> None:
    """Write the result tables of a store to another; with ``left_out`` only those of other policies."""
    for table in RESULT_TABLES:
        for path in store.files(table):
            where = partition_of(path, table)
            if left_out and where.get("validity", next(iter(left_out))) in left_out:
                continue
            frame = store.read_file(table, path)
            assert frame is not None
            to.write(table, frame, {name: where[name] for name in PARTITIONS[table]}, path.stem)


def _results_store(folder: Path, settings: Settings) -> Store:
    """Make an empty results store, or take the one that is there; a kill leaves one that can be taken again."""
    is_there = (folder / SETTINGS_FILE).is_file()
    if Store.open(folder).settings().tables is None if is_there else not Store.may_be_made(folder):
        raise NoStore(f"{folder} is there and is no results store; name a new or an empty folder")
    if is_there:
        forget(folder)
    store = Store.create(folder, settings)
    store.write_settings(settings)
    return store


LEFT_OUT = ("replies", "tokens")
"""Tables that are not packed: what was paid for stays where it is, tokens are counted anew."""
_MERGED_FILE = f"{MERGED}packed"


def pack_store(store: Store, to: Path, *, replaceable: Collection[str], n_jobs: int = 1) -> Store:
    """Write ``store`` to the folder ``to``, one file a partition, and return that store.

    The results of every policy that it was executed with are brought up to date first. Time and memory of the
    executions are null, for they differ from run to run. ``to`` is new, empty, or a store whose candidates are all of
    the ``replaceable`` models. Raises NoStore for another folder, or if nothing was executed.
    """
    policies = _refreshed(store, n_jobs)
    if not policies:
        raise NoStore(f"{store.root} holds no results; run `difftrust execute --store {store.root}`")
    made = _emptied(to, replace(store.settings(), tables=None, executed=day_of(store)), replaceable)
    with made.writing():
        for table in PARTITIONS:
            if table not in LEFT_OUT:
                _pack(store, made, table)
        for validity in policies:
            name = f"estimates/{validity}.fingerprint"
            shutil.copyfile(store.root / name, made.root / name)
    return made


def _pack(store: Store, to: Store, table: str) -> None:
    """Write the rows of each partition of a table as one file, which is a merged one where tasks have files."""
    for folder in sorted({path.parent for path in store.files(table)}):
        where = partition_of(folder, table)
        rows = store.read(table, where).select(SCHEMAS[table].keys()).unique(KEYS[table]).sort(KEYS[table])
        if table == "executions":
            rows = rows.with_columns([pl.lit(None, dtype=SCHEMAS[table][name]).alias(name) for name in MEASURED])
        has_task_files = "start" in where
        path = to.write(table, rows, where, _MERGED_FILE if has_task_files else table)
        if has_task_files:
            (path.parent / MERGED_NAME).write_text(path.name)


def _emptied(folder: Path, settings: Settings, replaceable: Collection[str]) -> Store:
    """Make an empty store, or empty the one that is there."""
    if not (folder / SETTINGS_FILE).is_file():
        return Store.create(folder, settings)
    found = Store.open(folder)
    models = set(found.read("candidates", columns=[])["model"]) if found.settings().tables is None else {"results"}
    if not models <= set(replaceable):
        raise NoStore(f"{folder} is there and holds what would be lost; name a new or an empty folder")
    forget(folder)
    with found.writing():
        for table in PARTITIONS:
            shutil.rmtree(folder / table, ignore_errors=True)
    found.write_settings(settings)
    return found
