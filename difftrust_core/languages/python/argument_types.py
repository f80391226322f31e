"""The types of a function's arguments: what the annotations in a parsed file stand for, and what fits them.

No annotation is evaluated. pydantic's strict mode decides what fits: every element of every container is looked at,
True is no int, an int is a float.
"""

import ast
import builtins
import collections
import collections.abc
import datetime
import decimal
import fractions
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import annotated_types
from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from difftrust_core.base.literals import BadText, Instance, read_literal, write_literal

_MODULES: dict[str, Any] = {
    "annotated_types": annotated_types,
    "builtins": builtins,
    "collections": collections,
    "collections.abc": collections.abc,
    "datetime": datetime,
    "decimal": decimal,
    "fractions": fractions,
    "typing": typing,
    "typing_extensions": typing,
}
_STANDARD: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(decimal.Decimal, fractions.Fraction),
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta),
    )
}
"""Types of the standard library that ``literals`` writes as calls."""
_STREAMS = {"Iterable", "Iterator", "Collection", "Reversible", "Container", "Generator"}
"""Inputs are plain data, so what is asked to be iterable is given as a sequence."""
_MAX_DEPTH = 50


class NotResolved(ValueError):
    """The annotation names what is not known here; the message says which."""


class Annotations:
    """The annotations of one parsed file. ``stands_for``: types to put in the place of others, for every value."""

    def __init__(self, module: ast.Module, *, stands_for: Mapping[Any, Any] | None = None):
        self._stands_for = stands_for or {}
        self._imported = dict(_imports(module))
        self._assigned = dict(_assignments(module))

    def resolve(self, node: ast.expr, depth: int = 0) -> Any:
        """Return the type that ``node`` stands for. Raises NotResolved."""
        if depth > _MAX_DEPTH:
            raise NotResolved("an alias of itself")
        match node:
            case ast.Constant(value=None):
                return None
            case ast.Constant(value=str(text)):
                return self.resolve(_parsed(text), depth + 1)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return typing.Union[self.resolve(left, depth + 1), self.resolve(right, depth + 1)]  # noqa: UP007
            case ast.Name() | ast.Attribute():
                found = self._named(ast.unparse(node), depth)
                return self._stands_for.get(found, found)
            case ast.Subscript(value=value, slice=inside):
                return self._subscripted(ast.unparse(value), inside, depth + 1)
        raise NotResolved(ast.unparse(node))

    def _named(self, name: str, depth: int) -> Any:
        if name in self._assigned:
            return self._alias(name, depth + 1)
        found = _known(self._imported.get(name, name), self._imported)
        if found is object:
            return Any
        if not isinstance(found, type) and typing.get_origin(found) is None and type(found).__module__ != "typing":
            raise NotResolved(name)
        return found

    def _alias(self, name: str, depth: int) -> Any:
        value = self._assigned[name]
        match value:
            case ast.Call(func=ast.Name(id="TypeVar") | ast.Attribute(attr="TypeVar")):
                return Any
            case ast.Call(func=ast.Name(id="NewType") | ast.Attribute(attr="NewType"), args=[_, base]):
                return self.resolve(base, depth)
            case ast.Call():
                raise NotResolved(name)
        return self.resolve(value, depth)

    def _subscripted(self, name: str, inside: ast.expr, depth: int) -> Any:
        base = self._named(name, depth)
        if base is typing.Literal:
            return typing.Literal[tuple(_literals(inside))]
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        if base is typing.Annotated:
            kept = [self._constraint(part) for part in parts[1:]]
            return typing.Annotated[(self.resolve(parts[0], depth), *kept)]
        arguments = tuple(... if _is_ellipsis(part) else self.resolve(part, depth) for part in parts)
        try:
            return base[arguments if len(arguments) != 1 or base is tuple else arguments[0]]
        except TypeError as e:
            raise NotResolved(f"{ast.unparse(inside)} in {name}: {e}") from None

    def _constraint(self, node: ast.expr) -> Any:
        """Return a bound of ``annotated_types`` (Ge(0), Len(1, 5), ...); anything else says nothing about values."""
        match node:
            case ast.Call(func=ast.Name() | ast.Attribute() as func, args=args, keywords=keywords):
                path = self._imported.get(ast.unparse(func), ast.unparse(func))
                make = _known(path, self._imported)
                if getattr(make, "__module__", "") == "annotated_types":
                    try:
                        named = {k.arg: ast.literal_eval(k.value) for k in keywords if k.arg}
                        return make(*map(ast.literal_eval, args), **named)
                    except (ValueError, TypeError):
                        raise NotResolved(ast.unparse(node)) from None
        return ast.unparse(node)


def _imports(module: ast.Module) -> typing.Iterator[tuple[str, str]]:
    """Iterate over (name, dotted path) of what the file imports at its top level."""
    for statement in module.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                yield alias.asname or alias.name, alias.name
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            for alias in statement.names:
                yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def _assignments(module: ast.Module) -> typing.Iterator[tuple[str, ast.expr]]:
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.ClassDef(name=name):
                yield name, ast.Call(func=ast.Name(id=name), args=[], keywords=[])  # a class of the user's own


