"""What commands print with: nothing that came from outside may steer the terminal, or pass for a line of ours."""

import re
from typing import Final

import typer

from difftrust_core.base.text import printable

_NO_LAYOUT: Final = re.compile(r"[^\n\t]")


def echo(text: str, *, err: bool = False) -> None:
    """Print ``text``, lines and tabs as they are, every other character that is not printable escaped."""
    is_plain = text.replace("\n", "").replace("\t", "").isprintable()
    typer.echo(text if is_plain else _NO_LAYOUT.sub(lambda found: printable(found[0]), text), err=err)


def echo_line(text: str, *, err: bool = False) -> None:
    """Print ``text`` as one line, every character that is not printable escaped."""
    typer.echo(printable(text), err=err)
