"""Which runner makes the calls of a check inside the sandbox, and what its programs may import."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from difftrust_core.exceptions import WrongUsage
from difftrust_core.sandbox.runner import Runner, file_of

_CHILD = Path(__file__).parent / "child"
CALLS = Runner(
    module=_CHILD / "calls.py",
    inputs="Calls",
    parts=tuple(
        _CHILD / f"{name}.py"
        for name in ("typed_repr", "building", "awaiting", "examples", "printed", "methods", "operands")
    ),
)
"""Calls of a user's function: arguments of its own classes, methods, keywords, coroutines, effects, examples."""
NOTED = "noted "
"""Before an entry point: the program runs instrumented, and the outcome of a call is what it compared."""
_WANTS_THREADS = frozenset({"polars"})


def runner_for(libraries: Sequence[str], *, messages: bool = False, preload: Sequence[str] = ()) -> Runner:
    """Return ``CALLS`` with what else may be imported: packages of this environment, and what they depend on.

    ``messages``: an exception's message is part of the outcome. ``preload``: what programs import.
    Raises WrongUsage where a package is not installed.
    """
    names = dict.fromkeys(CALLS.libraries)
    for library in libraries:
        if not library.isidentifier() or (library not in sys.stdlib_module_names and file_of(library) is None):
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
    return library not in sys.stdlib_module_names and file_of(library) is not None


def _dependencies(library: str) -> list[str]:
    """Return what else the distribution of a library and those that it requires bring, as top-level names."""
    from importlib import metadata  # late: most programs import no package

    seen: set[str] = set()
    wanted, found = [_distribution_of(library)], []
    while wanted:
        name = wanted.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if not name or key in seen:
            continue
        seen.add(key)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
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
    from importlib import metadata

    try:
        return metadata.distribution(library).name
    except metadata.PackageNotFoundError:
        pass  # its import name is another one: PyYAML is imported as yaml
    file = file_of(library)
    assert file is not None
    is_package = file.name == "__init__.py"
    listed = f"{library}/" if is_package else file.name
    for record in (file.parents[1] if is_package else file.parent).glob("*.dist-info/RECORD"):
        text = record.read_text(errors="replace")
        if text.startswith(listed) or f"\n{listed}" in text:
            return record.parent.name.partition("-")[0]
    return ""
