"""Standard input and output of one run, in memory, under every name by which programs reach them.

Runs inside the sandbox, standard library only. ``sys.stdin`` and ``sys.stdout`` are the interpreter's own text and
buffer layers above two raw streams of ours, so that what is buffered, and what is lost where a program leaves without
flushing, is as it would be outside. ``open(0)``, ``os.read(0, n)``, ``os.write(1, ...)`` and ``os.fstat(0)`` lead to
the same bytes.
"""

import errno
import io
import os
import stat
from typing import Any, Never

MAX_OUTPUT = 16 << 20
"""Bytes that one run may write; a longer output is not a value."""
_BLANKS = " \t\r\v\f"
_BY_PATH = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/proc/self/fd/0": 0, "/proc/self/fd/1": 1}
_bytes, _len, _type = bytes, len, type
_Text: Any = io.TextIOWrapper
_Reader: Any = io.BufferedReader
_Writer: Any = io.BufferedWriter
_open, _read, _write, _fstat, _exit = io.open, os.read, os.write, os.fstat, os._exit
_stat_result = os.stat_result


class Left(BaseException):
    """The program called ``os._exit``."""


class Streams:
    """The streams of one run: ``text`` is what was written, ``status`` what ``os._exit`` was called with."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0
        self._parts: list[bytes] = []
        self._room = MAX_OUTPUT
        self.is_too_long = False
        self.status: Any = None
        self.has_left = False
        # As the interpreter makes them for a pipe.
        self.stdin = self.open(0, "r", errors="surrogateescape")
        self.stdout = self.open(1, "w", errors="strict")
        self.stderr = self.open(2, "w", errors="backslashreplace")

    def open(
        self, number: int, mode: str, buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None
    ) -> Any:
        """Return what ``open`` makes of a descriptor. Raises OSError if it is not open that way."""
        wants_input = "r" in mode and "+" not in mode
        if wants_input != (number == 0):
            raise OSError(errno.EBADF, "Bad file descriptor")
        raw: Any = _Input(self) if number == 0 else _Output(self, number)
        if buffering == 0:
            return raw
        buffered: Any = _Reader(raw) if number == 0 else _Writer(raw)
        if "b" in mode:
            return buffered
        made = _Text(buffered, encoding=encoding or "utf-8", errors=errors, newline=newline)
        made.mode = mode
        return made

    def read(self, count: int) -> bytes:
        """Return the next bytes of the input; all that are left for a negative count."""
        at = self._at
        self._at = _len(self._data) if count < 0 else min(at + count, _len(self._data))
        return self._data[at : self._at]

    def size(self) -> int:
        """Return the length of the whole input in bytes."""
        return _len(self._data)

    def write(self, number: int, data: bytes) -> int:
        """Keep what is written to standard output. Raises OSError beyond MAX_OUTPUT."""
        if number == 1 and not self.has_left:
            if _len(data) > self._room:
                self.is_too_long = True
                raise OSError(errno.EFBIG, "File too large")
            self._room -= _len(data)
            self._parts.append(data)
        return _len(data)

    def text(self) -> str:
        """Return the output, trimmed."""
        return trimmed(b"".join(self._parts).decode("utf-8", "replace"))


class _Input(io.RawIOBase):
    """Standard input as a raw stream."""

    name, mode, closefd = "<stdin>", "rb", False

    def __init__(self, streams: Streams):
        self._streams = streams

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._streams.read(_len(buffer))
        buffer[: _len(part)] = part
        return _len(part)

    def readall(self) -> bytes:
        return self._streams.read(-1)

    def fileno(self) -> int:
        return 0


class _Output(io.RawIOBase):
    """Standard output, or error, as a raw stream."""

    name, mode, closefd = "<stdout>", "wb", False

    def __init__(self, streams: Streams, number: int):
        self._streams, self._number = streams, number

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._streams.write(self._number, _bytes(data))

    def fileno(self) -> int:
        return self._number


def trimmed(text: str) -> str:
    """Return a text without blanks at the ends of its lines and without empty lines at its end."""
    if " \n" in text or any(blank in text for blank in "\t\r\v\f"):
        text = "\n".join([line.rstrip(_BLANKS) for line in text.split("\n")])
    return text.rstrip(_BLANKS + "\n")


class Doors:
    """The functions of ``os``, ``io`` and ``builtins`` that take descriptors, led to the streams of the run at hand."""

    def __init__(self) -> None:
        self.streams = Streams(b"")

    def open(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        """Open a file, or one of the three streams by its descriptor or path."""
        number: Any = _BY_PATH.get(file) if _type(file) is str else file
        if _type(number) is int and 0 <= number <= 2:
            return self.streams.open(number, mode, buffering, encoding, errors, newline)
        return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)

    def read(self, descriptor: int, count: int) -> bytes:
        """Read from a descriptor."""
        return self.streams.read(max(count, 0)) if descriptor == 0 else _read(descriptor, count)

    def write(self, descriptor: int, data: Any) -> int:
        """Write to a descriptor."""
        if descriptor in (1, 2):
            return self.streams.write(descriptor, _bytes(data))
        return _write(descriptor, data)

    def fstat(self, descriptor: int) -> Any:
        """Tell of a descriptor; standard input looks like a file of its length."""
        if descriptor != 0:
            return _fstat(descriptor)
        return _stat_result((stat.S_IFREG | 0o444, 1, 1, 1, 0, 0, self.streams.size(), 0, 0, 0))

    def leave(self, status: Any) -> Never:
        """End the run as ``os._exit`` does: nothing that is still in a buffer counts."""
        self.streams.has_left, self.streams.status = True, status
        raise Left

    def install(self) -> None:
        """Put them in the place of the interpreter's own."""
        import builtins

        vars(builtins)["open"] = vars(io)["open"] = self.open
        vars(os).update(read=self.read, write=self.write, fstat=self.fstat, _exit=self.leave)
