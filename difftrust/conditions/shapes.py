"""What kind of value a parameter holds, as far as relations care: a number, a text, a list of something."""

import ast
import re
from dataclasses import dataclass
from typing import Final

_KINDS: Final = {
    "number": "int float complex Decimal Fraction integer number",
    "moment": "date datetime time timedelta",
    "text": "str bytes AnyStr",
    "list": "list List Sequence tuple Tuple Iterable Collection set Set frozenset deque ndarray ArrayLike Series",
    "stream": "Iterator Generator IO TextIO",
    "dict": "dict Dict Mapping MutableMapping defaultdict OrderedDict Counter TypedDict",
    "table": "DataFrame LazyFrame",
    "flag": "bool",
}
_KIND: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}


@dataclass(frozen=True)
class Shape:
    """The kind of a value (``any``: not known), and what its items are."""

    kind: str = "any"
    item: "Shape | None" = None
    value: "Shape | None" = None
    """Of a dict, what its values are."""
    may_be_none: bool = False
    others: frozenset[str] = frozenset()
    """Kinds of values that are allowed beside it, or of which one is where it is ``mixed``."""

    @property
    def items(self) -> "Shape":
        """What the items are."""
        return self.item or Shape("text" if self.kind == "text" else "any")


def shape_of(annotation: ast.expr | None, default: ast.expr | None = None) -> Shape:
    """Return the shape that an annotation and a default give."""
    is_none = isinstance(default, ast.Constant) and default.value is None
    options = [option for option in _options(annotation) if ast.unparse(option) != "None"] if annotation else []
    shapes = [_shape(option) for option in options]
    is_none = is_none or (annotation is not None and len(options) < len(list(_options(annotation))))
    known = [shape for shape in shapes if shape.kind != "any"]
    one = known[0] if len({shape.kind for shape in known}) == 1 else Shape("mixed" if known else "any")
    others = frozenset(shape.kind for shape in shapes) - {one.kind}
    return Shape(one.kind, one.item, one.value, may_be_none=is_none, others=others)


def _options(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Constant(value=str(text)) if re.fullmatch(r"[\w\[\], |.]+", text):
            try:
                return _options(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return [node]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _options(left) + _options(right)
        case ast.Subscript(value=value, slice=inside) if ast.unparse(value).endswith("Optional"):
            return [*_options(inside), ast.Constant(value=None)]
        case ast.Subscript(value=value, slice=ast.Tuple(elts=elts)) if ast.unparse(value).endswith("Union"):
            return [option for each in elts for option in _options(each)]
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[first, *_])) if ast.unparse(value).endswith("Annotated"):
            return _options(first)
    return [node]


def _shape(node: ast.expr) -> Shape:
    match node:
        case ast.Subscript(value=value, slice=inside):
            kind = _KIND.get(ast.unparse(value).rpartition(".")[2], "any")
            parts = [shape_of(p) for p in (inside.elts if isinstance(inside, ast.Tuple) else [inside])]
            parts = [part for part in parts if part.kind != "..."]
            if kind == "dict":
                return Shape(kind, parts[0], parts[-1])
            is_even = len({part.kind for part in parts if part.kind != "any"}) <= 1
            return Shape(kind, parts[0] if kind == "list" and is_even else Shape("mixed"))
    return Shape(_KIND.get(ast.unparse(node).rpartition(".")[2], "any"))
