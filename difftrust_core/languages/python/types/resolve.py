"""From the annotations of a parsed file to types; nothing of the file is evaluated."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from difftrust_core.base.literals import Code
from difftrust_core.languages.python.types.base import Type
from difftrust_core.languages.python.types.bounds import bounded
from difftrust_core.languages.python.types.choices import Choice, Either, Later, Member, Nothing, Variable
from difftrust_core.languages.python.types.classes import Classes
from difftrust_core.languages.python.types.containers import Items, Row
from difftrust_core.languages.python.types.functions import functions_of
from difftrust_core.languages.python.types.infer import Anything
from difftrust_core.languages.python.types.known import classes_of, known_type
from difftrust_core.languages.python.types.not_resolved import NotResolved
from difftrust_core.languages.python.types.numbers import Whole
from difftrust_core.languages.python.types.text import Text

Bound = Mapping[str, Type]
"""What type variables stand for, and ``Self``."""
_MAX_DEPTH = 50
_TYPING = ("", "typing", "typing_extensions")
_TRANSPARENT = {"Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable", "Unpack"}


class Annotations:
    """The annotations of one parsed file. ``strict_floats``: whole numbers are no floats."""

    def __init__(self, module: ast.Module, *, strict_floats: bool = False):
        self._strict_floats = strict_floats
        statements = list(_statements(module.body))
        self.imported = dict(_imports(statements))
        self._assigned = dict(_assignments(statements))
        self._classes = Classes(statements, self)
        self._aliases: dict[str, Later] = {}
        self._variables: dict[str, Type] = {}

    def resolve(self, node: ast.expr, bound: Bound | None = None, depth: int = 0) -> Type:
        """Return the type that ``node`` stands for. Raises NotResolved."""
        bound = bound or {}
        if depth > _MAX_DEPTH:
            raise NotResolved("an alias of itself")
        match node:
            case ast.Constant(value=None):
                return Nothing()
            case ast.Constant(value=str(text)):
                return self.resolve(_parsed(text), bound, depth + 1)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return Either([self.resolve(left, bound, depth + 1), self.resolve(right, bound, depth + 1)])
            case ast.Name() | ast.Attribute():
                return self._named(ast.unparse(node), [], bound, depth + 1)
            case ast.Subscript(value=value, slice=inside):
                return self._subscripted(ast.unparse(value), inside, bound, depth + 1)
        raise NotResolved(ast.unparse(node))

    def path(self, name: str) -> str:
        """Return the dotted path that a name of the file stands for, by its imports."""
        if name in self.imported:
            return self.imported[name]
        module, _, last = name.rpartition(".")
        return f"{self.imported.get(module, module)}.{last}" if module else name

    def _named(self, name: str, inside: Sequence[Type], bound: Bound, depth: int) -> Type:
        if name in bound:
            return bound[name]
        own = self._classes.type_of(name, inside, bound)
        if own is not None:
            return own
        if name in self._assigned:
            return self._alias(name, inside, depth)
        path = self.path(name)
        module, _, last = path.rpartition(".")
        if module in _TYPING:
            if last == "Self" and "Self" in bound:
                return bound["Self"]
            if last in ("Callable",):
                return functions_of(None, None)
            if last in ("Type",):
                return classes_of(inside)
        if path in ("collections.abc.Callable",):
            return functions_of(None, None)
        if path == "type":
            return classes_of(inside)
        found = known_type(path, inside, strict_floats=self._strict_floats)
        if found is None:
            raise NotResolved(name)
        return found

    def _alias(self, name: str, inside: Sequence[Type], depth: int) -> Type:
        value = self._assigned[name]
        match value:
            case ast.Call(func=func, args=args):
                return self._called(name, ast.unparse(func).rpartition(".")[2], args, value, depth)
        free = sorted({n.id for n in ast.walk(value) if isinstance(n, ast.Name) and self._is_variable(n.id)})
        if inside and free:
            return self.resolve(value, dict(zip(free, inside, strict=False)), depth + 1)
        if name in self._aliases:
            later = self._aliases[name]
            if later.found:
                return later.found[0]
            return later
        later = self._aliases[name] = Later(name)
        found = self.resolve(value, {}, depth + 1)
        if found is later:
            raise NotResolved("an alias of itself")
        later.found.append(found)
        return found

    def _is_variable(self, name: str) -> bool:
        value = self._assigned.get(name)
        return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "TypeVar"

    def _called(self, name: str, maker: str, args: list[ast.expr], call: ast.Call, depth: int) -> Type:
        if maker == "TypeVar":
            return self._variable(name, args[1:], call, depth)
        if maker == "NewType" and len(args) == 2:
            return self.resolve(args[1], {}, depth + 1)
        raise NotResolved(name)

    def _variable(self, name: str, constraints: list[ast.expr], call: ast.Call, depth: int) -> Type:
        if name not in self._variables:
            bounds = [keyword.value for keyword in call.keywords if keyword.arg == "bound"]
            try:
                known = [self.resolve(node, {}, depth + 1) for node in (*constraints, *bounds)]
            except NotResolved:  # a bound such as SupportsLessThan says nothing of values
                known = []
            options = known or [Whole(), Text()]
            self._variables[name] = Variable(name, options, is_open=not known)
        return self._variables[name]

    def _subscripted(self, name: str, inside: ast.expr, bound: Bound, depth: int) -> Type:
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        path = self.path(name)
        module, _, last = path.rpartition(".")
        if name in self._assigned or self._classes.knows(name):
            return self._named(name, self._inside(parts, bound, depth), bound, depth)
        if module in _TYPING or module in ("collections.abc", "dataclasses"):
            special = self._special(last, inside, parts, bound, depth)
            if special is not None:
                return special
        if path in ("tuple", "builtins.tuple") or (last == "Tuple" and module in _TYPING):
            return self._tuple(parts, bound, depth)
        if last in ("ndarray",) and len(parts) == 2:
            parts = parts[1:]
        return self._named(name, self._inside(parts, bound, depth), bound, depth)

    def _inside(self, parts: list[ast.expr], bound: Bound, depth: int) -> list[Type]:
        return [self.resolve(part, bound, depth + 1) for part in parts]

    def _special(self, last: str, inside: ast.expr, parts: list[ast.expr], bound: Bound, depth: int) -> Type | None:
        """Return the type of a form of ``typing`` whose brackets hold more than types; None for the others."""
        if last == "Literal":
            return Choice([self._literal(part) for part in parts])
        if last == "Annotated":
            return bounded(self.resolve(parts[0], bound, depth + 1), parts[1:], self.path)
        if last in ("Optional", "Union"):
            options = self._inside(parts, bound, depth)
            return Either([*options, Nothing()] if last == "Optional" else options)
        if last in _TRANSPARENT:
            return self.resolve(parts[0], bound, depth + 1)
        if last in ("Type", "type"):
            return classes_of(self._inside(parts, bound, depth))
        if last == "Callable" and parts:
            takes = parts[0]
            arguments = self._inside(takes.elts, bound, depth) if isinstance(takes, ast.List) else None
            return functions_of(arguments, self._result(parts, bound, depth))
        return None

    def _result(self, parts: list[ast.expr], bound: Bound, depth: int) -> Type:
        return self.resolve(parts[1], bound, depth + 1) if len(parts) > 1 else Anything()

    def _literal(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Attribute):
            owner = self._classes.type_of(ast.unparse(node.value), (), {})
            member = Code(ast.unparse(node))
            if isinstance(owner, Member) and owner.fits(member):
                return member
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            raise NotResolved(f"Literal[{ast.unparse(node)}]") from None

    def _tuple(self, parts: list[ast.expr], bound: Bound, depth: int) -> Type:
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
            return Items((tuple,), self.resolve(parts[0], bound, depth + 1))
        return Row(self._inside(parts, bound, depth))


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Iterate over the statements of a file's top level, those under ``if`` and ``try`` included."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try):
            for block in (statement.body, statement.orelse, getattr(statement, "finalbody", [])):
                yield from _statements(block)
            for handler in getattr(statement, "handlers", []):
                yield from _statements(handler.body)


def _imports(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Iterate over (name, dotted path) of what the file imports."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield alias.asname or alias.name, alias.name
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            for alias in statement.names:
                yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def _assignments(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
        if type(statement).__name__ == "TypeAlias":  # ``type Pair = tuple[int, int]``, since Python 3.12
            yield statement.name.id, statement.value  # type: ignore[attr-defined]


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotResolved(repr(text)) from None
