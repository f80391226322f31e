"""Read files of unknown origin within bounds: what is packed may stand for a thousand times its size."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

MOST_UNPACKED: Final = 32 * 2**20
"""Bytes that any packed file may unpack to."""
RATIO: Final = 100
"""So many times its size a larger one may unpack to; samples of models at temperature 0.2 reach 62."""
LONGEST_LINE: Final = 16 * 2**20
"""Bytes of a line of a packed file."""
MOST_VALUES: Final = 1_000_000
"""Values in one JSON text: an empty list of two characters takes 64 bytes in memory."""
MAX_CODE: Final = 64 * 2**10
"""Bytes of one candidate: four times the longest recorded one, and what judges of contests take."""
ROW: Final = 256
"""Bytes that a line or row counts beside its own: millions of empty ones take memory and time too."""
_GZIP = b"\x1f\x8b"
_UNPACKED: Final = f" unpacked, {ROW} for each line included (a plain file may have more)"
_TROUBLE = (OSError, EOFError, zlib.error)
_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TEXT, _BYTES = re.compile(_QUOTED, re.DOTALL), re.compile(_QUOTED.encode(), re.DOTALL)


class Unreadable(Exception):
    """A file that cannot be read on; says what was expected and what was found."""


def most_unpacked(path: Path) -> int:
    """Return how many bytes a packed file may unpack to."""
    return max(MOST_UNPACKED, RATIO * path.stat().st_size)


def read_all(path: Path, *, most: int) -> bytes:
    """Return the content of a file, unpacked if it is gzip. Raises Unreadable, also for more than ``most`` bytes."""
    try:
        with _opened(path) as (source, is_packed):
            most = min(most, most_unpacked(path)) if is_packed else most
            data = source.read(most + 1)
    except _TROUBLE as e:
        raise _reason(e) from None
    if len(data) > most:
        raise Unreadable(f"expected at most {most:,} bytes{_UNPACKED if is_packed else ''}, found more")
    return data


def read_lines(path: Path, *, longest: int, most: int = 2**62) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of each line of a file, plain or gzip; one line is in memory at a time.

    Raises Unreadable, also for a line of more than ``longest`` bytes and for more than ``most`` bytes in all.
    """
    number = 0
    try:
        with _opened(path) as (source, is_packed):
            if is_packed:
                longest, most = min(longest, LONGEST_LINE), min(most, most_unpacked(path))
            left = most
            while line := source.readline(min(longest, left) + 1):
                number, left = number + 1, left - len(line) - (ROW if is_packed else 0)
                if len(line) > longest:
                    raise Unreadable(f"expected at most {longest:,} bytes in line {number}, found more")
                if left < 0:
                    raise Unreadable(f"expected at most {most:,} bytes{_UNPACKED if is_packed else ''}, found more")
                yield number, line
    except _TROUBLE as e:
        raise _reason(e, number) from None


def read_json(text: bytes | str) -> Any:
    """Return the value of a JSON text. Raises ValueError, also for more than MOST_VALUES values, or RecursionError."""
    if _n_marks(text) > MOST_VALUES:
        bare = _TEXT.sub("", text) if isinstance(text, str) else _BYTES.sub(b"", text)
        if _n_marks(bare) > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values")
    return json.loads(text)


def _n_marks(text: bytes | str) -> int:
    if isinstance(text, str):
        return sum(map(text.count, "[{,:"))
    return sum(map(text.count, (b"[", b"{", b",", b":")))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, bool]]:
    with path.open("rb") as raw:
        is_packed = raw.read(2) == _GZIP
        raw.seek(0)
        yield (cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if is_packed else raw), is_packed


def _reason(error: Exception, number: int = 0) -> Unreadable:
    """Return what to raise for an error of the file system, or for damage after line ``number``."""
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return Unreadable(f"expected a readable file, found: {error.strerror or error}")
    where = f" after line {number}" if number else ""
    return Unreadable(f"expected a whole gzip file, found damage{where} ({error})")
