"""Read one pickle of the published artifact without running anything in it.

A pickle is a program: by default it may import and call whatever it names. Here it is held to the opcodes
that lists of plain objects need, and it may name exactly two classes, both replaced by empty stand-ins. All
that is left to it is to put plain data into their attributes.
"""

import io
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

MAX_BYTES = 4 * 2**20
"""The largest published file has about 0.1 MB."""
_MOST_ATTRIBUTES = 100
"""Of one object: each BUILD copies all that it is given."""

_FRAMING = {"PROTO", "FRAME", "STOP", "MARK", "MEMOIZE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET"}
_ATOMS = {"NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "BINFLOAT"}
_TEXTS = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
_LISTS = {"EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM", "SETITEMS"}
_TUPLES = {"EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"}
_OBJECTS = {"GLOBAL", "STACK_GLOBAL", "NEWOBJ", "BUILD"}
_OPCODES = _FRAMING | _ATOMS | _TEXTS | _LISTS | _TUPLES | _OBJECTS
"""Without REDUCE and its kin nothing is ever called but the stand-ins' ``__new__``."""


class Refused(Exception):
    """The pickle is damaged, or asks for more than plain candidates."""


class _Sealed(type):
    # BUILD may set attributes of whatever it finds, a class included, and the next file would meet them.
    def __setattr__(cls, name: str, value: object) -> NoReturn:
        raise Refused(f"expected plain candidates, found a pickle that sets {name[:80]!r} of a class")


class _Function(metaclass=_Sealed):
    """Stands in for ``difftrust.core.function.Function``."""


class _Specification(metaclass=_Sealed):
    """Stands in for ``difftrust.core.specification.Specification``."""


_ADMITTED = {
    ("difftrust.core.function", "Function"): _Function,
    ("difftrust.core.specification", "Specification"): _Specification,
}


# The Python version, not the C one: in C a five-byte opcode makes the memo table grow to gigabytes, and
# the opcodes cannot be narrowed.
class _Unpickler(pickle._Unpickler):
    dispatch = {  # noqa: RUF012  # overrides the table of the base class, which is a plain dict
        ord(opcode.code): pickle._Unpickler.dispatch[ord(opcode.code)]
        for opcode in pickletools.opcodes
        if opcode.name in _OPCODES
    }

    def find_class(self, module_name: str, global_name: str) -> type:
        try:
            return _ADMITTED[module_name, global_name]
        except KeyError:
            asked = f"{module_name}.{global_name}"[:160]
            raise Refused(f"expected plain candidates, found a pickle that asks for {asked}; not run") from None

    def persistent_load(self, pid: Any) -> NoReturn:
        raise Refused("expected plain candidates, found a pickle with a persistent id; not run")


def _checked(opcode: bytes, check: Callable[[list[Any]], None]) -> None:
    """Let ``check`` look at the stack before an opcode is obeyed."""
    obey: Callable[[Any], None] = _Unpickler.dispatch[opcode[0]]

    def checked(unpickler: Any) -> None:
        check(unpickler.stack)
        obey(unpickler)

    _Unpickler.dispatch[opcode[0]] = checked


def _refuse_other_keys(keys: list[Any]) -> None:
    """Refuse keys that are no texts: to hash tuples in tuples takes twice as long with each."""
    for key in keys:
        if type(key) is not str:
            raise Refused(f"expected texts as keys, found {type(key).__name__}; not run")


def _refuse_many_attributes(stack: list[Any]) -> None:
    state = stack[-1]
    n_attributes = sum(len(part) for part in (state if type(state) is tuple else (state,)) if type(part) is dict)
    if n_attributes > _MOST_ATTRIBUTES:
        raise Refused(f"expected at most {_MOST_ATTRIBUTES} attributes of an object, found {n_attributes}; not run")


_checked(pickle.SETITEM, lambda stack: _refuse_other_keys(stack[-2:-1]))
_checked(pickle.SETITEMS, lambda stack: _refuse_other_keys(stack[::2]))
_checked(pickle.BUILD, _refuse_many_attributes)


def read_codes(path: Path) -> list[str | None]:
    """Return the candidates' code in ``path``, in order; None stands for an element that is no candidate.

    Raises Refused if the file is too large, damaged, no list, or asks for anything but candidates.
    """
    if path.stat().st_size > MAX_BYTES:
        raise Refused(f"expected at most {MAX_BYTES} bytes, found {path.stat().st_size}")
    try:
        content = _Unpickler(io.BytesIO(path.read_bytes())).load()
    except (Refused, OSError):
        raise
    except KeyError as e:
        raise Refused(f"expected plain candidates, found opcode or memo entry {e}; not run") from None
    except Exception as e:  # a damaged pickle raises nearly anything
        raise Refused(f"expected a whole pickle, found damage ({type(e).__name__}: {str(e)[:80]})") from None
    if type(content) is not list:
        raise Refused(f"expected a list of candidates, found {type(content).__name__}")
    return [_code(element) for element in content]


def _code(element: object) -> str | None:
    # vars, not getattr: only what this very object carries counts.
    code = vars(element).get("code") if type(element) is _Function else None
    return code if type(code) is str else None
