"""Texts for people: the pieces in which two differ, diffs of programs, what hides or steers made visible, cuts."""

import ast
import difflib
import math
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from difftrust_core.base.records import Kind
from difftrust_core.languages.python.syntax import parsed

if TYPE_CHECKING:
    from difftrust_core.generation.missing import Incomplete

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
    codes = difflib.SequenceMatcher(None, own, others, autojunk=False).get_opcodes()
    return [("".join(own[start:end]), tag != "equal") for tag, start, end, _, _ in codes]


def marked_program(code: str, other: str) -> Marked:
    """Return a Python program in pieces, marked as ``marked_difference`` does; how a variable is called is no mark."""
    return marked_difference(code, _called_alike(code, other))


def _called_alike(code: str, other: str) -> str:
    """Return ``other`` with its variables called as in ``code``, piece by piece; a long program as it is.

    Each variable of ``other`` is taken for the one that stands most often in its places, and one alone for each.
    """
    own, others = _PIECE.findall(code), _PIECE.findall(other)
    if max(len(own), len(others)) > MOST_PIECES:
        return other
    mine, theirs = _variables(code, own), _variables(other, others)
    blank = ["" if at in mine else piece for at, piece in enumerate(own)]
    matcher = difflib.SequenceMatcher(
        None, blank, ["" if at in theirs else piece for at, piece in enumerate(others)], autojunk=False
    )
    places = [(i + at, k + at) for i, k, size in matcher.get_matching_blocks() for at in range(size)]
    met = Counter((others[k], own[i]) for i, k in places if k in theirs)
    called: dict[str, str] = {}
    for (name, here), _ in met.most_common():
        if name not in called and here not in called.values():
            called[name] = here
    return "".join(called.get(p, p) if k in theirs else p for k, p in enumerate(others))


def _variables(code: str, pieces: list[str]) -> set[int]:
    """Return which pieces of a program are its variables: names that it binds by assignment or as parameters."""
    tree = parsed(code)
    if tree is None:
        return set()
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.arg)]
    bound = {_name(node) for node in nodes if isinstance(node, ast.arg) or not isinstance(node.ctx, ast.Load)}
    lines = code.splitlines(keepends=True)
    before = list(accumulate(map(len, lines), initial=0))
    starts = {
        before[node.lineno - 1] + len(lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="ignore"))
        for node in nodes
    }
    places = zip(accumulate(map(len, pieces), initial=0), pieces, strict=False)
    return {at for at, (place, piece) in enumerate(places) if place in starts and piece in bound}


def _name(node: ast.Name | ast.arg) -> str:
    return node.id if isinstance(node, ast.Name) else node.arg


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


def by_length(text: str) -> tuple[int, str]:
    """Return what short texts come first by, equally long ones in their order."""
    return len(text), text


def shorten(text: str, most: int = 300) -> str:
    """Return ``text``, with an ellipsis at its end where it has more than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def quote_word(word: str) -> str:
    """Return ``word`` as a shell takes it, in double quotes where nothing in it means something there."""
    return f'"{word}"' if set(word) & set(" '") and not set(word) & set('"$`\\!') else shlex.quote(word)


def printable(text: str, kept: str = "") -> str:
    """Return ``text`` with every character escaped that could steer a terminal, but for those ``kept``."""
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in text)


def count_of(number: int, noun: str = "program") -> str:
    """Return ``1 program``, ``10 programs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def json_value(value: Any) -> Any:
    """Return ``value`` as JSON has it: NaN and infinities, which JSON lacks, as null; kinds of outcomes by name."""
    if isinstance(value, Kind):
        return value.name.lower()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple) or hasattr(value, "to_list"):
        return [json_value(part) for part in value]
    if isinstance(value, dict):
        return {key: json_value(part) for key, part in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)


_FORMULA: Final = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def as_cell(text: str) -> str:
    """Return a text as a cell of a CSV file: what a spreadsheet would take for a formula begins with an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


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


def incomplete_lines(found: Sequence["Incomplete"], *, most: int = 10) -> list[str]:
    """Return what is to be said of replies without a program: "2 replies were cut off: samples 3, 7 of gpt-4o"."""
    from difftrust_core.generation.extraction import CUT_OFF

    groups: dict[tuple[bool, str], list[Incomplete]] = {}
    for one in found:
        groups.setdefault((one.extraction == CUT_OFF, one.model), []).append(one)
    is_one_task = len({(one.benchmark, one.task_id) for one in found}) == 1
    said = []
    for (is_cut, model), listed in groups.items():
        n = len(listed)
        what = ("was cut off" if n == 1 else "were cut off") if is_cut else "held no complete function"
        first = [str(one.sample_index) if is_one_task else f"{one.sample_index} of {one.task_id}" for one in listed]
        more = f" and {n - most} more" if n > most else ""
        names = f"sample{'s' if n > 1 else ''} {', '.join(first[:most])}{more}"
        said.append(f"{n} {'reply' if n == 1 else 'replies'} {what}: {names}{' of ' if is_one_task else ', '}{model}")
    return said
