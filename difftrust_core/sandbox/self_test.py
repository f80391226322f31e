"""Baits of the self-test: a file and sockets on the host that a confined child must not reach.

An attempt at an address where nobody listens fails with or without layers: only something that is really there shows
whether a layer holds.
"""

import contextlib
import secrets
import socket
from collections.abc import Iterator

from difftrust_core.base.files import scratch_folder

HOST = "127.0.0.1"


@contextlib.contextmanager
def laid_out() -> Iterator[dict[str, int | str]]:
    """Yield where the baits lie: ``file``, ports ``TCP`` and ``UDP``, ``abstract`` and ``path`` of local sockets.

    What this machine has no place for (a read-only file system, no loopback interface) is not among them.
    """
    found: dict[str, int | str] = {}
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            folder = stack.enter_context(scratch_folder())
            (folder / "file").write_text("nothing that matters")
            found["file"] = str(folder / "file")
            _listen(stack, socket.AF_UNIX, str(folder / "socket"))
            found["path"] = str(folder / "socket")
        with contextlib.suppress(OSError):
            found["TCP"] = _listen(stack, socket.AF_INET, (HOST, 0)).getsockname()[1]
        with contextlib.suppress(OSError):
            datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            datagrams.bind((HOST, 0))
            found["UDP"] = datagrams.getsockname()[1]
        with contextlib.suppress(OSError):
            name = f"difftrust-{secrets.token_hex(8)}"
            _listen(stack, socket.AF_UNIX, f"\0{name}")
            found["abstract"] = name
        yield found


def _listen(stack: contextlib.ExitStack, family: int, address: str | tuple[str, int]) -> socket.socket:
    listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    listener.bind(address)
    listener.listen(1)
    return listener
