"""Hints for drawing: what numbers and arrays of a function usually are, by its docstring and by programs."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from difftrust_core.languages.python.syntax import parsed
from difftrust_core.languages.python.types.usual import Usual

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_BETWEEN: Final = re.compile(
    rf"(?:between|from|within|range|in|\()[\s\[(]*{_NUMBER}\s*(?:and|to|through|-|–|\.\.\.?|,)\s*{_NUMBER}(?![\d.]*\d)",
    re.I,
)
_CHAIN: Final = re.compile(rf"{_NUMBER}\s*<=?\s*`*(\w+)`*\s*<=?\s*{_NUMBER}")
_SHAPE: Final = re.compile(
    r"shape[\s:=`'*]*\(([^()]*)\)|(?<!\w)\(\s*((?:\w{1,9}|-1)\s*,\s*(?:\w{0,9})(?:\s*,\s*\w{1,9})*)\s*\)", re.I
)
_DIMENSIONS: Final[Mapping[int, re.Pattern[str]]] = {
    3: re.compile(r"\b(?:3-?d\b|three.dimensional|3.dimensional|tensor|rgb image|colou?r image)", re.I),
    2: re.compile(r"\b(?:2-?d\b|two.dimensional|2.dimensional|matri(?:x|ces)|rows?|columns?|grid|image|table)\b", re.I),
    1: re.compile(r"\b(?:1-?d\b|one.dimensional|1.dimensional|vectors?|signal|time series)\b", re.I),
}
_DTYPES: Final[Mapping[str, re.Pattern[str]]] = {
    "bool": re.compile(r"\b(?:bool(?:ean)?s?|mask)\b", re.I),
    "int64": re.compile(r"\b(?:int(?:eger)?s?|int64|int32|labels|counts|indices)\b", re.I),
    "float64": re.compile(r"\b(?:floats?|float64|real numbers?)\b", re.I),
}
_NOT_FINITE: Final = re.compile(r"\bnan\b|isnan|isfinite|isinf\b|\binfinit|not a number|not finite", re.I)
_OF_MATRICES: Final = {"trace", "transpose", "triu", "tril", "kron", "fliplr", "rot90", "vstack", "block"}
_MOST = 4


def asks_for_odd_floats(docstring: str, codes: Sequence[str]) -> bool:
    """Tell whether a docstring or a program speaks of NaN or infinity, as values to be handled."""
    return any(_NOT_FINITE.search(text) for text in (docstring, *codes))


def usual_of(names: Sequence[str], docstring: str, codes: Sequence[str]) -> dict[str, Usual]:
    """Return what is known of parameters, by name; those of which nothing is known are left out."""
    uses = _dimensions_by_use(set(names), codes)
    found: dict[str, Usual] = {}
    for name in names:
        said = _said_of(name, names, docstring)
        low, high = _range(name, said, docstring)
        shapes = [_shape(match) for match in _SHAPE.finditer(said)]
        dimensions = {len(shape) for shape in shapes if shape} or _dimensions(said)
        dimensions = {max({uses[name], *dimensions})} if name in uses else dimensions
        widths = [shape[-1] for shape in shapes if len(shape) > 1 and shape[-1].isdigit()]
        dtype = next((dtype for dtype, pattern in _DTYPES.items() if pattern.search(said)), "")
        usual = Usual(
            low=low,
            high=high,
            dimensions=tuple(sorted(d for d in dimensions if d <= _MOST)),
            width=min(int(widths[0]), 9) if widths else None,
            dtype=dtype,
        )
        if usual != Usual():
            found[name] = usual
    return found


def _said_of(name: str, names: Sequence[str], docstring: str) -> str:
    """Return the sentences of a docstring that name a parameter; all of it where there is but one."""
    text = "\n".join(line for line in docstring.splitlines() if not line.strip().startswith((">>>", "...")))
    if len(names) == 1:
        return text
    parts = re.split(r"(?<=[.;])\s+|\n\s*\n|\n(?=\s*(?::param )?\*{0,2}`*\w+`*\s*(?:\([^)]*\))?\s*:)", text)
    return "\n".join(part for part in parts if re.search(rf"\b{re.escape(name)}\b", part))


def _range(name: str, said: str, docstring: str) -> tuple[float | None, float | None]:
    for low, other, high in _CHAIN.findall(docstring):
        if other == name and float(low) < float(high):
            return float(low), float(high)
    for low, high in _BETWEEN.findall(said):
        if float(low) < float(high):
            return float(low), float(high)
    return None, None


def _shape(match: re.Match[str]) -> list[str]:
    return [part.strip() for part in (match[1] or match[2] or "").split(",") if part.strip()]


def _dimensions(said: str) -> set[int]:
    found = {number for number, pattern in _DIMENSIONS.items() if pattern.search(said)}
    return found - {1} if 2 in found and not re.search(r"1-?d|one.dimensional", said, re.I) else found


def _dimensions_by_use(names: set[str], codes: Sequence[str]) -> dict[str, int]:
    """Return how many dimensions programs take for granted, of those parameters where they take several."""
    found: dict[str, int] = {}
    for code in codes:
        tree = parsed(code)
        for node in ast.walk(tree) if tree is not None else ():
            for name, number in _uses(node):
                if name in names:
                    found[name] = max(found.get(name, 1), min(number, _MOST))
    return {name: number for name, number in found.items() if number > 1}


def _uses(node: ast.AST) -> Iterator[tuple[str, int]]:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=elts)):
            plain = [e for e in elts if not (isinstance(e, ast.Constant) and e.value in (None, ...))]
            yield name, len([e for e in plain if "newaxis" not in ast.unparse(e)])
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=int(at))
        ):
            yield name, at + 1 if at >= 0 else -at
        case ast.Assign(targets=[ast.Tuple(elts=elts)], value=ast.Attribute(value=ast.Name(id=name), attr="shape")):
            yield name, len(elts)
        case ast.Attribute(value=ast.Name(id=name), attr="T"):
            yield name, 2
        case ast.Call():
            yield from _called(node)


def _called(node: ast.Call) -> Iterator[tuple[str, int]]:
    of = node.func.value if isinstance(node.func, ast.Attribute) else None
    names = [one.id for one in (of, *node.args[:1]) if isinstance(one, ast.Name)]
    called = ast.unparse(node.func)
    needs = 2 if "linalg." in called and "norm" not in called else 1
    needs = 2 if called.rpartition(".")[2] in _OF_MATRICES else needs
    axes = [k.value for k in node.keywords if k.arg == "axis"]
    for axis in axes:
        for part in axis.elts if isinstance(axis, ast.Tuple) else [axis]:
            if isinstance(part, ast.Constant) and type(part.value) is int:
                needs = max(needs, part.value + 1)
    for name in names:
        yield name, needs
