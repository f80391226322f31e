"""The text of a function object as a program of its own: the function, and what of its module it rests on."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping
from functools import cached_property
from types import FunctionType, MethodType, ModuleType
from typing import Any

from difftrust.source.scopes import names_of, tree_of
from difftrust.types.resolve import assignments_in
from difftrust_core.base.literals import BadText, write_literal
from difftrust_core.exceptions import BadStub

Function = Callable[..., Any]
_MAX_CONSTANT = 100_000


def entry_point_of(function: Function) -> str:
    """Return the name by which a function is checked: its own, ``Class.method`` for a method.

    Raises BadStub for what has none.
    """
    plain = _plain(function)
    owner = _owner(plain)
    if not isinstance(getattr(plain, "__name__", None), str):
        raise BadStub(f"expected a function written with def, got {function!r}; write it so, in a file or a cell")
    return f"{owner.__name__}.{plain.__name__}" if owner else str(plain.__name__)


def program_of(function: Function, *, name: str) -> str:
    """Return a program that defines ``function`` under ``name``: its text, and the imports and globals that it names.

    Of a method it defines the whole class. The text is what ``inspect`` finds; nothing is called. Raises BadStub where
    there is none (a builtin, ``exec``).
    """
    parts: dict[str, str] = {}
    plain = _plain(function)
    owner = _owner(plain)
    text = _add(owner or plain, parts)
    own, last = (owner or plain).__name__, name.rpartition(".")[2]
    asked = name.partition(".")[0] if owner else last
    alias = [] if own == asked else [f"{asked} = {own}"]
    if owner and last != plain.__name__:
        alias.append(f"{asked}.{last} = {asked}.{plain.__name__}")
    return "\n".join([*filter(None, parts.values()), text, *alias]) + "\n"


def _plain(function: Any) -> Any:
    """Return the function behind a property, a bound method and decorators that keep it."""
    if isinstance(function, property) and function.fget is not None:
        function = function.fget
    if isinstance(function, cached_property):
        function = function.func
    if isinstance(function, MethodType | staticmethod | classmethod):
        function = function.__func__
    unwrapped = inspect.unwrap(function)
    if isinstance(unwrapped, FunctionType) and unwrapped.__closure__:
        # A wrapper that does not name what it wraps: the decorated function is in its closure.
        for cell in unwrapped.__closure__:
            try:
                inner = cell.cell_contents
            except ValueError:
                continue
            if isinstance(inner, FunctionType) and _text(inner).startswith("@"):
                return inner
    return unwrapped


def _owner(function: Any) -> type | None:
    """Return the class of a method that stands at the top level of its module."""
    name, _, method = str(getattr(function, "__qualname__", "")).rpartition(".")
    if not name or not isinstance(function, FunctionType) or not name.isidentifier():
        return None
    found = function.__globals__.get(name)
    return found if isinstance(found, type) and method in vars(found) else None


def _text(made: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(made))
    except (OSError, TypeError, SyntaxError, IndentationError):
        return ""


def _add(made: Any, parts: dict[str, str]) -> str:
    """Return the text of a function or class; what it names goes to ``parts`` (name -> text), as it is defined.

    Raises BadStub where there is none.
    """
    text = _text(made)
    tree = tree_of(text)
    if not tree.body:
        raise BadStub(
            f"expected a function whose source is known, got {made!r}; write it with def, in a file or a cell"
        )
    if not isinstance(made, type) and not isinstance(tree.body[0], ast.FunctionDef | ast.AsyncFunctionDef):
        raise BadStub(f"expected a function written with def, got {text.strip()[:60]!r}; give it a name")
    module = sys.modules.get(made.__module__)
    known = made.__globals__ if isinstance(made, FunctionType) else vars(module) if module else {}
    _add_names(tree, known, parts, own=made.__name__)
    return text


def _add_names(tree: ast.AST, known: Mapping[str, Any], parts: dict[str, str], *, own: str) -> None:
    for name in sorted(names_of(tree)):
        if name in known and name not in parts and name != own:
            parts[name] = ""  # before its own names are followed: functions may call each other
            made = _definition(name, known[name], known, parts)
            del parts[name]
            if made:
                parts[name] = made


def _definition(name: str, value: object, known: Mapping[str, Any], parts: dict[str, str]) -> str:
    """Return a statement that defines a global, "" where none is known."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    home = str(getattr(value, "__module__", ""))
    if isinstance(value, FunctionType | type) and home.partition(".")[0] in sys.stdlib_module_names:
        return "" if home == "builtins" else f"from {home} import {value.__name__} as {name}"
    made = inspect.unwrap(value) if callable(value) else None  # of a cached one, say
    if isinstance(made, FunctionType | type) and _text(made):
        text = _add(value if isinstance(value, type) else _plain(value), parts)
        return text if made.__name__ == name else f"{text}\n{name} = {made.__name__}"
    try:
        text = write_literal(value)
    except (BadText, RecursionError):
        return _assigned(name, known, parts)
    return f"{name} = {text}" if len(text) <= _MAX_CONSTANT and " inf" not in text and "nan" not in text else ""


def _assigned(name: str, known: Mapping[str, Any], parts: dict[str, str]) -> str:
    """Return the statement of the module's file that assigns a global, "" where there is none."""
    module = tree_of(_text(sys.modules.get(str(known.get("__name__")))))
    value = dict(assignments_in(module.body)).get(name)
    if value is None:
        return ""
    _add_names(value, known, parts, own=name)
    return f"{name} = {ast.unparse(value)}"
