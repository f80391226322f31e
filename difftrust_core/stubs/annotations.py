"""What an annotation in a parsed file stands for, found without evaluating anything; and nothing else."""

import ast
import builtins
import collections
import collections.abc
import datetime
import decimal
import fractions
import typing
from collections.abc import Mapping
from typing import Any

import annotated_types

_MODULES: dict[str, Any] = {
    "annotated_types": annotated_types,
    "builtins": builtins,
    "collections": collections,
    "collections.abc": collections.abc,
    "datetime": datetime,
    "decimal": decimal,
    "fractions": fractions,
    "typing": typing,
    "typing_extensions": typing,
}
_STREAMS = {"Iterable", "Iterator", "Collection", "Reversible", "Container", "Generator"}
"""Inputs are plain data, so what is asked to be iterable is given as a sequence."""
_MAX_DEPTH = 50


class NotResolved(ValueError):
    """The annotation names what is not known here; the message says which."""


class Annotations:
    """The annotations of one parsed file. ``stands_for``: types to put in the place of others, for every value."""

    def __init__(self, module: ast.Module, *, stands_for: Mapping[Any, Any] | None = None):
        self._stands_for = stands_for or {}
        self._imported = dict(_imports(module))
        self._assigned = dict(_assignments(module))

    def resolve(self, node: ast.expr, depth: int = 0) -> Any:
        """Return the type that ``node`` stands for. Raises NotResolved."""
        if depth > _MAX_DEPTH:
            raise NotResolved("an alias of itself")
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str(text)):
                return self.resolve(_parsed(text), depth + 1)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return typing.Union[self.resolve(left, depth + 1), self.resolve(right, depth + 1)]  # noqa: UP007
            case ast.Name() | ast.Attribute():
                found = self._named(ast.unparse(node), depth)
                return self._stands_for.get(found, found)
            case ast.Subscript(value=value, slice=inside):
                return self._subscripted(ast.unparse(value), inside, depth + 1)
        raise NotResolved(ast.unparse(node))

    def _named(self, name: str, depth: int) -> Any:
        if name in self._assigned:
            return self._alias(name, depth + 1)
        found = _known(self._imported.get(name, name), self._imported)
        if found is object:
            return Any
        if not isinstance(found, type) and typing.get_origin(found) is None and type(found).__module__ != "typing":
            raise NotResolved(name)
        return found

    def _alias(self, name: str, depth: int) -> Any:
        value = self._assigned[name]
        match value:
            case ast.Call(func=ast.Name(id="TypeVar") | ast.Attribute(attr="TypeVar")):
                return Any
            case ast.Call(func=ast.Name(id="NewType") | ast.Attribute(attr="NewType"), args=[_, base]):
                return self.resolve(base, depth)
            case ast.Call():
                raise NotResolved(name)
        return self.resolve(value, depth)

    def _subscripted(self, name: str, inside: ast.expr, depth: int) -> Any:
        base = self._named(name, depth)
        if base is typing.Literal:
            return typing.Literal[tuple(_literals(inside))]
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        if base is typing.Annotated:
            kept = [self._constraint(part) for part in parts[1:]]
            return typing.Annotated[(self.resolve(parts[0], depth), *kept)]
        arguments = tuple(... if _is_ellipsis(part) else self.resolve(part, depth) for part in parts)
        try:
            return base[arguments if len(arguments) != 1 or base is tuple else arguments[0]]
        except TypeError as e:
            raise NotResolved(f"{ast.unparse(inside)} in {name}: {e}") from None

    def _constraint(self, node: ast.expr) -> Any:
        """Return a bound of ``annotated_types`` (Ge(0), Len(1, 5), ...); anything else says nothing about values."""
        match node:
            case ast.Call(func=ast.Name() | ast.Attribute() as func, args=args, keywords=keywords):
                path = self._imported.get(ast.unparse(func), ast.unparse(func))
                make = _known(path, self._imported)
                if getattr(make, "__module__", "") == "annotated_types":
                    try:
                        named = {k.arg: ast.literal_eval(k.value) for k in keywords if k.arg}
                        return make(*map(ast.literal_eval, args), **named)
                    except (ValueError, TypeError):
                        raise NotResolved(ast.unparse(node)) from None
        return ast.unparse(node)


def _imports(module: ast.Module) -> typing.Iterator[tuple[str, str]]:
    """Iterate over (name, dotted path) of what the file imports at its top level."""
    for statement in module.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield alias.asname or alias.name, alias.name
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            for alias in statement.names:
                yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def _assignments(module: ast.Module) -> typing.Iterator[tuple[str, ast.expr]]:
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.ClassDef(name=name):
                yield name, ast.Call(func=ast.Name(id=name), args=[], keywords=[])  # a class of the user's own


def _known(path: str, imported: Mapping[str, str]) -> Any:
    """Return what the dotted ``path`` names in the modules known here. Raises NotResolved."""
    module, _, name = path.rpartition(".")
    module = imported.get(module, module)
    if name in _STREAMS:
        return collections.abc.Sequence
    places = [_MODULES[module]] if module in _MODULES else []
    if not module:  # a name that nothing in the file binds: a builtin, or an import that was forgotten
        places = [builtins, typing, collections.abc, decimal, fractions, datetime]
    for place in places:
        if hasattr(place, name):
            return getattr(place, name)
    raise NotResolved(path)


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotResolved(repr(text)) from None


def _literals(node: ast.expr) -> list[Any]:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        raise NotResolved(f"Literal[{ast.unparse(node)}]") from None
    return list(value) if isinstance(node, ast.Tuple) else [value]


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
