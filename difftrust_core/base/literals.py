"""Read and write the text form of values.

One grammar serves inputs and outcomes, in the store, in the sandbox and on the screen. It is the part of
Python's expression syntax that needs no evaluation: numbers (``inf``, ``nan`` and ``0x`` included), strings,
bytes, ``None``, ``True``, ``False``, ``...``, lists, tuples, dicts, sets (``set()`` when empty) and
``Name(...)`` for everything else: ``Point(x=1, y=2)`` is an object with its fields, ``Counter({'a': 1})`` a
subclass of a builtin with its content, ``frozenset({1})``, ``range(0, 3, 1)``, ``Decimal('1.5')``. Of an input also
``np.array([1])``, and code that only the sandbox evaluates: ``Color.RED``, ``str.upper``, ``len``, ``lambda x: x + 1``.

This module also runs inside the sandbox: it imports the standard library only.
"""

import ast
import json
import re
from collections.abc import Callable
from typing import Any

MAX_DECIMAL_BITS = 4_000
"""Ints beyond this many bits are written in hexadecimal: Python refuses to print them in decimal."""


class BadText(ValueError):
    """A text outside the grammar."""


class Instance:
    """A value that is not a builtin: its type's name, positional content and named fields."""

    __slots__ = ("args", "fields", "type_name")

    def __init__(self, type_name: str, args: tuple[Any, ...] = (), fields: dict[str, Any] | None = None):
        self.type_name = type_name
        self.args = args
        self.fields = fields or {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and write_literal(self) == write_literal(other)

    def __hash__(self) -> int:
        return hash(write_literal(self))

    def __repr__(self) -> str:
        return write_literal(self)


class Code:
    """A value that is written as code: a dotted name, a builtin function, a lambda. Only the sandbox evaluates it."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Code) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


KEYWORDS = "Keywords"
"""``Keywords(key=1)`` at the end of an argument tuple: arguments given by name."""
MakeInstance = Callable[[str, tuple[Any, ...], dict[str, Any]], Any]
_NAMES = {"inf": float("inf"), "nan": float("nan")}
_FUNCTIONS = frozenset(
    ("abs", "all", "any", "bool", "bytes", "chr", "dict", "float", "int", "len", "list", "max", "min", "ord", "repr")
) | {"reversed", "round", "set", "sorted", "str", "sum", "tuple"}
"""Builtins that may stand for themselves, as arguments of a parameter that takes a function."""


def read_literal(text: str, make_instance: MakeInstance = Instance) -> Any:
    """Return the value that ``text`` stands for. Raises BadText outside the grammar."""
    try:
        return _read_plain(text)
    except (ValueError, RecursionError):
        pass  # another text, or none
    try:
        tree = ast.parse(text, mode="eval").body
        return _value(tree, make_instance)
    except BadText:
        raise
    except Exception as e:  # a candidate may have written the text
        raise BadText(f"not a literal ({type(e).__name__}): {text[:80]!r}") from None


# Numbers, strings without escapes, lists of them, and a tuple around them: what JSON writes nearly the same way.
_PLAIN = re.compile(r"""(?:'[^'"\\]*+'|[-+\[\], 0-9.e]++)*+""")


def tuple_text(text: str) -> str | None:
    """Return the text form of the tuple that ``text`` stands for; None if it stands for none."""
    try:
        value = read_literal(text)
    except BadText:
        return None
    return write_literal(value) if type(value) is tuple else None


def _read_plain(text: str) -> Any:
    """Return the value of a text that JSON's reader takes too, ten times faster. Raises ValueError for others."""
    start, end = (1, len(text) - 1) if text[:1] == "(" and text[-1:] == ")" else (0, len(text))
    if not _PLAIN.fullmatch(text, start, end):
        raise ValueError
    plain = text[start:end].replace("'", '"')
    if start == 0:
        return json.loads(plain)
    is_single = plain.endswith(",")
    values = json.loads(f"[{plain[:-1] if is_single else plain}]")
    if is_single != (len(values) == 1):  # (x) is x
        raise ValueError
    return tuple(values)


def _value(node: ast.expr, make: MakeInstance) -> Any:
    if type(node) is ast.Constant:
        return node.value
    reader = _READERS.get(type(node))
    if reader is None:
        raise BadText(f"{type(node).__name__} is not part of a literal")
    return reader(node, make)


def _values(nodes: list[ast.expr], make: MakeInstance) -> list[Any]:
    return [node.value if type(node) is ast.Constant else _value(node, make) for node in nodes]


def _read_dict(node: ast.Dict, make: MakeInstance) -> Any:
    if None in node.keys:
        raise BadText("a Dict with ** is not part of a literal")
    return dict(zip(_values(node.keys, make), _values(node.values, make), strict=True))  # type: ignore[arg-type]


def _read_minus(node: ast.UnaryOp, make: MakeInstance) -> Any:
    if type(node.op) is not ast.USub:
        raise BadText(f"the sign {type(node.op).__name__} is not part of a literal")
    value = _value(node.operand, make)
    if type(value) not in (int, float):
        raise BadText(f"minus before {type(value).__name__}")
    return -value


def _read_name(node: ast.Name, make: MakeInstance) -> Any:
    if node.id in _NAMES:
        return _NAMES[node.id]
    if node.id in _FUNCTIONS:
        return Code(node.id)
    raise BadText(f"the Name {node.id[:80]} is not part of a literal")


def _read_code(node: ast.Attribute | ast.Lambda, make: MakeInstance) -> Any:
    if type(node) is ast.Attribute and not _dotted(node):
        raise BadText("an Attribute of anything but a name is not part of a literal")
    return Code(ast.unparse(node))


def _dotted(node: ast.expr) -> bool:
    while type(node) is ast.Attribute:
        node = node.value
    return type(node) is ast.Name


def _read_call(node: ast.Call, make: MakeInstance) -> Any:
    fields = {k.arg: _value(k.value, make) for k in node.keywords if k.arg}
    if not _dotted(node.func) or len(fields) < len(node.keywords):
        raise BadText("a Call of anything but a name is not part of a literal")
    name, args = ast.unparse(node.func), tuple(_values(node.args, make))
    if name == "set" and not args and not fields:
        return set()
    made, kinds = _REBUILT.get(name, (None, ()))
    if made is not None and not fields and tuple(map(type, args)) in kinds:
        return made(*args)
    return make(name, args, fields)


_REBUILT: dict[str, tuple[Callable[..., Any] | None, tuple[tuple[type, ...], ...]]] = {
    "frozenset": (frozenset, ((), (set,), (list,), (tuple,))),
    "complex": (complex, ((float, float), (int, int), (int, float), (float, int))),
    "bytearray": (bytearray, ((bytes,),)),
}
"""What is made with the real type, of content of these types alone: a class may have the same name, and a huge int."""


_READERS: dict[type, Callable[[Any, MakeInstance], Any]] = {
    ast.List: lambda node, make: _values(node.elts, make),
    ast.Tuple: lambda node, make: tuple(_values(node.elts, make)),
    ast.Set: lambda node, make: set(_values(node.elts, make)),
    ast.Dict: _read_dict,
    ast.UnaryOp: _read_minus,
    ast.Name: _read_name,
    ast.Attribute: _read_code,
    ast.Lambda: _read_code,
    ast.Call: _read_call,
}


def write_literal(value: Any) -> str:
    """Return the text of ``value``: dicts keep their order, sets are sorted by their elements' text."""
    kind = type(value)
    if kind in (bool, str, bytes, type(None), type(...)):
        return "..." if value is ... else repr(value)
    if kind is int:
        return hex(value) if value.bit_length() > MAX_DECIMAL_BITS else repr(value)
    if kind is float:
        return repr(value)
    if kind is complex:
        return f"complex({value.real!r}, {value.imag!r})"
    if kind is list:
        return f"[{', '.join(map(write_literal, value))}]"
    if kind is tuple:
        return f"({', '.join(map(write_literal, value))}{',' if len(value) == 1 else ''})"
    if kind is dict:
        return "{" + ", ".join(f"{write_literal(k)}: {write_literal(v)}" for k, v in value.items()) + "}"
    if kind is set:
        return "{" + ", ".join(sorted(map(write_literal, value))) + "}" if value else "set()"
    if kind is frozenset:
        return f"frozenset({write_literal(set(value))})" if value else "frozenset()"
    if kind is bytearray:
        return f"bytearray({bytes(value)!r})"
    if kind is Code:
        return str(value.text)
    if kind is Instance:
        parts = [write_literal(a) for a in value.args]
        parts += [f"{name}={write_literal(field)}" for name, field in value.fields.items()]
        return f"{value.type_name}({', '.join(parts)})"
    raise BadText(f"a {kind.__name__} has no text form")
