"""Frames between the host and its zygote: length, type, nonce, payload; standard library only."""

import json
import os
import socket
import struct
from typing import Any

FRAME = struct.Struct("=IB16s")
CONFIG, TASK, RUN, READY, LOADED, RESULT, END, ERROR = range(1, 9)
MAX_FRAME = 1 << 28


class Channel:
    """Frames on the control socket; the zygote ends when the host's end closes."""

    def __init__(self, descriptor: int):
        self.socket = socket.socket(fileno=descriptor)
        self.nonce = b""

    def receive(self) -> tuple[int, Any]:
        """Return the next frame's type and payload; leave if it is not the host's."""
        length, kind, nonce = FRAME.unpack(self._exactly(FRAME.size))
        self.nonce = self.nonce or nonce
        if nonce != self.nonce or length > MAX_FRAME:
            os._exit(3)
        return kind, json.loads(self._exactly(length))

    def send(self, kind: int, payload: dict[str, Any]) -> None:
        """Send a frame."""
        body = json.dumps(payload).encode()
        self.socket.sendall(FRAME.pack(len(body), kind, self.nonce) + body)

    def _exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self.socket.recv(min(count - len(parts), 1 << 20))
            if not part:
                os._exit(0)  # the host is gone: nothing is left to do
            parts += part
        return bytes(parts)
