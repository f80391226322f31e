"""The canonical text of whatever a candidate returned; runs inside the sandbox, standard library only.

Dispatch is on the exact type; subclasses of builtins are read through the base type's own methods, never
through the object's, so a value cannot lie about itself with ``__repr__``, ``__eq__`` or ``__iter__``. The
grammar is that of ``literals``; set and dict entries are sorted, ``-0.0`` is ``0.0``.
"""

import hashlib
import keyword
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic

from standard_types import STANDARD_TYPES, STORED

MAX_TEXT = 16_384
"""Longer texts are cut and carry their digest; they are then compared exactly under every policy."""
SHOWN_OF_CUT = 200
MAX_DEPTH = 60
MAX_NODES = 100_000
MAX_ITEMS = 10_000
MAX_DECIMAL_BITS = 4_000
_FAST_TEXT = 1_200  # an int beyond MAX_DECIMAL_BITS has more digits than this

Writer = Callable[[Any, int, list[int]], str]
"""(value, depth, nodes left) -> text."""

_ATOMS = frozenset(map(id, (int, bool, type(None), str, float)))  # by id: a metaclass may compare as it likes
_INT = id(int)
# What a class says of itself, read past its metaclass.
_mro: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_name: Callable[[type], str] = type.__dict__["__name__"].__get__
_flags: Callable[[type], int] = type.__dict__["__flags__"].__get__
_own: Callable[[type], dict[str, Any]] = type.__dict__["__dict__"].__get__
_derives = type.__subclasscheck__  # (base, type): an abstract base is not asked either
_MADE_AT_RUN_TIME, _IMMUTABLE = 1 << 9, 1 << 8
_builtin, _slot = type(len), type(_own(Fraction)["_numerator"])
_fields, _arguments = object.__getattribute__, BaseException.__dict__["args"].__get__
_iskeyword = keyword.iskeyword
_blake2b, _repr, _type, _len, _map, _set, _sorted, _id = hashlib.blake2b, repr, type, len, map, set, sorted, id
_DICT: dict[Any, Any] = {}
_ORDERED: Any = OrderedDict()
_ORDERED_VIEWS = (_ORDERED.keys(), _ORDERED.values(), _ORDERED.items())
_VIEWS = tuple(map(type, (_DICT.keys(), _DICT.values(), _DICT.items(), *_ORDERED_VIEWS)))


_TAKEN = STORED | {"inf", "nan", "set", "frozenset", "complex", "bytearray", "iterator"}
"""Names of what is written ``Name(...)`` and is no object: a class of such a name would pass for it."""


class UnsupportedValue(Exception):
    """The value has no plain form; the message is the name of what is in the way."""


def canonical(value: object) -> str:
    """Return the text of ``value``. Raises UnsupportedValue, and whatever an iterator raises."""
    text = text_within(value, 0, [MAX_NODES])
    if _len(text) > MAX_TEXT:
        digest = _blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
        return f"{text[:SHOWN_OF_CUT]}…#{digest}"
    return text


def text_within(value: Any, depth: int, left: list[int]) -> str:
    """Return the text of a part of a value, ``depth`` below it, where so many nodes are ``left``."""
    kind = _type(value)
    if kind is int:
        return hex(value) if value.bit_length() > MAX_DECIMAL_BITS else _repr(value)
    if kind is bool or kind is str or value is None:
        return _repr(value)
    if kind is float:
        return _repr(value + 0.0)  # -0.0 becomes 0.0
    writer = _WRITERS.get(kind) if _type(kind) is _type else None  # a metaclass may hash as it likes
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        raise UnsupportedValue("a value nested too deeply" if depth > MAX_DEPTH else "too many nodes")
    if writer is not None:
        return writer(value, depth + 1, left)
    return _other(kind, value, depth + 1, left)


def _flat(value: Any) -> str | None:
    """Return the repr of a list or tuple of short atoms, made in one step in C, or None."""
    try:
        kinds = _set(_map(_id, _map(_type, value)))
        if not kinds <= _ATOMS:
            return None
        text = _repr(value)
    except Exception:  # an int too long to print
        return None
    return text if "-0.0" not in text and (_len(text) < _FAST_TEXT or _INT not in kinds) else None


def _items(values: Iterable[Any], depth: int, left: list[int]) -> list[str]:
    return [text_within(v, depth, left) for v in values]


