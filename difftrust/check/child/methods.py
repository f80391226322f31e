"""A method as the entry point: where it is, and how it is called; runs inside the sandbox, standard library only.

A candidate defines the class with the method in it, or a function of the method's name, which then takes the place of
the one in the class of the preamble.
"""

import ast
from collections.abc import Callable
from typing import Any

from program import Namespace, NotLoaded

_mro = type.__dict__["__mro__"].__get__
_own = type.__dict__["__dict__"].__get__
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NOT_COPIED = frozenset(("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__firstlineno__"))
_MAKER = "_difftrust_method"


def prepared(source: str | ast.Module, owner: str, name: str) -> ast.Module:
    """Return the program's tree, in which a function that stands for a method means what it would mean in the class.

    Its private names are those of the class, and ``super()`` finds it.
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    if any(isinstance(s, ast.ClassDef) and s.name == owner for s in tree.body):
        return tree
    for place, statement in enumerate(tree.body):
        if isinstance(statement, _FUNCTIONS) and statement.name == name:
            _Private(owner).visit(statement)
            if any(isinstance(n, ast.Name) and n.id in ("super", "__class__") for n in ast.walk(statement)):
                tree.body[place : place + 1] = _within_a_class(statement, owner)
    return ast.fix_missing_locations(tree)


class _Private(ast.NodeTransformer):
    """Gives names of two underscores those of the class, as its own text would."""

    def __init__(self, owner: str):
        self.prefix = f"_{owner.lstrip('_')}"

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Name the attribute as it is named in the class."""
        self.generic_visit(node)
        if node.attr.startswith("__") and not node.attr.endswith("__"):
            node.attr = self.prefix + node.attr
        return node


def _within_a_class(function: Any, owner: str) -> list[ast.stmt]:
    """Return statements that make the function with a cell ``__class__``."""
    text = f"def {_MAKER}(__class__):\n return {function.name}\n{function.name} = {_MAKER}({owner})"
    maker, assignment = ast.parse(text).body
    assert isinstance(maker, ast.FunctionDef)
    maker.body.insert(0, function)
    return [maker, assignment]


def function_of(namespace: Namespace, given: Namespace, owner: str, name: str) -> Callable[..., object]:
    """Return what calls the method, ``self`` first where it has one; ``given``: the names after the preamble.

    Raises NotLoaded if there is neither the class with the method nor a function in its place.
    """
    cls, before = namespace.get(owner), given.get(owner)
    plain = None if namespace.get(name) is given.get(name) else namespace[name]
    if not isinstance(cls, type):
        raise NotLoaded("NameMissing")
    if cls is not before:
        _complete(cls, before)
    elif plain is not None:
        made = _decorated(_own(cls).get(name), plain)
        setattr(cls, name, made)
        tell_name = getattr(type(made), "__set_name__", None)  # a cached_property has to know it
        if tell_name is not None:
            tell_name(made, cls, name)
    found = [_own(c)[name] for c in _mro(cls) if name in _own(c)]
    if not found or (cls is before and plain is None):
        raise NotLoaded("NameMissing")
    kind = type(found[0])
    if kind in (staticmethod, classmethod):
        bound: Callable[..., object] = getattr(cls, name)
        return bound
    if callable(found[0]) or not hasattr(kind, "__get__"):
        function: Callable[..., object] = getattr(cls, name)
        return function
    return lambda self: found[0].__get__(self, type(self))  # a property


def _decorated(stub: Any, function: Any) -> Any:
    """Return the function with the decorators that the class's own stub of it has."""
    kind = type(stub)
    if type(function) in (staticmethod, classmethod, property):
        return function
    if kind in (staticmethod, classmethod):
        return kind(function)
    if kind is property:
        return property(function, stub.fset, stub.fdel)
    if kind.__name__ == "cached_property" and not isinstance(function, kind):
        return kind(function)
    return function


def _complete(cls: type, before: Any) -> None:
    """Give a class that is written anew what it leaves out of the one before it, as if it had been typed in there."""
    if not isinstance(before, type):
        return
    for name, value in _own(before).items():
        if name in _NOT_COPIED or name in _own(cls) or any(name in _own(c) for c in _mro(cls)[1:-1]):
            continue
        try:
            setattr(cls, name, value)
        except (AttributeError, TypeError):
            continue
