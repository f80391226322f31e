"""Texts of what a call of a check gives, as one would type them; runs inside the sandbox, standard library only.

They stand beside those of ``canonical``, which the recorded results of stores keep: paths, zones, enum members, NumPy
with its dtype, frames, and the first items of an iterator. Loaded by ``calls`` only.
"""

import enum
import re
import sys
from datetime import datetime, time, timedelta, timezone
from keyword import iskeyword
from typing import Any

import canonical as base
from canonical import UnsupportedValue
from standard_types import names_of

MAX_ITEMS = 1_000
"""Of an iterator so many items are compared; it may go on for ever."""
_fields, _getattribute = type.__dict__["__dict__"].__get__, object.__getattribute__
_repr, _type, _len, _sorted, _str = repr, type, len, sorted, str
_derives = type.__subclasscheck__
_mro = type.__dict__["__mro__"].__get__
_PATHS = names_of("path")
_text = base.text_within
_pattern_parts = [_fields(re.Pattern)[name].__get__ for name in ("pattern", "flags")]
_compiled: Any = re.compile
_zone: Any = _fields(datetime)["tzinfo"].__get__
_zone_of_time: Any = _fields(time)["tzinfo"].__get__
_offset: Any = timezone.utcoffset
_no_offset = timedelta(0)
_OPAQUE = "..."


