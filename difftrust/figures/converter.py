"""The process that draws charts: the renderer ends its whole process where it meets what it cannot draw.

Run as a file, it imports nothing of this package. A line of JSON comes in, ``[suffix, spec, pixels per inch]``; a line
goes out, ``drawn`` or ``refused`` and a number of bytes, and then these: the file, or why it cannot be made.
"""

import json
import os
import sys
from typing import Any


def _drawn(suffix: str, spec: dict[str, Any], ppi: int) -> bytes:
    import vl_convert

    if suffix == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, ppi=ppi))
    if suffix == ".svg":
        return str(vl_convert.vegalite_to_svg(spec)).encode()
    return str(vl_convert.vegalite_to_html(spec, bundle=True)).encode()


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the renderer prints is no answer
    for line in sys.stdin.buffer:
        try:
            said, made = b"drawn", _drawn(*json.loads(line))
        except ValueError as e:
            said, made = b"refused", str(e).encode(errors="replace")
        answers.write(b"%b %d\n%b" % (said, len(made), made))
        answers.flush()


if __name__ == "__main__":
    _serve()
