"""Values as a caller sees them, in a form that can be compared: the rule VALUE of ``equality``.

Numbers are compared as numbers (int, float, bool, Decimal, Fraction, NumPy scalars alike): two exact ones must be the
same, a float may differ by the tolerance. A list is no tuple; sets and dicts have no order; a subclass of a container
equals its content; objects are their type's name and their fields; arrays and frames their kind of dtype and values;
paths their text. The *form* of a value is its skeleton, in which each number is a mark, and the numbers in order.
"""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final, NamedTuple

from difftrust_core.base.literals import BadText, Code, Instance, read_literal, write_literal

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


Form = tuple[str, tuple[Number, ...]]
_BUILTINS = (dict, list, tuple, set, frozenset)
_PATHS = frozenset(("Path", "PosixPath", "PurePath", "PurePosixPath", "WindowsPath", "PureWindowsPath"))
_ARRAYS = frozenset(("array", "ndarray"))
_OWN_CONTENT = frozenset(
    ("iterator", "range", "slice", "deque", "memoryview", "dict_keys", "dict_values", "dict_items", "Effects")
)
"""Written like subclasses of builtins, ``Name(content)``, but not equal to their content."""
_MOMENTS = frozenset(("date", "datetime", "time", "timedelta", "timezone", "ZoneInfo"))
_SCALAR = re.compile(r"(?:np\.|numpy\.)?(float|int|uint|complex|bool|str|longdouble|clongdouble)(\d*)_?")
_BARE_SCALARS = frozenset(("bool", "int", "float", "complex", "str"))
_UTC = re.compile(r"timezone\.utc|timezone\(timedelta\(0\)(?:, '(?:UTC|Z)')?\)|ZoneInfo\((?:key=)?'(?:Etc/)?UTC'\)")
_DIGEST = re.compile(r"#[0-9a-f]{32}\Z")
_DTYPES = frozenset(("dtype", "dtypes", "schema"))


def value_form(text: str) -> Form:
    """Return the form of the value behind ``text``; what is no literal, or a digest, is equal to the same text only."""
    try:
        if _DIGEST.search(text):
            raise BadText("a digest")
        return _form(read_literal(text), _FLOAT)
    except Exception:  # BadText, or what a text does that was written to do it: it costs this outcome alone
        return (f"?{text}", ())


def split_by_numbers(group: Sequence[int], numbers: Sequence[tuple[Number, ...]], tolerance: float) -> list[list[int]]:
    """Return the parts of ``group`` that are linked by numbers that are near each other, one by one."""
    parts: list[list[int]] = []
    for member in group:
        mine = numbers[member]
        linked = [part for part in parts if any(_all_near(mine, numbers[other], tolerance) for other in part)]
        parts = [part for part in parts if part not in linked]
        parts.append([*[other for part in linked for other in part], member])
    return parts


def _all_near(one: Sequence[Number], other: Sequence[Number], tolerance: float) -> bool:
    return all(a == b or _near(a, b, tolerance) for a, b in zip(one, other, strict=True))


def _near(a: Number, b: Number, tolerance: float) -> bool:
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


def _form(value: Any, floats: int) -> Form:
    """Return the form of a value; ``floats``: the kind of the floats in it."""
    kind = type(value)
    if kind in (int, float, bool):
        return _number(value, floats)
    if kind is str:
        return (repr(value), ())
    if kind is list:
        return _joined("[", [_form(v, floats) for v in value], "]")
    if kind is tuple:
        return _joined("(", [_form(v, floats) for v in value], ")")
    if kind in (set, frozenset):
        return _joined("<", sorted((_form(v, floats) for v in value), key=_order), ">")
    if kind is dict:
        entries = [_joined("", [_form(k, floats), _form(v, floats)], "") for k, v in value.items()]
        return _joined("{", sorted(entries, key=_order), "}")
    if kind is complex:
        if not value.imag:
            return _number(value.real, floats)
        return _joined("complex(", [_number(value.real, floats), _number(value.imag, floats)], ")")
    if kind is Instance:
        return _instance(value, floats)
    if kind is Code:
        return (f"`{value.text}`", ())
    return (repr(bytes(value) if kind is bytearray else value), ())


def _order(form: Form) -> tuple[str, tuple[int | float | Fraction, ...]]:
    return form[0], tuple(number.value for number in form[1])


def _number(value: int | float, floats: int) -> Form:
    if isinstance(value, float):
        if not math.isfinite(value):
            return (repr(value), ())
        return ("#", (Number(value + 0.0, floats),))
    return ("#", (Number(int(value), _EXACT),))


def _instance(value: Instance, floats: int) -> Form:
    name, args, fields = value.type_name, value.args, value.fields
    last = name.rpartition(".")[2]
    if last == "Decimal" and len(args) == 1:
        return _decimal(str(args[0]))
    if last == "Fraction" and len(args) == 2:
        return ("#", (Number(Fraction(int(args[0]), int(args[1])), _EXACT),)) if args[1] else (write_literal(value), ())
    if last in _MOMENTS:
        return (_UTC.sub("UTC", write_literal(Instance(last, args, fields)).replace("datetime.", "")), ())
    if last in _PATHS and len(args) == 1:
        return (f"Path({args[0]!r})", ())
    if last in _ARRAYS and args:
        return _array(args[0], str(fields.get("dtype", args[1] if len(args) > 1 else "")))
    scalar = _SCALAR.fullmatch(name)
    if scalar and len(args) == 1 and not fields:
        return _form(args[0], _SINGLE if scalar[2] in ("16", "32") else floats)
    if (
        len(args) == 1
        and not fields
        and isinstance(args[0], _BUILTINS)
        and "." not in name
        and name not in _OWN_CONTENT
    ):
        return _form(args[0], floats)
    return _object(value, floats)


def _object(value: Instance, floats: int) -> Form:
    parts = [_form(arg, floats) for arg in value.args]
    for field in sorted(value.fields):
        content = value.fields[field]
        if field in _DTYPES:
            parts.append((f"{field}={_kinds_of(content)}", ()))
        else:
            parts.append(_joined(f"{field}=", [_form(content, floats)], ""))
    return _joined(f"{value.type_name}(", parts, ")")


def _array(content: Any, dtype: str) -> Form:
    floats = _SINGLE if dtype in ("float32", "float16", "complex64") else _FLOAT
    return _joined(f"array:{dtype_kind(dtype)}(", [_form(content, floats)], ")")


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


def _decimal(text: str) -> Form:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return (f"Decimal({text!r})", ())
    if not number.is_finite():
        return (f"{'-' if number.is_signed() else ''}{'inf' if number.is_infinite() else 'nan'}", ())
    if abs(number.adjusted()) > _MAX_EXPONENT or len(number.as_tuple().digits) > _MAX_EXPONENT:
        return (f"Decimal({number!s})", ()) if number else ("#", (Number(0, _EXACT),))
    return ("#", (Number(Fraction(number), _DECIMAL),))


def _joined(opening: str, parts: Iterable[Form], closing: str) -> Form:
    forms = list(parts)
    skeleton = opening + ",".join([form[0] for form in forms]) + closing
    return (skeleton, tuple([number for form in forms for number in form[1]]))
