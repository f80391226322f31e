"""The names that code reads and binds, by the scopes of Python."""

import ast
import re
from collections.abc import Iterable, Sequence

from difftrust.source.target import COMPREHENSIONS, DEFINED, nodes_of_scope
from difftrust.types.own import parameters_in
from difftrust_core.languages.python.syntax import parsed

IMPORTS = ast.Import | ast.ImportFrom
ASSIGNED = ast.Assign | ast.AnnAssign | ast.AugAssign
MAX_TEXT = 200
"""Characters of a text that may be an annotation."""


def expression_in(text: str) -> ast.expr | None:
    """Return the expression that a text is, None where it is none."""
    body = tree_of(text.strip()).body
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None


def tree_of(code: str | bytes) -> ast.Module:
    """Return the tree of a program, an empty one where Python cannot parse it."""
    return parsed(code) or ast.Module(body=[], type_ignores=[])


def names_of(*nodes: ast.AST | None) -> set[str]:
    """Return all names in nodes, those in annotations that are written as texts included."""
    found = set()
    for part in (part for node in nodes if node is not None for part in ast.walk(node)):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < MAX_TEXT:
            spelled = expression_in(part.value)
            found |= {n.id for n in ast.walk(spelled) if isinstance(n, ast.Name)} if spelled is not None else set()
    return found


def names_in_prose(text: str) -> set[str]:
    """Return the names that a docstring quotes or writes in capitals."""
    return {*re.findall(r"`+([A-Za-z_]\w*)`+", text), *re.findall(r"\b[A-Z][A-Z0-9_]{2,}\b", text)}


def free_names(node: ast.AST) -> set[str]:
    """Return the names that ``node`` reads, or declares global, and that no scope around them in it binds."""
    found: set[str] = set()
    waiting: list[ast.AST | None] = [node]
    while waiting:
        part = waiting.pop()
        match part:
            case None:
                continue
            case ast.Name(id=name, ctx=ast.Load()):
                found.add(name)
            case ast.Module(body=body):
                found |= _free_in(body) - _bound_in(body)
            case ast.FunctionDef(args=given) | ast.AsyncFunctionDef(args=given) | ast.Lambda(args=given):
                inner: Sequence[ast.AST] = part.body if isinstance(part.body, list) else [part.body]
                declared = [n for s in inner for n in ast.walk(s) if isinstance(n, ast.Global)]
                found |= _free_in(inner) - _bound_in(inner) - {p.name for p in parameters_in(given)}
                found |= {name for each in declared for name in each.names}
                waiting += [*given.defaults, *given.kw_defaults, *(p.annotation for p in parameters_in(given))]
                waiting += [] if isinstance(part, ast.Lambda) else [*part.decorator_list, part.returns]
            case ast.ClassDef(body=body):
                made: set[str] = set()  # its methods do not see it
                for statement in body:
                    own = made if not isinstance(statement, DEFINED) else set()
                    found |= free_names(statement) - own
                    made |= _bound_in([statement])
                waiting += [*part.bases, *part.keywords, *part.decorator_list]
            case _ if isinstance(part, COMPREHENSIONS):
                found |= _free_in(ast.iter_child_nodes(part)) - _bound_in(part.generators)
                waiting.append(part.generators[0].iter)
            case _:
                waiting += ast.iter_child_nodes(part)
    return found


def _free_in(parts: Iterable[ast.AST]) -> set[str]:
    return {name for part in parts for name in free_names(part)}


def _bound_in(parts: Iterable[ast.AST]) -> set[str]:
    """Return the names that the scope of which these are parts binds; those declared global or nonlocal it does not."""
    found: set[str] = set()
    outer: set[str] = set()
    for node in (node for part in parts for node in nodes_of_scope(part)):
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer |= {*names}
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                found.add(name)
            case _ if isinstance(node, COMPREHENSIONS):
                found |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            case _:
                found |= _bound_at(node)
    return found - outer


def _bound_at(node: ast.AST) -> set[str]:
    """Return the names that a node itself binds: by assignment, import or definition."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name.partition(".")[0] for alias in names}
    return set()


def bound_by(statement: ast.stmt, *, changed: bool = False) -> set[str]:
    """Return the names of the top level that a statement binds, in its blocks too.

    ``changed``: also the names whose values it changes in place, by ``T[3] = 4`` or ``T.update(...)``.
    """
    if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
        return set()
    found: set[str] = set()
    for node in nodes_of_scope(statement):
        found |= _bound_at(node)
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute() as place)) | (
                ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()) as place
            ) if changed:
                found |= {root_of(place)} - {""}
    return found


def root_of(node: ast.AST) -> str:
    """Return the name that ``a.b[0].c`` starts with, "" where it starts otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def bound_names(module: ast.Module) -> set[str]:
    """Return all names that a file's top level binds, imports included; ``*`` if it imports all of another module."""
    return {name for statement in module.body for name in bound_by(statement)}
