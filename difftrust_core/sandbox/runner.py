"""What runs the programs of one language inside the sandbox, as the sandbox is told it."""

import functools
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

CHILD = Path(__file__).parent / "child"


@dataclass(frozen=True, kw_only=True)
class Runner:
    """The child's side of one language; as it stands here, that of Python programs."""

    module: Path = CHILD / "program.py"
    """A file that may import the standard library, ``libraries``, and the modules of ``child`` by their bare names."""
    inputs: str = "Inputs"
    """Its class of a task's inputs, called with (preamble, texts): ``program.Inputs`` or a class with its methods."""
    parts: tuple[Path, ...] = ()
    """Files that ``module`` is made of beside those of ``child`` that every runner has, in their order."""
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


@functools.cache
def file_of(name: str) -> Path | None:
    """Return the file that a library is imported from, going by its name alone; None where there is none."""
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
    files = {name: file_of(name) for name in runner.libraries}
    return {name: file for name, file in files.items() if file is not None}


def library_places(runner: Runner) -> tuple[Path, ...]:
    """Return where a runner's libraries lie: folders, or a file where the library is one."""
    files = library_files(runner)
    places = [file.parent if file.name == "__init__.py" else file for file in files.values()]
    beside = [place.parent / name for place in places for name in runner.libraries if name.endswith(".libs")]
    return tuple(dict.fromkeys((*places, *(path for path in beside if path.is_dir()))))
