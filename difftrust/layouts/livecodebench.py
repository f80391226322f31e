"""Load LiveCodeBench (one JSON object a line, plain or gzip), its packed private tests included, as tasks."""

import base64
import binascii
import pickletools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from difftrust.layouts.contests import (
    PRIVATE,
    PUBLIC,
    REMEDY,
    STDIN,
    Case,
    Stub,
    arguments_in,
    first_program,
    function_task,
    id_in,
    json_of,
    load_release,
    paired,
    read_json,
    stdin_task,
    stub_in,
)
from difftrust_core.base.task import Task
from difftrust_core.datasets.entries import Entry, as_entry, most_unpacked
from difftrust_core.datasets.own_tasks import Layout

MAX_BYTES = 40 * 2**20
"""Of one text, unpacked: the largest released one has about 26 million. It guards against a compression bomb."""
_FRAMING = frozenset(("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "STOP"))
_TEXTS = frozenset(("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"))


class NotPacked(ValueError):
    """The text holds something else; the message says what was found."""


def unpacked(text: str, *, most: int = MAX_BYTES) -> str:
    """Return the text that is packed in ``text``. Raises NotPacked, and runs nothing, where it is another thing."""
    most = min(most, MAX_BYTES)
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise NotPacked("neither JSON nor base64") from None
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, most + 1)
    except zlib.error as e:
        raise NotPacked(f"base64 of what zlib did not pack ({e})") from None
    if len(content) > most:
        raise NotPacked(f"more than {most:,} bytes")
    if not stream.eof:
        raise NotPacked("packed data that stops before its end")
    return _only_text(content)


def _only_text(content: bytes) -> str:
    found = []
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name in _TEXTS and type(argument) is str:
                found.append(argument)
            elif opcode.name not in _FRAMING:
                raise NotPacked(f"a pickle of more than a text (opcode {opcode.name}); not run")
    except NotPacked:
        raise
    except Exception as e:  # a damaged pickle raises nearly anything
        raise NotPacked(f"a damaged pickle ({type(e).__name__})") from None
    if len(found) != 1:
        raise NotPacked(f"a pickle of {len(found)} texts instead of one")
    return found[0]


LAYOUT: Final = "LiveCodeBench"
_FUNCTIONAL: Final = "functional"
_PUBLIC, _PRIVATE = "public_test_cases", "private_test_cases"


def is_livecodebench(fields: Mapping[str, Any]) -> bool:
    """Tell whether an object is a task in the layout of LiveCodeBench."""
    return {"question_content", "question_id"} <= fields.keys() or {"question_content", _PUBLIC} <= fields.keys()


def load_livecodebench(path: Path) -> list[Task]:
    """Return the tasks of ``path`` in its order. Raises BadBenchmark naming file, line and field.

    Private tests may be JSON, or a compressed pickle of it, of which nothing runs.
    """
    tasks, left = list[Task](), most_unpacked(path)
    for entry in load_release(path):
        private, taken = _private(entry, left)
        tasks.append(_task(entry, private))
        left -= taken
    return tasks


def _task(entry: Entry, tests: Any) -> Task:
    public = paired(entry, json_of(entry, _PUBLIC), group=PUBLIC, place=f"field {_PUBLIC!r}")
    private = paired(entry, tests, group=PRIVATE, place=f"field {_PRIVATE!r}")
    cases = [*public, *private]
    said: dict[str, Any] = {
        "layout": LAYOUT,
        "task_id": id_in(entry, "question_id"),
        "description": entry.text("question_content"),
        "reference": first_program(entry),
    }
    stub = _stub(entry)
    if _kind(entry, cases, stub) == STDIN:
        return stdin_task(entry, cases, **said)
    if stub is None:
        raise entry.refusal("the function of metadata, or class Solution with it, in field 'starter_code'", "none")
    return function_task(entry, [_called(entry, case) for case in cases], stub=stub, **said)


def _private(entry: Entry, most: int) -> tuple[Any, int]:
    """Return the private tests, unpacked where they are packed, and how many characters that took, of at most these."""
    text = entry.fields.get(_PRIVATE)
    if type(text) is not str or not text.strip() or text.lstrip().startswith(("[", "{")):
        return json_of(entry, _PRIVATE), 0
    try:
        plain = unpacked(text.strip(), most=most)
    except NotPacked as e:
        raise entry.refusal(f"JSON, or a packed JSON text, in field {_PRIVATE!r}", str(e)) from None
    return read_json(entry, plain, f"the packed text in field {_PRIVATE!r}"), len(plain)


def _kind(entry: Entry, cases: Sequence[Case], stub: Stub | None) -> str:
    """Return ``stdin`` or ``functional``, as the tests say, or else as there is a stub."""
    kinds = {case.kind for case in cases} - {""}
    if unknown := sorted(kinds - {STDIN, _FUNCTIONAL}):
        raise entry.refusal(f"testtype {STDIN} or {_FUNCTIONAL} of every test", repr(unknown[0])[:80])
    if len(kinds) > 1:
        raise entry.refusal("tests of one testtype", " and ".join(sorted(kinds)))
    return kinds.pop() if kinds else _FUNCTIONAL if stub else STDIN


def _stub(entry: Entry) -> Stub | None:
    metadata = as_entry(json_of(entry, "metadata") or {}, where=f"{entry.where}, metadata", remedy=REMEDY)
    name = metadata.text("func_name", default="") if metadata.fields.get("func_name") is not None else ""
    return stub_in(entry.text("starter_code", default=""), name)


def _called(entry: Entry, case: Case) -> Case:
    """Return a test whose input is the list of arguments: they are written one a line."""
    output = case.output
    if type(output) is str:
        output = read_json(entry, output, f"the output of {case.where}")
    return replace(case, input=arguments_in(entry, case, "arguments, one a line,"), output=output)


FILES = Layout(is_layout_of=is_livecodebench, load=load_livecodebench)
