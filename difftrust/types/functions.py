"""A few functions of each type that a parameter may ask for, written as code, simplest first."""

from collections.abc import Mapping, Sequence

from difftrust.types.base import Type
from difftrust.types.choices import Functions, Truth
from difftrust.types.containers import Items
from difftrust.types.numbers import Real, Whole
from difftrust.types.texts import Text

_OF_ONE: Mapping[tuple[str, str], Sequence[str]] = {
    ("number", "number"): ("lambda x: x", "abs", "lambda x: x + 1", "lambda x: x * 2", "lambda x: -x", "lambda x: 0"),
    ("number", "bool"): ("bool", "lambda x: x > 0", "lambda x: x % 2 == 0", "lambda x: True", "lambda x: False"),
    ("number", "str"): ("str", "lambda x: 'a' * (int(x) % 3)", "lambda x: 'even' if x % 2 == 0 else 'odd'"),
    ("str", "str"): ("str.upper", "str.strip", "str.lower", "lambda x: x[::-1]", "lambda x: x + '!'", "lambda x: ''"),
    ("str", "bool"): ("bool", "str.isdigit", "str.isalpha", "str.islower", "lambda x: 'a' in x", "lambda x: True"),
    ("str", "number"): ("len", "lambda x: x.count('a')", "lambda x: 0"),
    ("list", "number"): ("len", "lambda x: len(x) % 2", "lambda x: 0"),
    ("list", "bool"): ("bool", "lambda x: len(x) > 1", "lambda x: True"),
    ("list", "list"): ("list", "lambda x: x[::-1]", "lambda x: x[:1]"),
    ("any", "bool"): ("bool", "lambda x: True", "lambda x: False", "lambda x: x == 1"),
    ("any", "number"): ("lambda x: 1", "lambda x: len(str(x))"),
    ("any", "str"): ("str", "repr", "lambda x: str(x)[:1]"),
    ("any", "any"): ("lambda x: x", "str", "bool", "lambda x: [x]", "lambda x: 1"),
}
_OF_TWO: Mapping[tuple[str, str], Sequence[str]] = {
    ("number", "number"): ("operator.add", "operator.sub", "max", "min", "lambda x, y: x", "lambda x, y: x * y - y"),
    ("number", "bool"): (
        "operator.lt",
        "operator.eq",
        "operator.ge",
        "lambda x, y: True",
        "lambda x, y: x % 2 == y % 2",
    ),
    ("str", "str"): ("operator.add", "max", "min", "lambda x, y: x", "lambda x, y: y + x"),
    ("str", "bool"): ("operator.lt", "operator.eq", "lambda x, y: len(x) < len(y)", "str.startswith"),
    ("any", "bool"): ("operator.eq", "lambda x, y: True", "lambda x, y: False"),
    ("any", "number"): ("lambda x, y: (x > y) - (x < y)", "lambda x, y: 0"),
    ("any", "any"): ("lambda x, y: x", "lambda x, y: y", "lambda x, y: [x, y]"),
}
_CONSTANTS: Mapping[str, Sequence[str]] = {
    "number": ("0", "1", "7"),
    "bool": ("True", "False"),
    "str": ("''", "'a'"),
    "list": ("[]", "[1]"),
    "any": ("None", "1"),
}


_SORTS: Mapping[type[Type], str] = {Whole: "number", Real: "number", Text: "str", Truth: "bool", Items: "list"}
"""What the tables call types; all others are ``any``."""


def functions_of(arguments: Sequence[Type] | None, result: Type | None) -> Functions:
    """Return functions that take such arguments (None: any number of them) and give such a result."""
    gives = _SORTS.get(type(result), "any")  # type: ignore[arg-type]
    if arguments is None:
        return Functions([f"lambda *args: {code}" for code in ("len(args)", "args", *_CONSTANTS[gives])])
    sorts = [_SORTS.get(type(one), "any").replace("bool", "number") for one in arguments]
    n = len(sorts)
    if n == 0:
        return Functions([f"lambda: {code}" for code in _CONSTANTS[gives]], 0)
    known = list(_known(_OF_ONE if n == 1 else _OF_TWO, sorts, gives)) if n < 3 else []
    if not known:
        names = "xyzuvwabcdefgh"[:n]
        same = [name for name, one in zip(names, sorts, strict=False) if one == gives]
        known = [f"lambda {', '.join(names)}: {code}" for code in (*same, *_CONSTANTS[gives])]
    return Functions(known, n)


def _known(table: Mapping[tuple[str, str], Sequence[str]], sorts: Sequence[str], gives: str) -> Sequence[str]:
    takes = sorts[0] if len(set(sorts)) == 1 else "any"
    found = table.get((takes, gives), ())
    if found:
        return found
    if gives == "any":
        return [code for (one, _), codes in table.items() if one == takes for code in codes] or table["any", "any"]
    return table.get(("any", gives), ())