class Said:
    """A text that is the canonical text of a value already."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text


class Glance(list[int]):
    """The nodes left, where iterators are not to be read and what has no text is ``...``."""


def text_of(value: object) -> str:
    """Return the text of a value, uncut. Raises UnsupportedValue, and whatever an iterator raises."""
    return _text(value, 0, [base.MAX_NODES])


def snapshot(value: object) -> str:
    """Return the text of an argument; ``...`` where it has none or reading it would use it up."""
    try:
        return _text(value, 0, Glance([base.MAX_NODES]))
    except UnsupportedValue:
        return _OPAQUE


def _form(kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    if kind is Said:
        return _str(value.text)
    for write in (_enum_member, _library_value, _standard, _with_fields):
        text = write(kind, value, depth, left)
        if text is not None:
            return text
    if _type(left) is Glance:
        try:
            return base.usual(kind, value, depth, left)
        except UnsupportedValue:
            return _OPAQUE
    return None


def _enum_member(kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    if not _derives(enum.Enum, kind):
        return None
    own = _getattribute(value, "__dict__")
    name: Any = own.get("_name_") if _type(own) is dict else None
    return f"{base.type_name(kind)}.{name}" if _type(name) is str and name.isidentifier() else None


def _standard(kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    if kind is timezone:
        return _zone_text(value)
    if kind is datetime or kind is time:
        return _moment(kind, value, depth, left)
    if kind is re.Pattern:
        pattern, flags = [get(value) for get in _pattern_parts]
        flags = int(flags) & ~(32 if _type(pattern) is str else 0)  # re.UNICODE, which is said of every text
        return f"re.compile({_text(pattern, depth, left)}{f', {flags}' if flags else ''})"
    module = _fields(kind).get("__module__")
    if module in ("pathlib", "pathlib._local") and kind.__name__ in _PATHS and kind is _standard_class(module, kind):
        return f"{kind.__name__.removeprefix('Posix')}({_repr(kind.__str__(value))})"
    if module == "uuid" and kind is _standard_class("uuid", kind) and kind.__name__ == "UUID":
        return f"UUID({_repr(kind.__str__(value))})"
    if kind is getattr(sys.modules.get("zoneinfo"), "ZoneInfo", Said):
        return _zone_text(value)
    return _iterator(kind, value, depth, left)


def _standard_class(module: str, kind: type) -> Any:
    return getattr(sys.modules.get(module), kind.__name__, None)


def _zone_text(zone: Any) -> str | None:
    if _type(zone) is timezone:
        if _offset(zone, None) == _no_offset and not base.zone_parts(zone)[1:]:
            return "timezone.utc"
        return _repr(base.plain_part(zone)).replace("datetime.", "")
    if _type(zone) is getattr(sys.modules.get("zoneinfo"), "ZoneInfo", Said):
        return f"ZoneInfo({_repr(zone.key)})" if _type(zone.key) is str else None
    return None


def _moment(kind: Any, value: Any, depth: int, left: list[int]) -> str | None:
    zone = _zone(value) if kind is datetime else _zone_of_time(value)
    if zone is None:
        return None
    written = _zone_text(zone)
    if written is None:
        return None
    bare = base.STANDARD[kind](kind.replace(value, tzinfo=None, fold=0), depth, left)
    return f"{bare[:-1]}, tzinfo={written}{', fold=1' if value.fold else ''})"


def _iterator(kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    if not is_iterator(kind):
        return None
    return _OPAQUE if _type(left) is Glance else f"iterator({_text(items_of(value), depth, left)})"


def is_iterator(kind: type) -> bool:
    """Tell whether values of a type are written as an iterator over their items."""
    return not _derives(type, kind) and any("__next__" in _fields(c) for c in _mro(kind)) and not _has_fields(kind)


def items_of(value: Any) -> list[object]:
    """Return the first items of an iterator. Raises whatever it raises."""
    taken: list[object] = []
    for item in value:
        taken.append(item)
        if _len(taken) == MAX_ITEMS:
            break
    return taken


def _has_fields(kind: type) -> bool:
    """Tell whether ``canonical`` writes it as an object with fields, or by its content."""
    return base.is_plain(kind) or any(_derives(c, kind) for c in (*base.EXACT, *base.STANDARD, BaseException))


def _with_fields(kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    """Return the text of content and fields, where a class that is made of a builtin keeps fields beside it."""
    content = next((get for c, get in base.EXACT.items() if kind is not c and _derives(c, kind)), None)
    if content is None:
        return None
    fields: dict[Any, Any] = base.fields_of(kind, value)
    if not fields:
        return None
    if not all(_type(name) is str and name.isidentifier() and not iskeyword(name) for name in fields):
        raise UnsupportedValue(base.type_name(kind))
    parts = [f"{name}={_text(fields[name], depth, left)}" for name in _sorted(fields)]
    return f"{base.type_name(kind)}({_text(content(value), depth, left)}, {', '.join(parts)})"


def _library_value(kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    """Return the text of a value of NumPy, pandas or polars, where one of them made its type."""
    numpy: Any = sys.modules.get("numpy")
    ancestry = _mro(kind)
    root = _fields(ancestry[0]).get("__module__")
    if numpy is not None and _derives(getattr(numpy, "generic", Said), kind):
        return _numpy_scalar(numpy, kind, value, depth, left)
    if numpy is not None and _derives(getattr(numpy, "ndarray", Said), kind):
        return _numpy_array(numpy, value, depth, left)
    if numpy is not None and _derives(getattr(numpy, "dtype", Said), kind):
        return f"np.dtype({_text(str(value), depth, left)})"
    top = root.partition(".")[0] if _type(root) is str else ""
    if top == "pandas" and "pandas" in sys.modules:
        return _pandas(sys.modules["pandas"], kind, value, depth, left)
    if top == "polars" and "polars" in sys.modules:
        return _polars(sys.modules["polars"], kind, value, depth, left)
    return None


def _numpy_scalar(numpy: Any, kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    name = kind.__name__
    if getattr(numpy, name, None) is not kind:
        name = str(numpy.dtype(kind).name)  # ``longlong`` and the like
    if numpy.issubdtype(kind, numpy.datetime64) or numpy.issubdtype(kind, numpy.timedelta64):
        unit = numpy.datetime_data(value.dtype)[0]
        content = str(value) if name == "datetime64" else int(value.astype("int64"))
        return f"np.{name}({content!r}, {unit!r})"
    if name == "longdouble":
        return f"np.longdouble({str(value)!r})"
    return f"np.{name}({_text(numpy.generic.item(value), depth, left)})"


def _numpy_array(numpy: Any, value: Any, depth: int, left: list[int]) -> str:
    plain = numpy.asarray(value)
    dtype = _text(str(plain.dtype), depth, left)
    is_moment = plain.dtype.kind in "mM"
    masked = numpy.ma.isMaskedArray(value)
    content = numpy.ndarray.tolist(plain.astype(str) if is_moment else plain)
    empty = f", shape={plain.shape!r}" if plain.ndim > 1 and plain.size == 0 else ""
    mask = f", mask={_text(numpy.ma.getmaskarray(value).tolist(), depth, left)}" if masked else ""
    return f"np.{'ma.' if masked else ''}array({_text(content, depth, left)}, dtype={dtype}{empty}{mask})"


_USUAL = {int: "int64", float: "float64", bool: "bool"}


def _plain_items(items: list[Any]) -> list[Any]:
    """Return items with what stands for a missing one as None, and pandas' moments as the standard library's."""
    pandas: Any = sys.modules["pandas"]
    missing = (pandas.NA, pandas.NaT)
    found = [None if any(item is m for m in missing) else item for item in items]
    return [_pandas_moment(pandas, item) for item in found]


def _pandas_moment(pandas: Any, item: Any) -> Any:
    if _type(item) is pandas.Timestamp:
        return Said(f"pd.Timestamp({str(item)!r})")
    return Said(f"pd.Timedelta({str(item)!r})") if _type(item) is pandas.Timedelta else item


def _pandas(pandas: Any, kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    if _derives(pandas.DataFrame, kind):
        columns = [value.iloc[:, place] for place in range(value.shape[1])]
        labels = [_text(label, depth, left) for label in value.columns]
        texts = [_column(pandas, column, depth, left) for column in columns]
        parts = ["{" + ", ".join(f"{label}: {text}" for label, (text, _) in zip(labels, texts, strict=True)) + "}"]
        if len(set(labels)) < len(labels):  # a dict would lose one
            pairs = [f"({label}, {text})" for label, (text, _) in zip(labels, texts, strict=True)]
            parts = [f"[{', '.join(pairs)}]"]
        dtypes = [f"{label}: {dtype!r}" for label, (_, dtype) in zip(labels, texts, strict=True) if dtype]
        parts += ["dtypes={" + ", ".join(dtypes) + "}"] if dtypes else []
        return f"pd.DataFrame({', '.join(parts + _index(pandas, value.index, depth, left))})"
    if _derives(pandas.Series, kind):
        text, dtype = _column(pandas, value, depth, left)
        parts = [text, *([f"dtype={dtype!r}"] if dtype else []), *_index(pandas, value.index, depth, left)]
        parts += [] if value.name is None else [f"name={_text(value.name, depth, left)}"]
        return f"pd.Series({', '.join(parts)})"
    if _derives(pandas.Index, kind):
        name = "" if value.name is None else f", name={_text(value.name, depth, left)}"
        return f"pd.Index({_text(_plain_items(value.tolist()), depth, left)}, dtype={str(value.dtype)!r}{name})"
    if value is pandas.NA or value is pandas.NaT:
        return "pd.NA" if value is pandas.NA else "pd.NaT"
    moment = _pandas_moment(pandas, value)
    return _str(moment.text) if moment is not value else None


def _column(pandas: Any, column: Any, depth: int, left: list[int]) -> tuple[str, str]:
    """Return the text of a column's items, and its dtype unless that is what these items get anyway."""
    dtype, items = str(column.dtype), _plain_items(column.tolist())
    kinds = {*map(_type, items)}
    usual = _USUAL.get(next(iter(kinds))) if len(kinds) == 1 else None
    if kinds == {str}:
        usual = _text_dtype(pandas)
    return _text(items, depth, left), "" if dtype == usual else dtype


