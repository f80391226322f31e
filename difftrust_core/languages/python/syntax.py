"""Read the syntax trees of programs: what they define, call and leave out."""

import ast
import warnings
from collections.abc import Callable, Iterator
from symtable import SymbolTable, symtable
from typing import TypeVar

_Text = TypeVar("_Text", bound=str | bytes)
_Found = TypeVar("_Found")


def parsed(text: str | bytes) -> ast.Module | None:
    """Return the tree of a program, None where Python cannot parse it."""
    return _read(ast.parse, text)


def scopes(text: str) -> SymbolTable | None:
    """Return what the names of a program mean, scope by scope, None where Python's compiler refuses them."""
    return _read(lambda text: symtable(text, "", "exec"), text)


def _read(read: Callable[[_Text], _Found], text: _Text) -> _Found | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            return read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def expression(text: str) -> ast.expr:
    """Return the tree of one expression."""
    return ast.parse(text, mode="eval").body


def defines(body: list[ast.stmt], entry_point: str) -> bool:
    """Tell whether statements define a function: by ``def``, assignment or import, also under ``if`` and ``try``.

    A method ``Class.method`` is defined by a class that has it, or by a function of its name. One whose body is
    ``...`` is only announced.
    """
    owner, _, name = entry_point.rpartition(".")
    for statement in own_statements(body):
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if statement.name == name:
                if not _is_announced(statement):
                    return True
            case ast.ClassDef() if owner and statement.name == owner:
                if defines(statement.body, name):
                    return True
            case ast.ClassDef() if not owner and statement.name == name:
                return True
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    return True
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                if any((alias.asname or alias.name) == name for alias in names):
                    return True
    return False


def _is_announced(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    said = [s for s in function.body if not is_docstring(s)]
    dots = [isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and s.value.value is ... for s in said]
    return bool(dots) and all(dots)


def takes(parameters: ast.arguments, n: int) -> bool:
    """Tell whether a function with these parameters can be called with n arguments by position."""
    by_position = [*parameters.posonlyargs, *parameters.args]
    least = len(by_position) - len(parameters.defaults)
    most = n if parameters.vararg else len(by_position)
    return least <= n <= most and None not in parameters.kw_defaults


def is_written(body: list[ast.stmt]) -> bool:
    """Tell whether a body does something, beyond ``...``, ``pass`` and ``raise NotImplementedError``."""
    for statement in body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Raise(exc=ast.expr() as raised) if "NotImplementedError" in ast.unparse(raised):
                continue
        return True
    return False


def is_empty_function(text: str, entry_point: str) -> bool:
    """Tell whether a program defines a function, or a method ``Class.method``, whose body does nothing."""
    tree = parsed(text)
    owner, _, name = entry_point.rpartition(".")
    body = tree.body if tree is not None else []
    if owner:
        body = [s for c in body if isinstance(c, ast.ClassDef) and c.name == owner for s in c.body]
    found = [s for s in body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef) and s.name == name]
    return bool(found) and not is_written(found[-1].body)


def is_docstring(node: ast.AST) -> bool:
    """Whether the statement is a text alone."""
    return isinstance(node, ast.Expr) and is_text(node.value)


def own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements below a body, parents first, without those of functions and classes within."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from own_statements(getattr(statement, field, []))
        for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
            yield from own_statements(part.body)


def is_text(node: ast.AST) -> bool:
    """Whether the expression is a plain text constant."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
