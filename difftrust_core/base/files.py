"""Small files written whole, the state of a file, and scratch folders that leave nothing behind."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from difftrust_core.exceptions import BadStore

PREFIX = "difftrust-scratch-"
FileState = tuple[int, ...]


def file_state(path: Path) -> FileState:
    """Return what tells a file from one written over it, whatever the clock does: bytes, nanoseconds, inode.

    Empty where there is no file.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ino


def is_plain(path: Path) -> bool:
    """Tell whether a path is a file or a folder itself, or nothing: no link, pipe or device."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def write_whole(path: Path, text: str) -> None:
    """Write a small file whole or not at all. Raises BadStore if it cannot be written."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    except OSError as e:
        raise BadStore(f"{path} could not be written: {e.strerror}; make room and run it again") from None


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
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # taken for one that was left before we opened it
            continue
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


def read_packaged(package: str | None, name: str) -> str:
    """Return the text of a file that lies beside the modules of a package, which passes its ``__package__``."""
    return resources.files(package or "").joinpath(name).read_text(encoding="utf-8")


def find_shipped(path: str, *, in_wheel: str = "", package: str = "difftrust_core") -> Path:
    """Return where a file or folder lies that comes with the project: in a wheel inside ``package``, else beside it.

    ``in_wheel``: its path inside the package, where that is another one.
    """
    folder = Path(str(resources.files(package)))
    inside = folder / (in_wheel or path)
    return inside if inside.exists() else folder.parent / path
