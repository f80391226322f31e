"""Texts for people: the pieces in which two differ, diffs of programs, control characters escaped."""

import difflib
import re
from typing import Final

_PIECE: Final = re.compile(r"\w+|\s+|.", re.DOTALL)
MOST_PIECES: Final = 400
"""Beyond, only what both begin and end with is found: comparing pieces takes the square of their number."""

Marked = list[tuple[str, bool]]
"""Pieces of a text, in order, and whether each is missing in the other text; empty where that has more."""


def marked_difference(text: str, other: str) -> Marked:
    """Return ``text`` in pieces; those that ``other`` lacks at that place are marked. Joined, they are ``text``.

    An empty marked piece stands where ``other`` has something that ``text`` lacks.
    """
    own, others = _PIECE.findall(text), _PIECE.findall(other)
    if max(len(own), len(others)) > MOST_PIECES:
        return _between_ends(text, other)
    pieces: Marked = []
    for tag, start, end, _, _ in difflib.SequenceMatcher(None, own, others, autojunk=False).get_opcodes():
        pieces.append(("".join(own[start:end]), tag != "equal"))
    return pieces


def _between_ends(text: str, other: str) -> Marked:
    most = min(len(text), len(other))
    start = next((i for i in range(most) if text[i] != other[i]), most)
    end = next((i for i in range(most - start) if text[-1 - i] != other[-1 - i]), most - start)
    parts = [(text[:start], False), (text[start : len(text) - end], text != other), (text[len(text) - end :], False)]
    return [part for part in parts if part[0] or part[1]]


def unified_diff(first: str, second: str, names: tuple[str, str]) -> str:
    """Return the diff of two program texts."""
    lines = difflib.unified_diff(first.splitlines(), second.splitlines(), *names, lineterm="", n=2)
    return "\n".join(lines)


def printable(text: str) -> str:
    """Return ``text`` with every character escaped that could steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
