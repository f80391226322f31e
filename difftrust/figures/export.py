"""A chart as a file that opens anywhere, without a network: SVG, PNG or HTML."""

import io
import re
from pathlib import Path
from typing import Any, Final

from difftrust_core.base.plugins import require
from difftrust_core.exceptions import WrongUsage

SUFFIXES: Final = (".svg", ".png", ".html")
_PIXELS_PER_INCH = 144
PIXELS_PER_POINT: Final = _PIXELS_PER_INCH // 72
"""Of a PNG, which is drawn twice as fine as it is shown."""


def save_chart(chart: Any, path: Path) -> None:
    """Write a chart as what the suffix of ``path`` says; the same bytes each time.

    HTML holds all that it needs, and keeps tooltips and selections. Raises WrongUsage for another suffix.
    """
    made = chart_bytes(chart, check_suffix(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made)


def check_suffix(path: Path) -> str:
    """Return the suffix of a figure's file. Raises WrongUsage unless it is one of SUFFIXES, MissingPackage."""
    require("vl_convert", extra="plots", purpose="writing a chart")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise WrongUsage(f"a figure is written as {', '.join(SUFFIXES)}, got {path.name!r}; name it figure.svg")
    return suffix


def chart_bytes(chart: Any, suffix: str) -> bytes:
    """Return the bytes of the file: ``suffix`` is one of SUFFIXES."""
    import vl_convert

    spec = chart.to_dict(validate=False)  # the tests of the charts do
    if suffix == ".svg":
        return _numbered(vl_convert.vegalite_to_svg(spec)).encode()
    if suffix == ".png":
        return packed_png(vl_convert.vegalite_to_png(spec, ppi=_PIXELS_PER_INCH))
    return str(vl_convert.vegalite_to_html(spec, bundle=True)).encode()


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
