"""A chart as a file that opens anywhere, without a network: SVG, PNG or HTML."""

import atexit
import io
import json
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from difftrust.text import visible
from difftrust_core.base.plugins import require
from difftrust_core.exceptions import DifftrustError, WrongUsage

SUFFIXES: Final = (".svg", ".png", ".html")
_PIXELS_PER_INCH = 144
PIXELS_PER_POINT: Final = _PIXELS_PER_INCH // 72
"""Of a PNG, which is drawn twice as fine as it is shown."""


def save_chart(chart: Any, path: Path) -> None:
    """Write a chart as what the suffix of ``path`` says; the same bytes each time.

    HTML holds all that it needs, and keeps tooltips and selections. Raises WrongUsage for another suffix, or if it
    cannot be written.
    """
    write_file(path, chart_bytes(chart, check_suffix(path)))


def write_file(path: Path, made: bytes) -> None:
    """Write a file, and the folders that it lies in. Raises WrongUsage if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made)
    except OSError as e:
        raise WrongUsage(f"{path} could not be written: {e.strerror}; name another file") from None


def check_suffix(path: Path) -> str:
    """Return the suffix of a figure's file. Raises WrongUsage unless it is one of SUFFIXES, MissingPackage."""
    require("vl_convert", extra="plots", purpose="writing a chart")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise WrongUsage(f"a figure is written as {', '.join(SUFFIXES)}, got {path.name!r}; name it figure.svg")
    return suffix


def chart_bytes(chart: Any, suffix: str) -> bytes:
    """Return the bytes of the file: ``suffix`` is one of SUFFIXES. Raises DifftrustError if it cannot be drawn.

    Whatever text the chart holds, control characters are made visible.
    """
    spec = _harmless(chart.to_dict(validate=False))  # the tests of the charts do
    made = _CONVERTER.convert(json.dumps([suffix, spec, _PIXELS_PER_INCH]).encode())
    if suffix == ".svg":
        return _numbered(made.decode()).encode()
    return packed_png(made) if suffix == ".png" else made


def _harmless(value: Any) -> Any:
    """Return a part of a chart with each text, names of fields included, as a renderer can take it."""
    if isinstance(value, dict):
        return {visible(name): _harmless(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_harmless(part) for part in value]
    return visible(value) if isinstance(value, str) else value


class _Converter:
    """A process of its own that draws (``converter``), kept for the next chart, for its start takes a second.

    The renderer ends its process where it meets what it cannot draw; then the chart is refused, and the next one has
    another process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def convert(self, request: bytes) -> bytes:
        """Return what is drawn of one line of JSON. Raises DifftrustError if nothing is."""
        with self._lock:
            if self._process is None:
                self._process = _start()
            source, answers = self._process.stdin, self._process.stdout
            assert source is not None
            assert answers is not None
            try:
                source.write(request + b"\n")
                source.flush()
                said, _, size = answers.readline().partition(b" ")
                made = answers.read(int(size or 0))
                said = said if len(made) == int(size or 0) else b""
            except BaseException as e:  # also Ctrl-C: what is half read is no answer to the next request
                self._end()
                if not isinstance(e, OSError):
                    raise
                said, made = b"", b""
            if said != b"drawn":
                self._end()
                why = " ".join(made.decode(errors="replace").split())[:120] or "it ended"
                raise DifftrustError(f"the chart cannot be drawn: expected a picture of the renderer, found: {why}")
            return made

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):  # of what it was not told any more
                process.communicate()


def _start() -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    command = [sys.executable, "-P", str(Path(__file__).with_name("converter.py"))]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True)


_CONVERTER: Final = _Converter()
atexit.register(_CONVERTER.close)


def _numbered(svg: str) -> str:
    """Return the SVG with its clips and gradients numbered from 0: the renderer counts through all that it draws."""
    order: dict[str, int] = {}
    for name in re.findall(r'\bid="(?:clip|gradient_|pattern_)(\d+)"', svg):
        order.setdefault(name, len(order))
    numbered = re.compile(r'(\bid="|url\(#)(clip|gradient_|pattern_)(\d+)')
    return numbered.sub(lambda found: f"{found[1]}{found[2]}{order.get(found[3], found[3])}", svg)


def packed_png(png: bytes) -> bytes:
    """Return the picture with 256 colours of its own, once and for all: a tenth of the bytes."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        if picture.mode == "P":
            return png  # packed before
        # Not by how often a colour is met: one of few points would be given the colour of its many neighbours.
        few = picture.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(packed, "png", optimize=True, dpi=(_PIXELS_PER_INCH, _PIXELS_PER_INCH))
    return packed.getvalue()
