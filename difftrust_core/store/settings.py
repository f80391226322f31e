"""The settings of a store, and who may write to it: locks for writers, reading again for readers."""

import contextlib
import fcntl
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, TypeVar

from difftrust_core.base.files import FileState, file_state, is_plain, write_whole
from difftrust_core.base.records import Validity
from difftrust_core.exceptions import BadStore, StoreInUse, WrongUsage
from difftrust_core.store.checksums import seal_words

SETTINGS_FILE = "difftrust-store.json"
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every number in a store depends on, fixed when the store is first executed."""

    seed: int = 0
    validity: str = "reference"
    tables: tuple[str, ...] | None = None
    """The tables that are here; None: all. A results store holds a few (``schemas.RESULT_TABLES``)."""
    executed: str | None = None
    """The day on which a results store's programs ran, as 2026-11-22: copies of its files are younger."""

    def __post_init__(self) -> None:
        if self.tables is not None:
            object.__setattr__(self, "tables", tuple(self.tables))  # JSON has lists


def load_settings(root: Path) -> Settings:
    """Return the settings of the store in ``root``. Raises BadStore if they cannot be read."""
    path = root / SETTINGS_FILE
    refuse_foreign(path)
    try:
        return _load(path, file_state(path))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as e:
        raise BadStore(f"{path} is not a store of format {FORMAT} ({e}); restore it or start a new store") from None


def has_checksums(root: Path) -> bool:
    """Tell whether a store was begun with a checksum in every file: its settings have one.

    Results are no such store: the settings of those of former versions were given one later than their files.
    """
    try:
        found = json.loads((root / SETTINGS_FILE).read_bytes())
        return "sha256" in found and not found.get("tables")
    except (OSError, ValueError, TypeError, RecursionError):
        return False


@lru_cache(maxsize=16)
def _load(path: Path, state: FileState) -> Settings:
    del state
    found = json.loads(path.read_text())
    if found.pop("sha256", None) not in (None, seal_words(found)):
        raise ValueError("its checksum does not fit")
    if found.pop("format") != FORMAT:
        raise ValueError("another format")
    return Settings(**found)


def write_settings(root: Path, settings: Settings) -> None:
    """Write the settings, whole or not at all."""
    if settings.validity not in tuple(Validity):
        raise WrongUsage(f"validity is one of {', '.join(Validity)}, got {settings.validity!r}")
    content = {"format": FORMAT, **{name: value for name, value in asdict(settings).items() if value is not None}}
    if has_checksums(root) or not (root / SETTINGS_FILE).exists():  # a store begun before checksums stays one
        content["sha256"] = seal_words(content)
    write_whole(root / SETTINGS_FILE, json.dumps(content, indent=1) + "\n")


PATIENCE = 15.0
"""Seconds for the workers of a killed process to end; they look after their parent twice a second."""
WAIT = 60.0
"""Seconds for another command to end, where it is waited for."""
OnWait = Callable[[str], None] | None
SILENT_WAIT = 2.0
"""Seconds of them before a word is said."""
REREAD = 30.0
"""Seconds for which a read is begun anew because files were merged under it."""
_Read = TypeVar("_Read")


@contextlib.contextmanager
def hold(folder: Path, *, on_wait: OnWait = None) -> Iterator[None]:
    """Hold ``folder`` alone. Raises StoreInUse if another process does, BadStore if it cannot be written.

    ``on_wait``: wait a while for the other process, and call this with a line where that takes long; None: do not wait.
    """
    with _opened(folder, ".lock") as lock:
        _take(lock, folder, on_wait)
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
    refuse_foreign(folder / name)
    try:
        return (folder / name).open("a")
    except OSError as e:
        raise BadStore(f"the store {folder} cannot be written: {e.strerror}; give it room and the right to") from None


def _take(lock: IO[str], folder: Path, on_wait: OnWait) -> None:
    say_at = time.monotonic() + SILENT_WAIT
    for _ in attempts(WAIT) if on_wait else (None,):
        with contextlib.suppress(OSError):
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if on_wait and time.monotonic() > say_at:
            on_wait(f"another difftrust command writes to {folder}; waiting up to {WAIT:.0f} s for it to end")
            say_at = math.inf
    raise StoreInUse(f"another difftrust command writes to {folder}; wait until it has ended")


def _await(workers: IO[str], folder: Path) -> None:
    for _ in attempts(PATIENCE):
        with contextlib.suppress(OSError):
            return fcntl.flock(workers, fcntl.LOCK_EX | fcntl.LOCK_NB)
    raise StoreInUse(f"workers of an earlier difftrust command still write to {folder}; wait until they have ended")


def attempts(seconds: float | None = None) -> Iterator[None]:
    """Yield at once, then after growing pauses, until these seconds have passed, REREAD if not said."""
    end, pause = time.monotonic() + (REREAD if seconds is None else seconds), 0.0
    while time.monotonic() < end:
        time.sleep(pause)
        yield
        pause = min(2 * pause + 0.001, 0.1)


def while_the_same(folder: Path, read: Callable[[], _Read]) -> _Read:
    """Return what ``read`` finds in ``folder``, read again if the folder was exchanged for its merged form."""
    for _ in attempts():
        with contextlib.ExitStack() as ends:
            before = 0
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # so that no new folder gets its number
                ends.callback(os.close, held)
                before = os.fstat(held).st_ino
            found = read()
            if _number_of(folder) == before:
                return found
    raise restless(folder)


def list_files(top: Path) -> list[Path]:
    """Return the Parquet files below a folder, sorted.

    A merge empties the folder that it has exchanged. So a listing counts only if the folder that was read still has its
    name afterwards; otherwise all is listed again, or a reader would take an emptied folder for one without rows.
    """
    refuse_foreign(top)
    for _ in attempts():
        found: list[Path] = []
        errors: list[OSError] = []
        # follow_symlinks: without it, fwalk passes over a folder that is exchanged between its stat and its open.
        walk = os.fwalk(top, onerror=errors.append, follow_symlinks=True) if top.is_dir() else ()
        for folder, _, names, descriptor in walk:
            here = [Path(folder, name) for name in names]
            for path in (Path(folder), *here):
                refuse_foreign(path)
            found += [path for path in here if path.suffix == ".parquet"]
            if _number_of(Path(folder)) != os.fstat(descriptor).st_ino:
                break
        else:
            if not any(isinstance(error, FileNotFoundError) for error in errors):
                return sorted(found)
    raise restless(top)


def refuse_foreign(path: Path) -> None:
    """Refuse what leads out of a store: a link to files of others, or a pipe, which is waited for. Raises BadStore."""
    if not is_plain(path):
        found = "a symbolic link, which may lead to files of others" if path.is_symlink() else "a pipe or a device"
        raise BadStore(f"{path}: expected a file or folder of the store, found {found}; put the file or folder there")


def restless(path: Path) -> BadStore:
    """Return the error for what did not hold still."""
    return BadStore(f"{path} was changed again and again while it was read; wait until `difftrust compact` has ended")


def _number_of(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return 0
