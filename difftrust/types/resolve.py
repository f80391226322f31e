"""From the annotations of a parsed file to types; nothing of the file is evaluated."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from difftrust.types.base import NotResolved, Type
from difftrust.types.bounds import bounded
from difftrust.types.choices import Choice, Either, Later, Member, Nothing, Variable
from difftrust.types.classes import Classes, last_part
from difftrust.types.containers import Items, Row
from difftrust.types.functions import functions_of
from difftrust.types.infer import Anything
from difftrust.types.known import known_type
from difftrust.types.numbers import Whole
from difftrust.types.own import Own
from difftrust.types.texts import Text
from difftrust_core.base.literals import Code
from difftrust_core.languages.python.syntax import expression, own_statements

Bound = Mapping[str, Type]
"""What type variables stand for, and ``Self``."""
_MAX_DEPTH = 50
_TYPING = ("", "typing", "typing_extensions")
_TRANSPARENT = {"Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Awaitable", "Unpack"}


class Annotations:
    """The annotations of one parsed file. ``strict_floats``: whole numbers are no floats."""

    def __init__(self, module: ast.Module, *, strict_floats: bool = False):
        self._strict_floats = strict_floats
        statements = list(own_statements(module.body))
        self.imported = {name: path for statement in statements for name, path in imports_of(statement)}
        self._assigned = dict(assignments_in(statements))
        self._classes = Classes(module.body, self.resolve)
        self._aliases: dict[str, Later] = {}
        self._variables: dict[str, Type] = {}
        self._depth = 0

    def resolve(self, node: ast.expr, bound: Bound | None = None) -> Type:
        """Return the type that ``node`` stands for. Raises NotResolved."""
        if self._depth > _MAX_DEPTH:
            raise NotResolved("an alias of itself")
        self._depth += 1
        try:
            return self._resolve(node, bound or {})
        finally:
            self._depth -= 1

    def _resolve(self, node: ast.expr, bound: Bound) -> Type:
        match node:
            case ast.Constant(value=None):
                return Nothing()
            case ast.Constant(value=str(text)):
                return self.resolve(_parsed(text), bound)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return Either(self._all([left, right], bound))
            case ast.Name() | ast.Attribute():
                return self._named(ast.unparse(node), [], bound)
            case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
                return self._subscripted(ast.unparse(value), parts, bound)
            case ast.Subscript(value=value, slice=part):
                return self._subscripted(ast.unparse(value), [part], bound)
        raise NotResolved(ast.unparse(node))

    def _all(self, nodes: Sequence[ast.expr], bound: Bound) -> list[Type]:
        return [self.resolve(node, bound) for node in nodes]

    def used(self, found: Type) -> Type:
        """Return the objects of a class of the file also after calls of their methods; another type as it is."""
        return self._classes.used(found) if isinstance(found, Own) and self._classes.knows(found.name) else found

    def path(self, name: str) -> str:
        """Return the dotted path that a name of the file stands for, by its imports."""
        if name in self.imported:
            return self.imported[name]
        module, _, last = name.rpartition(".")
        return f"{self.imported.get(module, module)}.{last}" if module else name

    def _named(self, name: str, inside: Sequence[Type], bound: Bound) -> Type:
        if name in bound:
            return bound[name]
        own = self._classes.type_of(name, inside, bound)
        if own is not None:
            return own
        if name in self._assigned:
            return self._alias(name, inside)
        path = self.path(name)
        module, _, last = path.rpartition(".")
        if module in _TYPING and last == "Self" and "Self" in bound:
            return bound["Self"]
        found = known_type(path, inside, strict_floats=self._strict_floats)
        if found is None:
            raise NotResolved(name)
        return found

    def _alias(self, name: str, inside: Sequence[Type]) -> Type:
        value = self._assigned[name]
        match value:
            case ast.Call(args=[_, base]) if last_part(value.func) == "NewType":
                return self.resolve(base)
            case ast.Call(args=[_, *constraints], keywords=keywords) if self._is_variable(name):
                return self._variable(name, [*constraints, *(k.value for k in keywords if k.arg == "bound")])
            case ast.Call():
                raise NotResolved(name)
        free = sorted({n.id for n in ast.walk(value) if isinstance(n, ast.Name) and self._is_variable(n.id)})
        if inside and free:
            return self.resolve(value, dict(zip(free, inside, strict=False)))
        if name in self._aliases:
            later = self._aliases[name]
            return later.options[0] if later.options else later
        later = self._aliases[name] = Later(())
        found = self.resolve(value)
        if found is later:
            raise NotResolved("an alias of itself")
        later.options = (found,)
        return found

    def _is_variable(self, name: str) -> bool:
        value = self._assigned.get(name)
        return isinstance(value, ast.Call) and last_part(value.func) == "TypeVar"

    def _variable(self, name: str, limits: Sequence[ast.expr]) -> Type:
        if name not in self._variables:
            try:
                known = self._all(limits, {})
            except NotResolved:  # a bound such as SupportsLessThan says nothing of values
                known = []
            self._variables[name] = Variable(name, known or [Whole(), Text()], is_open=not known)
        return self._variables[name]

    def _subscripted(self, name: str, parts: list[ast.expr], bound: Bound) -> Type:
        path = self.path(name)
        module, _, last = path.rpartition(".")
        if name not in self._assigned and not self._classes.knows(name):
            special = None
            if module in (*_TYPING, "collections.abc", "dataclasses"):
                special = self._special(last, parts, bound)
            if path in ("tuple", "builtins.tuple") or (last == "Tuple" and module in _TYPING):
                special = self._tuple(parts, bound)
            if special is not None:
                return special
            if last == "ndarray" and len(parts) == 2:
                parts = parts[1:]
        return self._named(name, self._all(parts, bound), bound)

    def _special(self, last: str, parts: list[ast.expr], bound: Bound) -> Type | None:
        """Return the type of a form of ``typing`` whose brackets hold more than types; None for the others."""
        if last == "Literal":
            return Choice([self._literal(part) for part in parts])
        if last == "Annotated":
            return bounded(self.resolve(parts[0], bound), parts[1:], self.path)
        if last in ("Optional", "Union"):
            return Either([*self._all(parts, bound), *([Nothing()] if last == "Optional" else [])])
        if last in _TRANSPARENT:
            return self.resolve(parts[0], bound)
        if last == "Callable" and parts:
            takes = parts[0]
            arguments = self._all(takes.elts, bound) if isinstance(takes, ast.List) else None
            return functions_of(arguments, self.resolve(parts[1], bound) if len(parts) > 1 else Anything())
        return None

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

    def _tuple(self, parts: list[ast.expr], bound: Bound) -> Type:
        match parts:
            case [element, ast.Constant(value=value)] if value is ...:
                return Items((tuple,), self.resolve(element, bound))
        return Row(self._all(parts, bound))


def imports_of(statement: ast.AST) -> Iterator[tuple[str, str]]:
    """Iterate over (name, dotted path) of what a statement imports, relative ones left out."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.asname or alias.name, alias.name
            if not alias.asname:
                yield (alias.name.partition(".")[0],) * 2
    elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        for alias in statement.names:
            yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def assignments_in(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Iterate over the names that statements assign one value to, and that value."""
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
        return expression(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotResolved(repr(text)) from None
