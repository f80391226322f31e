"""Checked access to one entry of a benchmark file: a missing or wrong field is refused by name."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from difftrust_core.base.task import Task
from difftrust_core.datasets.unpacking import Unreadable, read_all, read_json, read_lines
from difftrust_core.exceptions import BadBenchmark, BadTask
from difftrust_core.languages.language import language_of

MAX_BYTES = 256 * 2**20
"""More than this is no benchmark of programming tasks."""

MAX_WRITTEN = 4 * 2**20
"""Of what is written by hand: TOML, a Python module."""

MAX_RELEASE = 8 * 2**30
"""Of a benchmark that is read line by line: the largest released one has more than one gigabyte, mostly tests."""

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One task as its file gives it: every access names file, place, expectation, value and remedy."""

    where: str
    """File and line or position."""
    remedy: str
    fields: Mapping[str, Any]

    def text(self, name: str, *, default: str | None = None) -> str:
        """Return the text in field ``name``. Raises BadBenchmark if it is missing or no text."""
        value = self.fields.get(name, default)
        if type(value) is not str:
            raise self.refusal(f"a text in field {name!r}", self._found(name))
        return value

    def texts(self, name: str) -> list[str]:
        """Return the list of texts in field ``name``."""
        value = self.fields.get(name)
        if type(value) is not list or any(type(v) is not str for v in value):
            raise self.refusal(f"a list of texts in field {name!r}", self._found(name))
        return value

    def whole(self, name: str) -> int:
        """Return the whole number in field ``name``."""
        value = self.fields.get(name)
        if type(value) is not int:
            raise self.refusal(f"a whole number in field {name!r}", self._found(name))
        return value

    def flag(self, name: str) -> bool:
        """Return the truth value in field ``name``, False where it is missing."""
        value = self.fields.get(name, False)
        if type(value) is not bool:
            raise self.refusal(f"true or false in field {name!r}", self._found(name))
        return value

    def tree(self, source: str, name: str) -> ast.Module:
        """Parse ``source``, which ``name`` describes. Raises BadBenchmark if it is not Python."""
        try:
            return ast.parse(source)
        except _UNREADABLE as e:
            raise self.refusal(f"Python source in {name}", f"{type(e).__name__}: {e}") from None

    def function(self, tree: ast.Module, name: str, place: str) -> ast.FunctionDef:
        """Return the last top-level definition of function ``name``: the one that a caller would meet."""
        found = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name]
        if not found:
            raise self.refusal(f"a function {name!r} in {place}", "no such definition")
        return found[-1]

    def task(self, **values: Any) -> Task:
        """Build the task. Raises BadBenchmark if it breaks a rule of tasks or of its language."""
        try:
            made = Task(**values)
            language_of(made).check(made)
            return made
        except BadTask as e:
            raise self.refusal("a valid task", str(e)) from None

    def refusal(self, expectation: str, found: str) -> BadBenchmark:
        """Return the error to raise."""
        return BadBenchmark(f"{self.where}: expected {expectation}, found {found}; {self.remedy}")

    def _found(self, name: str) -> str:
        return type(self.fields[name]).__name__ if name in self.fields else "no such field"


def as_entry(value: object, *, where: str, remedy: str) -> Entry:
    """Check that ``value`` is an object with named fields."""
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise BadBenchmark(f"{where}: expected an object with named fields, found {kind}; {remedy}")
    return Entry(where=where, remedy=remedy, fields=value)


def load_bytes(path: Path, *, remedy: str, most: int = MAX_BYTES) -> bytes:
    """Return the content of ``path``, unpacked if it is gzip. Raises BadBenchmark if damaged or too large."""
    try:
        return read_all(path, most=most)
    except Unreadable as e:
        raise BadBenchmark(f"{path}: {e}; {remedy}") from None


def load_lines(path: Path, *, remedy: str, most: int = MAX_BYTES) -> Iterator[Entry]:
    """Yield the JSON objects of ``path``, plain or gzip, one a line; one line is in memory at a time.

    Raises BadBenchmark naming file and line, also for more than ``most`` bytes, unpacked.
    """
    try:
        for number, line in read_lines(path, longest=MAX_BYTES, most=most):
            if line.strip():
                where = f"{path}, line {number}"
                yield as_entry(_json(line, where, "object", remedy), where=where, remedy=remedy)
    except Unreadable as e:
        raise BadBenchmark(f"{path}: {e}; {remedy}") from None


def _json(text: bytes, where: str, kind: str, remedy: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError) as e:
        raise BadBenchmark(f"{where}: expected a JSON {kind}, found: {e}; {remedy}") from None


def load_tables(path: Path, *, remedy: str) -> Iterator[Entry]:
    """Yield the ``[[task]]`` tables of a TOML file; what stands above them holds for each unless it says otherwise."""
    try:
        content = tomllib.loads(load_bytes(path, remedy=remedy, most=MAX_WRITTEN).decode())
    except (ValueError, RecursionError) as e:
        raise BadBenchmark(f"{path}: expected TOML in UTF-8, found: {e}; {remedy}") from None
    tables = content.pop("task", None)
    if not isinstance(tables, list):
        raise BadBenchmark(f"{path}: expected [[task]] tables, found none; {remedy}")
    for number, table in enumerate(tables, 1):
        entry = as_entry(table, where=f"{path}, task {number}", remedy=remedy)
        yield replace(entry, fields={**content, **entry.fields})


def load_list(path: Path, *, remedy: str) -> Iterator[Entry]:
    """Yield the objects of the JSON list ``path``. Raises BadBenchmark naming file and position."""
    values = _json(load_bytes(path, remedy=remedy), str(path), "list", remedy)
    if not isinstance(values, list):
        raise BadBenchmark(f"{path}: expected a JSON list, found {type(values).__name__}; {remedy}")
    for number, value in enumerate(values, 1):
        yield as_entry(value, where=f"{path}, entry {number}", remedy=remedy)


def plain_id(name: str | int) -> str:
    """Return a name with ``_`` for what no id of a task may hold: ``12_A. Two Sums`` is ``12_A._Two_Sums``."""
    return re.sub(r"[^A-Za-z0-9_.\-/]+", "_", str(name)).strip("_")


def natural_order(task: Task) -> list[str | int]:
    """Sort key that puts ``HumanEval/2`` before ``HumanEval/10``."""
    parts = re.split(r"([0-9]+)", task.task_id)
    return [int(part) if i % 2 else part for i, part in enumerate(parts)]


def signature_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return parameters and return annotation, e.g. ``(a: int, b) -> str``."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({ast.unparse(function.args)}){returns}"
