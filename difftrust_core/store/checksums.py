"""Checksums inside the files of a store, and the list of their names: its manifest.

The manifest must never disagree with the files because of a kill, so it is not beside them but in them: the metadata of
every Parquet file holds the SHA-256 of the file's path below the store's root and of all its bytes (these 64 characters
taken as zeros), put there before the file gets its name. One rename thus brings rows and checksum at once; nothing is
written twice, no file comes on top, and the same rows give the same bytes. It finds flipped bits, cut files, and files
that lie elsewhere than where they were written. What is absent is told by ``difftrust-files.txt``: the names of all
files there were when a command last came to its end. It may lack a name (its file speaks for itself), and it never has
one too many: names leave it before their files do. Settings, this list and each line of replies carry their checksums
as text. Files without one, from before there were any, are read like others.
"""

import contextlib
import errno
import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import polars as pl

from difftrust_core.base.files import is_plain, write_whole

LIST_FILE: Final = "difftrust-files.txt"
ROOM_FILE: Final = ".room.tmp"
"""What a command that writes keeps the room for the list with."""
LISTED: Final = frozenset({".parquet", ".jsonl"})
_KEY: Final = "difftrust-sha256"
_ZEROS: Final = "0" * 64
BLANK: Final = {_KEY: _ZEROS}
"""Metadata of a file that is to be sealed."""
_NO_ROOM: Final = 1 << 16
"""Bytes that are as good as none."""
_NEW_NAMES: Final = 1 << 14
"""Bytes that the list may grow by where the disk is full: names of 150 files."""
_LONGEST_TAIL: Final = 4096
"""Bytes of a file's end within which the checksum lies: after it come the writer's name and a few numbers a column."""


def seal(path: Path, name: str) -> None:
    """Write the checksum into a file that was written with ``BLANK`` and will be called ``name``."""
    with path.open("r+b") as file:
        content = file.read()
        at = _place(content)
        assert content[at : at + 64] == _ZEROS.encode()
        file.seek(at)
        file.write(_digest(content, at, name).encode())


def is_whole(content: bytes, name: str) -> bool | None:
    """Tell whether a file's content is what was written under ``name``; None if it has no checksum.

    Raises ValueError if it is no Parquet file.
    """
    if content[:4] != b"PAR1" or content[-4:] != b"PAR1":
        raise ValueError("it does not begin and end like a Parquet file")
    at = _place(content)
    if at < 64:
        return None if _has_no_words(content) else False
    return content[at : at + 64] == _digest(content, at, name).encode()


def _place(content: bytes) -> int:
    """Return where the checksum begins, or less than 64. The last such word: texts in a file may hold others."""
    start = max(0, len(content) - _LONGEST_TAIL)
    return content.rfind(_KEY.encode(), start) + len(_KEY) + 2  # a byte of kind, a length


def _digest(content: bytes, at: int, name: str) -> str:
    digest = hashlib.sha256(f"{name}\0".encode())
    whole = memoryview(content)
    for part in (whole[:at], _ZEROS.encode(), whole[at + 64 :]):
        digest.update(part)
    return digest.hexdigest()


def _has_no_words(content: bytes) -> bool:
    """Tell whether a file without a checksum never had one: in one that had, the checksum's own name is damaged."""
    try:
        return set(pl.read_parquet_metadata(io.BytesIO(content))) <= {"ARROW:schema"}
    except (pl.exceptions.PolarsError, OSError):
        return False


def seal_words(content: object) -> str:
    """Return the checksum of a record of plain values, in the order in which it is written."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def why_not_written(error: Exception, folder: Path) -> str:
    """Return why a file in ``folder`` could not be written: of a full disk polars says many things."""
    try:
        is_full = shutil.disk_usage(folder).free < _NO_ROOM
    except OSError:
        is_full = False
    return os.strerror(errno.ENOSPC) if is_full else str(error).splitlines()[0]


def read_list(root: Path) -> set[str]:
    """Return the names in a store's list, none where there is no list or a damaged one."""
    return sound_list(root) or set()


def write_list(root: Path, names: Iterable[str]) -> None:
    """Write the list, if it changes."""
    lines = "".join(f"{name}\n" for name in sorted(names))
    text = f"{seal_words(lines)}\n{lines}"
    path = root / LIST_FILE
    if not path.is_file() or path.read_bytes() != text.encode():
        write_whole(path, text)


@contextlib.contextmanager
def room_for_list(root: Path) -> Iterator[None]:
    """Keep as much room as the list will take, where there is so much: a disk may be full afterwards."""
    kept = root / ROOM_FILE
    try:
        with contextlib.suppress(OSError), kept.open("xb") as file:
            size = (root / LIST_FILE).stat().st_size if (root / LIST_FILE).is_file() else 0
            os.posix_fallocate(file.fileno(), 0, size + _NEW_NAMES)
        yield
    finally:
        with contextlib.suppress(OSError):  # as on a disk that is read only, where there is none
            kept.unlink()


def forget(root: Path, names: Iterable[str] | None = None) -> None:
    """Take names, or all of them, off the list of a store whose files are about to go."""
    if (root / LIST_FILE).is_file():
        write_list(root, set() if names is None else read_list(root).difference(names))


def sound_list(root: Path) -> set[str] | None:
    """Return the names in a store's list, None where its checksum does not fit them."""
    if not is_plain(root / LIST_FILE):
        return None
    try:
        checksum, _, lines = (root / LIST_FILE).read_bytes().decode().partition("\n")
    except FileNotFoundError:
        return set()
    except (OSError, UnicodeDecodeError):
        return None
    return set(lines.splitlines()) if checksum == seal_words(lines) else None
