"""The bounds of ``Annotated``: ``Ge(0)``, ``Len(1, 5)``, ``Field(ge=1)``; all else there says nothing of values."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from difftrust_core.languages.python.types.base import Draws, NoValue, Part, Type
from difftrust_core.languages.python.types.choices import Either
from difftrust_core.languages.python.types.containers import Entries, Items
from difftrust_core.languages.python.types.not_resolved import NotResolved
from difftrust_core.languages.python.types.numbers import Real, Whole
from difftrust_core.languages.python.types.standard import Standard
from difftrust_core.languages.python.types.text import Octets, Text

_ARGUMENTS = {
    "Ge": ("ge",),
    "Gt": ("gt",),
    "Le": ("le",),
    "Lt": ("lt",),
    "Interval": (),
    "MultipleOf": ("multiple_of",),
    "MinLen": ("min_length",),
    "MaxLen": ("max_length",),
    "Len": ("min_length", "max_length"),
    "Field": (),
    "StringConstraints": (),
}
_SIZED = (Text, Octets, Items, Entries)


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
    if isinstance(value, bool) or (name in ("ge", "gt", "le", "lt") and not isinstance(value, int | float | Decimal)):
        return kind
    if isinstance(kind, Whole):
        return _whole(kind, name, value)
    if isinstance(kind, Real) and name in ("ge", "gt"):
        return replace(kind, low=float(value), open_low=name == "gt")
    if isinstance(kind, Real) and name in ("le", "lt"):
        return replace(kind, high=float(value), open_high=name == "lt")
    if isinstance(kind, Standard) and name in ("ge", "gt", "le", "lt"):
        exact = Decimal(str(value))
        return replace(kind, low=exact) if name in ("ge", "gt") else replace(kind, high=exact)
    if isinstance(kind, _SIZED) and name in ("min_length", "max_length"):
        return replace(kind, least=int(value)) if name == "min_length" else replace(kind, most=int(value))
    if isinstance(kind, Text) and name in ("pattern", "regex") and isinstance(value, str):
        return replace(kind, pattern=value)
    return kind


def _whole(kind: Whole, name: str, value: Any) -> Type:
    if name == "multiple_of" and isinstance(value, int) and value:
        return Multiple(kind, value)
    if name in ("ge", "gt"):
        return replace(kind, low=-int(-value // 1) if name == "ge" else int(value // 1) + 1)
    if name in ("le", "lt"):
        return replace(kind, high=int(value // 1) if name == "le" else -int(-value // 1) - 1)
    return kind


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

    def parts(self, value: Any) -> list[Part]:
        return []
