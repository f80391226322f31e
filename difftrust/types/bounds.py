"""The bounds of ``Annotated``: ``Ge(0)``, ``Len(1, 5)``, ``Field(ge=1)``; all else there says nothing of values."""

import ast
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from difftrust.types.base import Draws, NotResolved, NoValue, Sized, Type
from difftrust.types.choices import Either
from difftrust.types.numbers import Real, Whole
from difftrust.types.standard import Standard
from difftrust.types.texts import Text
from difftrust_core.base.standard_types import names_of

_ARGUMENTS = {
    **{name: (name.lower(),) for name in ("Ge", "Gt", "Le", "Lt")},
    **dict.fromkeys(("Interval", "Field", "StringConstraints"), ()),
    "MultipleOf": ("multiple_of",),
    "MinLen": ("min_length",),
    "MaxLen": ("max_length",),
    "Len": ("min_length", "max_length"),
}


def bounded(kind: Type, notes: Sequence[ast.expr], path: Callable[[str], str]) -> Type:
    """Return ``kind`` within the bounds that the notes behind it in ``Annotated`` set. Raises NotResolved."""
    for note in notes:
        for name, value in _bounds(note, path):
            kind = _with(kind, name, value)
    return kind


def _bounds(node: ast.expr, path: Callable[[str], str]) -> list[tuple[str, Any]]:
    if not isinstance(node, ast.Call):
        return []
    module, _, name = path(ast.unparse(node.func)).rpartition(".")
    if module not in ("annotated_types", "pydantic", "msgspec", "") or name not in _ARGUMENTS:
        return []
    given = list(zip(_ARGUMENTS[name], node.args, strict=False))
    given += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
    found = []
    for argument, value in given:
        try:
            found.append((argument, _value(value)))
        except (ValueError, TypeError, SyntaxError):
            if name != "Field":
                raise NotResolved(ast.unparse(node)) from None
    return [(argument, value) for argument, value in found if value is not None]


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Call(func=ast.Name(id="Decimal") | ast.Attribute(attr="Decimal"), args=[number]):
            return Decimal(str(ast.literal_eval(number)))
    return ast.literal_eval(node)


def _with(kind: Type, name: str, value: Any) -> Type:
    """Return the type within one bound more."""
    if isinstance(kind, Either):
        return Either([_with(option, name, value) for option in kind.options], only_first=kind.only_first)
    if name in ("ge", "gt", "le", "lt"):
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return _beside(kind, "low" if name[0] == "g" else "high", value, is_open=name[1] == "t") if is_number else kind
    if isinstance(kind, Whole) and name == "multiple_of" and isinstance(value, int) and value:
        return Multiple(kind, value)
    if isinstance(kind, Sized) and name in ("min_length", "max_length"):
        return replace(kind, least=int(value)) if name == "min_length" else replace(kind, most=int(value))
    if isinstance(kind, Text) and name in ("pattern", "regex") and isinstance(value, str):
        return replace(kind, pattern=value)
    return kind


def _beside(kind: Type, side: str, value: Any, *, is_open: bool) -> Type:
    """Return a type of numbers on one side of a number, which is one of them unless ``is_open``."""
    bounds: dict[str, Any] = {}
    if isinstance(kind, Whole):
        low, high = (math.floor(value) + 1, math.ceil(value) - 1) if is_open else (math.ceil(value), math.floor(value))
        bounds = {side: low if side == "low" else high}
    elif isinstance(kind, Real):
        bounds = {side: float(value), f"open_{side}": is_open}
    elif isinstance(kind, Standard) and kind.names[0] in names_of("number"):
        bounds = {side: Decimal(str(value))}
    return replace(kind, **bounds) if isinstance(kind, Whole | Real | Standard) else kind


@dataclass(eq=False)
class Multiple(Type):
    """Whole numbers that are multiples of one."""

    number: Whole
    of: int

    def fits(self, value: Any) -> bool:
        return self.number.fits(value) and value % self.of == 0

    def draw(self, draws: Draws) -> Any:
        return self._near(self.number.draw(draws))

    def change(self, value: Any, draws: Draws) -> Any:
        return self._near(self.number.change(value, draws) if draws.chance(0.5) else value + self.of)

    def _near(self, value: int) -> int:
        for near in (value - value % self.of, value - value % self.of + self.of):
            if self.fits(near):
                return near
        raise NoValue
