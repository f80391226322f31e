"""The variables of a function that nothing outside it, and nothing but plain use of them, can see."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

MAX_DEPTH: Final = 40
"""Scopes within one another; of a function with more, no name is known to be its own."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class _NotKnownError(Exception):
    """The function holds what makes names mean something else: a class, ``global``, ``nonlocal``, ``**`` in a call."""


@dataclass(eq=False)
class _Scope:
    """A function, a lambda or a comprehension within the function."""

    outer: "_Scope | None" = None
    is_comprehension: bool = False
    depth: int = 0
    bound: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    def inner(self, *, is_comprehension: bool) -> "_Scope":
        if self.depth == MAX_DEPTH:
            raise _NotKnownError
        return _Scope(outer=self, is_comprehension=is_comprehension, depth=self.depth + 1)

    def chain(self) -> Iterator["_Scope"]:
        scope: _Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def own_variables(function: Function, called_with: Iterable[str]) -> set[str]:
    """Return the names that may be replaced throughout ``function`` by others that it does not hold.

    These are bound by assignments, loops and parameters of functions inside it, and mean a variable of its own
    wherever they stand. Its own parameters are not among them, for callers may give them by name, nor is what the
    program's calls give by name (``called_with``).
    """
    spelled = {*called_with, *(parameter.arg for parameter in _parameters(function.args))}
    assigned: set[str] = set()
    scopes: list[_Scope] = []
    try:
        for scope in _scopes(function, assigned, spelled):
            scopes.append(scope)
    except _NotKnownError:
        return set()
    for scope in scopes:
        spelled.update(name for name in scope.read if not any(name in outer.bound for outer in scope.chain()))
    return assigned - spelled


def _scopes(function: Function, assigned: set[str], spelled: set[str]) -> Iterator[_Scope]:
    """Yield every scope of ``function``, complete once all were yielded.

    ``assigned`` and ``spelled`` take the names that are bound and written as ``Name`` or ``arg``, and the others.
    """
    top = _Scope(bound={parameter.arg for parameter in _parameters(function.args)})
    yield top
    # What stands before the body (decorators, defaults, annotations) is evaluated outside: its names are no variables.
    spelled.update(node.id for part in _around(function) for node in ast.walk(part) if isinstance(node, ast.Name))
    waiting: list[tuple[ast.AST, _Scope]] = [(statement, top) for statement in function.body]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            inner = scope.inner(is_comprehension=False)
            yield inner
            names = {parameter.arg for parameter in _parameters(node.args)}
            inner.bound |= names
            assigned |= names
            if not isinstance(node, ast.Lambda):
                _of(scope).bound.add(node.name)
                spelled.add(node.name)
            waiting += [(part, scope) for part in _around(node)]
            waiting += [(part, inner) for part in ([node.body] if isinstance(node, ast.Lambda) else node.body)]
        elif isinstance(node, _COMPREHENSIONS):
            inner = scope.inner(is_comprehension=True)
            yield inner
            first = node.generators[0].iter  # evaluated outside
            waiting += [(first, scope), *((child, inner) for child in _within(node) if child is not first)]
        else:
            _note(node, scope, assigned, spelled)
            waiting += [(child, scope) for child in ast.iter_child_nodes(node)]


def _note(node: ast.AST, scope: _Scope, assigned: set[str], spelled: set[str]) -> None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            scope.read.add(name)
        case ast.Name(id=name):
            scope.bound.add(name)
            assigned.add(name)
        case ast.NamedExpr(target=ast.Name(id=name)):
            _of(scope).bound.add(name)
        case ast.ClassDef() | ast.Global() | ast.Nonlocal() | ast.keyword(arg=None):
            raise _NotKnownError
        case ast.keyword(arg=str(name)):
            spelled.add(name)
        case ast.alias(name=name, asname=asname):
            _bind((asname or name).partition(".")[0], scope, spelled)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            _bind(name, scope, spelled)
        case ast.MatchMapping(rest=str(name)):
            _bind(name, scope, spelled)


def _bind(name: str, scope: _Scope, spelled: set[str]) -> None:
    scope.bound.add(name)
    spelled.add(name)


def _of(scope: _Scope) -> _Scope:
    """Return where a name that ``:=`` or ``def`` binds belongs: not to a comprehension."""
    return next(outer for outer in scope.chain() if not outer.is_comprehension)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what stands in a comprehension: its elements, and the parts of its loops."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield from ast.iter_child_nodes(child)
        else:
            yield child


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    rest = [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _around(function: Function | ast.Lambda) -> list[ast.AST]:
    """Return what of a function is evaluated where it stands: decorators, defaults, annotations."""
    arguments = function.args
    found: list[ast.AST | None] = [*arguments.defaults, *arguments.kw_defaults]
    found += [parameter.annotation for parameter in _parameters(arguments)]
    if not isinstance(function, ast.Lambda):
        found += [*function.decorator_list, function.returns]
    return [part for part in found if part is not None]
