"""What is said to be right as plain pytest tests: they import the function and know nothing of this package."""

import ast
import builtins
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from difftrust_core.base.files import write_whole
from difftrust_core.base.literals import BadText, read_literal
from difftrust_core.checks.pin import Pin, parse_pin
from difftrust_core.checks.source.names import Names, NotSpelled
from difftrust_core.checks.source.target import Target, find_target, top_level
from difftrust_core.checks.source.values import bound_names
from difftrust_core.checks.versions.version import root_of
from difftrust_core.exceptions import BadStore, WrongUsage

_RAISES = re.compile(r" raises ([A-Za-z_]\w*)\s*$")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What became of each text."""

    new: tuple[str, ...]
    there_already: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    """(text, why): no test can say it."""


def write_tests(file: Path, where: str, texts: Sequence[str]) -> Written:
    """Write a test for each of ``texts``, ``f(1) == 2`` or ``f([]) raises ValueError``, into a file.

    A file that exists keeps what it holds; what it tests already is not written again. Raises WrongUsage where the
    file cannot be written, or is no Python.
    """
    target = find_target(where)
    before, tree = _read(file)
    bodies = {ast.dump(_rest(each)) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    taken = {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    parts, new, there, left_out = [], list[str](), list[str](), list[tuple[str, str]]()
    for text in dict.fromkeys(texts):
        try:
            lines = list(_lines(text, target))
        except (WrongUsage, NotSpelled, BadText) as e:
            left_out.append((text, str(e)))
            continue
        name = next(n for n in _names(target.entry_point) if n not in taken)
        code = "\n".join([f"def {name}() -> None:", *(f"    {line}" if line else "" for line in lines)])
        dumped = ast.dump(_rest(ast.parse(code).body[0]))
        if dumped in bodies:
            there.append(text)
            continue
        bodies.add(dumped)
        taken.add(name)
        parts.append(code)
        new.append(text)
    if parts:
        head = before.rstrip("\n") if before.strip() else _head(file, target)
        try:
            write_whole(file, "\n\n\n".join([head, *parts]) + "\n")
        except BadStore as e:
            raise WrongUsage(f"expected a file to write tests to, {e}") from None
    return Written(new=tuple(new), there_already=tuple(there), left_out=tuple(left_out))


def _read(file: Path) -> tuple[str, ast.Module]:
    if not file.absolute().parent.is_dir():
        raise WrongUsage(f"expected a file in a folder that exists, got {file}; make {file.parent} first")
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return text, ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise WrongUsage(f"expected a Python file to add tests to, {file} is none: {e}; name another") from None


def _head(file: Path, target: Target) -> str:
    """Return how a new file begins: the folder that the function is imported from is found from the file's own."""
    root = os.path.relpath(root_of(target.path), file.resolve().parent)
    return (
        '"""What was said to be right, as tests."""\n\nimport sys\nfrom pathlib import Path\n\n'
        f"sys.path.insert(0, str((Path(__file__).parent / {root!r}).resolve()))"
    )


def _lines(text: str, target: Target) -> Iterator[str]:
    """Yield the statements of a test. Raises WrongUsage, NotSpelled or BadText where none can say it."""
    pin = parse_pin(text, target.entry_point)
    named = pin.named(Names(target.module))
    raises = _RAISES.search(text)
    wanted = [named.call, *([] if raises else [_right(text, pin, named)])]
    names = [n.id for each in wanted for n in ast.walk(ast.parse(each, mode="eval")) if isinstance(n, ast.Name)]
    own = [*names, *([raises[1]] if raises else [])]
    bound = _names_in(target.module)
    imported = sorted({name for name in own if name in bound or not hasattr(builtins, name)})
    for name in imported:
        if name not in bound and "*" not in bound:
            raise WrongUsage(f"expected names that {target.path.name} has, got {name}; import it there")
    approximate = not raises and _is_approximate(wanted[1])
    call = _called(named.call, target)
    if call.startswith("asyncio."):
        yield "import asyncio"
        yield ""
    if raises or approximate:
        yield "import pytest"
        yield ""
    yield f"from {_module(target)} import {', '.join(imported)}"
    yield ""
    if raises:
        yield f"with pytest.raises({raises[1]}):"
        yield f"    {call}"
    elif approximate:
        yield f"assert {call} == pytest.approx({wanted[1]}, rel=1e-9, nan_ok=True)"
    else:
        yield f"assert {call} {'is' if wanted[1] in ('None', 'True', 'False') else '=='} {wanted[1]}"


def _names_in(module: ast.Module) -> set[str]:
    """Return what can be imported from a module, which may hide a builtin name; ``*`` if it imports all of another."""
    imports = [each for each in top_level(module.body) if isinstance(each, ast.Import | ast.ImportFrom)]
    brought = {a.asname or a.name.partition(".")[0] for each in imports for a in each.names}
    return bound_names(module) | brought


def _right(text: str, pin: Pin, named: Pin) -> str:
    value = named.value or pin.value
    if not value:
        raise WrongUsage(f"expected a value, got {text!r}")
    return value


def _is_approximate(value: str) -> bool:
    """Tell whether a value is a float, or a list or tuple of some: what pytest compares approximately."""
    try:
        read = read_literal(value)
    except BadText:
        return False
    parts = read if isinstance(read, list | tuple) else [read]
    return any(isinstance(each, float) for each in parts) and all(isinstance(each, float | int) for each in parts)


def _called(call: str, target: Target) -> str:
    if isinstance(target.function, ast.AsyncFunctionDef):
        if target.is_generator:
            raise WrongUsage(f"expected a value that a test can compare, got an asynchronous generator: {call}")
        return f"asyncio.run({call})"
    return f"list({call})" if target.is_generator else call


def _module(target: Target) -> str:
    path = target.path.resolve().relative_to(root_of(target.path)).with_suffix("")
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    if not all(part.isidentifier() for part in parts):
        raise WrongUsage(f"expected a module that can be imported, got {target.path.name}; rename it")
    return ".".join(parts)


def _names(entry_point: str) -> Iterator[str]:
    plain = re.sub(r"\W", "_", entry_point).lower().strip("_")
    return (f"test_{plain}_{number}" for number in range(1, 1_000_000))


def _rest(function: ast.AST) -> ast.Module:
    """Return the body of a test: what makes two tests the same, whatever they are called."""
    return ast.Module(body=list(getattr(function, "body", [])), type_ignores=[])
