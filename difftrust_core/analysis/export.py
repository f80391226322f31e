"""Export a store's results as a small store without program and benchmark texts; the same bytes every time."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from difftrust_core.analysis.estimates import policies_executed, refresh_estimates
from difftrust_core.base.records import Reading
from difftrust_core.exceptions import NoStore
from difftrust_core.store.checksums import forget
from difftrust_core.store.schemas import RESULT_TABLES
from difftrust_core.store.store import PARTITIONS, SETTINGS_FILE, Settings, Store, partition_of


def export_results(store: Store, to: Path, *, n_jobs: int = 1, beside: Store | None = None) -> Store:
    """Write the results of ``store`` to the folder ``to`` and return that results store.

    It holds the results of every validity policy that the store was executed with, and those of ``beside`` under
    further policies. The stores' matrices and estimates are brought up to date first. ``to`` is new, empty, or a
    results store, which is replaced. Raises NoStore for another folder, or if nothing was executed.
    """
    for one in (store, beside) if beside else (store,):
        for validity in sorted(policies_executed(one)):
            refresh_estimates(Store.open(one.root, Reading(inputs=validity)), n_jobs=n_jobs)
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
