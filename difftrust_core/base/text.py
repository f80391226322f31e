"""Texts for people: the pieces in which two differ, diffs of programs, what hides or steers made visible, cuts."""

import difflib
import re
import unicodedata
from dataclasses import dataclass
from itertools import zip_longest
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


@dataclass(frozen=True, kw_only=True)
class LinePair:
    """A line of one text beside the line of another that stands for it; None where the other has no such line."""

    left: Marked | None
    right: Marked | None

    @property
    def is_equal(self) -> bool:
        """Tell whether both are the same line."""
        return self.left == self.right


def aligned_lines(left: str, right: str) -> list[LinePair]:
    """Return the lines of two texts side by side, each in pieces of which those that the other lacks are marked.

    A line without a partner is one piece, marked.
    """
    own, others = left.splitlines(), right.splitlines()
    rows: list[LinePair] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, own, others, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += [LinePair(left=[(line, False)], right=[(line, False)]) for line in own[i:j]]
        else:
            rows += [_paired(a, b) for a, b in zip_longest(own[i:j], others[k:m])]
    return rows


def _paired(left: str | None, right: str | None) -> LinePair:
    if left is None or right is None:
        alone = [None if line is None else [(line, True)] for line in (left, right)]
        return LinePair(left=alone[0], right=alone[1])
    return LinePair(left=marked_difference(left, right), right=marked_difference(right, left))


def unified_diff(first: str, second: str, names: tuple[str, str]) -> str:
    """Return the diff of two program texts."""
    lines = difflib.unified_diff(first.splitlines(), second.splitlines(), *names, lineterm="", n=2)
    return "\n".join(lines)


def printable(text: str) -> str:
    """Return ``text`` with every character escaped that could steer a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


_HIDDEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Control, format (right-to-left marks, zero-width), surrogate, private, unassigned; line and paragraph separators."""
_KEPT: Final = "\n\t"


def visible(text: str) -> str:
    """Return ``text`` with every control or invisible character spelled as ⟨U+202E⟩, lines and tabs kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"⟨U+{ord(c):04X}⟩" if unicodedata.category(c) in _HIDDEN and c not in _KEPT else c for c in text)


def cut(text: str, *, line: int, lines: int) -> str:
    """Return ``text`` with long lines and what follows the last shown line cut, saying by how much."""
    kept = text.replace("\r\n", "\n").split("\n", lines)
    rest = kept.pop().count("\n") + 1 if len(kept) > lines else 0
    shown = [each if len(each) <= line else f"{each[:line]}… ({len(each) - line:,} more characters)" for each in kept]
    return "\n".join([*shown, *([f"… ({rest:,} more lines)"] if rest else [])])
