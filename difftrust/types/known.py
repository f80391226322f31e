"""What the names of the standard library, numpy, pandas and polars stand for in annotations; nothing is imported."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy

from difftrust.types.base import NotResolved, Type
from difftrust.types.choices import Choice, Either, Member, Nothing, Truth, Variable
from difftrust.types.containers import Entries, Items, Row, Wrapped
from difftrust.types.frames import DTYPES, Array, Frame, Scalar
from difftrust.types.functions import functions_of
from difftrust.types.infer import Anything, Tree
from difftrust.types.numbers import Complex, Real, Whole
from difftrust.types.own import Field, Own
from difftrust.types.standard import standard_type
from difftrust.types.texts import Octets, Text
from difftrust_core.base.literals import Code

Make = Callable[[Sequence[Type]], Type]
"""From the types in brackets (none: no brackets) to the type; where those say nothing a row has the type itself."""
_BUILTIN = ("", "builtins")
_TYPING = ("", "typing", "typing_extensions", "builtins")
_ABC = (*_TYPING, "collections.abc", "collections")


def _element(inside: Sequence[Type], at: int = 0) -> Type:
    return inside[at] if at < len(inside) else Anything()


def _several(*kinds: type, texts: tuple[type[Type], ...]) -> Make:
    """Return what makes a type drawn as a list; ranges, texts and more fit where their elements do."""

    def make(inside: Sequence[Type]) -> Type:
        element = _element(inside)
        options: list[Type] = [Items(kinds, element)]
        if isinstance(element, Whole | Real | Anything | Variable):
            options += filter(None, [standard_type("range")])
        if isinstance(element, texts):
            options.append(Text())
        options.append(Wrapped("deque", Items((list,), element)))
        if set in kinds:
            options += [_iterator(inside), Entries(element, Anything())]
        return Either(options, only_first=True)

    return make


def _items(*kinds: type) -> Make:
    return lambda inside: Items(kinds, _element(inside))


def _iterator(inside: Sequence[Type]) -> Type:
    return Wrapped("iter", Items((list, tuple), _element(inside)))


def _entries(inside: Sequence[Type]) -> Entries:
    if len(inside) == 2 and type(inside[0]) is Text and type(inside[1]) is Anything:
        return Tree()
    return Entries(inside[0] if inside else Text(), _element(inside, 1))


def _mapping(inside: Sequence[Type]) -> Type:
    content = _entries(inside)
    named = [Wrapped(name, content) for name in ("OrderedDict", "defaultdict", "Counter")]
    return Either([content, *named], only_first=True)


def _counter(inside: Sequence[Type]) -> Type:
    content = Entries(inside[0] if inside else Text(), Whole(0, 20))
    others = [Entries(content.key, Whole()), Items((list,), content.key), Text()]
    return Wrapped("Counter", Either([content, *others], only_first=True))


def _defaultdict(inside: Sequence[Type]) -> Type:
    content = _entries(inside)
    kind = content.value
    name = kind.kinds[0].__name__ if isinstance(kind, Items) else _CLASSES.get(type(kind), "int")
    return Wrapped("defaultdict", content, (Code(name),))


def _array(inside: Sequence[Type]) -> Type:
    return Array(next((kind.dtype for kind in inside if isinstance(kind, Scalar)), None))


def _stream(is_binary: bool) -> Type:
    return Wrapped("io.BytesIO", Octets()) if is_binary else Wrapped("io.StringIO", Text())


def _slices() -> Type:
    """Return the type of slices, of one bound or two, and a step that is not 0."""
    bound, step = Either([Nothing(), Whole()]), Either([Nothing(), Whole(low=1), Whole(high=-1)])
    names = ("start", "stop", "step")
    several = [Field(name=n, type=step if n == "step" else bound, required=n != "step") for n in names]
    return Either([Own("slice", lambda: several), Own("slice", lambda: several[1:2])])


def _classes(inside: Sequence[Type]) -> Type:
    """Return the type of classes, as ``type[int]`` or ``type[Shape]`` asks for: what has a name as code."""
    if not inside or isinstance(inside[0], Anything | Variable):
        return Choice([Code(name) for name in ("int", "str", "float", "list", "bool")])
    options = inside[0].options if isinstance(inside[0], Either) else [inside[0]]
    known = [Code(name) for option in options for name in _class_names(option)]
    if not known:
        raise NotResolved("type of a class")
    return Choice(known)


def _class_names(kind: Type) -> list[str]:
    """Return the names of a class, as code: its own, and those of the classes that inherit from it."""
    if isinstance(kind, Own):
        return [kind.name, *[name for heir in kind.heirs for name in _class_names(heir)]]
    if isinstance(kind, Member):
        return [kind.name]
    return [_CLASSES[type(kind)]] if type(kind) in _CLASSES else []


_CLASSES: Mapping[type[Type], str] = {
    Whole: "int",
    Real: "float",
    Text: "str",
    Truth: "bool",
    Octets: "bytes",
    Entries: "dict",
}
_SCALARS = {
    **{name: name for name in DTYPES},
    "float64": "float64 floating number inexact generic float_",
    "int64": "int64 integer signedinteger",
    "bool": "bool_",
    "complex128": "complex128 complexfloating",
    "str": "str_",
}
"""What numpy calls its scalars."""
_ROWS: tuple[tuple[str, tuple[str, ...], Make | Type], ...] = (
    ("int Index", _BUILTIN, Whole()),
    ("float", _BUILTIN, Real()),
    ("bool", _BUILTIN, Truth()),
    ("complex", _BUILTIN, Complex()),
    ("str Text LiteralString", _TYPING, Text()),
    ("bytes ByteString Buffer", _ABC, Octets()),
    ("bytearray", _BUILTIN, Octets(bytearray)),
    ("memoryview", _BUILTIN, Wrapped("memoryview", Either([Octets(), Octets(bytearray)]))),
    ("slice", _BUILTIN, _slices()),
    ("None NoneType", ("", "types"), Nothing()),
    ("Any object", _ABC, Anything()),
    ("list List MutableSequence", _ABC, _items(list)),
    ("Sequence Reversible", _ABC, _several(list, tuple, texts=(Text, Variable))),
    (
        "Iterable Collection Container Sized",
        _ABC,
        _several(list, tuple, set, frozenset, texts=(Text, Variable, Anything)),
    ),
    ("Iterator Generator", _ABC, _iterator),
    ("set MutableSet", _ABC, _items(set)),
    ("Set AbstractSet", _ABC, _items(set, frozenset)),
    ("frozenset FrozenSet", _ABC, _items(frozenset)),
    ("dict Dict", _ABC, _entries),
    ("Mapping MutableMapping", _ABC, _mapping),
    ("OrderedDict", _ABC, lambda inside: Wrapped("OrderedDict", _entries(inside))),
    ("ChainMap", _ABC, lambda inside: Wrapped("ChainMap", _entries(inside))),
    ("deque Deque", _ABC, lambda inside: Wrapped("deque", Items((list, tuple), _element(inside)))),
    ("Counter", _ABC, _counter),
    ("defaultdict DefaultDict", _ABC, _defaultdict),
    ("tuple Tuple", _ABC, lambda inside: Row(inside) if inside else Items((tuple,), Anything())),
    ("KeysView ValuesView MappingView", _ABC, _items(list, tuple)),
    ("Callable", (*_TYPING, "collections.abc"), functions_of(None, None)),
    ("type Type", _TYPING, _classes),
    ("AnyStr", _TYPING, Variable("AnyStr", [Text(), Octets()], is_open=False)),
    ("Hashable", _ABC, Variable("Hashable", [Whole(), Text()])),
    ("Number Real Rational Complex", ("numbers",), Either([Real(), Whole()])),
    ("SupportsInt SupportsFloat SupportsAbs SupportsRound", _TYPING, Either([Real(), Whole()])),
    ("Integral SupportsIndex", (*_TYPING, "numbers"), Whole()),
    ("ndarray NDArray", ("numpy", "numpy.typing"), _array),
    ("ArrayLike", ("numpy.typing",), Either([Array(), Items((list, tuple), Anything())], only_first=True)),
    ("dtype", ("numpy",), _element),
    *((names, ("numpy",), Scalar(dtype)) for dtype, names in _SCALARS.items()),
    ("PathLike", ("os",), standard_type("Path") or Text()),
    ("StringIO TextIO TextIOBase TextIOWrapper", ("", "io", "typing"), _stream(False)),
    ("BytesIO BinaryIO BufferedIOBase BufferedReader RawIOBase", ("", "io", "typing"), _stream(True)),
    ("IO", ("typing",), lambda inside: _stream(bool(inside) and isinstance(inside[0], Octets))),
    ("array", ("array",), Wrapped("array.array", Items((list,), Whole(-(2**31), 2**31 - 1)), ("i",))),
    ("DataFrame", ("pandas",), Frame("pd.DataFrame")),
    ("Series", ("pandas",), Frame("pd.Series")),
    ("DataFrame LazyFrame", ("polars",), Frame("pl.DataFrame")),
    ("Series", ("polars",), Frame("pl.Series")),
)
_KNOWN = {(module, name): make for names, modules, make in _ROWS for name in names.split() for module in modules}


def known_type(path: str, inside: Sequence[Type] = (), *, strict_floats: bool = False) -> Type | None:
    """Return the type that a dotted path names, with types in its brackets; None if it is not known here."""
    module, _, name = path.rpartition(".")
    make = _KNOWN.get((module, name))
    if make is None:
        return standard_type(path)
    made = copy(make) if isinstance(make, Type) else make(inside)
    return Real(strict=True) if strict_floats and isinstance(made, Real) else made
