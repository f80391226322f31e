"""One candidate program, loaded and called on every input; runs in a confined child, standard library only.

The child owns nothing but the reply, a shared mapping: a header of eight 64-bit words and then one line a call, its
kind's letter followed by canonical text, up to the first zero byte. Zygote and host believe none of it unchecked.
"""

import ast
import builtins
import marshal
import os
import random
import re
import sys
import types
from collections.abc import Callable, Iterable
from dis import get_instructions
from importlib import import_module
from mmap import mmap
from typing import Any, Never

from canonical import UnsupportedValue, canonical, exception_name
from literals import Instance, read_literal
from standard_types import STANDARD_TYPES, STORED

STATE, NONDETERMINISTIC, RECHECKED = range(3)  # words of the header
HEADER_BYTES = 64
LOADING, RUNNING, RECHECKING, DONE, FULL, NOT_LOADED, NO_MEMORY = range(7)  # values of STATE
RECHECK_EVERY = 50  # 2 % of the inputs run twice, to find programs that differ from themselves
MODULE_NAME = "candidate"
_STANDARD = {name: getattr(import_module(STANDARD_TYPES[name].home), name) for name in STORED}
_FUTURE_ANNOTATIONS: int = __import__("__future__").annotations.compiler_flag
# Bound here, where no candidate can have replaced them yet.
_exit, _loads, _seed = os._exit, marshal.loads, random.seed

_MAY_CHANGE = re.compile(r"[\[{]|\w\(")  # a list, a dict, a set, an object, or a string that looks like one

Namespace = dict[str, Any]
Loaded = tuple[Callable[..., object], Namespace]
Emit = Callable[[bytes], object]


class NotLoaded(Exception):
    """The program did not become callable; the message says why."""


class Inputs:
    """The argument tuples of a batch, read once in the zygote and handed out fresh for every call."""

    def __init__(self, preamble: str, texts: list[str]):
        self._values = [read_literal(text) for text in texts]
        self._blobs = [_marshalled(v, text) for v, text in zip(self._values, texts, strict=True)]

    def __len__(self) -> int:
        return len(self._values)

    exception_text = staticmethod(exception_name)
    """What is said of an exception that a call raised."""

    def load(self, program: dict[str, Any]) -> Loaded:
        """Return the entry point and the namespace of a program. Raises NotLoaded, or whatever its text raises."""
        return load(program["preamble"], program["source"], program["entry_point"], program["trim"])

    def fresh(self, index: int, namespace: Namespace) -> Any:
        """Return arguments that no earlier call has seen, objects being of the program's own classes."""
        blob = self._blobs[index]
        if blob is None:
            return self._values[index]
        if blob:
            return _loads(blob)
        return _build(self._values[index], namespace)


def _marshalled(value: Any, text: str) -> bytes | None:
    """Return what marshal makes of ``value``: None where it cannot change, empty where marshal would lose a type."""
    if not _MAY_CHANGE.search(text):
        return None
    try:
        return b"" if "bytearray" in text else marshal.dumps(value, 2)  # version 2 never shares one list in two places
    except ValueError:  # an Instance within it
        return b""


def _build(value: Any, namespace: Namespace) -> Any:
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return kind([_build(v, namespace) for v in value])
    if kind is dict:
        return {_build(k, namespace): _build(v, namespace) for k, v in value.items()}
    if kind is bytearray:
        return value[:]
    if kind is not Instance:
        return value
    cls = _class_of(value.type_name, namespace)
    args = [_build(a, namespace) for a in value.args]
    if args or not isinstance(cls, type):
        return cls(*args)
    made: object = object.__new__(cls)
    for name, field in value.fields.items():
        object.__setattr__(made, name, _build(field, namespace))
    return made


def _class_of(name: str, namespace: Namespace) -> Any:
    """Return the program's own class, or the standard library's: ``datetime`` may be the module to the program."""
    own = namespace.get(name)
    if isinstance(own, type) or name not in _STANDARD:
        return namespace[name]
    return _STANDARD[name]


def compiled(source: str | ast.Module, where: str) -> types.CodeType:
    """Return the code of a text or tree whose annotations are not evaluated."""
    made: types.CodeType = compile(source, where, "exec", flags=_FUTURE_ANNOTATIONS, dont_inherit=True)
    return made


def start(preamble: str | ast.Module, names: Namespace | None = None) -> Namespace:
    """Return the namespace of a new module with these ``names`` in which the preamble has run."""
    module = types.ModuleType(MODULE_NAME)
    sys.modules[MODULE_NAME] = module
    namespace = module.__dict__
    namespace["__builtins__"] = builtins
    namespace.update(names or {})
    if preamble:
        exec(compiled(preamble, "<preamble>"), namespace)
    return namespace


def load(preamble: str, source: str, entry_point: str, trim: bool) -> Loaded:
    """Return the entry point and the namespace of ``source``. Raises NotLoaded.

    Annotations are not evaluated (as from Python 3.14 on): a type that was not imported is no behaviour.
    With ``trim``, statements after the entry point that only use it (examples, prints, input loops) are left out.
    """
    namespace = start(preamble)
    if "\0" in source:
        raise SyntaxError("null byte")  # Python before 3.11.4 raises ValueError
    program = trimmed(source, entry_point) if trim else source
    exec(compiled(program, "<candidate>"), namespace)
    owner, _, name = entry_point.rpartition(".")
    function = _method(namespace, owner, name) if owner else namespace.get(name)
    if not callable(function):
        raise NotLoaded("NameMissing")
    return function, namespace


