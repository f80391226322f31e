"""The request and the reply of the program at hand, in two nameless files; and nothing else.

The host writes a program's text into one, and the child that is to run it reads it there; the child writes its lines
into the other, and the host reads them. So the zygote, whose memory every later child inherits, never holds either.
"""

import os
import tempfile

REPLY_BYTES = 256 << 20
HEADER_BYTES = 64
"""Words with which a child tells the zygote how far it is."""


class Pages:
    """The two files; ``request`` and ``reply`` are their descriptors."""

    def __init__(self) -> None:
        self.request, self.reply = _nameless_file(), _nameless_file()

    def write(self, request: bytes) -> None:
        """Put a request in place of the last one, and zeros in place of its reply."""
        os.ftruncate(self.reply, 0)
        os.ftruncate(self.reply, REPLY_BYTES)
        os.ftruncate(self.request, 0)
        written = 0
        while written < len(request):
            written += os.pwrite(self.request, request[written:], written)

    def read(self, end: int) -> bytes:
        """Return the reply up to ``end``, without its header. Raises ValueError if that is not within it."""
        if not HEADER_BYTES <= end <= REPLY_BYTES:
            raise ValueError(f"a reply ends between {HEADER_BYTES} and {REPLY_BYTES}, got {end}")
        return os.pread(self.reply, end - HEADER_BYTES, HEADER_BYTES)

    def close(self) -> None:
        """Give both files back."""
        os.close(self.request)
        os.close(self.reply)


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("difftrust")
    with tempfile.TemporaryFile() as file:  # macOS
        return os.dup(file.fileno())
