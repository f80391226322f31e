"""The same behaviour in other words: rewrites that no caller can notice.

An LLM seldom writes the same text twice, so a simulated coder must not either: most of its distinct programs
differ in names and layout alone, and an estimate must not move because of that.
"""

import ast
import builtins
import copy
import re
from collections.abc import Callable

from difftrust.demo.bugs import LEAVING
from difftrust.demo.rewrite import negated
from difftrust_core.languages.python.syntax import is_docstring

_SYNONYMS = {
    "result": "answer",
    "res": "output",
    "ans": "result",
    "total": "running_total",
    "count": "counter",
    "i": "index",
    "j": "other_index",
    "x": "item",
    "c": "char",
    "n": "size",
}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def renamed_locals(tree: ast.Module, preamble: str) -> ast.Module:
    """Give local variables of the top-level functions other names; parameters keep theirs."""
    fresh = copy.deepcopy(tree)
    fixed = set(re.findall(r"\w+", preamble)) | set(dir(builtins)) | _bound_elsewhere(fresh)
    taken = fixed | {name.id for name in _names(fresh)}
    for function in _functions(fresh):
        if not _reads_its_scope(function):
            _rename(function, fixed, taken)
    return fresh


def added_docstring(tree: ast.Module, preamble: str) -> ast.Module:
    """Give every function a docstring, unless it has one."""
    fresh = copy.deepcopy(tree)
    for function in _functions(fresh):
        if not is_docstring(function.body[0]):
            text = f"Implement {function.name.replace('_', ' ').strip()} as described."
            function.body.insert(0, ast.Expr(value=ast.Constant(value=text)))
    return fresh


def swapped_branches(tree: ast.Module, preamble: str) -> ast.Module:
    """``if a: x else: y`` becomes ``if not a: y else: x``; chains of ``elif`` stay."""
    fresh = copy.deepcopy(tree)
    chained = {id(node.orelse[0]) for node in ast.walk(fresh) if isinstance(node, ast.If) and node.orelse}
    for node in ast.walk(fresh):
        if not isinstance(node, ast.If) or not node.orelse or id(node) in chained:
            continue
        if not isinstance(node.orelse[0], ast.If):
            node.test, node.body, node.orelse = negated(node.test), node.orelse, node.body
    return fresh


def flattened_else(tree: ast.Module, preamble: str) -> ast.Module:
    """``if a: return x else: y`` becomes ``if a: return x`` followed by ``y``."""
    return _with_blocks(tree, _flattened)


def temporary_return(tree: ast.Module, preamble: str) -> ast.Module:
    """``return a + b`` becomes ``to_return = a + b`` and ``return to_return``."""
    if "to_return" in ast.unparse(ast.fix_missing_locations(tree)):
        return tree
    return _with_blocks(tree, lambda block: [part for statement in block for part in _in_two_steps(statement)])


VARIATIONS = (renamed_locals, added_docstring, swapped_branches, flattened_else, temporary_return)
"""(program, preamble) -> the same program in other words, or as it was if it offers no chance.

The order is part of what a seed means, so add new ones at the end.
"""


def _functions(tree: ast.Module) -> list[_Function]:
    return [statement for statement in tree.body if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)]


def _names(tree: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Name)]


def _with_blocks(tree: ast.Module, change: Callable[[list[ast.stmt]], list[ast.stmt]]) -> ast.Module:
    fresh = copy.deepcopy(tree)
    for node in list(ast.walk(fresh)):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, change(block))
    return fresh


def _bound_elsewhere(tree: ast.Module) -> set[str]:
    """Return the names bound otherwise than by assignment in a function: parameters, imports, globals, ..."""
    texts = {
        text
        for node in ast.walk(tree)
        if not isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.keyword)
        for _, text in ast.iter_fields(node)
        if isinstance(text, str)
    }
    rest = [statement for statement in tree.body if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)]
    return texts | {name.id for statement in rest for name in _names(statement)}


def _reads_its_scope(function: _Function) -> bool:
    scoped = (ast.Global, ast.Nonlocal, ast.ClassDef, ast.Match)
    readers = {"locals", "vars", "eval", "exec", "dir", "globals"}
    return any(isinstance(node, scoped) for node in ast.walk(function)) or any(
        name.id in readers for name in _names(function)
    )


def _rename(function: _Function, fixed: set[str], taken: set[str]) -> None:
    names = _names(function)
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)} - fixed - {"_"}
    new_names: dict[str, str] = {}
    for name in sorted(own):
        new = _SYNONYMS.get(name, f"{name}_value")
        if new not in taken and new not in new_names.values():
            new_names[name] = new
    for node in names:
        node.id = new_names.get(node.id, node.id)


def _flattened(block: list[ast.stmt]) -> list[ast.stmt]:
    flat: list[ast.stmt] = []
    for statement in block:
        flat.append(statement)
        if isinstance(statement, ast.If) and isinstance(statement.body[-1], LEAVING):
            flat.extend(_flattened(statement.orelse))
            statement.orelse = []
    return flat


def _in_two_steps(statement: ast.stmt) -> list[ast.stmt]:
    if not isinstance(statement, ast.Return) or isinstance(statement.value, ast.Name | ast.Constant | None):
        return [statement]
    first = ast.Assign(targets=[ast.Name(id="to_return", ctx=ast.Store())], value=statement.value)
    return [first, ast.Return(value=ast.Name(id="to_return", ctx=ast.Load()))]
