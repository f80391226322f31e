"""Whether the lines in which two versions differ were reached at all: agreement on other lines says nothing of them."""

import ast
import copy
import difflib
from collections.abc import Iterator, Mapping, Sequence

from difftrust_core.base.records import Outcome
from difftrust_core.base.text import printable
from difftrust_core.checks.programs import Executor
from difftrust_core.checks.versions.known import Pair
from difftrust_core.languages.python.syntax import is_docstring

_MOST = 8
"""Places that differ and are looked at."""
_SHOWN = 80
"""Characters of a line."""
_MARK = "raise ().__class__.__class__('NotReached', (BaseException,), {})()"
_BLOCKS = ("body", "orelse", "finalbody")

Row = tuple[Outcome, Outcome]
Point = tuple[list[ast.stmt], int]
"""A block of statements, and the place in it."""
Place = dict[int, Point]
"""Where two versions differ: in the old one (0), the new one (1), or both."""


def unreached(pair: Pair, executor: Executor, rows: Mapping[str, Row]) -> tuple[str, ...]:
    """Return the first lines of the places that differ and that no input reaches, in either version.

    ``rows``: what both did on each input. At each place an exception is raised instead: where that changes nothing on
    any input, the place is not reached. Places outside functions, and beyond the first eight, are not looked at.
    """
    texts = list(rows)
    if not texts:
        return ()
    return tuple(
        line for line, codes in _probes(pair) if not any(_tells(executor, *each, rows, texts) for each in codes)
    )


def _tells(executor: Executor, which: int, code: str, rows: Mapping[str, Row], texts: Sequence[str]) -> bool:
    """Tell whether a version that raises at one place does something else than it did."""
    ran = executor.run([code], texts)
    return any(row[0] != rows[text][which] for text, row in zip(texts, ran.rows, strict=True))


def _probes(pair: Pair) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Yield each place that differs: its first line, and the programs that raise there, the new version's first."""
    old, new = ([copy.deepcopy(each) for each in bundle.own] for bundle in pair.bundles)
    named = {name: each for each in old if (name := getattr(each, "name", ""))}
    n = 0
    for after in new:
        before = named.get(getattr(after, "name", ""))
        if before is None or type(before) is not type(after):
            continue
        for place in _places([before], [after]):
            n += 1
            if n > _MOST:
                return
            found = [(which, code) for which in (1, 0) if (code := _probe(pair, which, (before, after), place))]
            block, index = place.get(1) or place[0]
            if found and index < len(block):
                yield printable(ast.unparse(block[index]).splitlines()[0])[:_SHOWN], found


def _probe(pair: Pair, which: int, statements: tuple[ast.stmt, ast.stmt], place: Place) -> str:
    """Return the program of a version that raises at a place; "" where it cannot be made."""
    if which not in place:
        return ""
    block, index = place[which]
    before = ast.unparse(statements[which])
    block.insert(index, ast.parse(_MARK).body[0])
    after = ast.unparse(ast.fix_missing_locations(statements[which]))
    del block[index]
    code = pair.bundles[which].code
    return code.replace(before, after, 1) if code.count(before) == 1 else ""


def _places(old: list[ast.stmt], new: list[ast.stmt]) -> Iterator[Place]:
    """Yield where two blocks differ, as deep as both have the same statements around it."""
    dumps = [[_dump(each) for each in block] for block in (old, new)]
    for tag, i, j, k, m in difflib.SequenceMatcher(None, dumps[0], dumps[1], autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if j - i == m - k:
            for a, b in zip(range(i, j), range(k, m), strict=True):
                yield from _within((old, a), (new, b))
        else:
            yield {which: point for which, point, size in ((0, (old, i), j - i), (1, (new, k), m - k)) if size}
            for which, block in ((0, old[i:j]), (1, new[k:m])):
                for statement in block:
                    yield from ({which: point} for point in _blocks(statement))


def _within(old: Point, new: Point) -> Iterator[Place]:
    one, other = old[0][old[1]], new[0][new[1]]
    defines = isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and type(one) is type(other)
    if not defines and (_head(one) != _head(other) or not hasattr(one, "body")):
        yield {0: old, 1: new}
        yield from ({which: point} for which, each in ((0, one), (1, other)) for point in _blocks(each))
        return
    for name in _BLOCKS:
        yield from _places(getattr(one, name, None) or [], getattr(other, name, None) or [])
    for a, b in zip(getattr(one, "handlers", []), getattr(other, "handlers", []), strict=True):
        yield from _places(a.body, b.body)
    for a, b in zip(getattr(one, "cases", []), getattr(other, "cases", []), strict=True):
        yield from _places(a.body, b.body)


def _blocks(statement: ast.stmt) -> Iterator[Point]:
    """Yield the beginnings of the blocks of a statement: all of it differs, so each has to be reached."""
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        parts = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
        yield from ((block, 0) for part in parts for name in _BLOCKS if (block := getattr(part, name, None)))


def _head(statement: ast.stmt) -> str:
    """Return a statement without what stands in its blocks; how many handlers and cases it has counts."""
    kept = copy.copy(statement)
    for name in _BLOCKS:
        if hasattr(kept, name):
            setattr(kept, name, [])
    for name in ("handlers", "cases"):
        if hasattr(kept, name):
            setattr(kept, name, [_emptied(each) for each in getattr(kept, name)])
    return ast.dump(kept)


def _emptied(part: ast.AST) -> ast.AST:
    kept = copy.copy(part)
    kept.body = []  # type: ignore[attr-defined]
    return kept


def _dump(statement: ast.stmt) -> str:
    return "docstring" if is_docstring(statement) else ast.dump(statement)
