"""The text of a function object as a program of its own: the function, and what of its module it rests on."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from difftrust_core.exceptions import BadStub

Function = Callable[..., Any]


def program_of(function: Function, *, name: str) -> str:
    """Return a program that defines ``function`` under ``name``: its text, and the imports and globals that it names.

    The text is what ``inspect`` finds; nothing is called. Raises BadStub where there is none (a builtin, ``exec``).
    """
    parts: dict[str, str] = {}
    text = _add(function, parts)
    own = function.__name__
    alias = [] if own == name else [f"{name} = {own}"]
    return "\n".join([*parts.values(), text, *alias]) + "\n"


def _add(function: Function, parts: dict[str, str]) -> str:
    """Return the text of ``function``; what it names goes to ``parts`` (name -> text), in the order of definition."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, IndentationError):
        raise BadStub(
            f"expected a function whose source is known, got {function!r}; write it with def, in a file or a cell"
        ) from None
    if not isinstance(tree.body[0], ast.FunctionDef):
        raise BadStub(f"expected a function written with def, got {text.strip()[:60]!r}; give it a name")
    known = inspect.unwrap(function).__globals__ if isinstance(function, FunctionType) else {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in known and node.id not in parts and node.id != function.__name__:
            parts[node.id] = ""  # before its own names are followed: functions may call each other
            made = _definition(node.id, known[node.id], parts)
            del parts[node.id]
            if made:
                parts[node.id] = made
    return text


def _definition(name: str, value: object, parts: dict[str, str]) -> str:
    """Return a statement that defines a global, "" where none is known."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if isinstance(value, FunctionType | type) and str(value.__module__).partition(".")[0] in sys.stdlib_module_names:
        return f"from {value.__module__} import {value.__name__} as {name}"
    if isinstance(value, FunctionType):
        return _add(value, parts)
    if isinstance(value, type):
        try:
            return textwrap.dedent(inspect.getsource(value))
        except (OSError, TypeError):
            return ""
    return f"{name} = {value!r}" if isinstance(value, int | float | str | bytes | bool | None) else ""
