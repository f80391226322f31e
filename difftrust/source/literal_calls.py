"""Calls of the checked function with literal arguments: in its file, its package and its tests, parsed only."""

import ast
import itertools
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftrust.source.scopes import bound_by
from difftrust.source.target import Target, python_files
from difftrust.source.values import Scope
from difftrust.types.own import AFTER_CALLS, Function, decorators_of, parameters_in
from difftrust_core.base.literals import KEYWORDS, BadText, Instance, write_literal
from difftrust_core.datasets.seeds import NotFolded
from difftrust_core.languages.python.syntax import parsed

MAX_FILES = 200
MAX_CALLS = 100
_MAX_FILE = 256 * 2**10
_MAX_PARSED = 2**19
"""Bytes of the files that name the function, which are parsed."""
_MAX_ENTRIES = 4_000
_MAX_ROWS = 50
PROJECT = ("pyproject.toml", "setup.py", "setup.cfg", ".git", "tox.ini")
"""What lies at the top of a project."""
_BLOCKS = (ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.AsyncFor)
Names = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Argument tuples in the text form of ``literals``, and how many each file gave."""

    seeds: tuple[str, ...]
    files: tuple[tuple[str, int], ...]


class Caller:
    """Finds the calls of one function in syntax trees of one file."""

    def __init__(self, target: Target, scope: Scope):
        self._target, self._scope = target, scope
        self._name = target.function.name
        self._kind = target.kind

    def seeds(self, body: Sequence[ast.stmt], names: Names | None = None) -> Iterator[str]:
        """Iterate over the argument tuples of the calls in ``body``; ``names``: the values of variables."""
        for statement, known in self._statements(body, dict(names or {})):
            for node in ast.walk(statement):
                with suppress(NotFolded, BadText, RecursionError):
                    if isinstance(node, ast.Call):
                        yield from self._call(node, known)
                    elif isinstance(node, ast.Attribute) and node.attr == self._name and self._kind == "property":
                        yield self._text(self._object(node.value, known), [], {})

    def _call(self, node: ast.Call, known: Names) -> Iterator[str]:
        first: Any = None
        match node.func:
            case ast.Name(id=dotted) if dotted not in known and self._is_target(dotted):
                pass
            case ast.Attribute(attr=self._name) as called if self._is_target(ast.unparse(called)):
                pass
            case ast.Attribute(attr=self._name, value=value) if self._target.owner:
                first = self._object(value, known)
            case _:
                return
        args, fields = self._scope.arguments(node, known)
        if self._kind == "property":
            return
        yield self._text(first if self._kind == "method" else None, args, fields)

    def _is_target(self, dotted: str) -> bool:
        return self._scope.resolve(dotted) == self._target.entry_point

    def _object(self, node: ast.expr, known: Names) -> Instance:
        """Return the object that a method is called on. Raises NotFolded."""
        owner = self._target.owner
        name = f"{node.id}()" if isinstance(node, ast.Name) else ""
        if name in known and known[name] is None:
            raise NotFolded("an object that was used in a way that is not known")
        used = known.get(name)
        value = self._scope.value(node, known) if used is None else used
        made = value.args[0] if used is not None else value
        if isinstance(value, Instance) and owner and made.type_name.partition(".")[0] == owner.name:
            return value
        raise NotFolded("no object of the class")

    def _text(self, first: Any, args: list[Any], fields: dict[str, Any]) -> str:
        """Return the argument tuple, named arguments in their position where they have one."""
        positional = [p for p in parameters_in(self._target.function.args) if not p.keyword and not p.variadic]
        if self._target.kind == "classmethod":
            positional = positional[1:]
        values = [*([] if first is None else [first]), *args]
        left = dict(fields)
        for parameter in positional[len(values) :]:
            if not left.keys() & {p.name for p in positional}:
                break
            if parameter.name in left:
                values.append(left.pop(parameter.name))
            elif parameter.default is not None:
                values.append(self._scope.value(parameter.default, {}))
            else:
                raise NotFolded(f"no value for {parameter.name}")
        return write_literal((*values, *([Instance(KEYWORDS, (), left)] if left else [])))

    def _statements(self, body: Sequence[ast.stmt], known: dict[str, Any]) -> Iterator[tuple[ast.AST, Names]]:
        """Iterate over simple statements and heads of blocks, each with the values of the variables before it.

        Fixtures are known beside the variables, as ``@name``.
        """
        known = known | self._fixtures(body)
        for statement in body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    for row in self._rows(statement, known):
                        yield from self._statements(statement.body, row)
                case ast.ClassDef():
                    yield from self._statements(statement.body, known)
                case ast.For():
                    yield from self._loop(statement, known)
                    known = _without(known, statement)
                case _ if isinstance(statement, _BLOCKS):
                    # What the block binds may change from round to round, so nothing is known of it inside or after.
                    known = _without(known, statement)
                    for head in ast.iter_child_nodes(statement):
                        if isinstance(head, ast.expr | ast.withitem):
                            yield head, known
                    yield from self._statements(list(_inside(statement)), known)
                case _:
                    yield statement, known
                    known = self._after(statement, known)

    def _after(self, statement: ast.stmt, known: dict[str, Any]) -> dict[str, Any]:
        left = _without(known, statement) | self._histories(statement, known)
        match statement:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                with suppress(NotFolded, BadText):
                    left |= _bindings(target, self._scope.value(value, known))
        return left

    def _histories(self, statement: ast.stmt, known: Names) -> dict[str, Any]:
        """Return the objects on which a statement calls one method each, with their calls so far, as ``name()``.

        None of one that it uses in another way.
        """
        called: dict[str, list[tuple[str, ast.Call]]] = {}
        for node in [_as_call(statement), *ast.walk(statement)]:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
                    called.setdefault(name, []).append((method, node))
        found: dict[str, Any] = {}
        for name, calls in called.items():
            object_ = known.get(f"{name}()", known.get(name))
            if isinstance(object_, Instance) and len(calls) == 1 and name not in bound_by(statement):
                is_used = object_.type_name == AFTER_CALLS
                made, before = object_.args if is_used else (object_, [])
                with suppress(NotFolded, BadText, RecursionError):
                    (method, node), *_ = calls
                    args, fields = self._scope.arguments(node, known)
                    found[f"{name}()"] = Instance(AFTER_CALLS, (made, [*before, Instance(method, tuple(args), fields)]))
        if isinstance(statement, ast.Assert):  # asks, and changes nothing
            return found
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        return {f"{name}()": None for name in used if isinstance(known.get(name), Instance)} | found

    def _loop(self, statement: ast.For, known: dict[str, Any]) -> Iterator[tuple[ast.AST, Names]]:
        yield statement.iter, known
        inside = _without(known, statement)
        body = [*statement.body, *statement.orelse]
        try:
            values = self._scope.value(statement.iter, known)
            rows = [_bindings(statement.target, value) for value in _items(values)[:_MAX_ROWS]]
        except NotFolded:
            rows = [{}]
        for row in rows:
            yield from self._statements(body, inside | row)

    def _fixtures(self, body: Sequence[ast.stmt]) -> dict[str, Any]:
        """Return the values of pytest fixtures that return literals, as ``@name``."""
        found = {}
        for statement in body:
            if isinstance(statement, ast.FunctionDef) and "fixture" in decorators_of(statement):
                match statement.body[-1]:
                    case ast.Return(value=ast.expr() as value) | ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                        with suppress(NotFolded, BadText):
                            found[f"@{statement.name}"] = self._scope.value(value, {})
        return found

    def _rows(self, function: Function, known: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Iterate over the values of a test's parameters: fixtures, and the rows of ``pytest.mark.parametrize``."""
        parameters = [p.name for p in parameters_in(function.args) if not p.variadic]
        hidden = {name: value for name, value in known.items() if name not in parameters}
        hidden |= {name: known[f"@{name}"] for name in parameters if f"@{name}" in known}
        tables = []
        for decorator in function.decorator_list:
            match decorator:
                case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, rows, *_]):
                    with suppress(NotFolded):
                        tables.append(list(self._table(names, rows, known)))
        for combined in itertools.islice(itertools.product(*tables), _MAX_ROWS):
            yield dict(ChainMap(*reversed(combined), hidden))

    def _table(self, names: ast.expr, rows: ast.expr, known: Names) -> Iterator[dict[str, Any]]:
        said = self._scope.value(names, known)
        listed = [n.strip() for n in said.split(",") if n.strip()] if isinstance(said, str) else list(said)
        is_one = isinstance(said, str) and "," not in said
        """One name alone takes an entry as it is."""
        entries: Sequence[Any]
        entries = rows.elts if isinstance(rows, ast.List | ast.Tuple) else _items(self._scope.value(rows, known))
        for entry in entries:
            with suppress(NotFolded, BadText):
                match entry:
                    case ast.Call(func=ast.Attribute(attr="param"), args=parts):
                        pass
                    case ast.Tuple(elts=parts) | ast.List(elts=parts) if not is_one:
                        pass
                    case _:
                        parts = [entry] if is_one else _items(self._value(entry, known))
                row = {}
                for name, part in zip(listed, parts, strict=False):
                    with suppress(NotFolded, BadText):  # what is no literal (an exception type, say) is left out
                        row[name] = self._value(part, known)
                yield row

    def _value(self, part: Any, known: Names) -> Any:
        return self._scope.value(part, known) if isinstance(part, ast.expr) else part


