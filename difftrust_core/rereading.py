"""Reading again what was merged under the reader, until it holds still; nothing else."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from difftrust_core.exceptions import BadStore

_PATIENCE = 30.0
"""Seconds for which a read is begun anew because files were merged under it."""
_Read = TypeVar("_Read")


def attempts() -> Iterator[None]:
    """Yield at once, then after growing pauses, until the patience has ended."""
    end, pause = time.monotonic() + _PATIENCE, 0.0
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


def restless(path: Path) -> BadStore:
    """Return the error for what did not hold still."""
    return BadStore(f"{path} was changed again and again while it was read; wait until `difftrust compact` has ended")


def _number_of(folder: Path) -> int:
    try:
        return folder.stat().st_ino
    except FileNotFoundError:
        return 0
