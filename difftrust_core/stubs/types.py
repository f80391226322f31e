"""Whether argument tuples fit a function's annotations, and nothing else.

pydantic's strict mode decides: every element of every container is looked at, True is no int, an int is a float.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from difftrust_core.literals import BadText, Instance, read_literal
from difftrust_core.stubs.annotations import Annotations, NotResolved

_STANDARD: dict[str, type] = {
    "Decimal": Decimal,
    "Fraction": Fraction,
    "date": date,
    "datetime": datetime,
    "time": time,
    "timedelta": timedelta,
}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A positional parameter as its file has it."""

    name: str
    annotation: ast.expr | None
    required: bool
    variadic: bool = False
    """It takes all arguments from here on (``*args``)."""


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
        for position, value in enumerate(values):
            adapter = self._adapters[min(position, len(self._adapters) - 1)]
            try:
                adapter.validate_python(value, strict=True)
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
            return TypeAdapter(wanted, config=_config(wanted))
        except (NotResolved, PydanticUserError, TypeError) as e:
            spelled = ast.unparse(parameter.annotation)
            why = f" ({e} is not known here)" if isinstance(e, NotResolved) and str(e) != spelled else ""
            self.unchecked[parameter.name] = f"annotation {spelled} is not understood{why}"
            return TypeAdapter(Any)


def _config(wanted: Any) -> ConfigDict | None:
    """Let Fraction and the like pass as what they are; a type with a configuration of its own keeps it."""
    return ConfigDict(arbitrary_types_allowed=True)


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
        case Decimal():
            return (str(value),)
        case Fraction():
            return (value.numerator, value.denominator)
        case datetime():
            return (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
        case date():
            return (value.year, value.month, value.day)
        case time():
            return (value.hour, value.minute, value.second, value.microsecond)
    return (value.days, value.seconds, value.microseconds)
