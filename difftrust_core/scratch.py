"""Folders for the time of a piece of work, which also go where its process is killed; and nothing else."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "difftrust-scratch-"


@contextlib.contextmanager
def scratch_folder(where: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder that is ours alone, in ``where`` or the system's place for such; remove it afterwards.

    First those are removed whose process was killed. Whoever works in one holds a lock on it, which the kernel
    releases whatever happens. Raises OSError where none can be made.
    """
    place = where or Path(tempfile.gettempdir())
    _remove_left_ones(place)
    folder, lock = _locked(place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked(place: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(OSError):  # a file system without locks: nobody then removes what is left, either
            fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)  # taken for one that was left before we held it


def _remove_left_ones(place: Path) -> None:
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # in use, another user's, or removed by somebody else just now
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder)
            finally:
                os.close(lock)
