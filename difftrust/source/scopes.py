"""The names that code reads and binds, by the scopes of Python."""

import ast
from collections.abc import Iterable, Sequence

from difftrust.source.target import DEFINED, nodes_of_scope
from difftrust.types.own import parameters_in
from difftrust_core.languages.python.syntax import parsed

IMPORTS = ast.Import | ast.ImportFrom
ASSIGNED = ast.Assign | ast.AnnAssign | ast.AugAssign
_MAX_TEXT = 200
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
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < _MAX_TEXT:
            spelled = expression_in(part.value)
            found |= {n.id for n in ast.walk(spelled) if isinstance(n, ast.Name)} if spelled is not None else set()
    return found


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
            case ast.ListComp(generators=loops) | ast.SetComp(generators=loops) | ast.GeneratorExp(generators=loops):
                found |= _free_in([part.elt, *loops]) - _bound_in(loops)
                waiting.append(loops[0].iter)
            case ast.DictComp(generators=loops):
                found |= _free_in([part.key, part.value, *loops]) - _bound_in(loops)
                waiting.append(loops[0].iter)
            case _:
                waiting += ast.iter_child_nodes(part)
    return found


def _free_in(parts: Iterable[ast.AST]) -> set[str]:
    return {name for part in parts for name in free_names(part)}


def _bound_in(parts: Iterable[ast.AST]) -> set[str]:
    """Return the names that the scope of which these are parts binds; those declared global or nonlocal it does not."""
    found: set[str] = set()
    outer: set[str] = set()
    waiting = list(parts)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Import() | ast.ImportFrom():
                found |= imported_by([node])
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer |= {*names}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                walrus = (n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
                found |= {target.id for target in walrus}
                continue
        waiting += ast.iter_child_nodes(node)
    return found - outer


def imported_by(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that those of the nodes bind that are imports."""
    return {a.asname or a.name.partition(".")[0] for n in nodes if isinstance(n, IMPORTS) for a in n.names}


def bound_by(statement: ast.stmt, *, changed: bool = False) -> set[str]:
    """Return the names of the top level that a statement binds, in its blocks too.

    ``changed``: also the names whose values it changes in place, by ``T[3] = 4`` or ``T.update(...)``.
    """
    found: set[str] = set()
    if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
        return found
    for node in nodes_of_scope(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Import() | ast.ImportFrom():
                found |= imported_by([node])
            case _ if isinstance(node, DEFINED):
                found.add(node.name)
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
                | ast.Expr(value=ast.Call(func=ast.Attribute()))
            ) if changed:
                root = root_of(node.value.func if isinstance(node, ast.Expr) else node)  # type: ignore[attr-defined]
                found |= {root} - {""}
    return found


def root_of(node: ast.AST) -> str:
    """Return the name that ``a.b[0].c`` starts with, "" where it starts otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def bound_names(module: ast.Module) -> set[str]:
    """Return all names that a file's top level binds, imports included; ``*`` if it imports all of another module."""
    return {name for statement in module.body for name in bound_by(statement)}
