"""Syntax trees rebuilt with one change, never changed in place."""

import ast
import copy
from collections.abc import Iterator
from typing import Any

from difftrust_core.languages.python.syntax import expression, is_docstring

Replacement = ast.AST | list[ast.stmt]
"""What stands in for a node; for a statement also any number of statements, none included."""


_CODELESS_FIELDS = frozenset({"annotation", "returns", "decorator_list", "args", "pattern", "type_params"})
"""Where a change is no change of behaviour (annotations), or too easily breaks the signature."""


def program_text(tree: ast.Module) -> str:
    """Return the program as text, without comments; it ends in a line break."""
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def with_fields(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of the node that has these fields instead; its other children are shared."""
    fresh = copy.copy(node)
    for name, value in fields.items():
        setattr(fresh, name, value)
    return fresh


def replaced(tree: ast.AST, old: ast.AST, new: Replacement) -> ast.AST:
    """Return a copy of the tree in which ``new`` stands for ``old``; an emptied body becomes ``pass``."""
    copies: dict[int, Any] = {}
    fresh = copy.deepcopy(tree, copies)
    return _Replacing(copies[id(old)], new).visit(fresh)  # type: ignore[no-any-return]


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: Replacement):
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> Any:
        if node is self._old:
            return self._new
        filled = [field for field in ("body", "finalbody") if getattr(node, field, None)]
        self.generic_visit(node)
        for field in filled:
            setattr(node, field, getattr(node, field) or [ast.Pass()])
        return node


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
