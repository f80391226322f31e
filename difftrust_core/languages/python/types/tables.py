"""numpy arrays and scalars, pandas and polars frames and series: as calls over lists, never imported here."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from difftrust_core.base.literals import Instance, write_literal
from difftrust_core.languages.python.types.base import Draws, Part, Type
from difftrust_core.languages.python.types.choices import Either, Nothing, Truth
from difftrust_core.languages.python.types.numbers import Complex, Real, Whole
from difftrust_core.languages.python.types.standard import standard_type
from difftrust_core.languages.python.types.text import Text
from difftrust_core.languages.python.types.usual import Usual

_COLUMNS: Mapping[str, Type] = {
    "int": Whole(),
    "float": Real(strict=True),
    "str": Text(),
    "bool": Truth(),
    "date": standard_type("date") or Nothing(),
    "datetime": standard_type("datetime") or Nothing(),
}
_MANY_ROWS = ("matrix", "grid", "image", "mat", "table", "board", "img", "X", "A", "B", "M", "points", "coords")
_DIMENSIONS = (1, 1, 2, 2, 2, 3)
_MAX_ROWS = 60
_MISSING = Nothing()
_DTYPE = re.compile(
    r"u?int(8|16|32|64)?|float(16|32|64)?|complex(64|128)?|bool|str|object|(datetime|timedelta)64(\[\w+\])?"
    r"|[<>|=]?[?bBhHiIlLqQefdgFDGUSOMmuc]\d*(\[\w+\])?"
)


def element_of(dtype: str) -> Type:
    """Return the type of an array's elements."""
    if dtype.startswith("uint"):
        return Whole(0, 2 ** int(dtype[4:] or 64) - 1)
    if dtype.startswith("int"):
        return Whole(-(2 ** (int(dtype[3:] or 64) - 1)), 2 ** (int(dtype[3:] or 64) - 1) - 1)
    if dtype.startswith("bool"):
        return Truth()
    if dtype.startswith("complex"):
        return Complex()
    return Text() if dtype.startswith("str") else Real()


def is_array(value: Any) -> bool:
    """Tell whether a value is an array as ``np.array([...])``."""
    if type(value) is not Instance or value.type_name not in ("np.array", "numpy.array") or len(value.args) != 1:
        return False
    return type(value.args[0]) is list


def dimensions_of(array: Any) -> int:
    """Return how many dimensions an array ``np.array([...])`` has; 0 where its rows differ in length."""
    return len(_shape(array.args[0]) or ())


def is_frame(value: Any) -> bool:
    """Tell whether a value is a frame or series of pandas or polars."""
    return type(value) is Instance and value.type_name in ("pd.DataFrame", "pd.Series", "pl.DataFrame", "pl.Series")


