"""numpy arrays and scalars, pandas and polars frames and series: as calls over lists, never imported here."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from difftrust.types.base import Draws, Part, Type
from difftrust.types.choices import Either, Nothing, Truth
from difftrust.types.containers import changed_items
from difftrust.types.numbers import Complex, Real, Whole
from difftrust.types.standard import standard_type
from difftrust.types.texts import Text
from difftrust_core.base.literals import Instance

_COLUMNS: Mapping[str, Type] = {
    "int": Whole(),
    "float": Real(strict=True),
    "str": Text(),
    "bool": Truth(),
    "date": standard_type("date") or Nothing(),
    "datetime": standard_type("datetime") or Nothing(),
}
DTYPES = (*("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64"),)
_SERIES = ("pd.Series", "pl.Series")
_FRAMES = ("pd.DataFrame", "pl.DataFrame", *_SERIES)
_DIMENSIONS = (1, 1, 2, 2, 2, 3)
_MAX_ROWS = 60
_DTYPE = re.compile(
    r"u?int(8|16|32|64)?|float(16|32|64)?|complex(64|128)?|bool|str|object|(datetime|timedelta)64(\[\w+\])?"
    r"|[<>|=]?[?bBhHiIlLqQefdgFDGUSOMmuc]\d*(\[\w+\])?"
)


def element_of(dtype: str) -> Type:
    """Return the type of an array's elements."""
    if dtype.startswith(("int", "uint")):
        bits = int(dtype.partition("int")[2] or 64)
        return Whole(0, 2**bits - 1) if dtype.startswith("u") else Whole(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    known = {"bool": Truth(), "complex": Complex(), "str": Text()}
    return next((kind for name, kind in known.items() if dtype.startswith(name)), Real())


def is_array(value: Any) -> bool:
    """Tell whether a value is an array as ``np.array([...])``."""
    if type(value) is not Instance or value.type_name not in ("np.array", "numpy.array") or len(value.args) != 1:
        return False
    return type(value.args[0]) is list


def is_frame(value: Any) -> bool:
    """Tell whether a value is a frame or series of pandas or polars."""
    return type(value) is Instance and value.type_name in _FRAMES


@dataclass(eq=False)
class _Filled(Type):
    """Nested lists of one shape."""

    shape: list[int]
    element: Type

    def fits(self, value: Any) -> bool:
        return not self.shape and self.element.fits(value)

    def draw(self, draws: Draws) -> Any:
        if not self.shape:
            return self.element.draw(draws)
        below = _Filled(self.shape[1:], self.element)
        return [below.draw(draws) for _ in range(self.shape[0])]


@dataclass(eq=False)
class Array(Type):
    """numpy arrays of one element type, ``np.array([1, 2], dtype='int64')``, of one to three dimensions."""

    dtype: str | None = None
    """None: whole numbers or floats."""

    def fits(self, value: Any) -> bool:
        if not is_array(value) or not value.fields.keys() <= {"dtype"} or _shape(value.args[0]) is None:
            return False
        dtype = value.fields.get("dtype")
        if self.dtype is not None and dtype not in (None, self.dtype):
            return False
        if type(dtype) is str and not _DTYPE.fullmatch(dtype):
            return False  # a text that took the place of the name
        dtype = self.dtype or dtype
        element = element_of(dtype) if type(dtype) is str else _NUMBER
        return all(element.fits(leaf) for leaf in _leaves(value.args[0]))

    def draw(self, draws: Draws) -> Instance:
        """Return an array; those of an input often have the same shape, or the same last axis."""
        dtype = self.dtype or draws.once("dtype", lambda: draws.one_of(("float64", "int64")))
        # Their number is not known: what no candidate takes is left out of a check.
        n = draws.once("dimensions", lambda: draws.one_of(_DIMENSIONS))
        width = draws.once("width", lambda: 1 + draws.below(4))
        rows = draws.once("rows", draws.length) if draws.chance(0.6) else draws.length()
        if n > 1 and rows == 0 and draws.chance(0.8):
            rows = 1 + draws.below(4)
        if n == 2 and draws.chance(0.4):
            rows = width
        shape = [rows, *[1 + draws.below(3) for _ in range(n - 2)], width][:n]
        return Instance("np.array", (_Filled(shape, element_of(dtype)).draw(draws),), {"dtype": dtype})

    def change(self, value: Any, draws: Draws) -> Any:
        """Change the rows like the elements of a list, or the number of columns."""
        rows = list(value.args[0])
        shape = _shape(rows) or [0]
        if rows and len(shape) == 2 and draws.chance(0.2):
            width = draws.below(shape[1] + 2)
            rows = [[row[k % shape[1]] if shape[1] else 0 for k in range(width)] for row in rows]
        else:
            rows = changed_items(rows, _Filled(shape[1:], self._element(value)), draws)
        return Instance(value.type_name, (rows[:_MAX_ROWS],), value.fields)

    def _element(self, value: Any) -> Type:
        dtype = self.dtype or value.fields.get("dtype")
        if type(dtype) is str:
            return element_of(dtype)
        leaves = list(_leaves(value.args[0]))
        return Whole() if leaves and all(type(leaf) is int for leaf in leaves) else Real()

    def parts(self, value: Any) -> list[Part]:
        element = self._element(value)
        return [Part(leaf, element) for leaf in _leaves(value.args[0])]

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        return Instance(value.type_name, (_refilled(value.args[0], iter(parts)),), value.fields)


_NUMBER = Either([Whole(), Real(), Truth(), Complex()])


def _shape(value: Any) -> list[int] | None:
    """Return the shape of nested lists; None if it is ragged."""
    if type(value) is not list:
        return []
    shapes = [_shape(part) for part in value]
    if any(shape is None or shape != shapes[0] for shape in shapes):
        return None
    return [len(value), *(shapes[0] or [] if shapes else [])]


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) is list:
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _refilled(value: Any, leaves: Iterator[Any]) -> Any:
    return [_refilled(part, leaves) for part in value] if type(value) is list else next(leaves)


