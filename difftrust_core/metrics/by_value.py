"""Values as a caller sees them, in a form that can be compared: the rule VALUE of ``equality``.

Numbers are compared as numbers (int, float, bool, Decimal, Fraction, NumPy scalars alike): two exact ones must be the
same, a float may differ by the tolerance. A list is no tuple; sets and dicts have no order; a subclass of a container
equals its content; objects are their type's name and their fields; arrays and frames their kind of dtype and values;
paths their text.
"""

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final, NamedTuple

from difftrust_core.base.literals import Instance, write_literal
from difftrust_core.base.standard_types import names_of
from difftrust_core.metrics.forms import Part, Rule, joined

TOLERANCE: Final = 1e-9
"""Floats are equal if they differ by at most this share of the larger one, or by a thousandth of it in all."""
_ABSOLUTE = 1e-3
_SINGLE_TOLERANCE = 1e-6
_DECIMAL_TOLERANCE = Fraction(1, 10**24)
_EXACT, _DECIMAL, _FLOAT, _SINGLE = range(4)
_MAX_EXPONENT = 400


class Number(NamedTuple):
    """A number of a form; ``kind``: how exact it is by nature."""

    value: int | float | Fraction
    kind: int


_BUILTINS = (dict, list, tuple, set, frozenset)
_ARRAYS = frozenset(("array", "ndarray"))
_MOMENTS, _PATHS = names_of("moment"), names_of("path")
_OWN_CONTENT = names_of("span") | {"Effects"}
"""Written like subclasses of builtins, ``Name(content)``, but not equal to their content."""
_SCALAR = re.compile(r"(?:np\.|numpy\.)?(float|int|uint|complex|bool|str|longdouble|clongdouble)(\d*)_?")
_UTC = re.compile(r"timezone\.utc|timezone\(timedelta\(0\)(?:, '(?:UTC|Z)')?\)|ZoneInfo\((?:key=)?'(?:Etc/)?UTC'\)")
_DTYPES = frozenset(("dtype", "dtypes", "schema"))


def near(a: Number, b: Number, tolerance: float) -> bool:
    """Tell whether two numbers are equal; the less exact of the two decides how near they must be."""
    if a.value == b.value:
        return True
    kind = max(a.kind, b.kind)
    if kind == _EXACT or not tolerance:
        return False
    if kind == _DECIMAL:
        one, other = Fraction(a.value), Fraction(b.value)
        return abs(one - other) <= _DECIMAL_TOLERANCE * max(abs(one), abs(other))
    share = max(tolerance, _SINGLE_TOLERANCE) if kind == _SINGLE else tolerance
    try:
        return math.isclose(a.value, b.value, rel_tol=min(share, 1.0), abs_tol=share * _ABSOLUTE)
    except OverflowError:  # an int beyond all floats
        return False


class ByValue(Rule):
    """How VALUE takes values apart; ``floats``: how exact the floats in them are."""

    openings: Mapping[type, str] = {**Rule.openings, tuple: "("}

    def __init__(self, floats: int = _FLOAT):
        self._floats = floats

    def number(self, value: int | float) -> Part:
        if isinstance(value, float):
            return ("#", (Number(value + 0.0, self._floats),)) if math.isfinite(value) else (repr(value), ())
        return ("#", (Number(int(value), _EXACT),))

    def sorted(self, parts: Iterable[Part]) -> list[Part]:
        return sorted(parts, key=lambda part: (part[0], [number.value for number in part[1]]))

    def instance(self, value: Instance) -> Part:
        name, args, fields = value.type_name, value.args, value.fields
        last = name.rpartition(".")[2]
        if last == "Decimal" and len(args) == 1:
            return _decimal(str(args[0]))
        if last == "Fraction" and len(args) == 2 and args[1]:
            return ("#", (Number(Fraction(int(args[0]), int(args[1])), _EXACT),))
        if last in _MOMENTS:
            return (_UTC.sub("UTC", write_literal(Instance(last, args, fields)).replace("datetime.", "")), ())
        if last in _PATHS and len(args) == 1:
            return (f"Path({args[0]!r})", ())
        if last in _ARRAYS and args:
            dtype = str(fields.get("dtype", args[1] if len(args) > 1 else ""))
            floats = _SINGLE if dtype in ("float32", "float16", "complex64") else _FLOAT
            return joined(f"array:{dtype_kind(dtype)}(", [ByValue(floats).form(args[0])], ")")
        if len(args) != 1 or fields:
            return self.object(value)
        scalar = _SCALAR.fullmatch(name)
        if scalar:
            return ByValue(_SINGLE if scalar[2] in ("16", "32") else self._floats).form(args[0])
        is_content = isinstance(args[0], _BUILTINS) and "." not in name and name not in _OWN_CONTENT
        return self.form(args[0]) if is_content else self.object(value)

    def field(self, name: str, content: Any) -> Part:
        return (f"{name}={_kinds_of(content)}", ()) if name in _DTYPES else super().field(name, content)


def _kinds_of(content: Any) -> str:
    """Return the kinds of the dtypes in a frame's field, by column."""
    if isinstance(content, dict):
        return "{" + ", ".join(f"{key!r}: {_kinds_of(dtype)}" for key, dtype in content.items()) + "}"
    if isinstance(content, (list, tuple)):
        return f"[{', '.join(map(_kinds_of, content))}]"
    return dtype_kind(content if isinstance(content, str) else write_literal(content))


def dtype_kind(dtype: str) -> str:
    """Return the kind of a dtype: "int" of int64, Int8 and uint16, "text" of object, <U3 and String."""
    plain = re.sub(r"[\d\[(<>|=].*", "", dtype.lstrip("<>|=").rpartition(".")[2]).lower()
    if plain in ("object", "str", "string", "utf", "u", "o"):
        return "text"
    return "int" if plain == "uint" else plain


def _decimal(text: str) -> Part:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return (f"Decimal({text!r})", ())
    if not number.is_finite():
        return (f"{'-' if number.is_signed() else ''}{'inf' if number.is_infinite() else 'nan'}", ())
    if abs(number.adjusted()) > _MAX_EXPONENT or len(number.as_tuple().digits) > _MAX_EXPONENT:
        return (f"Decimal({number!s})", ()) if number else ("#", (Number(0, _EXACT),))
    return ("#", (Number(Fraction(number), _DECIMAL),))
