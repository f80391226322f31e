"""A program that reads standard input, run once on each text; runs inside the sandbox, standard library only.

The outcome of a run is what it wrote to standard output, trimmed. It ends as a process does: handlers of ``atexit``
run, buffers are flushed; an exit status other than 0 is the exception SystemExit. Threads run when they are started,
to their end. Runs of one program share a process, so what a run may change is put back: builtins, ``sys``, ``io``, the
modules that the text imports, recursion limit, timers, contexts of decimals. What is not: attributes of classes of the
standard library, ``os.environ``, settings that a library keeps in C. Running some inputs twice (``program.run``) finds
those by chance.
"""

import atexit
import builtins
import contextlib
import decimal
import gc
import io
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from canonical import UnsupportedValue
from literals import read_literal
from program import Inputs, Loaded, Namespace, compiled
from streams import MAX_OUTPUT, Doors, Left, Streams

_IMPORTING = re.compile(r"^[ \t]*(?:import|from)[ \t](.*)", re.MULTILINE)
_WORD = re.compile(r"\w+(?:\.\w+)*")
_STDLIB = sys.stdlib_module_names | {"numpy"}
_UNLIMITED = -1
_Module, _type = types.ModuleType, type
_exit_code = SystemExit.__dict__["code"].__get__
_run_exit_functions, _forget_exit_functions = atexit._run_exitfuncs, atexit._clear
_setrecursionlimit, _settrace, _setprofile = sys.setrecursionlimit, sys.settrace, sys.setprofile
_set_digits, _get_digits = sys.set_int_max_str_digits, sys.get_int_max_str_digits


class Texts(Inputs):
    """The input texts of a batch; each input is a tuple of one text."""

    def __init__(self, preamble: str, texts: list[str]):
        self._data = [read_literal(text)[0].encode("utf-8", "replace") for text in texts]

    def __len__(self) -> int:
        return len(self._data)

    def fresh(self, index: int, namespace: Namespace) -> Any:
        """Return the bytes of an input."""
        return (self._data[index],)

    def load(self, program: dict[str, Any]) -> Loaded:
        """Return what runs the program once. Nothing of it runs here, but what it imports of the library is loaded."""
        source = program["source"]
        if "\0" in source:
            raise SyntaxError("null byte")
        codes = [compiled(text, "main.py") for text in (program["preamble"], source) if text]
        words = _imported(f"{program['preamble']}\n{source}")
        for name in sorted(words - sys.modules.keys()):
            with contextlib.suppress(Exception):
                __import__(name)
        return _Script(codes, words).run, {}


def _imported(source: str) -> set[str]:
    """Return the modules of the standard library, and numpy, that lines with an import statement name."""
    words = {word for line in _IMPORTING.findall(source) for word in _WORD.findall(line)}
    return {word for word in words if word.partition(".")[0] in _STDLIB}


class _Script:
    """One program's code, and what has to be put back after each of its runs."""

    def __init__(self, codes: list[types.CodeType], words: set[str]):
        self._codes, self._doors = codes, Doors()
        self._doors.install()
        if "threading" in sys.modules:
            _without_threads(sys.modules["threading"], sys.modules["_thread"])
        if "resource" in words and "resource" in sys.modules:
            limits = {"getrlimit": lambda what: (_UNLIMITED, _UNLIMITED), "setrlimit": lambda what, limits: None}
            vars(sys.modules["resource"]).update(limits)  # the kernel would refuse both
        sys.argv = ["main.py"]
        _forget_exit_functions()
        self._surroundings = _Surroundings(words)

    def run(self, data: bytes) -> str:
        """Run the program on an input; return its output. Raises what it raises."""
        streams = self._doors.streams = Streams(data)
        sys.stdin, sys.stdout, sys.stderr = streams.stdin, streams.stdout, streams.stderr
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = streams.stdin, streams.stdout, streams.stderr  # type: ignore[misc]
        module = _Module("__main__")
        sys.modules["__main__"] = module
        namespace = module.__dict__
        namespace["__builtins__"], namespace["__file__"] = builtins, "main.py"
        status = None
        try:
            status = self._status(namespace, streams)
            if not streams.has_left:
                _end(streams)
        except Exception:
            if not streams.is_too_long:
                raise
        finally:
            _forget_exit_functions()
            namespace.clear()
            self._surroundings.restore()
        if streams.is_too_long:
            raise UnsupportedValue(f"an output of more than {MAX_OUTPUT >> 20} MiB")
        if status is not None and not (_type(status) in (int, bool) and status == 0):
            raise SystemExit(status)
        return streams.text()

    def _status(self, namespace: Namespace, streams: Streams) -> Any:
        """Run the code; return what the program exits with."""
        try:
            for code in self._codes:
                exec(code, namespace)
        except SystemExit as e:
            return _exit_code(e)
        except Left:
            pass
        return streams.status


def _end(streams: Streams) -> None:
    """Do what the interpreter does at the end of a program."""
    _run_exit_functions()
    with contextlib.suppress(Exception):
        if sys.stdout is not streams.stdout:
            sys.stdout.flush()
    with contextlib.suppress(ValueError, OSError):  # closed, or full
        streams.stdout.flush()


class _Surroundings:
    """What a run may change, as it was before the first one."""

    def __init__(self, words: set[str]):
        modules = [builtins, sys, io, *(sys.modules[name] for name in sorted(words) if name in sys.modules)]
        self._tables = [(vars(module), dict(vars(module))) for module in {id(m): m for m in modules}.values()]
        lists: list[Any] = [sys.path, sys.meta_path, sys.path_hooks, sys.argv]
        self._lists = [(found, list(found)) for found in lists]
        self._modules = dict(sys.modules)
        self._recursion_limit, self._digits = sys.getrecursionlimit(), _get_digits()
        self._resets = [reset for name, reset in _RESETS.items() if name in words]

    def restore(self) -> None:
        """Put all of it back; modules that were imported since stay."""
        for table, kept in self._tables:
            table.update(kept)
            if len(table) != len(kept):
                for name in [name for name in table if name not in kept]:
                    del table[name]
        for found, items in self._lists:
            if found != items:
                found[:] = items
        sys.modules.update(self._modules)
        _settrace(None)
        _setprofile(None)
        _setrecursionlimit(self._recursion_limit)
        _set_digits(self._digits)
        for reset in self._resets:
            reset()


def _stop_timers() -> None:
    signal: Any = sys.modules["signal"]
    for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
        with contextlib.suppress(OSError):
            signal.setitimer(timer, 0)


_RESETS: dict[str, Callable[[], object]] = {
    "decimal": lambda: decimal.setcontext(decimal.Context()),
    "gc": gc.enable,
    "signal": _stop_timers,
}
"""What to do after each run of a program that imports a module."""


def _without_threads(threading: Any, thread: Any) -> None:
    """Let a thread run when it is started: the sandbox has none, and most programs want but a larger stack."""

    def start(self: Any) -> None:
        if self._started.is_set():
            raise RuntimeError("threads can only be started once")
        self._started.set()
        start_new_thread(self.run, ())

    def start_new_thread(function: Any, args: Any, kwargs: Any = None) -> int:
        try:
            function(*args, **(kwargs or {}))
        except (MemoryError, Left):
            raise
        except BaseException:
            pass  # a thread's exception ends that thread only
        return 1

    threading.Thread.start = start
    threading.Thread.join = lambda self, timeout=None: None
    threading.Thread.is_alive = lambda self: False
    thread.start_new_thread = thread.start_new = start_new_thread
