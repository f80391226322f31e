"""What candidates rest on of the function's file: imports, constants, helpers, classes; for a method its class."""

import ast
import copy
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from difftrust_core.checks.source.target import Function, Target, is_written
from difftrust_core.checks.source.values import IMPORTS, LIBRARIES, bound_by, free_names
from difftrust_core.languages.python.syntax import parsed


@dataclass(frozen=True, kw_only=True)
class Preamble:
    """The text that runs before each candidate, in the order of the file."""

    text: str
    libraries: tuple[str, ...]
    """Packages beside the standard library that it imports."""
    notes: tuple[str, ...]
    """What was left out of it, and why."""


def preamble_of(target: Target, *, also: Collection[str] = (), allowed: Sequence[str] = ()) -> Preamble:
    """Return what the signature, the decorators and the body rest on, and the names ``also``, transitively.

    Imports of the standard library all stay, of packages those that may be imported: numpy, pandas, polars and
    ``allowed``. A definition that needs another import when it is made is left out and named.
    """
    chooser = _Chooser(target, (*LIBRARIES, *allowed))
    kept = chooser.chosen(_wanted(target) | set(also))
    libraries = dict.fromkeys(package for s in kept for package in _packages(s) if package in chooser.allowed)
    return Preamble(
        text="".join(f"{ast.unparse(chooser.written(s))}\n" for s in kept),
        libraries=tuple(libraries),
        notes=tuple(chooser.notes),
    )


def names_in(code: str) -> set[str]:
    """Return the names that a program reads and does not define; of what does not parse, none."""
    tree = parsed(code)
    return free_names(tree) if tree is not None else set()


def packages_in(code: str) -> set[str]:
    """Return the packages that a program imports, those of the standard library left out."""
    tree = parsed(code)
    nodes = [n for n in ast.walk(tree) if isinstance(n, IMPORTS)] if tree is not None else []
    return {package for n in nodes for package in _packages(n)} - sys.stdlib_module_names


def _wanted(target: Target) -> set[str]:
    """Return the names that the function itself rests on."""
    function = target.function
    parts: list[ast.AST | None] = [function.args, function.returns, *function.decorator_list]
    if is_written(target):
        parts += target.body
    wanted = {name for part in parts if part is not None for name in _names(part)}
    return (wanted | {target.owner.name} if target.owner else wanted - {function.name}) or set()


def _names(node: ast.AST) -> set[str]:
    """Return all names in ``node``, those in annotations that are written as texts included."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < 100:
            spelled = parsed(part.value)
            if spelled is not None and len(spelled.body) == 1 and isinstance(spelled.body[0], ast.Expr):
                found |= {n.id for n in ast.walk(spelled) if isinstance(n, ast.Name)}
    return found


def _packages(node: ast.AST) -> Iterator[str]:
    """Iterate over the packages that an import, or the imports in a block, name; "." for the file's own package."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            yield "." if part.level else (part.module or "").partition(".")[0]


def _bound(statement: ast.stmt) -> set[str]:
    """Return what a statement of the top level binds, imports and those in its blocks included."""
    found = set()
    for part in _with_blocks(statement):
        found |= bound_by(part)
        if isinstance(part, IMPORTS):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in part.names}
    return found


def _with_blocks(statement: ast.stmt) -> Iterator[ast.stmt]:
    yield statement
    if isinstance(statement, ast.If | ast.Try):
        for child in ast.iter_child_nodes(statement):
            inner = child.body if isinstance(child, ast.ExceptHandler) else [child]
            for part in inner:
                if isinstance(part, ast.stmt):
                    yield from _with_blocks(part)


