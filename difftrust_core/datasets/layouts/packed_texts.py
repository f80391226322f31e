"""Read a text that was pickled, compressed and written in base64, as LiveCodeBench does, without unpickling anything.

A pickle is a program. Here its opcodes are only read one by one, and all it may hold is one text.
"""

import base64
import binascii
import pickletools
import zlib

MAX_BYTES = 40 * 2**20
"""Of one text, unpacked: the largest released one has about 26 million. It guards against a compression bomb."""
_FRAMING = frozenset(("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "STOP"))
_TEXTS = frozenset(("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"))


class NotPacked(ValueError):
    """The text holds something else; the message says what was found."""


def unpacked(text: str, *, most: int = MAX_BYTES) -> str:
    """Return the text that is packed in ``text``. Raises NotPacked, and runs nothing, where it is another thing."""
    most = min(most, MAX_BYTES)
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise NotPacked("neither JSON nor base64") from None
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, most + 1)
    except zlib.error as e:
        raise NotPacked(f"base64 of what zlib did not pack ({e})") from None
    if len(content) > most:
        raise NotPacked(f"more than {most:,} bytes")
    if not stream.eof:
        raise NotPacked("packed data that stops before its end")
    return _only_text(content)


def _only_text(content: bytes) -> str:
    found = []
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name in _TEXTS and type(argument) is str:
                found.append(argument)
            elif opcode.name not in _FRAMING:
                raise NotPacked(f"a pickle of more than a text (opcode {opcode.name}); not run")
    except NotPacked:
        raise
    except Exception as e:  # a damaged pickle raises nearly anything
        raise NotPacked(f"a damaged pickle ({type(e).__name__})") from None
    if len(found) != 1:
        raise NotPacked(f"a pickle of {len(found)} texts instead of one")
    return found[0]
