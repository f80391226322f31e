"""Calls of a function as a user has it: methods, keywords, coroutines, effects, examples; runs inside the sandbox.

The outcome of a call is the text of its value; where an argument was changed or something was printed,
``Effects(value=..., arguments=(...), printed='...')``, in which None stands for an argument that was not changed. Of an
object among them a function with ``tells_changes`` has the fields alone that changed.
Standard library only.
"""

import ast
import contextlib
import json
import marshal
import re
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import awaiting
from building import build, modules_of
from canonical import UnsupportedValue, exception_name
from examples import Example
from literals import KEYWORDS, BadText, Instance, read_literal
from methods import function_of, prepared
from operands import NOTE, Instrument, Notes
from printed import Printed
from program import Inputs, Loaded, Namespace, NotLoaded, compiled, load, start, trimmed
from typed_repr import MAX_ITEMS, Said, snapshot, text_of

MAX_DETAIL = 200
"""Characters of what a program that does not load says of why."""
MAX_MESSAGE = 2_000
NOTED = "noted "
"""As ``call_runner`` has it."""
LOADED_BEFORE = frozenset((
    "abc", "array", "asyncio", "base64", "calendar", "cmath", "contextlib", "csv", "dataclasses", "difflib", "enum",
    "hashlib", "html", "html.parser", "inspect", "io", "ipaddress", "json", "numbers", "numpy", "numpy.typing",
    "pandas", "pathlib", "pprint", "secrets", "struct", "textwrap", "types", "typing", "unicodedata", "urllib",
    "urllib.parse", "uuid", "zoneinfo", "zlib",
))  # fmt: skip
"""Modules that are imported before a task's programs run, where its preamble or its inputs name them."""
_IMPORTED = re.compile(r"^\s*(?:import|from)\s+([\w.]+)", re.MULTILINE)
_loads, _type = marshal.loads, type
_MAY_CHANGE = re.compile(r"[\[{]|\w\(|\.")
_arguments = BaseException.__dict__["args"].__get__
_stdout, _stderr = Printed(), Printed(keeps=False)
_take = _stdout.take


class _NotBuilt:
    """An input that no call can get, and why."""

    def __init__(self, why: str):
        self.why = why


class Calls(Inputs):
    """Argument tuples and examples, each built afresh for every call."""

    def __init__(self, preamble: str, texts: list[str]):
        self._values = [_read(text) for text in texts]
        self._blobs = [_marshalled(v, text) for v, text in zip(self._values, texts, strict=True)]
        self._before: list[list[str] | None] = [
            _before(v, blob) for v, blob in zip(self._values, self._blobs, strict=True)
        ]
        self._can_change = [bool(_MAY_CHANGE.search(text)) for text in texts]
        self._awaits = "async" in preamble
        for name in sorted(({*_IMPORTED.findall(preamble)} | modules_of(texts)) & LOADED_BEFORE):
            _import_quietly(name)
        if any(blob is None for blob in self._blobs):
            _import_quietly("inspect")
        self._notes: Notes | None = None

    def load(self, program: dict[str, Any]) -> Loaded:
        """Return what makes a call of the entry point. Raises NotLoaded with the reason and the line."""
        warnings.simplefilter("ignore")
        sys.stdout, sys.stderr = _stdout, _stderr
        if self._awaits or "async" in program["source"]:
            awaiting.prepare()
        entry_point = program["entry_point"]
        self._notes = notes = Notes() if entry_point.startswith(NOTED) else None
        try:
            function, namespace = _load(program | {"entry_point": entry_point.removeprefix(NOTED)}, notes)
        except NotLoaded:
            raise
        except BaseException as e:
            raise NotLoaded(_why(e)) from None
        call = self._calling(function, namespace)
        if notes is None:
            return call, namespace
        return lambda *arguments: Said(notes.of_call(lambda: call(*arguments))), namespace

    def fresh(self, index: int, namespace: Namespace) -> Any:
        """Return the index of the call, its arguments and keywords. Raises UnsupportedValue if they cannot be built."""
        value, blob = self._values[index], self._blobs[index]
        if self._notes is not None:
            self._notes.begin()
        sys.stdout, sys.stderr = _stdout, _stderr
        if _type(value) is _NotBuilt:
            raise UnsupportedValue(f"input: {value.why}")
        if _type(value) is Example:
            _take()
            return index, value, {}
        try:
            arguments = _loads(blob) if blob is not None else build(value, namespace)
        except MemoryError:
            raise
        except BaseException as e:
            raise UnsupportedValue(f"input: {exception_name(e)}") from None
        _take()
        return index, *arguments

    def _calling(self, function: Callable[..., object], namespace: Namespace) -> Callable[..., object]:
        def call(index: int, arguments: Any, keywords: dict[str, Any]) -> Said:
            if _type(arguments) is Example:
                example: Example = arguments
                return example.run(namespace, _take, _awaited)
            changing = self._can_change[index]
            before = self._before[index] or (_snapshots(arguments, keywords) if changing else [])
            value = text_of(_awaited(function(*arguments, **keywords)))
            after = _snapshots(arguments, keywords) if changing else []
            if after and after != before and getattr(function, "tells_changes", False):
                after = [b if b == a else _changed(b, a) for b, a in zip(before, after, strict=True)]
            return Said(_with_effects(value, before, after, keywords, _take()))

        return call