def _text_dtype(pandas: Any) -> str:
    return "object" if pandas.__version__.startswith(("0.", "1.", "2.")) else "str"


def _index(pandas: Any, index: Any, depth: int, left: list[int]) -> list[str]:
    """Return the argument that says the index, none where it is the usual one."""
    numbered = index.name is None and (len(index) == 0 or str(index.dtype) == "int64")
    if numbered and index.nlevels == 1 and index.tolist() == [*range(len(index))]:  # of whatever kind
        return []
    plain = index.name is None and not isinstance(index, pandas.MultiIndex)
    if plain:
        return [f"index={_text(_plain_items(index.tolist()), depth, left)}"]
    rows = _text(_plain_items(index.tolist()), depth, left)
    return [f"index=pd.Index({rows}, names={_text(list(index.names), depth, left)})"]


def _polars(polars: Any, kind: type, value: Any, depth: int, left: list[int]) -> str | None:
    if _derives(polars.LazyFrame, kind):
        value, kind = value.collect(), polars.DataFrame
    if _derives(polars.DataFrame, kind):
        texts = [(_repr(c.name), _polars_column(polars, c, depth, left)) for c in value.get_columns()]
        data = "{" + ", ".join(f"{name}: {text}" for name, (text, _) in texts) + "}"
        dtypes = ", ".join(f"{name}: {dtype}" for name, (_, dtype) in texts if dtype)
        return f"pl.DataFrame({data}{f', schema_overrides={{{dtypes}}}' if dtypes else ''})"
    if _derives(polars.Series, kind):
        text, dtype = _polars_column(polars, value, depth, left)
        return f"pl.Series({_repr(value.name)}, {text}{f', dtype={dtype}' if dtype else ''})"
    return None


def _polars_column(polars: Any, column: Any, depth: int, left: list[int]) -> tuple[str, str]:
    items = column.to_list()
    dtype = _repr(column.dtype)
    usual = {int: "Int64", float: "Float64", bool: "Boolean", str: "String"}
    kinds = {*map(_type, items)} - {type(None)}
    is_usual = len(kinds) == 1 and usual.get(next(iter(kinds))) == dtype
    safe = dtype if re.fullmatch(r"[A-Za-z0-9]+", dtype) else ""
    text = _text(items, depth, left)
    return text, "" if is_usual else f"pl.{safe}" if safe else _repr(dtype)


base.FORMS.append(_form)