@dataclass(eq=False)
class Scalar(Type):
    """A numpy scalar, ``np.float64(1.0)``; a plain number serves too."""

    dtype: str

    def fits(self, value: Any) -> bool:
        if type(value) is Instance and value.type_name in (f"np.{self.dtype}", f"numpy.{self.dtype}"):
            return len(value.args) == 1 and element_of(self.dtype).fits(value.args[0])
        return element_of(self.dtype).fits(value)

    def draw(self, draws: Draws) -> Any:
        return Instance(f"np.{self.dtype}", (element_of(self.dtype).draw(draws),))


@dataclass(eq=False)
class Frame(Type):
    """Frames and series of pandas or polars, ``pd.DataFrame({'a': [1, 2]})``."""

    name: str
    """One of ``_FRAMES``."""

    def fits(self, value: Any) -> bool:
        if type(value) is not Instance or value.type_name != self.name:
            return False
        content = value.args[-1] if value.args else {}
        if type(content) is not (list if self.name in _SERIES else dict):
            return False
        columns = _columns(value)
        if not all(type(name) is str and type(column) is list for name, column in columns.items()):
            return False
        return all(map(_alike, columns.values())) and len({len(column) for column in columns.values()}) < 2

    def draw(self, draws: Draws) -> Instance:
        rows = draws.length()
        if self.name not in _SERIES:
            columns = draws.columns or {"a": "int", "b": "float", "c": "str"}
            drawn = {name: self._column(name, kind, rows, draws) for name, kind in columns.items()}
            return Instance(self.name, (drawn,))
        name, known = draws.name, draws.columns.get(draws.name)
        known = known or draws.once("series " + name, lambda: draws.one_of(("float", "int", "float")))
        column = self._column(name, known, rows, draws)
        return Instance(self.name, (name or "a", column) if self.name == "pl.Series" else (column,))

    def _column(self, name: str, kind: str, rows: int, draws: Draws) -> list[Any]:
        element = _COLUMNS.get(kind, _COLUMNS["float"])
        with draws.named(name):
            values = [element.draw(draws) for _ in range(rows)]
        if len(values) > 1 and draws.chance(0.6):  # groups and ties
            few = values[: 1 + draws.below(3)]
            values = [draws.one_of(few) if draws.chance(0.7) else value for value in values]
        return values

    def change(self, value: Any, draws: Draws) -> Any:
        """Change the rows like the elements of a list, or give one entry to another row, or take it out."""
        columns = _columns(value)
        if draws.chance(0.1) or not columns:
            return self.draw(draws)
        rows = [list(row) for row in zip(*columns.values(), strict=False)]
        if rows and draws.chance(0.2):
            at, place = draws.below(len(rows)), draws.below(len(columns))
            is_float = isinstance(_type_in([row[place] for row in rows]), Real)
            missing = float("nan") if self.name.startswith("pd.") else None
            rows[at][place] = missing if is_float and draws.chance(0.3) else draws.one_of(rows)[place]
        else:
            rows = changed_items(rows, _RowOf(list(columns.values())), draws)[:_MAX_ROWS]
        return _with_columns(value, [[row[place] for row in rows] for place in range(len(columns))])

    def parts(self, value: Any) -> list[Part]:
        return [
            Part(entry, kind if entry is not None else _MISSING, name or None)
            for name, column in _columns(value).items()
            for kind in [_type_in(column)]
            for entry in column
        ]

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        left = iter(parts)
        return _with_columns(value, [[next(left) for _ in column] for column in _columns(value).values()])


_MISSING = Nothing()


@dataclass(eq=False)
class _RowOf(Type):
    """A row of a frame: of each column another entry, or one like them."""

    columns: list[list[Any]]

    def draw(self, draws: Draws) -> list[Any]:
        return [self._entry(column, draws) for column in self.columns]

    def _entry(self, column: list[Any], draws: Draws) -> Any:
        kind = _type_in(column)
        if isinstance(kind, Nothing):
            return column[0] if column else 0
        return draws.one_of(column) if draws.chance(0.4) else kind.draw(draws)


def _columns(value: Instance) -> dict[str, list[Any]]:
    """Return the columns of a frame by name; of a series the only one, under no name."""
    content: Any = value.args[-1] if value.args else {}
    return content if type(content) is dict else {"": content}


def _with_columns(value: Instance, columns: list[list[Any]]) -> Instance:
    content: Any = dict(zip(_columns(value), columns, strict=True)) if type(value.args[-1]) is dict else columns[0]
    return Instance(value.type_name, (*value.args[:-1], content), value.fields)


def _alike(column: list[Any]) -> bool:
    """Tell whether a column can be of one type; polars refuses mixed ones."""
    kinds = {value.type_name if type(value) is Instance else type(value).__name__ for value in column}
    kinds -= {"NoneType"}
    return len(kinds) < 2 or kinds == {"int", "float"}


def _type_in(column: list[Any]) -> Type:
    """Return the type of a column's entries, by the first that is not missing."""
    known = [entry for entry in column if entry is not None]
    if not known:
        return Nothing()
    if all(type(entry) in (int, float) for entry in known):
        return _COLUMNS["int"] if all(type(entry) is int for entry in known) else _COLUMNS["float"]
    return next((kind for kind in _COLUMNS.values() if all(map(kind.fits, known))), Nothing())