class CallsWithMessages(Calls):
    """Calls of which an exception's message counts too."""

    @staticmethod
    def exception_text(error: BaseException) -> str:
        """Return the type's name and what was said, as it would be typed."""
        return f"{exception_name(error)}({', '.join(snapshot(part) for part in _arguments(error))})"[:MAX_MESSAGE]


def _read(text: str) -> Any:
    """Return (arguments, keywords) or an Example, or why the text is neither."""
    try:
        value = read_literal(text)
        if type(value) is str:
            return Example(json.loads(value))
    except (BadText, ValueError, KeyError, TypeError, AttributeError) as e:
        return _NotBuilt(type(e).__name__)
    if type(value) is not tuple:
        return _NotBuilt("TypeError")
    if value and type(value[-1]) is Instance and value[-1].type_name == KEYWORDS:
        return value[:-1], value[-1].fields
    return value, {}


def _marshalled(value: Any, text: str) -> bytes | None:
    """Return what marshal makes of a value, None where it must be built."""
    if type(value) is not tuple or "bytearray" in text:
        return None
    try:
        return marshal.dumps(value, 2)  # version 2 never shares one list in two places
    except ValueError:
        return None


def _before(value: Any, blob: bytes | None) -> list[str] | None:
    """Return the texts of plain arguments, which are the same before every call."""
    return _snapshots(*_loads(blob)) if blob is not None else None


def _snapshots(arguments: Any, keywords: dict[str, Any]) -> list[str]:
    return [snapshot(value) for value in (*arguments, *keywords.values())]


def _changed(before: str, after: str) -> str:
    """Return the text of an object with the fields alone that a call changed; of another value all of it."""
    try:
        one, other = (ast.parse(text, mode="eval").body for text in (before, after))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return after
    match one, other:
        case ast.Call(args=[], keywords=old), ast.Call(args=[], keywords=new):
            had = {field.arg: ast.unparse(field.value) for field in old}
            if had.keys() <= {field.arg for field in new}:
                other.keywords = [field for field in new if had.get(field.arg) != ast.unparse(field.value)]
                return ast.unparse(other)
    return after


def _with_effects(value: str, before: list[str], after: list[str], keywords: dict[str, Any], printed: str) -> str:
    parts = [f"value={value}"]
    if any(b != a for b, a in zip(before, after, strict=False)):
        told = ["None" if b == a else a for b, a in zip(before, after, strict=True)]
        count = len(told) - len(keywords)
        named = ", ".join(f"{name}={text}" for name, text in zip(keywords, told[count:], strict=True) if text != "None")
        shown = [*told[:count], *([f"{KEYWORDS}({named})"] if named else [])]
        parts.append(f"arguments=({', '.join(shown)}{',' if len(shown) == 1 else ''})")
    if printed:
        parts.append(f"printed={printed!r}")
    return f"Effects({', '.join(parts)})" if len(parts) > 1 else value


def _awaited(value: Any) -> Any:
    """Return the result of a coroutine; of an asynchronous generator an iterator over its first items."""
    if _type(value) is types.CoroutineType:
        return awaiting.run(value)
    if _type(value) is types.AsyncGeneratorType:
        return iter(awaiting.run(value, until=MAX_ITEMS))
    return value


def _load(program: dict[str, Any], notes: Notes | None) -> Loaded:
    preamble, source, entry_point = program["preamble"], program["source"], program["entry_point"]
    owner, _, name = entry_point.rpartition(".")
    if not owner and notes is None:
        return load(preamble, source, entry_point, program["trim"])
    tree = trimmed(source, entry_point) if program["trim"] else ast.parse(source)
    tree = prepared(tree, owner, name) if owner else tree
    namespace = start("" if notes else preamble)
    if notes is not None:
        namespace[NOTE], instrument = notes.note, Instrument()
        before = ast.fix_missing_locations(instrument.visit(ast.parse(preamble)))
        exec(compiled(before, "<preamble>"), namespace)
        tree = ast.fix_missing_locations(instrument.visit(tree))
    given = dict(namespace)
    exec(compiled(tree, "<candidate>"), namespace)
    if owner:
        return function_of(namespace, given, owner, name), namespace
    if not callable(namespace.get(name)):
        raise NotLoaded("NameMissing")
    return namespace[name], namespace


def _import_quietly(name: str) -> None:
    with contextlib.suppress(ImportError):
        __import__(name)


def _why(error: BaseException) -> str:
    """Return the type of what kept a program from loading, what it said, and the line."""
    name = exception_name(error)
    said = [part for part in _arguments(error)[:1] if _type(part) is str]
    if isinstance(error, ModuleNotFoundError) and _type(error.name) is str:
        said = [error.name]
    detail = "".join(c if c.isprintable() else "?" for c in "".join(said)[:MAX_DETAIL])
    place = _place(error)
    return f"{name}: {', '.join(filter(None, (detail, place)))}" if detail or place else name


def _place(error: BaseException) -> str:
    line, file = None, "<candidate>"
    if isinstance(error, SyntaxError):
        line, file = error.lineno, error.filename or file
    else:
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename in ("<candidate>", "<preamble>"):
                line, file = step.tb_lineno, step.tb_frame.f_code.co_filename
            step = step.tb_next
    where = "preamble line" if file == "<preamble>" else "line"
    return f"{where} {line}" if _type(line) is int else ""