def _as_call(statement: ast.stmt) -> ast.Call | None:
    """Return ``x[key] = value``, ``del x[key]`` and ``next(x)`` as the calls of methods that they are."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as of, slice=key)], value=value):
            return ast.Call(ast.Attribute(of, "__setitem__", ast.Load()), [key, value], [])
        case ast.Delete(targets=[ast.Subscript(value=ast.Name() as of, slice=key)]):
            return ast.Call(ast.Attribute(of, "__delitem__", ast.Load()), [key], [])
        case ast.Expr(value=ast.Call(func=ast.Name(id="next"), args=[ast.Name() as of])):
            return ast.Call(ast.Attribute(of, "__next__", ast.Load()), [], [])
    return None


def _items(value: Any) -> list[Any]:
    if isinstance(value, list | tuple | dict | str):
        return list(value)
    raise NotFolded("no list")


def _bindings(target: ast.expr, value: Any) -> dict[str, Any]:
    match target:
        case ast.Name(id=name):
            return {name: value}
        case ast.Tuple(elts=elts) | ast.List(elts=elts) if isinstance(value, list | tuple) and len(elts) == len(value):
            parts = [_bindings(part, of) for part, of in zip(elts, value, strict=True)]
            return {name: bound for part in parts for name, bound in part.items()}
    return {}


def _without(known: dict[str, Any], statement: ast.stmt) -> dict[str, Any]:
    """Return what is still known after a statement: not what it binds, or may change by a method or an item."""
    changed = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                changed.add(name)
            case (
                ast.Attribute(value=value, ctx=ast.Store() | ast.Del())
                | ast.Subscript(value=value, ctx=ast.Store() | ast.Del())
            ):
                changed |= {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    return {name: value for name, value in known.items() if name.removesuffix("()") not in changed}


def _inside(block: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(block):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler):
            yield from child.body


def mine_calls(target: Target) -> Calls:
    """Return the calls with literal arguments in the function's file, its tests and its package, in this order.

    Bounded in files, bytes and calls, not in time: a slow machine reads the same ones. Nothing is executed.
    """
    names = re.compile(rb"\b" + re.escape(target.function.name.encode()) + rb"\b")
    seeds: dict[str, None] = {}
    counts: list[tuple[str, int]] = []
    n_parsed = 0
    for path in itertools.islice(_files(target.path), MAX_FILES):
        if len(seeds) >= MAX_CALLS or n_parsed > _MAX_PARSED:
            break
        content = b"" if path == target.path else _content(path)
        tree = target.module if path == target.path else parsed(content) if names.search(content) else None
        if tree is None:
            continue
        n_parsed += len(content)
        # What the function calls itself with, it says by its inputs.
        body = [statement for statement in tree.body if statement is not target.function]
        before, found = len(seeds), Caller(target, Scope(target, tree)).seeds(body)
        seeds |= dict.fromkeys(itertools.islice(found, MAX_CALLS))
        if len(seeds) > before:
            counts.append((path.name, len(seeds) - before))
    return Calls(seeds=tuple(seeds)[:MAX_CALLS], files=tuple(counts))


def _content(path: Path) -> bytes:
    with suppress(OSError):
        if path.is_file() and path.stat().st_size <= _MAX_FILE:
            return path.read_bytes()
    return b""


def _files(path: Path) -> Iterator[Path]:
    """Iterate over the function's file, the tests around it, and its package."""
    yield path
    own = path.resolve()
    folder = package = own.parent
    near = sorted(folder.glob("test_*.py")) + sorted(folder.glob("*_test.py"))
    tests: list[Path] = []
    for level in [folder, *folder.parents][:4]:
        tests += [level / name for name in ("tests", "test") if (level / name).is_dir()]
        if (level / "__init__.py").is_file():
            package = level
        if any((level / mark).exists() for mark in PROJECT):
            break
    seen = {own}
    of_package = python_files(package) if (package / "__init__.py").is_file() else package.glob("*.py")
    for found in itertools.chain(near, *map(python_files, tests), sorted(itertools.islice(of_package, _MAX_ENTRIES))):
        if found not in seen:
            seen.add(found)
            yield found