def _list(value: Any, depth: int, left: list[int]) -> str:
    return _flat(value) or f"[{', '.join(_items(value, depth, left))}]"


def _tuple(value: Any, depth: int, left: list[int]) -> str:
    comma = "," if _len(value) == 1 else ""
    return _flat(value) or f"({', '.join(_items(value, depth, left))}{comma})"


def _dict(value: Any, depth: int, left: list[int]) -> str:
    entries = [(text_within(k, depth, left), text_within(v, depth, left)) for k, v in dict.items(value)]
    return "{" + ", ".join([f"{k}: {v}" for k, v in _sorted(entries)]) + "}"


def _set_text(value: Any, depth: int, left: list[int]) -> str:
    return "{" + ", ".join(_sorted(_items(value, depth, left))) + "}" if value else "set()"


def _frozenset(value: Any, depth: int, left: list[int]) -> str:
    return f"frozenset({_set_text(value, depth, left)})" if value else "frozenset()"


def _complex(value: Any, depth: int, left: list[int]) -> str:
    return f"complex({value.real + 0.0!r}, {value.imag + 0.0!r})"


def _range(value: Any, depth: int, left: list[int]) -> str:
    return f"range({', '.join(_items((value.start, value.stop, value.step), depth, left))})"


_WRITERS: dict[type, Writer] = {
    list: _list,
    tuple: _tuple,
    dict: _dict,
    set: _set_text,
    frozenset: _frozenset,
    complex: _complex,
    range: _range,
    bytes: lambda value, depth, left: _repr(value),
    bytearray: lambda value, depth, left: f"bytearray({bytes(value)!r})",
    type(...): lambda value, depth, left: "...",
}

# The content of a subclass's instance, as the builtin's own methods see it.
EXACT: dict[type, Callable[[Any], Any]] = {
    int: lambda v: int.__add__(v, 0),
    float: lambda v: float.__add__(v, 0.0),
    str: lambda v: str.__getitem__(v, slice(None)),
    bytes: lambda v: bytes.__getitem__(v, slice(None)),
    list: lambda v: [*list.__iter__(v)],
    tuple: lambda v: (*tuple.__iter__(v),),
    dict: lambda v: dict(dict.items(v)),
    set: lambda v: {*set.__iter__(v)},
    frozenset: lambda v: frozenset([*frozenset.__iter__(v)]),
    complex: lambda v: complex.__add__(v, 0),
    bytearray: lambda v: bytearray.__getitem__(v, slice(None)),
    deque: lambda v: [*deque.__iter__(v)],
}


def _moment(base: Callable[..., object], getters: list[Callable[[Any], Any]]) -> Writer:
    """Return what writes dates and times, naive or in a ``timezone``, as their repr without the module."""

    def write(value: Any, depth: int, left: list[int]) -> str:
        parts = [plain_part(get(value)) for get in getters]
        text = _repr(base(*parts)).replace("datetime.timezone.utc", "timezone(timedelta(0))")
        return text.replace("datetime.", "")

    return write


def plain_part(part: Any) -> Any:
    """Return a part of a moment, a timezone's offset and name freed of what their classes would say of them."""
    kind = _type(part)
    if kind is timezone:
        offset, *name = zone_parts(part)
        return timezone(timedelta(*[get(offset) for get in _DELTA]), *[EXACT[str](n) for n in name])
    if kind is int or part is None:
        return part
    raise UnsupportedValue(type_name(kind))


def _getters(base: type, prefix: str = "") -> list[Callable[[Any], Any]]:
    return [getattr(base, prefix + name).__get__ for name in STANDARD_TYPES[base.__name__].fields.split()]


def _fraction(value: Any, depth: int, left: list[int]) -> str:
    return f"Fraction({', '.join([text_within(get(value), depth, left) for get in _FRACTION])})"


_FRACTION = _getters(Fraction, "_")
_DELTA = _getters(timedelta)
zone_parts: Callable[[timezone], tuple[Any, ...]] = timezone.__dict__["__getinitargs__"]
_decimal = Decimal.__repr__
STANDARD: dict[type, Writer] = {  # a datetime is a date: it comes first
    Decimal: lambda value, depth, left: _decimal(value),
    Fraction: _fraction,
    **{kind: _moment(kind, _getters(kind)) for kind in (datetime, date, time, timedelta)},
    timezone: _moment(lambda zone: zone, [lambda zone: zone]),
}


