"""Merge the small files of each partition into one, which readers see whole or not at all.

The merged file is made in a folder of its own, together with a note of its name, and that folder and the partition's
are then exchanged in one step of the file system. A kill leaves either; what the other holds is thrown away by the next
writer. Later rows lie in files beside the merged one until the next merge.
"""

import ctypes
import ctypes.util
import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from difftrust_core.base.progress import Progress
from difftrust_core.exceptions import BadStore, DifftrustError
from difftrust_core.store.checksums import BLANK, forget, read_list, seal, why_not_written, write_list
from difftrust_core.store.schemas import CHUNK_TABLES, KEYS
from difftrust_core.store.store import MERGED, MERGED_NAME, SCRATCH, Store

_MERGEABLE = (*CHUNK_TABLES, "programs", "tokens")
_ROWS = {"behaviours": 64}
_OTHER_ROWS = 16_384
"""Rows of a row group, small enough that one task is read without the others; a row of behaviours is a long list."""
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def merge_files(store: Store) -> tuple[int, int]:
    """Merge the files of every partition that has several, and return how many files there were and are.

    Readers go on meanwhile. Rows are sorted by their keys.

    Raises StoreInUse if another process writes, BadStore if a file is damaged or the disk is full, DifftrustError if
    the file system cannot exchange two folders.
    """
    with store.writing():
        before = len(store.names())
        folders = list(_folders(store))
        with Progress(folders, unit="folder", desc="compact", delay=1) as bar:
            for table, folder in bar:
                _merge(store, table, folder)
        return before, len(store.names())


def _folders(store: Store) -> Iterator[tuple[str, Path]]:
    for table in _MERGEABLE:
        if store.holds(table):
            for folder in sorted({path.parent for path in store.files(table)}):
                if len(list(folder.glob("*.parquet"))) > 1:
                    yield table, folder


def _merge(store: Store, table: str, folder: Path) -> None:
    paths = sorted(folder.glob("*.parquet"))
    names = [path.relative_to(store.root).as_posix() for path in paths]
    made = store.root / SCRATCH / folder.relative_to(store.root)
    merged = f"{MERGED}{_digest(paths)}.parquet"
    try:
        made.mkdir(parents=True)
        frames = [pl.scan_parquet(path, hive_partitioning=False, glob=False) for path in paths]
        rows = pl.concat(frames, how="diagonal").sort(KEYS[table], maintain_order=True)
        rows.sink_parquet(
            made / merged,
            compression="zstd",
            compression_level=9,
            row_group_size=_ROWS.get(table, _OTHER_ROWS),
            metadata=BLANK,
        )
        seal(made / merged, (folder / merged).relative_to(store.root).as_posix())
        (made / MERGED_NAME).write_text(merged)
        forget(store.root, names)
        try:
            exchange_folders(made, folder)
        except (OSError, DifftrustError):
            write_list(store.root, read_list(store.root).union(names))
            raise
    except (OSError, pl.exceptions.PolarsError) as e:
        why = why_not_written(e, store.root)
        raise BadStore(f"{folder} could not be merged: {why}; it is as before, verify it or make room") from None
    finally:
        shutil.rmtree(store.root / SCRATCH, ignore_errors=True)


def _digest(paths: list[Path]) -> str:
    """Return a name for what is merged: another for other rows."""
    digest = hashlib.blake2b(digest_size=8)
    for path in paths:
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def exchange_folders(one: Path, other: Path) -> None:
    """Exchange two folders in one step, so that each name leads to one of them at every moment."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        raise DifftrustError("merging needs Linux (renameat2), this system has none; the store is as before")
    words = os.fsencode(one), os.fsencode(other)
    if libc.renameat2(_AT_FDCWD, words[0], _AT_FDCWD, words[1], _RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        if number in (errno.EINVAL, errno.ENOSYS):
            raise DifftrustError(
                f"merging needs a file system that can exchange two folders, that of {other} cannot; "
                "the store is as before, copy it to a local disk"
            )
        raise OSError(number, os.strerror(number))
