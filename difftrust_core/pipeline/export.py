"""A store's results as a small store of their own: no program text, no benchmark text, the same bytes every time."""

import shutil
from dataclasses import replace
from pathlib import Path

from difftrust_core.exceptions import NoStore
from difftrust_core.pipeline.estimation import estimates_are_stale, refresh_estimates
from difftrust_core.schemas import RESULT_TABLES
from difftrust_core.store import PARTITIONS, SETTINGS_FILE, Store, partition_of


def export_results(store: Store, to: Path, *, n_jobs: int = 1) -> Store:
    """Write the results of ``store`` to the folder ``to`` and return that results store.

    The store's matrices and estimates are brought up to date first. ``to`` is new, empty, or a results store, which is
    replaced. Raises NoStore for another folder, or if nothing was executed.
    """
    if estimates_are_stale(store):
        with store.writing():
            refresh_estimates(store, n_jobs=n_jobs)
    if not store.files("classes"):
        raise NoStore(f"{store.root} holds no results to export; run `difftrust execute --store {store.root}`")
    _clear(to)
    made = Store.create(to)
    made.write_settings(replace(store.settings(), tables=RESULT_TABLES))
    for table in RESULT_TABLES:
        for path in store.files(table):
            frame = store.read_file(table, path)
            assert frame is not None
            where = partition_of(path, table)
            if where.get("validity", store.settings().validity) == store.settings().validity:
                made.write(table, frame, {name: where[name] for name in PARTITIONS[table]}, path.stem)
    return made


def _clear(folder: Path) -> None:
    """Remove a results store, and nothing else."""
    if (folder / SETTINGS_FILE).is_file() and Store.open(folder).settings().tables is not None:
        for name in RESULT_TABLES:
            shutil.rmtree(folder / name, ignore_errors=True)
        (folder / SETTINGS_FILE).unlink()
    elif folder.exists() and any(folder.iterdir()):
        raise NoStore(f"{folder} is there and is no results store; name a new or an empty folder")
