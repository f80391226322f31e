"""Read the tree of recorded candidates as the paper's authors published it, without running any of its pickles."""

import io
import pickle
import pickletools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from difftrust_core.base.parallel import Progress
from difftrust_core.base.task import name_flaw
from difftrust_core.datasets.recorded import Found, Recorded, Selection, flaw_of
from difftrust_core.exceptions import BadSource

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


_CODER = re.compile(r"(?P<model>.+)_temp(?P<temperature>[0-9]+(\.[0-9]+)?)")
_FILE = re.compile(r"candidates_(?P<benchmark>HumanEval_)?(?P<number>[0-9]+)")
_FOLDERS = {"humaneval": "HumanEval", "mbpp": "MBPP"}


@dataclass(frozen=True, kw_only=True)
class _File:
    path: Path
    benchmark: str
    task_id: str
    model: str
    temperature: float


def holds_artifact(folder: Path) -> bool:
    """Tell whether a folder is a clone of the published repository, or holds one."""
    return bool(_homes(folder))


def _homes(root: Path) -> list[Path]:
    return sorted(path for path in [root, *root.rglob(".experiments")] if path.name == ".experiments")


def read_artifact(root: Path, selection: Selection | None = None) -> Recorded:
    """Return the candidates below ``root``: the repository, one benchmark's folder, or any folder above.

    Expected are ``.experiments/<model>_temp<t>/cache/candidates_HumanEval_<n>`` and ``.../candidates_<n>``
    (MBPP). ``sample_index`` is the position in the file. No pickle is run (see ``inert_pickle``).
    Raises BadSource if there is no ``.experiments`` folder; a file that cannot be used becomes a bad row.
    """
    selection = selection or Selection()
    homes = _homes(root)
    if not homes:
        raise BadSource(
            f"{root}: expected a folder .experiments in it, as in a clone of "
            "github.com/mpi-softsec/difftrust, found none; name the clone, a Parquet file or a JSONL file"
        )
    found = Found()
    files = [f for home in homes for f in _files(home, found) if selection.wants(f.benchmark, f.model, f.temperature)]
    files.sort(key=lambda f: (f.benchmark, f.model, f.temperature, int(f.task_id.split("/")[1]), f.path))
    for file in Progress(_once(files, found), desc=f"reading {root.name}", unit="file", leave=False):
        _take(file, selection.m, found)
    return found.recorded()


def _files(home: Path, found: Found) -> Iterator[_File]:
    for folder in sorted(path for path in home.iterdir() if path.is_dir()):
        coder = _CODER.fullmatch(folder.name)
        if coder is None:
            found.skipped["folders not named <model>_temp<t>"] += 1
            continue
        if flaw := name_flaw(coder["model"]):
            found.refuse(folder, flaw)
            continue
        for path in sorted((folder / "cache").glob("*")):
            named = _FILE.fullmatch(path.name)
            if named is None or not path.is_file():
                refined = path.name.startswith("refined_")
                found.skipped["refined_* files" if refined else "other files in cache"] += 1
                continue
            benchmark, prefix = ("HumanEval", "HumanEval") if named["benchmark"] else ("MBPP", "Mbpp")
            if _FOLDERS.get(home.parent.name.lower(), benchmark) != benchmark:
                found.refuse(path, f"expected a file of {home.parent.name}, found a name of {benchmark}")
                continue
            yield _File(
                path=path,
                benchmark=benchmark,
                task_id=f"{prefix}/{int(named['number'])}",
                model=coder["model"],
                temperature=float(coder["temperature"]),
            )


def _once(files: list[_File], found: Found) -> list[_File]:
    """Set aside a second file for the same task and coder: which of the two holds the samples is unknown."""
    first: dict[tuple[str, str, float], _File] = {}
    for file in files:
        kept = first.setdefault((file.task_id, file.model, file.temperature), file)
        if kept is not file:
            found.refuse(file.path, f"expected one file for this task and coder, {kept.path} is another")
    return list(first.values())


def _take(file: _File, m: int | None, found: Found) -> None:
    try:
        codes = read_codes(file.path)
    except (Refused, OSError) as e:
        why = str(e) if isinstance(e, Refused) else f"expected a readable file, found: {e.strerror}"
        return found.refuse(file.path, why)
    for index, code in enumerate(codes[:m]):
        flaw = "expected a Function with its code, found something else" if code is None else flaw_of(code)
        if code is None or flaw:
            found.refuse(f"{file.path}, candidate {index}", flaw)
        else:
            found.add(file.benchmark, file.task_id, file.model, file.temperature, index, code)
