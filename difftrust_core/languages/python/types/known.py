"""What the names of the standard library, numpy, pandas and polars stand for in annotations; nothing is imported."""

from collections.abc import Callable, Mapping, Sequence

from difftrust_core.base.literals import Code
from difftrust_core.languages.python.types.base import Type
from difftrust_core.languages.python.types.choices import Choice, Either, Nothing, Truth, Variable
from difftrust_core.languages.python.types.containers import Entries, Items, Row, Wrapped
from difftrust_core.languages.python.types.infer import Anything
from difftrust_core.languages.python.types.nested import Tree
from difftrust_core.languages.python.types.not_resolved import NotResolved
from difftrust_core.languages.python.types.numbers import Complex, Real, Whole
from difftrust_core.languages.python.types.standard import Standard, standard_type
from difftrust_core.languages.python.types.tables import Array, Frame, Scalar
from difftrust_core.languages.python.types.text import Octets, Text

Make = Callable[[Sequence[Type]], Type]
"""From the types in brackets (none: no brackets) to the type."""
_ABC = ("", "typing", "typing_extensions", "collections.abc", "collections", "builtins")
_TYPING = ("", "typing", "typing_extensions")
_BUILTIN = ("", "builtins")
_DTYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")


def _element(inside: Sequence[Type], at: int = 0) -> Type:
    return inside[at] if at < len(inside) else Anything()


def _items(*kinds: type) -> Make:
    return lambda inside: Items(kinds, _element(inside))


def _iterable(inside: Sequence[Type]) -> Type:
    """Return what is drawn as a list; tuples, sets, ranges and texts fit where their elements do."""
    element = _element(inside)
    options: list[Type] = [Items((list, tuple, set, frozenset), element)]
    if isinstance(element, Whole | Real | Anything | Variable):
        options += [kind for kind in (standard_type("range"),) if kind is not None]
    if isinstance(element, Text | Anything | Variable):
        options.append(Text())
    options += [Wrapped("deque", Items((list,), element)), Wrapped("iter", Items((list, tuple), element))]
    return Either([*options, Entries(element, Anything())], only_first=True)


def _sequence(inside: Sequence[Type]) -> Type:
    element = _element(inside)
    options: list[Type] = [Items((list, tuple), element)]
    if isinstance(element, Whole | Real | Anything | Variable):
        options += [kind for kind in (standard_type("range"),) if kind is not None]
    if isinstance(element, Text | Variable):
        options.append(Text())
    return Either([*options, Wrapped("deque", Items((list,), element))], only_first=True)


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
    return Wrapped(
        "Counter",
        Either([content, Entries(content.key, Whole()), Items((list,), content.key), Text()], only_first=True),
    )


def _defaultdict(inside: Sequence[Type]) -> Type:
    content = _entries(inside)
    factory = {Whole: "int", Real: "float", Text: "str", Entries: "dict", Items: "list", Truth: "bool"}
    kind = content.value
    name = factory.get(type(kind), "int")
    if isinstance(kind, Items):
        name = kind.kinds[0].__name__
    return Wrapped("defaultdict", content, (Code(name),))


def _tuple(inside: Sequence[Type]) -> Type:
    return Items((tuple,), Anything()) if not inside else Row(inside)


def _array(inside: Sequence[Type]) -> Type:
    found = [kind.dtype for kind in inside if isinstance(kind, Scalar)]
    return Array(found[0] if found else None)


def _any_number(inside: Sequence[Type]) -> Type:
    return Either([Real(), Whole()])


def _plain(make: Callable[[], Type]) -> Make:
    return lambda inside: make()


def _frame(library: str, kind: str) -> Make:
    return lambda inside: Frame(library, kind)


