"""Pack an executed store into few files, texts included, that are the same bytes every time."""

import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import polars as pl

from difftrust_core.analysis.estimates import policies_executed, refresh_estimates
from difftrust_core.analysis.export import day_of
from difftrust_core.base.records import Reading
from difftrust_core.exceptions import NoStore
from difftrust_core.store.checksums import forget
from difftrust_core.store.schemas import KEYS, MEASURED, PARTITIONS, SCHEMAS
from difftrust_core.store.store import MERGED, MERGED_NAME, SETTINGS_FILE, Settings, Store, partition_of

LEFT_OUT = ("replies", "tokens", "witnesses")
"""Tables that are not packed: what was paid for stays where it is, the others are made anew or shown nowhere."""
_MERGED_FILE = f"{MERGED}packed"


def pack_store(store: Store, to: Path, *, replaceable: Collection[str], n_jobs: int = 1) -> Store:
    """Write ``store`` to the folder ``to``, one file a partition, and return that store.

    The results of every policy that it was executed with are brought up to date first. Time and memory of the
    executions are null, for they differ from run to run. ``to`` is new, empty, or a store whose candidates are all of
    the ``replaceable`` models. Raises NoStore for another folder, or if nothing was executed.
    """
    policies = sorted(policies_executed(store))
    if not policies:
        raise NoStore(f"{store.root} holds no results; run `difftrust execute --store {store.root}`")
    for validity in policies:
        refresh_estimates(Store.open(store.root, Reading(inputs=validity)), n_jobs=n_jobs)
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
    partitions = {path.parent: partition_of(path, table) for path in store.files(table)}
    for folder, values in partitions.items():
        spelled = dict(part.split("=", 1) for part in folder.relative_to(store.root / table).parts)
        where = {**values, **({"start": spelled["start"]} if "start" in spelled else {})}
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
