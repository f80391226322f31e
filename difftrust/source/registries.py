"""Definitions that add themselves to something: a registry, a dispatcher, the subclasses of a class."""

import ast
from collections.abc import Collection, Iterator, Sequence

from difftrust.source.scopes import ASSIGNED, bound_by, root_of
from difftrust.source.target import DEFINED, nodes_of_scope
from difftrust.types.own import Function

_ADDS = frozenset(("add", "append", "extend", "insert", "register", "setdefault", "update"))
"""Methods that keep their arguments."""


def hooks_in(body: Sequence[ast.stmt]) -> dict[ast.stmt, set[str]]:
    """Return each definition of a top level with the names to which it adds itself, by a decorator or as a subclass.

    ``@show.register``, ``@reg("b")`` where ``reg`` keeps what it is given in ``REG``, a class with a metaclass, a
    subclass of one with ``__init_subclass__``, or of any where ``__subclasses__`` is asked for.
    """
    own = {s.name: s for s in body if isinstance(s, DEFINED)}
    objects = {name for s in body if isinstance(s, ASSIGNED) for name in bound_by(s)}
    nodes = (node for statement in body for node in ast.walk(statement))
    listed = any(isinstance(node, ast.Attribute) and node.attr == "__subclasses__" for node in nodes)
    found: dict[ast.stmt, set[str]] = {}
    heirs: dict[str, set[str]] = {}
    for statement in (s for s in body if isinstance(s, DEFINED)):
        hooks: set[str] = set()
        for decorator in statement.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            root = root_of(called)
            if isinstance(called, ast.Attribute) and root in {*own, *objects}:
                hooks.add(root)
            elif root in own:
                hooks |= filled_by(own[root])
        for base in (own[name] for name in map(root_of, bases_of(statement)) if name in own):
            starts = starts_in(base, statement)
            filled = {name for start in starts for name in filled_by(start)}
            hooks |= heirs.get(base.name, set()) | ({base.name, *filled} if listed or starts else set())
        if hooks:
            found[statement] = hooks
            heirs[statement.name] = hooks | {statement.name}
    return found


def added_to(statement: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Iterate over what a statement changes in place; of a definition, what it is given to, and True.

    ``REG["b"] = f``, ``REG.append(f)``, ``@app.route("/")``, ``class A(Base)``.
    """
    if isinstance(statement, DEFINED):
        heads = (head.func if isinstance(head, ast.Call) else head for head in statement.decorator_list)
        yield from ((head, True) for head in (*heads, *bases_of(statement)))
        return
    for node in nodes_of_scope(statement):
        match node:
            case (
                ast.Subscript(value=place, ctx=ast.Store()) | ast.Expr(value=ast.Call(func=ast.Attribute(value=place)))
            ):
                yield place, False


def is_open(statement: ast.stmt) -> bool:
    """Tell whether a statement makes what others may add to: a list, dict, set or object, a class that is told."""
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            is_made = isinstance(value, ast.Call) and not any(isinstance(part, ast.Constant) for part in value.args)
            return is_made or isinstance(value, ast.Dict | ast.List | ast.Set)
        case ast.ClassDef():
            return bool(starts_in(statement, statement))
    return False


def filled_by(function: ast.AST) -> set[str]:
    """Return the names of the module where a function keeps what it is given: ``REG[name] = f``, ``REG.append(f)``."""
    nodes = [node for part in ast.iter_child_nodes(function) for node in ast.walk(part)]
    given = {n.arg for n in nodes if isinstance(n, ast.arg)} | {n.name for n in nodes if isinstance(n, DEFINED)}
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=places, value=value):
                places, kept = [place for place in places if not isinstance(place, ast.Name)], [value]
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Attribute() as place), attr=attr), args=kept) | (
                ast.Call(func=ast.Attribute(value=place, attr=attr), args=kept)
            ) if attr in _ADDS:
                places = [place]
            case _:
                continue
        if any(isinstance(n, ast.Name) and n.id in given for part in kept for n in _held(part, given)):
            found |= {root_of(place) for place in places}
    return found - given - {""}


def bases_of(statement: ast.stmt) -> list[ast.expr]:
    """Return what makes a class: those that it inherits from, and its metaclass."""
    return [*statement.bases, *_metaclass(statement)] if isinstance(statement, ast.ClassDef) else []


def _metaclass(statement: ast.ClassDef) -> list[ast.expr]:
    return [keyword.value for keyword in statement.keywords if keyword.arg == "metaclass"]


def starts_in(base: ast.AST, made: ast.stmt) -> list[Function]:
    """Return the methods of a base or metaclass that run when a class is made of it."""
    is_metaclass = isinstance(made, ast.ClassDef) and getattr(base, "name", "") in map(root_of, _metaclass(made))
    makers = ("__init__", "__new__") if is_metaclass else ("__init_subclass__",)
    return [node for node in ast.walk(base) if isinstance(node, Function) and node.name in makers]


def _held(node: ast.expr, given: Collection[str]) -> Iterator[ast.expr]:
    """Iterate over what a value is or holds; what is called is not held."""
    yield node
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            yield from parts
        case ast.Call(func=called, args=parts) if root_of(called) not in given:
            yield from parts