_TABLE: dict[tuple[str, ...], tuple[tuple[str, ...], Make]] = {
    ("int", "Index"): (_BUILTIN, _plain(Whole)),
    ("float",): (_BUILTIN, _plain(Real)),
    ("bool",): (_BUILTIN, _plain(Truth)),
    ("complex",): (_BUILTIN, _plain(Complex)),
    ("str", "Text", "LiteralString"): (_TYPING + _BUILTIN, _plain(Text)),
    ("bytes", "ByteString", "Buffer"): (_ABC, _plain(Octets)),
    ("bytearray",): (_BUILTIN, _plain(lambda: Octets(bytearray))),
    ("None", "NoneType"): (("", "types"), _plain(Nothing)),
    ("Any", "object"): (_ABC, _plain(Anything)),
    ("list", "List", "MutableSequence"): (_ABC, _items(list)),
    ("Sequence", "Reversible"): (_ABC, _sequence),
    ("Iterable", "Collection", "Container", "Sized"): (_ABC, _iterable),
    ("Iterator", "Generator"): (_ABC, lambda inside: Wrapped("iter", Items((list, tuple), _element(inside)))),
    ("set", "MutableSet"): (_ABC, _items(set)),
    ("Set", "AbstractSet"): (_ABC, _items(set, frozenset)),
    ("frozenset", "FrozenSet"): (_ABC, _items(frozenset)),
    ("dict", "Dict"): (_ABC, _entries),
    ("Mapping", "MutableMapping"): (_ABC, _mapping),
    ("OrderedDict",): (_ABC, lambda inside: Wrapped("OrderedDict", _entries(inside))),
    ("deque", "Deque"): (_ABC, lambda inside: Wrapped("deque", Items((list, tuple), _element(inside)))),
    ("Counter",): (_ABC, _counter),
    ("defaultdict", "DefaultDict"): (_ABC, _defaultdict),
    ("tuple", "Tuple"): (_ABC, _tuple),
    ("AnyStr",): (_TYPING, _plain(lambda: Variable("AnyStr", [Text(), Octets()], is_open=False))),
    ("Hashable",): (_ABC, _plain(lambda: Variable("Hashable", [Whole(), Text()]))),
    ("Number", "Real", "Rational", "Complex"): (("numbers",), _any_number),
    ("Integral",): (("numbers",), _plain(Whole)),
    ("SupportsInt", "SupportsFloat", "SupportsAbs", "SupportsRound"): (_TYPING, _any_number),
    ("SupportsIndex",): (_TYPING, _plain(Whole)),
    ("ndarray", "NDArray"): (("numpy", "numpy.typing"), _array),
    ("ArrayLike",): (
        ("numpy.typing",),
        lambda inside: Either([Array(), Items((list, tuple), Anything())], only_first=True),
    ),
    ("dtype",): (("numpy",), lambda inside: _element(inside)),
    ("floating", "number", "inexact", "generic"): (("numpy",), _plain(lambda: Scalar("float64"))),
    ("integer", "signedinteger"): (("numpy",), _plain(lambda: Scalar("int64"))),
    ("bool_",): (("numpy",), _plain(lambda: Scalar("bool"))),
    ("complex128", "complexfloating"): (("numpy",), _plain(lambda: Scalar("complex128"))),
    ("str_",): (("numpy",), _plain(lambda: Scalar("str"))),
    ("Path", "PurePath", "PosixPath", "PurePosixPath", "PureWindowsPath"): (("", "pathlib"), _plain(Nothing)),
    ("PathLike",): (("os",), _plain(lambda: standard_type("Path") or Text())),
    ("date", "datetime", "time", "timedelta", "tzinfo", "timezone"): (("", "datetime"), _plain(Nothing)),
    ("Decimal",): (("", "decimal"), _plain(Nothing)),
    ("Fraction",): (("", "fractions"), _plain(Nothing)),
    ("UUID",): (("", "uuid"), _plain(Nothing)),
    ("ZoneInfo",): (("", "zoneinfo"), _plain(Nothing)),
    ("range",): (_BUILTIN, _plain(Nothing)),
    ("Pattern",): (("", "re", "typing"), _plain(Nothing)),
}
_KNOWN: Mapping[str, list[tuple[tuple[str, ...], Make]]] = {}


def _by_name() -> dict[str, list[tuple[tuple[str, ...], Make]]]:
    found: dict[str, list[tuple[tuple[str, ...], Make]]] = {}
    for names, (modules, make) in _TABLE.items():
        for name in names:
            found.setdefault(name, []).append((modules, make))
    for name in _DTYPES:
        found.setdefault(name, []).append((("numpy",), lambda inside, name=name: Scalar(name)))  # type: ignore[misc]
    found.setdefault("float_", []).append((("numpy",), lambda inside: Scalar("float64")))
    for library, module in (("pd", "pandas"), ("pl", "polars")):
        for name in ("DataFrame", "Series"):
            found.setdefault(name, []).append(((module,), _frame(library, name)))
    found["LazyFrame"] = [(("polars",), _frame("pl", "DataFrame"))]
    return found


_KNOWN = _by_name()


def known_type(path: str, inside: Sequence[Type] = (), *, strict_floats: bool = False) -> Type | None:
    """Return the type that a dotted path names, with types in its brackets; None if it is not known here."""
    module, _, name = path.rpartition(".")
    for modules, make in _KNOWN.get(name, ()):
        if module in modules:
            standard: Standard | None = standard_type(name)
            if standard is not None:
                return standard
            made = make(inside)
            return Real(strict=True) if strict_floats and isinstance(made, Real) else made
    return None


def classes_of(inside: Sequence[Type]) -> Type:
    """Return the type of builtin classes, as ``type[int]`` asks for: what has a name as code."""
    names = {Whole: "int", Real: "float", Text: "str", Truth: "bool", Octets: "bytes", Entries: "dict"}
    if not inside or isinstance(inside[0], Anything | Variable):
        return Choice([Code(name) for name in ("int", "str", "float", "list", "bool")])
    options = inside[0].options if isinstance(inside[0], Either) else [inside[0]]
    known = [Code(names[type(option)]) for option in options if type(option) in names]
    if not known:
        raise NotResolved("type of a class")
    return Choice(known)
