"""Who may write to a folder, decided by locks that the kernel releases whatever happens; and nothing else.

One process holds ``.lock``. Its workers share ``.workers`` while they write: they outlive a killed host by a moment,
and the next holder waits for that moment, so that no two runs ever write at once.
"""

import contextlib
import fcntl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from difftrust_core.exceptions import BadStore, StoreInUse

_PATIENCE = 15.0
"""Seconds for the workers of a killed process to end; they look after their parent twice a second."""
_GLANCE = 0.05


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
    """Write to ``folder`` beside the other workers of the process that holds it."""
    with _opened(folder, ".workers") as workers:
        fcntl.flock(workers, fcntl.LOCK_SH)
        yield


def _opened(folder: Path, name: str) -> IO[str]:
    try:
        return (folder / name).open("a")
    except OSError as e:
        raise BadStore(f"the store {folder} cannot be written: {e.strerror}; give it room and the right to") from None


def _await(workers: IO[str], folder: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(workers, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > end:
                raise StoreInUse(
                    f"workers of an earlier difftrust command still write to {folder}; wait until they have ended"
                ) from None
            time.sleep(_GLANCE)