def _method(namespace: Namespace, owner: str, name: str) -> Callable[..., object] | None:
    """Return what calls a method of a new object each time; without the class, a function of the method's name."""
    cls, plain = namespace.get(owner), namespace.get(name)
    if isinstance(cls, type) and hasattr(cls, name):
        return lambda *arguments: getattr(cls(), name)(*arguments)
    if isinstance(plain, types.FunctionType) and plain.__code__.co_varnames[:1] == ("self",):
        written = plain  # as it stands in the class
        return lambda *arguments: written(types.SimpleNamespace(), *arguments)
    return plain


def trimmed(source: str, entry_point: str) -> ast.Module:
    """Return the tree of ``source`` without the statements after the entry point that only use it."""
    tree = ast.parse(source)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    owner, _, name = entry_point.rpartition(".")
    ends = [i for i, s in enumerate(tree.body) if isinstance(s, functions) and s.name == name]
    ends += [i for i, s in enumerate(tree.body) if owner and isinstance(s, ast.ClassDef) and s.name == owner]
    after = max(ends) + 1 if ends else len(tree.body)
    definitions = (*functions, ast.ClassDef, ast.Import, ast.ImportFrom)
    kept = tree.body[:after] + [s for s in tree.body[after:] if isinstance(s, definitions)]
    read = _names_read(compiled(ast.Module(kept, []), "<candidate>"))
    tree.body = [s for s in tree.body if s in kept or _assigns_one_of(s, read)]
    return tree


def _names_read(code: types.CodeType) -> set[str]:
    """Return the global names that are read where this code runs, or a function in it; annotations do not."""
    found = {step.argval for step in get_instructions(code) if step.opname in ("LOAD_NAME", "LOAD_GLOBAL")}
    return found.union(*[_names_read(part) for part in code.co_consts if isinstance(part, types.CodeType)])


def _assigns_one_of(statement: ast.stmt, names: set[str]) -> bool:
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(t, ast.Name) and t.id in names for t in targets)


def run(program: dict[str, Any], inputs: Inputs, reply: mmap, start: int) -> Never:
    """Load the program and write one line a call from input ``start`` on. Never returns: the child exits."""
    head = memoryview(reply)[:HEADER_BYTES].cast("Q")
    _seed(0)  # the module random took a new seed when this process was forked
    try:
        loaded = inputs.load(program)
    except NotLoaded as e:
        _not_loaded(reply, head, str(e))
    except BaseException as e:
        _not_loaded(reply, head, exception_name(e))
    text = program["preamble"] + program["source"]
    seeds = _seeds() if "random" in text or not text.isascii() else []  # Python reads many a letter as a plain one
    head[STATE] = RUNNING
    again, n = range(start, len(inputs), RECHECK_EVERY), len(inputs)
    said_at = []
    try:
        for index in again:
            said_at.append(reply.tell())
            block = range(index, min(index + RECHECK_EVERY, n))
            _call_each(block, loaded, inputs, reply.write, head=head, seeds=seeds)
    except ValueError:  # of ``write``: no room is left
        head[STATE] = FULL
        _exit(0)
    head[STATE] = RECHECKING
    _call_each(again, loaded, inputs, _compare(reply, said_at, head), head=head, seeds=seeds)
    head[STATE] = DONE
    _exit(0)


def _not_loaded(reply: mmap, head: memoryview, why: str) -> Never:
    reply.write(f"L{why}\n".encode())
    head[STATE] = NOT_LOADED
    _exit(0)


def _seeds() -> list[Callable[[int], object]]:
    """Return what fixes the random numbers of a call: the module random's seed, and NumPy's where it is loaded."""
    numpy_random = sys.modules.get("numpy.random")
    return [_seed] if numpy_random is None else [_seed, numpy_random.seed]


def _call_each(
    indices: Iterable[int],
    loaded: Loaded,
    inputs: Inputs,
    emit: Emit,
    *,
    head: memoryview,
    seeds: list[Callable[[int], object]],
) -> None:
    """Call the program on each input and hand on the line that says its outcome."""
    function, namespace = loaded
    fresh, text_of, name_of, unsupported = inputs.fresh, canonical, inputs.exception_text, UnsupportedValue
    for index in indices:
        for seed in seeds:
            seed(0)
        try:
            line = f"V{text_of(function(*fresh(index, namespace)))}\n"
        except unsupported as e:
            line = f"U{e}\n"
        except MemoryError:
            head[STATE] = NO_MEMORY  # what is left of this process is not to be trusted with another call
            _exit(0)
        except BaseException as e:
            line = f"E{name_of(e)}\n"
        emit(line.encode())


def _compare(reply: mmap, said_at: list[int], head: memoryview) -> Emit:
    """Return what compares the lines of the second run of some inputs with those of the first, at ``said_at``."""
    places = iter(said_at)

    def compare(line: bytes) -> None:
        head[RECHECKED] += 1
        place = next(places)
        if reply[place : place + len(line)] != line:
            head[NONDETERMINISTIC] = 1

    return compare
