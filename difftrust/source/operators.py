"""The special methods that operators call."""

import ast
from collections.abc import Iterator

_ALIKE = ("__eq__", "__ne__", "__hash__", "__contains__")
_SHOWN = ("__repr__", "__str__", "__format__")
_SHOWS = ("repr", "str", "format", "print")
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_STEMS = {"mult": "mul", "matmult": "matmul", "div": "truediv", "bitor": "or", "bitand": "and", "bitxor": "xor"}
_ARITHMETIC = ("add", "sub", "mod", "pow", "floordiv", "lshift", "rshift", *_STEMS.values())
_SIGNS = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
OPERATORS = frozenset((
    *_ALIKE,
    *_ORDER,
    *_SHOWN,
    *_SIGNS.values(),
    *(f"__{before}{stem}__" for before in ("", "r", "i") for stem in _ARITHMETIC),
))  # fmt: skip
"""Methods that an operator calls, or what compares, sorts, adds, keeps or prints values as an operator does."""


def operators_in(*nodes: ast.AST) -> Iterator[str]:
    """Iterate over the methods that operators in nodes may call on values of classes that are no numbers or texts."""
    for node in (part for top in nodes for part in ast.walk(top)):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                for op, one, other in zip(ops, (left, *others), others, strict=False):
                    if not (isinstance(op, ast.Is | ast.IsNot) or _is_plain(one) or _is_plain(other)):
                        yield from _ORDER if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) else _ALIKE
            case ast.BinOp(left=one, op=op, right=other) if not (_is_plain(one) or _is_plain(other)):
                yield from _arithmetic(op)
            case ast.AugAssign(op=op, value=other) if not _is_plain(other):
                yield from _arithmetic(op)
            case ast.FormattedValue() | ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()):
                yield from _SHOWN
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in _SHOWS:
                yield from _SHOWN
            case ast.UnaryOp(op=op, operand=one) if type(op) in _SIGNS and not _is_plain(one):
                yield _SIGNS[type(op)]


def _arithmetic(op: ast.operator) -> Iterator[str]:
    stem = type(op).__name__.lower()
    yield from (f"__{before}{_STEMS.get(stem, stem)}__" for before in ("", "r", "i"))


def _is_plain(node: ast.expr) -> bool:
    """Tell whether a value is written as a number, a text, or what holds only such."""
    match node:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return all(map(_is_plain, parts))
    return False