class _Chooser:
    def __init__(self, target: Target, allowed: Sequence[str]):
        self.target, self.allowed = target, tuple(dict.fromkeys(name.partition(".")[0] for name in allowed))
        self.notes: list[str] = []
        self._body = target.module.body
        self._lazy = any(isinstance(s, ast.ImportFrom) and s.module == "__future__" for s in self._body)
        self._missing: dict[str, str] = {}
        """Names that are not there, each with the package that it needs."""

    def chosen(self, wanted: set[str]) -> list[ast.stmt]:
        """Return the statements in the order of the file; ``notes`` says which are left out."""
        kept: list[ast.stmt] = [s for s in self._body if isinstance(s, IMPORTS) and self._may_stay(s)]
        seen: set[str] = set()
        while wanted - seen:
            seen |= wanted
            for statement in self._body:
                if statement not in kept and self._is_definition(statement) and seen & _bound(statement):
                    kept.append(statement)
                    wanted = wanted | _names(self.written(statement))
        left = [s for s in self._body if isinstance(s, IMPORTS) and s not in kept and seen & _bound(s)]
        self._leave_out(left)
        return [s for s in self._body if s in kept and not self._lacks(s)]

    def written(self, statement: ast.stmt) -> ast.stmt:
        """Return the statement as the preamble has it: the checked method without its body."""
        if statement is not self.target.owner or not isinstance(statement, ast.ClassDef):
            return statement
        emptied = copy.copy(statement)
        emptied.body = [self._emptied(s) if s is self.target.function else s for s in statement.body]
        return emptied

    @staticmethod
    def _emptied(function: ast.stmt) -> ast.stmt:
        emptied = copy.copy(function)
        emptied.body = [ast.Expr(value=ast.Constant(value=...))]  # type: ignore[attr-defined]
        return emptied

    def _may_stay(self, statement: ast.stmt) -> bool:
        return all(p in sys.stdlib_module_names or p in self.allowed for p in _packages(statement))

    def _is_definition(self, statement: ast.stmt) -> bool:
        if statement is self.target.function:
            return False
        if isinstance(statement, ast.If | ast.Try):
            return all(self._is_definition(s) or isinstance(s, IMPORTS | ast.Pass) for s in _leaves(statement))
        return bool(bound_by(statement)) and not isinstance(statement, IMPORTS)

    def _leave_out(self, imports: Sequence[ast.stmt]) -> None:
        for statement in imports:
            packages = [p for p in _packages(statement) if p not in sys.stdlib_module_names]
            self._missing |= dict.fromkeys(_bound(statement), packages[0])
            remedy = "" if packages[0] == "." else f"; --allow-import {packages[0]} lets candidates use it"
            self.notes.append(f"left out for the candidates: {ast.unparse(statement)}{remedy}")

    def _lacks(self, statement: ast.stmt) -> bool:
        """Tell whether making the definition needs a name that is missing; then its own names are missing too."""
        needed = {} if isinstance(statement, IMPORTS) else _needed_at_once(statement, lazy=self._lazy)
        lacking = sorted(name for name in needed if name in self._missing)
        if not lacking:
            return False
        names = _bound(statement)
        self._missing |= dict.fromkeys(names, self._missing[lacking[0]])
        self.notes.append(f"left out for the candidates: {', '.join(sorted(names))}, which needs {lacking[0]}")
        return True


def _leaves(statement: ast.stmt) -> Iterator[ast.stmt]:
    return (s for s in _with_blocks(statement) if not isinstance(s, ast.If | ast.Try))


def _needed_at_once(statement: ast.stmt, *, lazy: bool) -> Collection[str]:
    """Return the names that must be there when the definition is made, not only when it is called."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _needed_by_function(statement, lazy=lazy)
        case ast.ClassDef():
            heads = [*statement.bases, *statement.decorator_list, *[k.value for k in statement.keywords]]
            found = {name for head in heads for name in free_names(head)}
            for part in statement.body:
                found |= set(_needed_at_once(part, lazy=lazy))
            return found
        case ast.AnnAssign(value=value) if lazy:
            return free_names(value) if value is not None else set()
        case ast.If() | ast.Try():
            return set()
    return free_names(statement)


def _needed_by_function(function: Function, *, lazy: bool) -> set[str]:
    arguments = function.args
    parts: list[ast.AST | None] = [*function.decorator_list, *arguments.defaults, *arguments.kw_defaults]
    if not lazy:
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        parts += [argument.annotation for argument in every if argument is not None] + [function.returns]
    return {name for part in parts if part is not None for name in free_names(part)}
