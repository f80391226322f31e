"""What a program prints, kept up to a limit; runs inside the sandbox, standard library only."""

import hashlib
import io
from typing import Any

MAX_PRINTED = 10_000
"""Characters that are kept of one call; of more than these only a digest."""
_new_digest, _len = hashlib.blake2b, len


class Printed(io.TextIOBase):
    """Standard output of the calls: ``take`` returns what was written since it was last asked."""

    encoding, errors = "utf-8", "strict"

    def __init__(self, keeps: bool = True) -> None:
        self._keeps = keeps
        self.buffer = _Bytes(self)
        self._start()

    def _start(self) -> None:
        self._parts: list[str] = []
        self._room, self._count, self._rest = MAX_PRINTED, 0, _new_digest(digest_size=8)

    def write(self, text: str) -> int:
        """Keep a text, or what it adds to the digest."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self._keeps and text:
            kept = str.__getitem__(text, slice(self._room))
            rest = str.__getitem__(text, slice(_len(kept), None))
            self._parts.append(kept) if kept else None
            self._room -= _len(kept)
            self._count += _len(rest)
            self._rest.update(rest.encode("utf-8", "backslashreplace")) if rest else None
        return _len(text)

    def take(self) -> str:
        """Return what was written, and be empty again."""
        if not self._parts:
            return ""
        text = "".join(self._parts)
        if self._count:
            text += f"… {self._count} more characters #{self._rest.hexdigest()}"
        self._start()
        return text

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Stay open: the next call prints here too."""

    def fileno(self) -> int:
        """Return the descriptor of standard output, which leads nowhere."""
        return 1


class _Bytes(io.RawIOBase):
    """``sys.stdout.buffer``."""

    def __init__(self, out: Any):
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._out.write(bytes(data).decode("utf-8", "backslashreplace"))
        return _len(data)

    def close(self) -> None:
        pass
