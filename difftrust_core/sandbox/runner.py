"""What runs the programs of one language inside the sandbox, as the sandbox is told it."""

import functools
import importlib.util
from dataclasses import dataclass
from pathlib import Path

CHILD = Path(__file__).parent / "child"


@dataclass(frozen=True, kw_only=True)
class Runner:
    """The child's side of one language; as it stands here, that of Python programs."""

    module: Path = CHILD / "program.py"
    """A file that may import the standard library, ``libraries``, and the modules of ``child`` by their bare names."""
    inputs: str = "Inputs"
    """Its class of a task's inputs, called with (preamble, texts): ``program.Inputs`` or a class with its methods."""
    libraries: tuple[str, ...] = ("numpy", "numpy.libs")
    """What may be imported beyond the standard library: about 1 % of recorded programs use NumPy."""


@functools.cache
def library_file(runner: Runner) -> Path | None:
    """Return the file from which a runner's first library is imported: its ``__init__.py``, or the one file it is."""
    found = importlib.util.find_spec(runner.libraries[0]) if runner.libraries else None
    return Path(found.origin) if found is not None and found.origin is not None else None


def library_places(runner: Runner) -> tuple[Path, ...]:
    """Return where a runner's libraries lie: folders, or a file where the library is one."""
    file = library_file(runner)
    if file is None:
        return ()
    first = file.parent if file.name == "__init__.py" else file
    return (first, *(first.parent / name for name in runner.libraries[1:]))
