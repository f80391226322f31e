"""The types of a function's arguments: what its parsed file says of them, and what fits.

No annotation is evaluated. Every element of every container is looked at, True is no int, an int is a float.
"""

import ast
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from functools import lru_cache
from itertools import takewhile
from typing import Any

from difftrust.types.base import NotResolved, Type, all_fit
from difftrust.types.containers import Entries, all_rows
from difftrust.types.infer import Anything
from difftrust.types.numbers import Whole
from difftrust.types.own import Parameter, bind, field_of
from difftrust.types.resolve import Annotations
from difftrust_core.base.literals import KEYWORDS, BadText, Code, Instance, read_literal, write_literal

__all__ = ["Annotations", "ArgumentTypes", "NotResolved", "Parameter", "split_arguments"]
MAX_EXHAUSTED = 1_500
"""A domain of no more argument tuples is run as a whole."""


class ArgumentTypes:
    """The types of a function's arguments, as far as they can be found out from its file."""

    def __init__(self, parameters: Sequence[Parameter], annotations: Annotations):
        self.parameters = tuple(parameters)
        self.unchecked: dict[str, str] = {}
        """Parameters that any value fits, and why: no annotation, or one that is not known here."""
        self.types: tuple[Type, ...] = tuple(self._type(parameter, annotations) for parameter in parameters)
        self._fields = [field_of(parameter, kind) for parameter, kind in zip(self.parameters, self.types, strict=True)]
        self._positional = [one for one in self._fields if not one.by_name]

    def accepts(self, arguments: str) -> bool:
        """Tell whether an argument tuple in the text form of ``literals`` fits the signature and its types."""
        values = arguments_of(arguments)
        with suppress(RecursionError):
            return values is not None and all_fit(bind(self._fields, *split_arguments(values)))
        return False

    def fits(self, position: int, value: Any) -> bool:
        """Tell whether the value of one positional argument, as ``literals`` reads it, fits its type."""
        with suppress(RecursionError):
            return self._positional[min(position, len(self._positional) - 1)].type.fits(value)
        return False

    def named_type(self, name: str) -> Type:
        """Return the type of an argument that is given by name."""
        named = {one.name: one.type for one in self._fields if not one.variadic}
        rest = [one.type for one in self._fields if one.by_name and one.variadic]
        return named.get(name) or (rest or [Anything()])[0]

    def named_values(self, arguments: tuple[Any, ...]) -> list[tuple[str, Any]]:
        """Return the values of an argument tuple, each with the name of its parameter."""
        values, named = split_arguments(arguments)
        names = [one.name for one in self._positional]
        return [*zip(names + names[-1:] * len(values), values, strict=False), *named.items()]

    def all_arguments(self, requires: str) -> list[str] | None:
        """Return all argument tuples if there are at most ``MAX_EXHAUSTED``; None if there are more.

        ``requires``: a condition, which may bound whole numbers or list values; what it allows is among the tuples.
        """
        if any(parameter.variadic for parameter in self.parameters):
            return None
        columns, known = [], _listed_in(requires)
        for parameter, kind in zip(self.parameters, self.types, strict=True):
            values = kind.all_values(MAX_EXHAUSTED)
            listed = known.get(parameter.name, ())
            if values is None and listed and (isinstance(kind, Whole) or isinstance(listed, tuple)):
                values = [value for value in listed if kind.fits(value)] or None
            columns.append(values if values is None or parameter.required else [_LEFT_OUT, *values])
        rows = all_rows(columns, MAX_EXHAUSTED) if columns else None
        if rows is None:
            return None
        return list(dict.fromkeys(write_literal(self._arguments(row)) for row in rows))

    def _arguments(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return an argument tuple; what stands behind one that is left out is given by name."""
        names = [parameter.name for parameter in self.parameters]
        given = {name: value for name, value in zip(names, row, strict=True) if value is not _LEFT_OUT}
        first = [*takewhile(given.__contains__, (one.name for one in self._positional))]
        return joined_arguments([given.pop(name) for name in first], given)

    def _type(self, parameter: Parameter, annotations: Annotations) -> Type:
        if parameter.annotation is None:
            self.unchecked[parameter.name] = "no annotation"
            return Anything()
        try:
            found = annotations.resolve(parameter.annotation)
            found = annotations.used(found) if parameter.name == "self" else found
            if parameter.keys and isinstance(found, Entries):
                found = copy(found)
                found.keys = parameter.keys
            return found
        except (NotResolved, RecursionError) as e:
            spelled = ast.unparse(parameter.annotation)
            why = f" ({e} is not known here)" if isinstance(e, NotResolved) and str(e) != spelled else ""
            self.unchecked[parameter.name] = f"annotation {spelled} is not understood{why}"
            return Anything()


def _listed_in(requires: str) -> dict[str, range | tuple[Any, ...]]:
    """Return the whole numbers between the ends that a condition sets a parameter, or the values that it lists."""
    ends: dict[str, tuple[list[int], list[int]]] = {}
    listed: dict[str, tuple[Any, ...]] = {}
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        waiting = [ast.parse(requires.strip() or "True", mode="eval").body]
        while waiting:
            part = waiting.pop()
            waiting += part.values if isinstance(part, ast.BoolOp) and isinstance(part.op, ast.And) else []
            sides = [part.left, *part.comparators] if isinstance(part, ast.Compare) else []
            for one, op, other in zip(sides, getattr(part, "ops", ()), sides[1:], strict=False):
                if isinstance(op, ast.Gt | ast.GtE):
                    one, op, other = other, ast.LtE(), one
                match one, op, other:
                    case ast.Name(id=name), ast.In(), ast.Tuple() | ast.List():
                        with suppress(ValueError):
                            listed[name] = tuple(ast.literal_eval(other))
                    case ast.Name(id=name), ast.Lt() | ast.LtE(), end:
                        ends.setdefault(name, ([], []))[1].extend(_whole(end, math.ceil))
                    case end, ast.Lt() | ast.LtE(), ast.Name(id=name):
                        ends.setdefault(name, ([], []))[0].extend(_whole(end, math.floor))
                    case ast.BinOp(left=end, op=ast.Mod(), right=ast.Name(id=name)), ast.Eq(), ast.Constant(value=0):
                        low, high = ends.setdefault(name, ([], []))  # a divisor
                        low += [-abs(n) for n in _whole(end, math.floor) if n]
                        high += [abs(n) for n in _whole(end, math.floor) if n]
    bounded = {name: range(max(low), min(high) + 1) for name, (low, high) in ends.items() if low and high}
    return {**{name: each for name, each in bounded.items() if len(each) <= MAX_EXHAUSTED}, **listed}


def _whole(end: ast.expr, rounded: Callable[[float], int]) -> list[int]:
    """Return a number that an expression is, none where it is another expression."""
    try:
        value = ast.literal_eval(end)
    except ValueError:
        return []
    return [rounded(value)] if isinstance(value, int | float) and math.isfinite(value) else []


_LEFT_OUT = Code("...")


def split_arguments(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional arguments of a tuple, and those by name."""
    last = arguments[-1] if arguments else None
    if type(last) is Instance and last.type_name == KEYWORDS:
        return arguments[:-1], last.fields
    return arguments, {}


def joined_arguments(values: Sequence[Any], named: dict[str, Any]) -> tuple[Any, ...]:
    """Return positional arguments and those by name as one tuple."""
    return (*values, Instance(KEYWORDS, (), named)) if named else tuple(values)


def with_values(arguments: tuple[Any, ...], values: Sequence[Any]) -> tuple[Any, ...]:
    """Return an argument tuple with other values, those by name last."""
    positional, named = split_arguments(arguments)
    n = len(positional)
    return joined_arguments(values[:n], dict(zip(named, values[n:], strict=True)))


@lru_cache(maxsize=4096)
def arguments_of(text: str) -> tuple[Any, ...] | None:
    """Return an argument tuple by its text, None where it is none. It is shared: nothing changes it in place."""
    try:
        value = read_literal(text)
    except BadText:
        return None
    return value if type(value) is tuple else None