def _numpy_content(kind: type, value: Any) -> list[Any]:
    """Return the plain content of a NumPy scalar or array in a list of one; an empty list for anything else."""
    numpy: Any = sys.modules.get("numpy")
    if _name(_mro(kind)[-2:][0]) not in ("generic", "ndarray") or numpy is None:
        return []
    if _derives(numpy.ndarray, kind):
        return [numpy.ndarray.tolist(value)]
    return [numpy.generic.item(value)] if _derives(numpy.generic, kind) else []


FORMS: list[Callable[[type, Any, int, list[int]], str | None]] = []
"""What writes a value before the forms below do, or declines with None."""


def _other(kind: type, value: Any, depth: int, left: list[int]) -> str:
    for form in FORMS:
        text = form(kind, value, depth, left)
        if text is not None:
            return text
    return usual(kind, value, depth, left)


def usual(kind: type, value: Any, depth: int, left: list[int]) -> str:
    """Return the text of a value that is not of a builtin type, as stores have it."""
    for content in _numpy_content(kind, value):
        return f"{type_name(kind)}({text_within(content, depth, left)})"
    for base, exact in EXACT.items():
        if _derives(base, kind):
            return f"{type_name(kind)}({text_within(exact(value), depth, left)})"
    for base, writer in STANDARD.items():
        if _derives(base, kind):
            text = writer(value, depth, left)
            return text if kind is base else f"{type_name(kind)}({text})"
    if any(kind is view for view in _VIEWS):
        return f"{_name(kind)}({text_within([*value], depth, left)})"
    if _derives(BaseException, kind):
        return f"{type_name(kind)}({', '.join(_items(_arguments(value), depth, left))})"
    if is_plain(kind):
        return _object(kind, value, depth, left)
    if not _derives(type, kind) and any("__next__" in _own(c) for c in _mro(kind)):
        return f"iterator({text_within(_consume(value), depth, left)})"
    raise UnsupportedValue(type_name(kind))


def is_plain(kind: type) -> bool:
    """Tell whether class statements made the type and its bases: an instance is its fields and nothing more."""
    for c in _mro(kind):
        if c is object or c is Generic:
            continue
        new: Any = _own(c).get("__new__")
        if _flags(c) & (_MADE_AT_RUN_TIME | _IMMUTABLE) != _MADE_AT_RUN_TIME:
            return False
        if _type(new) is _builtin and new.__self__ is c:  # a C type, which keeps its content to itself
            return False
    return True


def _consume(iterator: Iterator[object]) -> list[object]:
    taken: list[object] = []
    for item in iterator:
        taken.append(item)
        if _len(taken) > MAX_ITEMS:
            raise UnsupportedValue("an iterator of too many items")
    return taken


def _object(kind: type, value: Any, depth: int, left: list[int]) -> str:
    fields = fields_of(kind, value)
    name = type_name(kind)
    if "_value_" in fields and "_name_" in fields:  # an enum's member
        return f"{name}({text_within(fields['_value_'], depth, left)})"
    for field in fields:
        if _type(field) is not str or not field.isidentifier() or _iskeyword(field):
            raise UnsupportedValue(name)
    return f"{name}({', '.join([f'{field}={text_within(fields[field], depth, left)}' for field in _sorted(fields)])})"


def fields_of(kind: type, value: object) -> dict[str, Any]:
    """Return the fields of an object, those that its classes name as slots too; not what a C type keeps."""
    fields: dict[str, Any] = {}
    for ancestor in reversed(_mro(kind)):
        for name, slot in _own(ancestor).items() if "__slots__" in _own(ancestor) else ():
            if _type(slot) is _slot:
                try:
                    fields[name] = slot.__get__(value)
                except AttributeError:  # never set
                    continue
    try:
        own: Any = _fields(value, "__dict__")
    except AttributeError:
        return fields
    if _type(own) is not dict:
        raise UnsupportedValue(type_name(kind))
    return {**fields, **own}


def type_name(kind: type) -> str:
    """Return the name of a type, ``Unnamed`` where it is no name, or that of a value which is written alike."""
    name = _name(kind)
    sound = _type(name) is str and name.isidentifier() and not _iskeyword(name) and _len(name) < 200
    return name if sound and name not in _TAKEN else "Unnamed"


def exception_name(error: BaseException) -> str:
    """Return the type name of what was raised."""
    return type_name(_type(error))
