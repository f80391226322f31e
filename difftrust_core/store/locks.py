"""Who may write to a store, and how readers go on meanwhile: locks for writers, reading again for readers.

One process holds ``.lock``. Its workers share ``.workers`` while they write: they outlive a killed host by a moment,
and the next holder waits for that moment, so that no two runs ever write at once. The kernel releases these locks
however a process ends.
"""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TypeVar

from difftrust_core.exceptions import BadStore, StoreInUse

PATIENCE = 15.0
"""Seconds for the workers of a killed process to end; they look after their parent twice a second."""
_GLANCE = 0.05
REREAD = 30.0
"""Seconds for which a read is begun anew because files were merged under it."""
_Read = TypeVar("_Read")


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold ``folder`` alone. Raises StoreInUse if another process does, BadStore if it cannot be written."""
    with _opened(folder, ".lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreInUse(f"another difftrust command writes to {folder}; wait until it has ended") from None
        with _opened(folder, ".workers") as workers:
            _await(workers, folder)
        yield


@contextlib.contextmanager
def share(folder: Path) -> Iterator[None]:
    """Write to ``folder`` as a worker of the process that holds it: the next one to hold it waits until this ends."""
    with _opened(folder, ".workers") as workers:
        fcntl.flock(workers, fcntl.LOCK_SH)
        yield


def _opened(folder: Path, name: str) -> IO[str]:
    try:
        return (folder / name).open("a")
    except OSError as e:
        raise BadStore(f"the store {folder} cannot be written: {e.strerror}; give it room and the right to") from None


def _await(workers: IO[str], folder: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(workers, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > end:
                raise StoreInUse(
                    f"workers of an earlier difftrust command still write to {folder}; wait until they have ended"
                ) from None
            time.sleep(_GLANCE)


def attempts() -> Iterator[None]:
    """Yield at once, then after growing pauses, until the patience has ended."""
    end, pause = time.monotonic() + REREAD, 0.0
    while time.monotonic() < end:
        time.sleep(pause)
        yield
        pause = min(2 * pause + 0.001, 0.1)


def while_the_same(folder: Path, read: Callable[[], _Read]) -> _Read:
    """Return what ``read`` finds in ``folder``, read again if the folder was exchanged for its merged form."""
    for _ in attempts():
        before = _number_of(folder)
        found = read()
        if _number_of(folder) == before:
            return found
    raise restless(folder)


def list_files(top: Path) -> list[Path]:
    """Return the Parquet files below a folder, sorted.

    A merge empties the folder that it has exchanged. So a listing counts only if the folder that was read still has its
    name afterwards; otherwise all is listed again, or a reader would take an emptied folder for one without rows.
    """
    for _ in attempts():
        found: list[Path] = []
        errors: list[OSError] = []
        # follow_symlinks: without it, fwalk passes over a folder that is exchanged between its stat and its open.
        walk = os.fwalk(top, onerror=errors.append, follow_symlinks=True) if top.is_dir() else ()
        for folder, _, names, descriptor in walk:
            found += [Path(folder, name) for name in names if name.endswith(".parquet")]
            refuse_link(Path(folder))
            if _number_of(Path(folder)) != os.fstat(descriptor).st_ino:
                break
        else:
            if not any(isinstance(error, FileNotFoundError) for error in errors):
                return sorted(found)
    raise restless(top)


def refuse_link(folder: Path) -> None:
    """Refuse a folder of a table that leads elsewhere. Raises BadStore."""
    if folder.is_symlink():
        raise BadStore(
            f"{folder}: expected a folder of the store, found a symbolic link, which may lead to files of others; "
            "put the folder itself there"
        )


def restless(path: Path) -> BadStore:
    """Return the error for what did not hold still."""
    return BadStore(f"{path} was changed again and again while it was read; wait until `difftrust compact` has ended")


def _number_of(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return 0
