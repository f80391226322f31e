"""What runs the programs of one language inside the sandbox, as the sandbox is told it."""

import functools
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from difftrust_core.exceptions import WrongUsage

CHILD = Path(__file__).parent / "child"


@dataclass(frozen=True, kw_only=True)
class Runner:
    """The child's side of one language; as it stands here, that of Python programs."""

    module: Path = CHILD / "program.py"
    """A file that may import the standard library, ``libraries``, and the modules of ``child`` by their bare names."""
    inputs: str = "Inputs"
    """Its class of a task's inputs, called with (preamble, texts): ``program.Inputs`` or a class with its methods."""
    parts: tuple[str, ...] = ()
    """Modules of ``child`` that ``module`` is made of beside those that every runner has, in their order."""
    libraries: tuple[str, ...] = ("numpy", "numpy.libs")
    """What may be imported beyond the standard library: about 1 % of recorded programs use NumPy."""
    threads: bool = False
    """Programs may start threads (never processes); a library cannot do without."""
    memory_factor: int = field(default=1)
    """How many times the usual address space a program may have."""
    stack_bytes: int = 8 << 20
    """How deep C code may recurse; the kernel leaves room for about 120 MiB."""
    preload: tuple[str, ...] = ()
    """What programs import; of these, what the module's ``LOADED_BEFORE`` holds is loaded once, before any of them."""


CALLS = Runner(
    module=CHILD / "calls.py",
    inputs="Calls",
    parts=("forms", "building", "awaiting", "examples", "printed", "methods"),
)
"""Calls of a user's function: arguments of its own classes, methods, keywords, coroutines, effects, examples."""
_WANTS_THREADS = frozenset({"polars"})


def runner_for(libraries: Sequence[str], *, messages: bool = False, preload: Sequence[str] = ()) -> Runner:
    """Return ``CALLS`` with what else may be imported: packages of this environment, and what they depend on.

    ``messages``: an exception's message is part of the outcome. ``preload``: what programs import.
    Raises WrongUsage where a package is not installed.
    """
    names = dict.fromkeys(CALLS.libraries)
    for library in libraries:
        if not library.isidentifier() or (library not in sys.stdlib_module_names and _file_of(library) is None):
            raise WrongUsage(
                f"no package {library!r} is installed here; --allow-import takes the name that is imported"
            )
        if library not in sys.stdlib_module_names:
            names.update(dict.fromkeys((library, *_dependencies(library))))
    threads = not _WANTS_THREADS.isdisjoint(names)
    return Runner(
        module=CALLS.module,
        inputs="CallsWithMessages" if messages else CALLS.inputs,
        parts=CALLS.parts,
        libraries=tuple(names),
        threads=threads,
        memory_factor=8 if threads else 2 if len(names) > len(CALLS.libraries) else 1,
        preload=tuple(sorted(set(preload))),
    )


def installed(library: str) -> bool:
    """Tell whether a package is installed in this environment, going by its file; it is not imported."""
    return library not in sys.stdlib_module_names and _file_of(library) is not None


def _dependencies(library: str) -> list[str]:
    """Return what else the distribution of a library and those that it requires bring, as top-level names."""
    seen: set[str] = set()
    wanted, found = [_distribution_of(library)], []
    while wanted:
        name = wanted.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if not name or key in seen:
            continue
        seen.add(key)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        tops = {file.parts[0].partition(".py")[0] for file in distribution.files or () if _is_code(file.parts)}
        found += sorted(tops)
        for text in distribution.requires or ():
            requirement = re.match(r"[\w.\-]+", text)
            if requirement and "extra ==" not in text:
                wanted.append(requirement[0])
    return found


def _is_code(parts: tuple[str, ...]) -> bool:
    top = parts[0]
    if len(parts) == 1:
        return top.endswith((".py", ".so"))
    return top.endswith(".libs") or (re.fullmatch(r"\w+", top) is not None and top != "__pycache__")


def _distribution_of(library: str) -> str:
    try:
        return importlib.metadata.distribution(library).name
    except importlib.metadata.PackageNotFoundError:
        pass  # its import name is another one: PyYAML is imported as yaml
    file = _file_of(library)
    assert file is not None
    is_package = file.name == "__init__.py"
    listed = f"{library}/" if is_package else file.name
    for record in (file.parents[1] if is_package else file.parent).glob("*.dist-info/RECORD"):
        text = record.read_text(errors="replace")
        if text.startswith(listed) or f"\n{listed}" in text:
            return record.parent.name.partition("-")[0]
    return ""


@functools.cache
def _file_of(name: str) -> Path | None:
    if not name.isidentifier():
        return None
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if found is None or found.origin is None or found.origin in ("built-in", "frozen"):
        return None
    return Path(found.origin)


@functools.cache
def library_files(runner: Runner) -> dict[str, Path]:
    """Return the file from which each of a runner's libraries is imported: its ``__init__.py``, or the one it is."""
    files = {name: _file_of(name) for name in runner.libraries}
    return {name: file for name, file in files.items() if file is not None}


def library_places(runner: Runner) -> tuple[Path, ...]:
    """Return where a runner's libraries lie: folders, or a file where the library is one."""
    files = library_files(runner)
    places = [file.parent if file.name == "__init__.py" else file for file in files.values()]
    beside = [place.parent / name for place in places for name in runner.libraries if name.endswith(".libs")]
    return tuple(dict.fromkeys((*places, *(path for path in beside if path.is_dir()))))
