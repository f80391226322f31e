"""The types of a function's arguments: what its parsed file says of them, and what fits.

No annotation is evaluated. Every element of every container is looked at, True is no int, an int is a float.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from difftrust_core.base.literals import KEYWORDS, BadText, Code, Instance, read_literal
from difftrust_core.languages.python.types.base import Type
from difftrust_core.languages.python.types.choices import Functions, Member
from difftrust_core.languages.python.types.containers import all_rows
from difftrust_core.languages.python.types.infer import Anything
from difftrust_core.languages.python.types.not_resolved import NotResolved
from difftrust_core.languages.python.types.resolve import Annotations

__all__ = ["Annotations", "ArgumentTypes", "NotResolved", "Parameter", "split_arguments"]
MAX_EXHAUSTED = 1_000
"""A domain of no more argument tuples is run as a whole."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter as its file has it."""

    name: str
    annotation: ast.expr | None
    required: bool
    variadic: bool = False
    """It takes all arguments from here on (``*args``)."""
    keyword: bool = False
    """It is given by name, within ``Keywords``; with ``variadic`` it takes all names (``**kwargs``)."""
    default: ast.expr | None = None


class ArgumentTypes:
    """The types of a function's arguments, as far as they can be found out from its file."""

    def __init__(self, parameters: Sequence[Parameter], annotations: Annotations):
        self.parameters = tuple(parameters)
        self.unchecked: dict[str, str] = {}
        """Parameters that any value fits, and why: no annotation, or one that is not known here."""
        self.types: tuple[Type, ...] = tuple(self._type(parameter, annotations) for parameter in parameters)
        self._positional = [(p, t) for p, t in zip(self.parameters, self.types, strict=True) if not p.keyword]
        self._by_name = {p.name: (p, t) for p, t in zip(self.parameters, self.types, strict=True) if not p.variadic}
        self._rest = next(
            (t for p, t in zip(self.parameters, self.types, strict=True) if p.keyword and p.variadic), None
        )

    def accepts(self, arguments: str) -> bool:
        """Tell whether an argument tuple in the text form of ``literals`` fits the signature and its types."""
        try:
            values = read_literal(arguments)
        except BadText:
            return False
        return type(values) is tuple and self.accepts_values(values)

    def accepts_values(self, arguments: tuple[Any, ...]) -> bool:
        """Tell whether an argument tuple fits, ``Keywords`` at its end included."""
        values, named = split_arguments(arguments)
        if not self._fits_in_number(len(values), named):
            return False
        try:
            if not all(self.positional_type(at).fits(value) for at, value in enumerate(values)):
                return False
            return all(self.named_type(name).fits(value) for name, value in named.items())
        except RecursionError:
            return False

    def fits(self, position: int, value: Any) -> bool:
        """Tell whether the value of one positional argument, as ``literals`` reads it, fits its type."""
        try:
            return self.positional_type(position).fits(value)
        except RecursionError:
            return False

    def positional_type(self, position: int) -> Type:
        """Return the type of the argument at a position."""
        return self._positional[min(position, len(self._positional) - 1)][1]

    def named_type(self, name: str) -> Type:
        """Return the type of an argument that is given by name."""
        if name in self._by_name:
            return self._by_name[name][1]
        return self._rest or Anything()

    def all_arguments(self) -> list[str] | None:
        """Return all argument tuples if there are at most ``MAX_EXHAUSTED``; None if there are more."""
        from difftrust_core.base.literals import write_literal

        if any(parameter.variadic for parameter in self.parameters):
            return None
        columns = []
        for parameter, kind in zip(self.parameters, self.types, strict=True):
            values = kind.all_values(MAX_EXHAUSTED)
            columns.append(values if values is None or parameter.required else [_LEFT_OUT, *values])
        rows = all_rows(columns, MAX_EXHAUSTED) if columns else None
        if rows is None:
            return None
        made = [self._arguments(row) for row in rows]
        return list(dict.fromkeys(write_literal(arguments) for arguments in made))

    def _arguments(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return an argument tuple; what stands behind one that is left out is given by name."""
        values: list[Any] = []
        named: dict[str, Any] = {}
        behind = False
        for parameter, value in zip(self.parameters, row, strict=True):
            behind = behind or (value is _LEFT_OUT and not parameter.keyword)
            if value is _LEFT_OUT:
                continue
            if parameter.keyword or behind:
                named[parameter.name] = value
            else:
                values.append(value)
        return joined_arguments(values, named)

    def simpler_codes(self) -> dict[str, tuple[str, ...]]:
        """Return for each Enum member and function the simpler ones of its type, simplest first: for shrinking."""
        found: dict[str, tuple[str, ...]] = {}
        for kind in _all_types(self.types):
            texts: list[str] = []
            if isinstance(kind, Member):
                texts = [value.text for value in kind.values if type(value) is Code]
            elif isinstance(kind, Functions):
                texts = kind.known
            for at, text in enumerate(texts):
                found.setdefault(text, tuple(texts[:at]))
        return found

    def _fits_in_number(self, n: int, named: dict[str, Any]) -> bool:
        variadic = any(parameter.variadic for parameter, _ in self._positional)
        if n > len(self._positional) and not variadic:
            return False
        given = {parameter.name for parameter, _ in self._positional[:n]}
        known = self._by_name.keys() - given
        if not named.keys() <= known and (self._rest is None or named.keys() & given):
            return False
        missing = [p for p in self.parameters if p.required and p.name not in given and p.name not in named]
        return not missing

    def _type(self, parameter: Parameter, annotations: Annotations) -> Type:
        if parameter.annotation is None:
            self.unchecked[parameter.name] = "no annotation"
            return Anything()
        try:
            return annotations.resolve(parameter.annotation)
        except (NotResolved, RecursionError) as e:
            spelled = ast.unparse(parameter.annotation)
            why = f" ({e} is not known here)" if isinstance(e, NotResolved) and str(e) != spelled else ""
            self.unchecked[parameter.name] = f"annotation {spelled} is not understood{why}"
            return Anything()


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


def _all_types(types: Sequence[Type]) -> list[Type]:
    found: dict[int, Type] = {}
    waiting = list(types)
    while waiting:
        kind = waiting.pop()
        if id(kind) not in found:
            found[id(kind)] = kind
            waiting += kind.inside()
    return list(found.values())
