"""The canonical text of whatever a candidate returned; runs inside the sandbox, standard library only.

Dispatch is on the exact type; subclasses of builtins are read through the base type's own methods, never
through the object's, so a value cannot lie about itself with ``__repr__``, ``__eq__`` or ``__iter__``. The
grammar is that of ``literals``; set and dict entries are sorted, ``-0.0`` is ``0.0``.
"""

import contextlib
import hashlib
import keyword
import sys

MAX_TEXT = 16_384
"""Longer texts are cut and carry their digest; they are then compared exactly under every policy."""
SHOWN_OF_CUT = 200
MAX_DEPTH = 60
MAX_NODES = 100_000
MAX_ITEMS = 10_000
MAX_DECIMAL_BITS = 4_000
_FAST_TEXT = 1_200  # an int beyond MAX_DECIMAL_BITS has more digits than this

_ATOMS = frozenset({int, bool, type(None), str, float})
_BASES = (int, float, str, bytes, list, tuple, dict, set, frozenset, complex, bytearray)
_REPR_TYPES = {("decimal", "Decimal"), ("fractions", "Fraction"), ("datetime", "date")} | {
    ("datetime", name) for name in ("datetime", "time", "timedelta", "timezone")
}
_mro = type.__dict__["__mro__"].__get__
_name = type.__dict__["__name__"].__get__
_module = type.__dict__["__module__"].__get__
_fields = object.__getattribute__
_blake2b, _repr, _type, _len, _map, _set, _sorted = hashlib.blake2b, repr, type, len, map, set, sorted
_DICT_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


class UnsupportedValue(Exception):
    """The value has no plain form; the message is the name of what is in the way."""


def canonical(value):
    """Return the text of ``value``. Raises UnsupportedValue, and whatever an iterator raises."""
    text = _text(value, 0, [MAX_NODES])
    if _len(text) > MAX_TEXT:
        digest = _blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
        return f"{text[:SHOWN_OF_CUT]}…#{digest}"
    return text


def _text(value, depth, left):
    kind = _type(value)
    if kind is int:
        return hex(value) if value.bit_length() > MAX_DECIMAL_BITS else _repr(value)
    if kind is bool or kind is str or value is None:
        return _repr(value)
    if kind is float:
        return _repr(value + 0.0)  # -0.0 becomes 0.0
    writer = _WRITERS.get(kind)
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        raise UnsupportedValue("a value nested too deeply" if depth > MAX_DEPTH else "too many nodes")
    if writer is not None:
        return writer(value, depth + 1, left)
    return _other(kind, value, depth + 1, left)


def _flat(value):
    """Return the repr of a list or tuple of short atoms, made in one step in C, or None."""
    if _set(_map(_type, value)) <= _ATOMS:
        try:
            text = _repr(value)
        except ValueError:  # an int too long to print
            return None
        if "-0.0" not in text and (_len(text) < _FAST_TEXT or int not in _set(_map(_type, value))):
            return text
    return None


def _items(values, depth, left):
    return [_text(v, depth, left) for v in values]


def _list(value, depth, left):
    return _flat(value) or f"[{', '.join(_items(value, depth, left))}]"


def _tuple(value, depth, left):
    comma = "," if _len(value) == 1 else ""
    return _flat(value) or f"({', '.join(_items(value, depth, left))}{comma})"


def _dict(value, depth, left):
    entries = [(_text(k, depth, left), _text(v, depth, left)) for k, v in dict.items(value)]
    return "{" + ", ".join([f"{k}: {v}" for k, v in _sorted(entries)]) + "}"


def _set_text(value, depth, left):
    return "{" + ", ".join(_sorted(_items(value, depth, left))) + "}" if value else "set()"


def _frozenset(value, depth, left):
    return f"frozenset({_set_text(_set(value), depth, left)})" if value else "frozenset()"


def _complex(value, depth, left):
    return f"complex({value.real + 0.0!r}, {value.imag + 0.0!r})"


def _range(value, depth, left):
    return f"range({', '.join(_items((value.start, value.stop, value.step), depth, left))})"


_WRITERS = {
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

_EXACT = {
    int: lambda v: int.__add__(v, 0),
    float: lambda v: float.__add__(v, 0.0),
    str: lambda v: str.__getitem__(v, slice(None)),
    bytes: lambda v: bytes.__getitem__(v, slice(None)),
    bytearray: lambda v: bytearray.__getitem__(v, slice(None)),
    complex: lambda v: complex.__add__(v, 0),
    list: lambda v: [*list.__iter__(v)],
    tuple: lambda v: (*tuple.__iter__(v),),
    dict: lambda v: dict(dict.items(v)),
    set: lambda v: {*set.__iter__(v)},
    frozenset: lambda v: frozenset([*frozenset.__iter__(v)]),
}


def _other(kind, value, depth, left):
    ancestors = _mro(kind)
    for base in _BASES:
        if base in ancestors:
            return f"{_type_name(kind)}({_text(_EXACT[base](value), depth, left)})"
    if (_module(kind), _name(kind)) in _REPR_TYPES and _is_stdlib(kind):
        return kind.__repr__(value).replace("datetime.", "")
    if kind in _DICT_VIEWS or (_module(kind), _name(kind)) == ("collections", "deque"):
        return f"{_name(kind)}({_text([*value], depth, left)})"
    if _module(kind) == "builtins" or not _has_fields(kind):
        if any("__next__" in vars(c) for c in ancestors):
            return f"iterator({_text(_consume(value), depth, left)})"
        raise UnsupportedValue(_type_name(kind))
    return _object(kind, value, depth, left)


def _is_stdlib(kind):
    return getattr(sys.modules.get(_module(kind)), _name(kind), None) is kind


def _has_fields(kind):
    return not issubclass(kind, type) and kind.__flags__ & (1 << 9) != 0  # a class made by a class statement


def _consume(iterator):
    taken = []
    for item in iterator:
        taken.append(item)
        if _len(taken) > MAX_ITEMS:
            raise UnsupportedValue("an iterator of too many items")
    return taken


def _object(kind, value, depth, left):
    fields = {}
    for ancestor in _mro(kind):
        slots = vars(ancestor).get("__slots__", ())
        for slot in (slots,) if _type(slots) is str else slots:
            if slot not in ("__dict__", "__weakref__"):
                try:
                    fields[slot] = _fields(value, slot)
                except AttributeError:
                    continue
    with contextlib.suppress(AttributeError):
        fields.update(dict.items(_fields(value, "__dict__")))
    if "_value_" in fields and "_name_" in fields:  # an enum's member
        return f"{_type_name(kind)}({_text(fields['_value_'], depth, left)})"
    parts = []
    for name in _sorted(fields):
        if _type(name) is not str or not name.isidentifier() or keyword.iskeyword(name):
            raise UnsupportedValue(_type_name(kind))
        parts.append(f"{name}={_text(fields[name], depth, left)}")
    return f"{_type_name(kind)}({', '.join(parts)})"


def _type_name(kind):
    name = _name(kind)
    return name if name.isidentifier() and not keyword.iskeyword(name) and _len(name) < 200 else "Unnamed"


def exception_name(error):
    """Return the type name of what was raised."""
    return _type_name(_type(error))
