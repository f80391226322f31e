"""Checked access to the entries of a benchmark file, read within bounds: what is packed may stand for much more."""

import ast
import gzip
import json
import re
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar, cast

from difftrust_core.base.files import find_shipped
from difftrust_core.base.task import Domain, Order, Relation, Task
from difftrust_core.exceptions import BadBenchmark, BadTask
from difftrust_core.languages.registry import language_of

MOST_UNPACKED: Final = 32 * 2**20
"""Bytes that any packed file may unpack to."""
RATIO: Final = 100
"""So many times its size a larger one may unpack to; samples of models at temperature 0.2 reach 62."""
LONGEST_LINE: Final = 16 * 2**20
"""Bytes of a line of a packed file."""
MOST_VALUES: Final = 1_000_000
"""Values in one JSON text: an empty list of two characters takes 64 bytes in memory."""
MAX_CODE: Final = 64 * 2**10
"""Bytes of one candidate: four times the longest recorded one, and what judges of contests take."""
ROW: Final = 256
"""Bytes that a line or row counts beside its own: millions of empty ones take memory and time too."""
_GZIP = b"\x1f\x8b"
_UNPACKED: Final = f" unpacked, {ROW} for each line included (a plain file may have more)"
_TROUBLE = (OSError, EOFError, zlib.error)
_QUOTED = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


Kind = TypeVar("Kind")


class Unreadable(Exception):
    """A file that cannot be read on; says what was expected and what was found."""


def most_unpacked(path: Path) -> int:
    """Return how many bytes a packed file may unpack to."""
    return max(MOST_UNPACKED, RATIO * path.stat().st_size)


def read_all(path: Path, *, most: int) -> bytes:
    """Return the content of a file, unpacked if it is gzip. Raises Unreadable, also for more than ``most`` bytes."""
    try:
        with _opened(path) as (source, is_packed):
            most = min(most, most_unpacked(path)) if is_packed else most
            data = source.read(most + 1)
    except _TROUBLE as e:
        raise _reason(e) from None
    if len(data) > most:
        raise Unreadable(f"expected at most {most:,} bytes{_UNPACKED if is_packed else ''}, found more")
    return data


def read_lines(path: Path, *, longest: int, most: int = 2**62) -> Iterator[tuple[int, bytes | Unreadable]]:
    """Yield number and text of each line of a file, plain or gzip; one line is in memory at a time.

    A line of more than ``longest`` bytes is passed over: in its place comes what to say of it. Raises Unreadable, also
    for more than ``most`` bytes in all.
    """
    number = 0
    try:
        with _opened(path) as (source, is_packed):
            if is_packed:
                longest, most = min(longest, LONGEST_LINE), min(most, most_unpacked(path))
            left = most
            while line := source.readline(min(longest, left) + 1):
                number, left = number + 1, left - len(line) - (ROW if is_packed else 0)
                is_long = len(line) > longest
                while is_long and left >= 0 and line[-1:] not in (b"", b"\n"):
                    line = source.readline(min(LONGEST_LINE, left) + 1)
                    left -= len(line)
                if left < 0:
                    raise Unreadable(f"expected at most {most:,} bytes{_UNPACKED if is_packed else ''}, found more")
                why = f"expected at most {longest:,} bytes in line {number}, found more"
                yield number, Unreadable(why) if is_long else line
    except _TROUBLE as e:
        raise _reason(e, number) from None


def read_json(text: bytes | str) -> Any:
    """Return the value of a JSON text. Raises ValueError, also for more than MOST_VALUES values, or RecursionError."""
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if _n_marks(content) > MOST_VALUES and _n_marks(_QUOTED.sub(b"", content)) > MOST_VALUES:
        raise ValueError(f"more than {MOST_VALUES:,} values")
    return json.loads(text)


def _n_marks(text: bytes) -> int:
    return sum(map(text.count, (b"[", b"{", b",", b":")))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, bool]]:
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise Unreadable("expected a file, found a folder, a pipe or a device; write it to a file first")
    with path.open("rb") as raw:
        is_packed = raw.read(2) == _GZIP
        raw.seek(0)
        yield (cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if is_packed else raw), is_packed


def _reason(error: Exception, number: int = 0) -> Unreadable:
    """Return what to raise for an error of the file system, or for damage after line ``number``."""
    if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
        return Unreadable(f"expected a readable file, found: {error.strerror or error}")
    where = f" after line {number}" if number else ""
    return Unreadable(f"expected a whole gzip file, found damage{where} ({error})")


SHIPPED_REMEDY: Final = "correct the file, or install difftrust again"
"""Of what comes with the project."""
MAX_BYTES = 256 * 2**20
"""More than this is no benchmark of programming tasks."""
MAX_WRITTEN = 4 * 2**20
"""Of what is written by hand: TOML, a Python module."""
_MOST_WORK: Final = 500_000
"""Of names in a TOML file: half a million of one part, or one of 700 parts."""
_FRACTION = re.compile(r"(?<![\w.])\d+\.\d+(?![\d.])")
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
        return self._of_kind(str, name, default, "a text")

    def texts(self, name: str) -> list[str]:
        """Return the list of texts in field ``name``."""
        found: list[str] = self._of_kind(list, name, None, "a list of texts")
        if any(type(value) is not str for value in found):
            raise self.refusal(f"a list of texts in field {name!r}", "list")
        return found

    def whole(self, name: str) -> int:
        """Return the whole number in field ``name``."""
        return self._of_kind(int, name, None, "a whole number")

    def flag(self, name: str) -> bool:
        """Return the truth value in field ``name``, False where it is missing."""
        return self._of_kind(bool, name, False, "true or false")

    def _of_kind(self, kind: type[Kind], name: str, default: Kind | None, expected: str) -> Kind:
        value = self.fields.get(name, default)
        if type(value) is not kind:
            found = type(value).__name__ if name in self.fields else "no such field"
            raise self.refusal(f"{expected} in field {name!r}", found)
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
            if isinstance(line, Unreadable):
                raise line
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


