"""Syntax trees that are read and rebuilt, never changed in place."""

import ast
import copy
import warnings
from collections.abc import Iterator

Replacement = ast.AST | list[ast.stmt]
"""What stands in for a node; for a statement also any number of statements, none included."""

_CODELESS_FIELDS = frozenset({"annotation", "returns", "decorator_list", "args", "pattern", "type_params"})
"""Where a change is no change of behaviour (annotations), or too easily breaks the signature."""


def parsed(text: str | bytes) -> ast.Module | None:
    """Return the tree of a program, None where Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


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


def program_text(tree: ast.Module) -> str:
    """Return the program as text, without comments; it ends in a line break."""
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def expression(text: str) -> ast.expr:
    """Return the tree of one expression."""
    return ast.parse(text, mode="eval").body


def with_fields(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of the node that has these fields instead; its other children are shared."""
    fresh = copy.copy(node)
    for name, value in fields.items():
        setattr(fresh, name, value)
    return fresh


def replaced(tree: ast.AST, old: ast.AST, new: Replacement) -> ast.AST:
    """Return a copy of the tree in which ``new`` stands for ``old``; an emptied body becomes ``pass``."""
    changes: dict[str, object] = {}
    for field, value in ast.iter_fields(tree):
        if isinstance(value, ast.AST):
            changes[field] = new if value is old else replaced(value, old, new)
        elif isinstance(value, list):
            changes[field] = _replaced_items(value, old, new)
            if field in ("body", "finalbody") and value and not changes[field]:
                changes[field] = [ast.Pass()]
    return with_fields(tree, **changes)


def _replaced_items(items: list[object], old: ast.AST, new: Replacement) -> list[object]:
    fresh: list[object] = []
    for item in items:
        if item is not old:
            fresh.append(replaced(item, old, new) if isinstance(item, ast.AST) else item)
        elif isinstance(new, list):
            fresh.extend(new)
        else:
            fresh.append(new)
    return fresh


def code_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that make behaviour, parents first, of the functions, classes and assignments.

    Left out: imports and a script part (``if __name__ == ...``), annotations, parameters, docstrings,
    f-strings, which do not survive every change inside them, and patterns.
    """
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign):
            yield from _below(statement)


def _below(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr) or is_docstring(node):
        return
    yield node
    for field, value in ast.iter_fields(node):
        # `args` of a call holds its arguments, `args` of a function holds its parameters.
        if field in _CODELESS_FIELDS and not (field == "args" and isinstance(node, ast.Call)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _below(child)


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


def negated(test: ast.expr) -> ast.expr:
    """Return the opposite condition, without a double ``not``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(op=ast.Not(), operand=test)


def shifted(bound: ast.expr, by: int) -> ast.expr:
    """Return the bound plus ``by``, as a person writes it: ``n + 1`` shifted by -1 is ``n``."""
    match bound:
        case ast.Constant(value=int(number)):
            return expression(str(number + by))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=ast.Constant(value=int(number))):
            by += number if isinstance(op, ast.Add) else -number
            bound = left
    if by == 0:
        return bound
    return ast.BinOp(left=bound, op=ast.Add() if by > 0 else ast.Sub(), right=ast.Constant(value=abs(by)))


def called_name(node: ast.AST) -> str:
    """Return the ``f`` of a call ``f(...)``, else an empty text."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def called_method(node: ast.AST) -> str:
    """Return the ``f`` of a call ``x.f(...)``, else an empty text."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def is_text(node: ast.AST) -> bool:
    """Whether the expression is a plain text constant."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