def _known(path: str, imported: Mapping[str, str]) -> Any:
    """Return what the dotted ``path`` names in the modules known here. Raises NotResolved."""
    module, _, name = path.rpartition(".")
    module = imported.get(module, module)
    if name in _STREAMS:
        return collections.abc.Sequence
    places = [_MODULES[module]] if module in _MODULES else []
    if not module:  # a name that nothing in the file binds: a builtin, or an import that was forgotten
        places = [builtins, typing, collections.abc, decimal, fractions, datetime]
    for place in places:
        if hasattr(place, name):
            return getattr(place, name)
    raise NotResolved(path)


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotResolved(repr(text)) from None


def _literals(node: ast.expr) -> list[Any]:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        raise NotResolved(f"Literal[{ast.unparse(node)}]") from None
    return list(value) if isinstance(node, ast.Tuple) else [value]


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter as its file has it."""

    name: str
    annotation: ast.expr | None
    required: bool
    variadic: bool = False
    """It takes all arguments from here on (``*args``)."""
    keyword: bool = False
    """It is given by name, inside ``Keywords``."""
    default: ast.expr | None = None


class ArgumentTypes:
    """The types of a function's positional arguments, as far as they can be found out from its file."""

    def __init__(self, parameters: Sequence[Parameter], annotations: Annotations):
        self.parameters = tuple(parameters)
        self.unchecked: dict[str, str] = {}
        """Parameters that any value fits, and why: no annotation, or one that is not known here."""
        self._adapters = [self._adapter(parameter, annotations) for parameter in parameters]

    def accepts(self, arguments: str) -> bool:
        """Tell whether an argument tuple in the text form of ``literals`` fits the signature and its types."""
        try:
            values = read_literal(arguments, _real)
        except BadText:  # also what is no date, no decimal number
            return False
        if not self._fits_in_number(len(values)):
            return False
        return all(self._fits(position, value) for position, value in enumerate(values))

    def fits(self, position: int, value: Any) -> bool:
        """Tell whether the value of one argument, as ``literals`` reads it, fits its type."""
        annotation = self.parameters[min(position, len(self.parameters) - 1)].annotation
        if annotation is not None and not _STANDARD.keys().isdisjoint(_names(annotation)):
            try:
                value = read_literal(write_literal(value), _real)
            except BadText:  # no date, no decimal number
                return False
        return self._fits(position, value)

    def _fits(self, position: int, value: Any) -> bool:
        try:
            self._adapters[min(position, len(self._adapters) - 1)].validate_python(value, strict=True)
        except (ValidationError, RecursionError):
            return False
        return True

    def _fits_in_number(self, n: int) -> bool:
        variadic = bool(self.parameters) and self.parameters[-1].variadic
        least = sum(parameter.required for parameter in self.parameters)
        return least <= n and (variadic or n <= len(self.parameters))

    def _adapter(self, parameter: Parameter, annotations: Annotations) -> "TypeAdapter[Any]":
        if parameter.annotation is None:
            self.unchecked[parameter.name] = "no annotation"
            return TypeAdapter(Any)
        try:
            wanted = annotations.resolve(parameter.annotation)
            return TypeAdapter(wanted, config=ConfigDict(arbitrary_types_allowed=True))  # Fraction and the like
        except (NotResolved, PydanticUserError, TypeError) as e:
            spelled = ast.unparse(parameter.annotation)
            why = f" ({e} is not known here)" if isinstance(e, NotResolved) and str(e) != spelled else ""
            self.unchecked[parameter.name] = f"annotation {spelled} is not understood{why}"
            return TypeAdapter(Any)


@lru_cache(maxsize=256)
def _names(annotation: ast.expr) -> frozenset[str]:
    """Return the names in an annotation."""
    return frozenset(re.findall(r"\w+", ast.unparse(annotation)))


def _real(name: str, args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    """Return the standard library's value behind ``Decimal('1.5')`` and its like. Raises BadText if there is none."""
    if name not in _STANDARD:
        return Instance(name, args, fields)
    try:
        return _STANDARD[name](*args, **fields)
    except (ArithmeticError, ValueError, TypeError) as e:
        raise BadText(f"{name}: {e}") from None


def plain(value: Any) -> Any:
    """Return ``value`` with dates, decimal numbers and fractions as ``literals`` writes them, at every depth."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return kind([plain(v) for v in value])
    if kind is dict:
        return {plain(k): plain(v) for k, v in value.items()}
    return Instance(kind.__name__, _arguments(value)) if _STANDARD.get(kind.__name__) is kind else value


def _arguments(value: Any) -> tuple[Any, ...]:
    match value:
        case decimal.Decimal():
            return (str(value),)
        case fractions.Fraction():
            return (value.numerator, value.denominator)
        case datetime.datetime():
            return (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
        case datetime.date():
            return (value.year, value.month, value.day)
        case datetime.time():
            return (value.hour, value.minute, value.second, value.microsecond)
    return (value.days, value.seconds, value.microseconds)
