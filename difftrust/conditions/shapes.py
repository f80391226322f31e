"""What kind of value a parameter holds, as far as relations care: a number, a text, a list of something, a record."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
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
_PARTS = re.compile(r"[(\[][A-Za-z_]\w*(?:, ?[A-Za-z_]\w*)+[)\]]")
"""Names of the parts of a tuple, "(start, end)"."""
_PAIRS = re.compile(r"\b[Pp]airs? of (?:an? |the )?([a-z_]+)(?: [a-z]+)? and (?:an? |the )?([a-z_]+)")
"""The same in words, "pairs of start and end"."""
_QUOTED = r"(?:``\w+``|`\w+`|'\w+'|\"\w+\")"
_KEYS = re.compile(rf"\b(?:keys?|fields?) ((?:{_QUOTED}(?:,? and |, )?)+)")
"""Names of the keys of a record, 'the keys "start" and "end"'."""
_KIND: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}


Classes = Mapping[str, ast.ClassDef]


@dataclass(frozen=True)
class Field:
    """A part of a record: its name, how it is reached, as in ``.age`` or ``['age']``, and what it holds."""

    name: str
    access: str
    shape: "Shape"


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
    fields: tuple["Field", ...] = ()
    """Of a record its parts by name."""

    @property
    def items(self) -> "Shape":
        """What the items are."""
        return self.item or Shape("text" if self.kind == "text" else "any")


def records_in(shape: Shape, of: str) -> Iterator[tuple[str, Shape]]:
    """Yield where a value ``of`` a shape holds records, it, its items or its values, and their shape."""
    if shape.fields:
        yield "", shape
    for inside, where in ((shape.item, of), (shape.value, f"{of}.values()")):
        if inside is not None and inside.fields:
            yield where, inside


def named_parts(shape: Shape, docstring: str, others: Collection[str]) -> Shape:
    """Return a shape whose tuples and dicts have the names of their parts, "(start, end)", where a docstring has them.

    ``others``: the parameters, which are no parts.
    """
    if shape.kind == "dict" and (shape.item or Shape()).kind in ("text", "any") and (match := _KEYS.search(docstring)):
        kept = [name for name in re.findall(r"\w+", re.sub(r"\band\b", "", match[1])) if name not in others]
        return replace(shape, fields=tuple(Field(name, f"[{name!r}]", shape.value or Shape()) for name in kept))
    if shape.item is not None and (shape.item.fields or shape.item.kind == "dict"):
        shape = replace(shape, item=named_parts(shape.item, docstring, others))
    if any(each.name for each in shape.fields):
        return shape
    for match in (*_PARTS.finditer(docstring), *_PAIRS.finditer(docstring)):
        names = [*match.groups()] or re.findall(r"\w+", match[0])
        if len(names) == len(shape.fields) and not {*names} & {*others}:
            named = zip(names, shape.fields, strict=True)
            return replace(shape, fields=tuple(replace(each, name=name) for name, each in named))
    return shape


def shape_of(annotation: ast.expr | None, default: ast.expr | None = None, classes: Classes | None = None) -> Shape:
    """Return the shape that an annotation and a default give; ``classes``: those of the module by name."""
    is_none = isinstance(default, ast.Constant) and default.value is None
    options = [option for option in _options(annotation) if ast.unparse(option) != "None"] if annotation else []
    shapes = [_shape(option, classes or {}) for option in options]
    is_none = is_none or (annotation is not None and len(options) < len(list(_options(annotation))))
    known = [shape for shape in shapes if shape.kind != "any"]
    one = known[0] if len({shape.kind for shape in known}) == 1 else Shape("mixed" if known else "any")
    others = frozenset(shape.kind for shape in shapes) - {one.kind}
    return replace(one, may_be_none=is_none, others=others)


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


def _shape(node: ast.expr, classes: Classes) -> Shape:
    match node:
        case ast.Subscript(value=value, slice=inside):
            kind = _KIND.get(ast.unparse(value).rpartition(".")[2], "any")
            parts = [shape_of(p, None, classes) for p in (inside.elts if isinstance(inside, ast.Tuple) else [inside])]
            parts = [part for part in parts if part.kind != "..."]
            if kind == "dict" and parts:
                return Shape(kind, parts[0], parts[-1])
            is_even = len({part.kind for part in parts if part.kind != "any"}) <= 1
            is_fixed = ast.unparse(value).endswith(("tuple", "Tuple")) and "..." not in ast.unparse(inside)
            fields = [Field("", f"[{i}]", part) for i, part in enumerate(parts) if is_fixed]
            element = parts[0] if parts and kind == "list" and is_even else Shape("mixed")
            return Shape(kind, element, fields=tuple(fields))
        case ast.Name(id=name) | ast.Constant(value=str(name)) if name in classes:
            others = {other: each for other, each in classes.items() if other != name}
            kept = tuple(_fields(classes[name], others))
            return Shape("record" if kept else "any", fields=kept)
    return Shape(_KIND.get(ast.unparse(node).rpartition(".")[2], "any"))


def _fields(owner: ast.ClassDef, classes: Classes) -> Iterator[Field]:
    """Yield the parts that a class declares, or that its constructor takes and keeps."""
    form = "[{!r}]" if any("TypedDict" in ast.unparse(base) for base in owner.bases) else ".{}"
    for node in owner.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=said) if "ClassVar" not in ast.unparse(said):
                yield Field(name, form.format(name), shape_of(said, None, classes))
            case ast.FunctionDef(name="__init__", args=args):
                text = ast.unparse(node)
                for each in (*args.args, *args.kwonlyargs):
                    if f"self.{each.arg} = {each.arg}\n" in f"{text}\n":
                        yield Field(each.arg, form.format(each.arg), shape_of(each.annotation, None, classes))