@dataclass(eq=False)
class Array(Type):
    """numpy arrays of one element type, ``np.array([1, 2], dtype='int64')``, of one to three dimensions."""

    dtype: str | None = None
    """None: whole numbers or floats."""
    dimensions: int | None = None

    def fits(self, value: Any) -> bool:
        if not is_array(value) or not value.fields.keys() <= {"dtype"} or type(value.args[0]) is not list:
            return False
        shape, dtype = _shape(value.args[0]), value.fields.get("dtype")
        if shape is None or (self.dimensions is not None and len(shape) != self.dimensions):
            return False
        if self.dtype is not None and dtype is not None and dtype != self.dtype:
            return False
        if type(dtype) is str and not _DTYPE.fullmatch(dtype):
            return False  # a text that took the place of the name
        element = element_of(self.dtype or dtype) if self.dtype or type(dtype) is str else _NUMBER
        return all(element.fits(leaf) for leaf in _leaves(value.args[0]))

    def draw(self, draws: Draws) -> Instance:
        usual = draws.usual.get(draws.name, Usual())
        kinds = (usual.dtype,) * 4 if usual.dtype else ("float64", "int64", "float64")
        dtype = self.dtype or draws.once("dtype " + usual.dtype, lambda: draws.one_of((*kinds, "int64")))
        shape = self._shape(usual, draws)
        return Instance("np.array", (self._filled(shape, element_of(dtype), draws),), {"dtype": dtype})

    def _shape(self, usual: Usual, draws: Draws) -> list[int]:
        """Return a shape; the arrays of an input often have the same, or the same last axis."""
        likely = usual.dimensions or ((2, 2, 1) if _has_rows(draws.name) else ())
        if self.dimensions is not None:
            n = self.dimensions
        elif likely:
            n = draws.one_of(likely)
        else:  # nothing is known: what no candidate takes is left out of a check
            n = draws.once("dimensions", lambda: draws.one_of(_DIMENSIONS))
        width = usual.width if usual.width is not None and draws.chance(0.95) else None
        width = width if width is not None else draws.once("width", lambda: 1 + draws.below(4))
        rows = draws.once("rows", draws.length) if draws.chance(0.6) else draws.length()
        if n > 1 and rows == 0 and draws.chance(0.8):
            rows = 1 + draws.below(4)
        if n == 2 and usual.width is None and draws.chance(0.4):
            rows = width
        return [rows, *[1 + draws.below(3) for _ in range(n - 2)], width][:n]

    def _filled(self, shape: list[int], element: Type, draws: Draws) -> Any:
        if not shape:
            return element.draw(draws)
        return [self._filled(shape[1:], element, draws) for _ in range(shape[0])]

    def change(self, value: Any, draws: Draws) -> Any:
        """Change the number of rows, or of columns, or give it another row's content."""
        rows = list(value.args[0])
        shape = _shape(rows) or [0]
        way = draws.below(6)
        at = draws.below(len(rows)) if rows else 0
        if not rows or way == 0:
            rows.insert(at, self._filled(shape[1:], self._element(value), draws))
        elif way == 1:
            del rows[at]
        elif way == 2:
            rows.insert(draws.below(len(rows)), rows[at])
        elif way == 3 and len(shape) == 2:
            width = draws.below(shape[1] + 2)
            rows = [[row[k % shape[1]] if shape[1] else 0 for k in range(width)] for row in rows]
        elif way == 4:
            rows = rows[::-1] if draws.chance(0.5) else [rows[at]] * len(rows)
        else:
            rows = sorted(rows, key=repr) if draws.chance(0.5) else rows[: at + 1]
        return Instance(value.type_name, (rows[:_MAX_ROWS],), value.fields)

    def _element(self, value: Any) -> Type:
        dtype = self.dtype or value.fields.get("dtype")
        if type(dtype) is str:
            return element_of(dtype)
        leaves = list(_leaves(value.args[0]))
        return Whole() if leaves and all(type(leaf) is int for leaf in leaves) else Real()

    def parts(self, value: Any) -> list[Part]:
        element = self._element(value)
        return [Part(value=leaf, type=element) for leaf in _leaves(value.args[0])]

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        return Instance(value.type_name, (_refilled(value.args[0], iter(parts)),), value.fields)


def _has_rows(name: str) -> bool:
    return name in _MANY_ROWS or name.lower().rstrip("s").endswith(("matrix", "matrice"))


_NUMBER = Either([Whole(), Real(), Truth(), Complex()])


def _shape(value: Any) -> list[int] | None:
    """Return the shape of nested lists; None if it is ragged."""
    if type(value) is not list:
        return []
    shapes = [_shape(part) for part in value]
    if any(shape is None or shape != shapes[0] for shape in shapes):
        return None
    return [len(value), *(shapes[0] or [] if shapes else [])]


def _leaves(value: Any) -> Any:
    if type(value) is list:
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _refilled(value: Any, leaves: Any) -> Any:
    return [_refilled(part, leaves) for part in value] if type(value) is list else next(leaves)


@dataclass(eq=False)
class Scalar(Type):
    """A numpy scalar, ``np.float64(1.0)``; a plain number serves too."""

    dtype: str

    def fits(self, value: Any) -> bool:
        element = element_of(self.dtype)
        if type(value) is Instance and value.type_name in (f"np.{self.dtype}", f"numpy.{self.dtype}"):
            return len(value.args) == 1 and element.fits(value.args[0])
        return element.fits(value)

    def draw(self, draws: Draws) -> Any:
        return Instance(f"np.{self.dtype}", (element_of(self.dtype).draw(draws),))


