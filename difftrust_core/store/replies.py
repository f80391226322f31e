"""The replies of a store: one JSON line each, on disk before anything else happens."""

import contextlib
import fcntl
import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from difftrust_core.exceptions import BadStore, StoreInUse
from difftrust_core.store.checksums import seal_words
from difftrust_core.store.settings import refuse_foreign
from difftrust_core.store.store import Store

FILE = "replies.jsonl"
_KINDS = {"task_id": str, "text": str, "sample_index": int}
Key = tuple[str, int]
"""Task id and sample index."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One reply as it is kept. None is unknown."""

    task_id: str
    sample_index: int
    text: str
    """The whole reply, word for word."""
    finish_reason: str | None
    reply_id: str | None
    served_model: str | None
    """What the provider calls the model that replied."""
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    price_usd_per_million: list[float] | None
    """Of prompt and completion, at which the cost was computed."""
    price_date: str | None
    prompt_hash: str
    """Of the template."""
    request_hash: str
    """Of the whole prompt."""
    max_tokens: int
    attempts: int
    """Requests made for this reply, the good one included, in the run that got it."""
    number: int = 1
    """2 for the reply that was asked for once more, because the first one was cut off or held no function."""


class ReplyFile:
    """The replies of one coder (``model`` at ``temperature``) on one benchmark, appended to and never rewritten."""

    def __init__(self, store: Store, where: dict[str, object]):
        self.where = where
        self.path = store.folder("replies", where) / FILE
        self._root = store.root
        self._handle: IO[bytes] | None = None
        self.records: dict[Key, Record] = {}
        """The reply that counts, of each task and sample."""
        self.earlier: dict[Key, Record] = {}
        """The first reply where another was asked for; it was paid too."""
        self._read()

    def paid(self) -> Iterator[Record]:
        """Iterate over all replies, those included that do not count any more."""
        yield from self.earlier.values()
        yield from self.records.values()

    @contextlib.contextmanager
    def appending(self) -> Iterator[None]:
        """Hold the file for appending; a last line that a kill tore is cut off. Raises StoreInUse, BadStore."""
        try:
            is_new = not self.path.exists()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = self.path.open("ab", buffering=0)
        except OSError as e:
            raise BadStore(f"{self.path} cannot be written: {e.strerror}; nothing was asked") from None
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StoreInUse(f"another difftrust command adds to {self.path}; wait until it has ended") from None
            if is_new:
                _keep_names(self.path, self._root)
            whole = self._read()  # what another command may have added in between
            if whole < handle.seek(0, os.SEEK_END):
                handle.truncate(whole)
                os.fsync(handle.fileno())
            self._handle = handle
            try:
                yield
            finally:
                self._handle = None

    def append(self, record: Record) -> None:
        """Write one reply and wait until it is on disk. Raises BadStore if it cannot be."""
        assert self._handle is not None
        row = asdict(record)
        line = json.dumps({**row, "sha256": seal_words(row)}).encode() + b"\n"
        end = self._handle.seek(0, os.SEEK_END)
        try:
            while line:
                line = line[self._handle.write(line) or 0 :]
            os.fsync(self._handle.fileno())
        except OSError as e:
            with contextlib.suppress(OSError):
                self._handle.truncate(end)  # half a line would spoil the next one
            raise BadStore(
                f"{self.path} cannot be written: {e.strerror}; make room and run the command again"
            ) from None
        self._take(record)

    def _take(self, record: Record) -> None:
        key = record.task_id, record.sample_index
        known = self.records.setdefault(key, record)
        if known.number != record.number:  # the first of its number counts
            earlier, self.records[key] = sorted((known, record), key=lambda record: record.number)
            self.earlier.setdefault(key, earlier)

    def _read(self) -> int:
        """Read the file, and return the length in bytes of its whole lines."""
        self.records, self.earlier = {}, {}
        refuse_foreign(self.path)
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as e:
            raise BadStore(f"{self.path} cannot be read: {e.strerror}") from None
        whole = content.rfind(b"\n") + 1  # what follows was being written when its writer was killed
        for number, line in enumerate(content[:whole].splitlines(), 1):
            self._take(_record(line, f"{self.path} line {number}"))
        return whole


def _record(line: bytes, where: str) -> Record:
    try:
        row: Any = json.loads(line)
        if row.pop("sha256", None) not in (None, seal_words(row)):
            raise _damaged(where, "the reply that was written, found another text or checksum")
        record = Record(**row)
        paid = [n for n in (record.cost_usd, record.prompt_tokens, record.completion_tokens) if n is not None]
        is_told = record.number in (1, 2) and all(isinstance(row[name], kind) for name, kind in _KINDS.items())
        if not is_told or not all(0 <= n < math.inf for n in paid):  # of nan no budget would end
            raise TypeError
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise _damaged(where, "one reply as JSON") from None
    return record


def _damaged(where: str, expected: str) -> BadStore:
    return BadStore(f"{where} is damaged: expected {expected}; restore the file or take the line out")


def _keep_names(path: Path, root: Path) -> None:
    """Bring the name of a new file, and of the folders made for it, to disk."""
    for folder in (above for above in path.parents if above.is_relative_to(root)):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
