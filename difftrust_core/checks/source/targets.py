"""The functions that files, classes and folders name: what is to be checked, and what is left out and why."""

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from difftrust_core.checks.source.calls import LEFT_OUT
from difftrust_core.checks.source.target import Target, decorators_of, find_target, parse_file, targets_in
from difftrust_core.exceptions import BadStub, WrongUsage

_TESTS = ("test", "tests", "testing")


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """What was not taken, and why."""

    where: str
    """``module.py::function`` or a file."""
    why: str
    is_fault: bool = False
    """The file cannot be read as Python, so what it holds is not known."""


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Functions as ``module.py::function``, in the order of the files."""

    found: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def find_targets(what: Sequence[str]) -> Targets:
    """Return the functions that ``mod.py``, ``mod.py::Class``, ``mod.py::function`` and folders name.

    Of files, classes and folders, those are left out that nobody calls with arguments, or that are not for others:
    tests, private and abstract ones, special methods, functions without parameters. What is named by itself is taken.
    Raises WrongUsage where nothing of that name is there.
    """
    found: dict[str, None] = {}
    skipped: dict[str, Skipped] = {}
    for text in what:
        for where, why, is_fault in _named(text):
            if why:
                skipped.setdefault(where, Skipped(where=where, why=why, is_fault=is_fault))
            else:
                found[where] = None
    return Targets(found=tuple(found), skipped=tuple(s for s in skipped.values() if s.where not in found))


def is_test(path: str) -> bool:
    """Tell whether a file is one of tests, by its name and folders."""
    *folders, name = path.replace("\\", "/").split("/")
    by_name = name.startswith("test_") or name.endswith("_test.py") or name in ("conftest.py", "tests.py")
    return by_name or any(folder in _TESTS for folder in folders)


def is_several(text: str) -> bool:
    """Tell whether a text names a file, a class or a folder, and not one function."""
    path, colons, name = text.rpartition("::")
    if not colons:
        return Path(text).is_dir() or (Path(text).is_file() and text.endswith(".py"))
    with suppress(BadStub):
        return Path(path).is_file() and name in _classes(parse_file(Path(path)))
    return False


def _named(text: str) -> Iterator[tuple[str, str, bool]]:
    """Iterate over what one text names: where, and why it is left out, "" where it is not."""
    path, colons, name = text.rpartition("::")
    if colons and not is_several(text):
        target = find_target(text)
        yield _spelled(target, target.path), "", False
    elif colons:
        module = parse_file(Path(path))
        for target in targets_in(Path(path), module):
            if target.owner is not None and target.owner.name == name:
                yield _spelled(target, target.path), why_left_out(target), False
    elif Path(text).is_dir():
        for file in _python_files(Path(text), text):
            yield from _in_file(file, is_test=is_test(str(file.relative_to(text))))
    elif is_several(text):
        yield from _in_file(Path(text), is_test=is_test(Path(text).name))
    else:
        raise WrongUsage(
            f"expected module.py::function, a class, a file or a folder, got {text!r}; "
            "name the file, two colons, the function, or what holds several"
        )


def _in_file(path: Path, *, is_test: bool) -> Iterator[tuple[str, str, bool]]:
    try:
        targets = targets_in(path, parse_file(path))
    except BadStub as e:
        yield str(path), str(e), True
        return
    for target in targets:
        yield _spelled(target, path), "a test" if is_test else why_left_out(target), False


def why_left_out(target: Target) -> str:
    """Return why a function that is not named by itself is not taken; empty where it is."""
    names = [target.function.name, *([target.owner.name] if target.owner else [])]
    if names[0].startswith("__") and names[0].endswith("__"):
        return "a special method"
    if any(name.startswith("_") for name in names):
        return "private"
    if names[0].startswith("test_") or names[-1].startswith("Test"):
        return "a test"
    if "abstractmethod" in decorators_of(target.function):
        return "abstract"
    try:
        target.parameters()
    except BadStub:
        return "takes no arguments"
    return ""


def _spelled(target: Target, path: Path) -> str:
    return f"{path}::{target.entry_point}"


def _classes(module: ast.Module) -> set[str]:
    functions = {target.function.name for target in targets_in(Path(), module) if target.owner is None}
    return {s.name for s in ast.walk(module) if isinstance(s, ast.ClassDef)} - functions


def _python_files(folder: Path, named: str) -> Iterator[Path]:
    """Iterate over the Python files below a folder in order; hidden ones, links and environments are left out."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as e:
        raise WrongUsage(f"expected a folder, {named} cannot be read: {e.strerror or e}; name another") from None
    for entry in entries:
        if entry.is_symlink() or entry.name.startswith(".") or entry.name in LEFT_OUT:
            continue
        if entry.is_dir() and not (entry / "pyvenv.cfg").exists():
            yield from _python_files(entry, named)
        elif entry.suffix == ".py" and entry.is_file():
            yield entry
