"""When two Python texts are one program.

Texts whose syntax trees are equal but for what cannot change behaviour (comments, layout, docstrings, annotations of
functions, names of local variables) are executed once. Where a text looks at itself, all of that stays part of it.
"""

import ast
import builtins
import itertools
import re
import sys

from difftrust_core.languages.language import program_id
from difftrust_core.languages.python.syntax import is_docstring, parsed

MAX_PARSED = 1 << 20
"""Longer texts are not parsed; they are one program only where they are equal."""
_LOOKS_AT_ITSELF = re.compile(
    r"__doc__|__annotations__|get_type_hints|get_annotations|inspect|doctest|singledispatch|signature|validate|"
    r"dataclass_transform|__code__|__globals__|_getframe|currentframe|traceback|locals|globals|exec|eval|vars|dir\("
)
_SHOWS_NAMES = re.compile(r"except\b.*\bas\b|__name__|__qualname__")  # a message may quote a local name
_BUILTINS = frozenset(vars(builtins))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (*_FUNCTIONS, ast.ClassDef, ast.Module)


def tree_id(text: str) -> str:
    """Return the id of the program behind ``text``: equal ids mean equal behaviour on every input.

    Text that Python cannot parse is a program of its own.
    """
    tree = parsed(text) if len(text) <= MAX_PARSED else None
    if tree is None:
        return f"x{program_id(text)}"
    try:
        if _LOOKS_AT_ITSELF.search(text) is None:
            nodes = [list(ast.walk(statement)) for statement in tree.body]
            _strip(tree, nodes)
            if _SHOWS_NAMES.search(text) is None:
                _rename_locals(nodes)
        spelled = _dump(tree)
    except (ValueError, RecursionError, MemoryError):
        return f"x{program_id(text)}"
    return f"t{program_id(spelled)}"


def _dump(tree: ast.Module) -> str:
    """Return the tree as Python 3.11 spells it: ids are stored; newer ones add fields or hide empty ones."""
    if sys.version_info < (3, 12):
        return ast.dump(tree, annotate_fields=False)
    for node in ast.walk(tree):
        if vars(node).get("type_params") == []:
            del vars(node)["type_params"]
    if sys.version_info < (3, 13):
        return ast.dump(tree, annotate_fields=False)
    return ast.dump(tree, annotate_fields=False, show_empty=True)


_Nodes = list[list[ast.AST]]
"""The nodes below each top-level statement, walked once: walking is what takes the time."""


def _strip(tree: ast.Module, nodes: _Nodes) -> None:
    for node in (tree, *itertools.chain.from_iterable(nodes)):
        if isinstance(node, _DOCUMENTED) and node.body and is_docstring(node.body[0]):
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, _FUNCTIONS):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None


def _rename_locals(nodes: _Nodes) -> None:
    """Number the local names of each top-level function in the order of their first appearance.

    A name is taken as local throughout the function, nested scopes included; that is sound where it is neither a
    builtin nor bound at the top level, and bound by nothing but parameters and assignments.
    """
    top = set(_BUILTINS)
    for below in nodes:
        statement = below[0]
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            top.add(statement.name)
        else:
            top.update(_all_names(below))
    for below in nodes:
        if isinstance(below[0], _FUNCTIONS):
            kept = top.union(*(_spelled(node) for node in below if isinstance(node, _SPELLING)))
            numbers: dict[str, str] = {}
            for node in below:
                bound = _bound_by(node)
                if bound is not None and bound not in kept:
                    numbers.setdefault(bound, str(len(numbers)))
            _apply(below, numbers)


def _all_names(below: list[ast.AST]) -> set[str]:
    names = {node.id for node in below if isinstance(node, ast.Name)}
    return names.union(*(_spelled(node) for node in below if isinstance(node, _SPELLING)))


def _bound_by(node: ast.AST) -> str | None:
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None


_SPELLING = (
    *(ast.alias, ast.Global, ast.Nonlocal, ast.keyword, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar, ast.MatchMapping, *_FUNCTIONS, ast.ClassDef),
)


def _spelled(node: ast.AST) -> list[str]:
    """Return the names that a node spells outside ``Name`` and ``arg``, and which therefore stay as they are."""
    match node:
        case ast.alias(name=name, asname=asname):
            return [(asname or name).split(".")[0]]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.keyword(arg=str(name)) | ast.ExceptHandler(name=str(name)):
            return [name]
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    return []


def _apply(below: list[ast.AST], numbers: dict[str, str]) -> None:
    for node in below:
        if isinstance(node, ast.Name):
            node.id = numbers.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = numbers.get(node.arg, node.arg)
