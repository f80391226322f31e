"""Outcomes as lines of a reply, and the distinct outcomes of each input."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from difftrust_core.base.records import ACCEPTED, Kind, Outcome

_KINDS = {
    "V": Kind.VALUE, "E": Kind.EXCEPTION, "U": Kind.UNSUPPORTED, "T": Kind.TIMEOUT, "M": Kind.MEMORY,
    "C": Kind.CRASH, "S": Kind.SKIPPED, "L": Kind.LOAD_ERROR, "F": Kind.FORGED,
}  # fmt: skip
_LETTERS = {kind: letter for letter, kind in _KINDS.items()}
MAX_LINE = 16_384 + 64
"""Characters: the longest canonical text, or a cut one with its digest."""
_SAID_BY_CHILD = (b"V", b"E", b"U")
_MARKS = ("T", "M", "C")  # what the zygote says of one call
SAID_OF_THE_REST = ("", "T", "M", "S", "L", "F")
"""What the zygote says of all calls that are left, if any are."""


class OutcomeTable:
    """The distinct outcomes seen on each input, numbered per input in the order of their first appearance."""

    def __init__(self, known: Sequence[Sequence[Outcome]]):
        self.rows: list[list[Outcome]] = [list(outcomes) for outcomes in known]
        self._ids = [{line_of(outcome): i for i, outcome in enumerate(row)} for row in self.rows]

    @classmethod
    def empty(cls, n: int) -> Self:
        """Return a table for n inputs on which nothing has run."""
        return cls([[] for _ in range(n)])

    def ids_of(self, lines: Sequence[str]) -> NDArray[np.uint16]:
        """Return the id of the outcome that each input's line says: (n,); a new id where it was not seen there before.

        Raises ValueError or KeyError if a line says none, or if there are not n; the table is then as before.
        """
        found = np.array([ids.get(line, -1) for ids, line in zip(self._ids, lines, strict=True)], dtype=np.int64)
        new = np.flatnonzero(found < 0).tolist()
        said = {line: _outcome(line) for line in {lines[i] for i in new}}
        for i in new:
            line, row = lines[i], self.rows[i]
            found[i] = self._ids[i][line] = len(row)
            row.append(said[line])
        return found.astype(np.uint16)


def line_of(outcome: Outcome) -> str:
    """Return the line that says an outcome: the letter of its kind, and its text."""
    return _LETTERS[outcome[0]] + outcome[1]


def _outcome(line: str) -> Outcome:
    """Return the outcome that a line of the zygote's reply says. Raises KeyError or ValueError if it is none."""
    if not line.isprintable() or len(line) > MAX_LINE:
        raise ValueError("not an outcome")
    return _KINDS[line[:1]], line[1:]


_RESERVED = f"\n{line_of(ACCEPTED)}\n".encode()


def read_lines(text: bytes, marks: list[int], n: int) -> list[str]:
    """Return the lines of a reply, at most ``n``.

    Raises ValueError if the child said in one of them what only the zygote may say, or only the host: ACCEPTED.
    """
    if text.count(b"\n") > n:  # before there is a string for each
        raise ValueError("more lines than inputs")
    if _RESERVED in text or text.startswith(_RESERVED[1:]):
        raise ValueError("a line that is not a program's to say")
    lines = [line.decode() for line in text.split(b"\n")]  # one by one: one odd character makes all of a text wide
    said_by_child = sum(text.count(b"\n" + letter) + text.startswith(letter) for letter in _SAID_BY_CHILD)
    if lines.pop() or said_by_child != len(lines) - len(marks) or any(lines[i][:1] not in _MARKS for i in marks):
        raise ValueError("not a program's lines")
    return lines