@dataclass(eq=False)
class Frame(Type):
    """Frames and series of pandas or polars, ``pd.DataFrame({'a': [1, 2]})``."""

    library: str
    """``pd`` or ``pl``."""
    kind: str
    """``DataFrame`` or ``Series``."""

    def fits(self, value: Any) -> bool:
        if type(value) is not Instance or value.type_name != f"{self.library}.{self.kind}":
            return False
        content = _content(value)
        if self.kind == "Series":
            return type(content) is list and self._alike(content)
        if type(content) is not dict or not all(type(name) is str for name in content):
            return False
        columns = list(content.values())
        return all(type(column) is list and self._alike(column) for column in columns) and len(
            {len(column) for column in columns}
        ) in (0, 1)

    def _alike(self, column: list[Any]) -> bool:
        """Tell whether a column can be of one type; polars refuses mixed ones."""
        kinds = {value.type_name if type(value) is Instance else type(value).__name__ for value in column}
        kinds -= {"NoneType"}
        return len(kinds) < 2 or kinds == {"int", "float"}

    def draw(self, draws: Draws) -> Instance:
        rows = draws.length()
        if self.kind == "Series":
            known = draws.columns.get(draws.name)
            if known is None:
                known = draws.once("series " + draws.name, lambda: draws.one_of(("float", "int", "float")))
            column = self._column(draws.name, known, rows, draws)
            return self._series(column, draws.name)
        columns = draws.columns or {"a": "int", "b": "float", "c": "str"}
        return Instance(
            f"{self.library}.DataFrame", ({n: self._column(n, k, rows, draws) for n, k in columns.items()},)
        )

    def _series(self, column: list[Any], name: str) -> Instance:
        if self.library == "pl":
            return Instance("pl.Series", (name or "a", column))
        return Instance("pd.Series", (column,))

    def _column(self, name: str, kind: str, rows: int, draws: Draws) -> list[Any]:
        element, before = _column_type(kind), draws.name
        draws.name = name
        values = [element.draw(draws) for _ in range(rows)]
        draws.name = before
        if len(values) > 1 and draws.chance(0.6):  # groups and ties
            few = values[: 1 + draws.below(3)]
            values = [draws.one_of(few) if draws.chance(0.7) else value for value in values]
        return values

    def change(self, value: Any, draws: Draws) -> Any:
        """Add, drop, repeat, swap or order rows; give a column another one's order."""
        content = _content(value)
        columns = {"": content} if type(content) is list else content
        rows = max(map(len, columns.values()), default=0)
        if draws.chance(0.1) or not columns:
            return self.draw(draws)
        order, way = list(range(rows)), draws.below(6)
        at = draws.below(rows) if rows else 0
        if way == 0 or not rows:
            fresh = {name: [_like(column, draws)] for name, column in columns.items()}
            return self._with(value, {name: column + fresh[name] for name, column in columns.items()})
        if way == 1:
            del order[at]
        elif way == 2:
            order.insert(draws.below(rows), at)
        elif way == 3:
            draws.generator.shuffle(order)
        elif way == 4:
            name = draws.one_of(list(columns))
            return self._with(value, {**columns, name: _with_gap(columns[name], at, self.library, draws)})
        else:
            order = order[: at + 1]
        return self._with(value, {name: [column[i] for i in order] for name, column in columns.items()})

    def _with(self, value: Instance, columns: dict[str, Any]) -> Instance:
        content: Any = columns[""] if self.kind == "Series" else columns
        args = (*value.args[:-1], content)
        made = Instance(value.type_name, args, value.fields)
        return made if len(write_literal(made)) < 10_000 else value

    def parts(self, value: Any) -> list[Part]:
        content = _content(value)
        columns = {"": content} if type(content) is list else content
        return [
            Part(value=entry, type=kind if entry is not None else _MISSING, name=name or None)
            for name, column in columns.items()
            for kind in [_type_in(column)]
            for entry in column
        ]

    def rebuilt(self, value: Any, parts: list[Any]) -> Any:
        content, left = _content(value), iter(parts)
        columns = {"": content} if type(content) is list else content
        return self._with(value, {name: [next(left) for _ in column] for name, column in columns.items()})


def _content(value: Instance) -> Any:
    return value.args[-1] if value.args else {}


def _column_type(kind: str) -> Type:
    return _COLUMNS.get(kind, _COLUMNS["float"])


def _type_in(column: list[Any]) -> Type:
    """Return the type of a column's entries, by the first that is not missing."""
    known = [entry for entry in column if entry is not None]
    if not known:
        return Nothing()
    if all(type(entry) in (int, float) for entry in known):
        return _COLUMNS["int"] if all(type(entry) is int for entry in known) else _COLUMNS["float"]
    return next((kind for kind in _COLUMNS.values() if all(map(kind.fits, known))), Nothing())


def _like(column: list[Any], draws: Draws) -> Any:
    kind = _type_in(column)
    if isinstance(kind, Nothing):
        return column[0] if column else 0
    return draws.one_of(column) if draws.chance(0.4) else kind.draw(draws)


def _with_gap(column: list[Any], at: int, library: str, draws: Draws) -> list[Any]:
    """Return the column with a missing value, or with one entry in the place of another."""
    changed = list(column)
    if draws.chance(0.3) and isinstance(_type_in(column), Real):
        changed[at] = float("nan") if library == "pd" else None
    else:
        changed[at] = draws.one_of(column)
    return changed