def load_toml(path: Path, *, remedy: str, most: int = MAX_BYTES) -> dict[str, Any]:
    """Return the content of a TOML file. Raises BadBenchmark if it is damaged or too large."""
    try:
        text = load_bytes(path, remedy=remedy, most=most).decode("utf-8-sig")
        if _work_of_names(text) > _MOST_WORK:
            raise ValueError("too many names of tables and keys, or too many parts in them")
        content = tomllib.loads(text)
        repr(content)  # raises ValueError for an int that has, in hexadecimal, more digits than Python writes
        return content
    except (ValueError, RecursionError) as e:
        raise BadBenchmark(f"{path}: expected TOML in UTF-8, found: {e}; {remedy}") from None


def _work_of_names(text: str) -> int:
    """Return about how much tomllib does for dotted names: the square of the parts of each header and key."""
    text = _FRACTION.sub("0", text)
    headers = [line for line in text.splitlines() if line.lstrip()[:1] == "["]
    keys = [before.rpartition("\n")[2] for before in text.split("=")[:-1]]
    return sum((name.count(".") + 1) ** 2 for name in headers + keys)


def load_tables(path: Path, *, remedy: str) -> Iterator[Entry]:
    """Yield the ``[[task]]`` tables of a TOML file; what stands above them holds for each unless it says otherwise."""
    content = load_toml(path, remedy=remedy, most=MAX_WRITTEN)
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


RELATION_FIELDS = ("relation", "atol", "rtol", "tokens", "accept", "normal")
_ORDERS = {"unordered": Order.UNORDERED, "set": Order.SET}
_EQUALITIES = ("paper", "strict")
_WORDS = ("equality", *_EQUALITIES, *_ORDERS)


def relation_of(entry: Entry) -> Relation | None:
    """Return the relation that the fields of ``RELATION_FIELDS`` spell, None where none is there.

    Raises BadBenchmark, naming the field, for a word that is not known, a tolerance that is no number from 0 on, a
    checker that is not Python or defines something else, or a checker beside a normal form.
    """
    if not set(RELATION_FIELDS) & entry.fields.keys():
        return None
    word = entry.text("relation", default="equality")
    if word not in _WORDS:
        raise entry.refusal(f"one of {', '.join(_WORDS)} in field 'relation'", repr(word[:80]))
    accept, normal = _program(entry, "accept"), _program(entry, "normal")
    if accept and normal:
        raise entry.refusal("a checker `accept` or a normal form `normal`", "both")
    return Relation(
        equality=word if word in _EQUALITIES else "",
        order=_ORDERS.get(word, Order.KEPT),
        atol=_tolerance(entry, "atol"),
        rtol=_tolerance(entry, "rtol"),
        tokens=entry.flag("tokens"),
        normal=normal,
        accept=accept,
    )


def _tolerance(entry: Entry, name: str) -> float:
    value = entry.fields.get(name, 0)
    if type(value) not in (int, float) or not 0 <= value <= sys.float_info.max:
        raise entry.refusal(f"a number from 0 on in field {name!r}", repr(value)[:80])
    return float(value)


def _program(entry: Entry, name: str) -> str:
    text = entry.text(name, default="")
    if not text.strip():
        if name in entry.fields:
            raise entry.refusal(f"a function {name}(arguments, output) in field {name!r}", "an empty text")
        return ""
    function = entry.function(entry.tree(text, f"field {name!r}"), name, f"field {name!r}")
    if len([*function.args.posonlyargs, *function.args.args]) != 2 or function.args.vararg or function.args.kwonlyargs:
        raise entry.refusal(f"{name}(arguments, output) with two parameters", f"({ast.unparse(function.args)})")
    return text


_FIELDS = ("types", "requires", "generate")


def with_domains(benchmark: str, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks of a benchmark, each with the domain written for it, if one was."""
    domains = shipped_domains(benchmark)
    return [replace(task, domain=domains.get(task.task_id, task.domain)) for task in tasks]


def shipped_domains(benchmark: str) -> Mapping[str, Domain]:
    """Return task id -> domain that this project has written for a benchmark; empty for others, whatever they are."""
    paths = (find_shipped("data") / "domains").glob("*.toml")
    return next((load_domains(path) for path in paths if path.stem == benchmark.lower()), {})


@cache
def load_domains(path: Path) -> Mapping[str, Domain]:
    """Return task id -> domain. Raises BadBenchmark naming file and task."""
    tables = load_toml(path, remedy=SHIPPED_REMEDY).items()
    return {task_id: domain_in(table, where=f"{path}, {task_id}", remedy=SHIPPED_REMEDY) for task_id, table in tables}


def domain_in(table: object, *, where: str, remedy: str) -> Domain:
    """Return the domain that a table of a file spells. Raises BadBenchmark, naming the field."""
    entry = as_entry(table, where=where, remedy=remedy)
    if unknown := sorted(str(name) for name in entry.fields.keys() - set(_FIELDS)):
        raise entry.refusal(f"only {', '.join(_FIELDS)}", ", ".join(unknown))
    return Domain(**{name: entry.text(name, default="") for name in _FIELDS})
