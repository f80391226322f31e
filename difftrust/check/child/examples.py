"""Examples as docstrings have them, run among a program's names and compared as doctest does, or as values.

Runs inside the sandbox, standard library only.
"""

import ast
import math
import re
from collections.abc import Callable
from typing import Any

from building import build
from canonical import UnsupportedValue, exception_name
from literals import BadText, Code, Instance, read_literal
from typed_repr import Said, is_iterator, items_of, text_of

MAX_SHOWN = 2_000
"""Characters of what an example gave."""
RELATIVE_TOLERANCE = 1e-9
_OPTIONS = {
    "DONT_ACCEPT_TRUE_FOR_1": 1, "DONT_ACCEPT_BLANKLINE": 2, "NORMALIZE_WHITESPACE": 4, "ELLIPSIS": 8, "SKIP": 16,
    "IGNORE_EXCEPTION_DETAIL": 32,
}  # fmt: skip
_TRACEBACK = re.compile(r"^Traceback \((?:most recent call last|innermost last)\):[ \t]*\n", re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)", re.MULTILINE)
_PARSE_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_IS_COROUTINE = 0x80
_eval, _compile, _repr, _type, _parse = eval, compile, repr, type, ast.parse
_mro = type.__dict__["__mro__"].__get__
Namespace = dict[str, Any]


class Example:
    """Statements of which the last one gives or prints ``want``; without it they just run.

    ``by_value``: ``want`` is an expression, and what they give equals its value; of an iterator the items count.
    """

    def __init__(self, fields: dict[str, Any]):
        self.source, self.want = str(fields["source"]), str(fields.get("want") or "")
        self.by_value = bool(fields.get("by_value"))
        self.options = {_option(name): bool(on) for name, on in dict(fields.get("options") or {}).items()}

    def run(self, namespace: Namespace, printed: Callable[[], str], awaited: Callable[[Any], Any]) -> Said:
        """Return what is said of the outcome: ``True``, or ``Got(...)`` with what it gave instead.

        ``printed`` returns what was printed since it was last asked; ``awaited`` the result of a coroutine.
        """
        names = dict(namespace)
        try:
            value = self._value(names, printed, awaited)
            shown = printed() + ("" if value is None else _repr(value) + "\n")
        except MemoryError:
            raise
        except BaseException as e:
            return _verdict(self._expects(e), exception_name(e))
        if self._wants_exception() is not None:
            return _verdict(False, shown)
        if self.by_value:
            return _verdict(self._equals(value, names), shown)
        right = not self.want or self._is_shown(shown) or (value is not None and self._is_equal(value, names))
        return _verdict(right, shown)

    def _value(self, names: Namespace, printed: Callable[[], str], awaited: Callable[[Any], Any]) -> Any:
        body = _parse(self.source).body
        last = body[-1]
        if not isinstance(last, ast.Expr):
            _run(ast.Module(body, []), "exec", names, awaited)
            return None
        _run(ast.Module(body[:-1], []), "exec", names, awaited)
        printed()
        value = awaited(_run(ast.Expression(last.value), "eval", names, awaited))
        return items_of(value) if self.by_value and is_iterator(_type(value)) else value

    def _wants_exception(self) -> str | None:
        """Return the name of the exception that is wanted, None if none is."""
        begun = _TRACEBACK.search(self.want)
        if begun is None:
            return None
        found = _RAISED.search(self.want, begun.end())
        return found[1].rpartition(".")[2] if found else "BaseException"

    def _expects(self, error: BaseException) -> bool:
        return self._wants_exception() in {type.__dict__["__name__"].__get__(c) for c in _mro(_type(error))}

    def _is_shown(self, got: str) -> bool:
        want = self.want if self.want.endswith("\n") else f"{self.want}\n"
        if got == want:
            return True
        if not self.options.get(1) and (got, want) in (("True\n", "1\n"), ("False\n", "0\n")):
            return True
        if not self.options.get(2):
            want = re.sub(r"(?m)^<BLANKLINE>\s*?$", "", want)
            got = re.sub(r"(?m)^[^\S\n]+$", "", got)
        if self.options.get(4):
            got, want = " ".join(got.split()), " ".join(want.split())
        return got == want or (self.options.get(8, True) and "..." in want and _matches(want, got))

    def _is_equal(self, value: Any, names: Namespace) -> bool:
        try:
            wanted = read_literal(self.want.strip())
            got = read_literal(text_of(value))
        except (BadText, UnsupportedValue):
            return False
        try:
            built = read_literal(text_of(build(wanted, names)))
        except MemoryError:
            raise
        except BaseException:
            built = wanted
        return equal(got, built) or equal(got, wanted)

    def _equals(self, value: Any, names: Namespace) -> bool:
        """Tell whether ``value == want`` is true, or both are written alike, floats in them near each other.

        Raises NameError and ImportError, UnsupportedValue where ``want`` has no value for another reason.
        """
        right = self._right(names)
        try:
            same = value == right
            is_true = not hasattr(same, "__len__") and bool(same)  # of arrays each item would be compared
        except MemoryError:
            raise
        except BaseException:
            is_true = False
        return is_true or self._is_equal(value, names)

    def _right(self, names: Namespace) -> Any:
        try:
            return build(read_literal(self.want.strip()), names)
        except BadText:
            return _run(_parse(self.want.strip(), mode="eval"), "eval", names, lambda value: value)
        except (MemoryError, NameError, ImportError):
            raise
        except BaseException as e:
            raise UnsupportedValue(f"the right value: {exception_name(e)}") from None


def _option(name: Any) -> int:
    return _OPTIONS.get(name, 0) or (int(name) if str(name).isdigit() else 0)


def _run(tree: Any, mode: str, names: Namespace, awaited: Callable[[Any], Any]) -> Any:
    code = _compile(tree, "<example>", mode, flags=_PARSE_AWAIT, dont_inherit=True)
    value = _eval(code, names)
    return awaited(value) if code.co_flags & _IS_COROUTINE else value


def _verdict(right: bool, got: str) -> Said:
    if right:
        return Said("True")
    got = got.removesuffix("\n")
    return Said(f"Got({got if len(got) <= MAX_SHOWN else got[:MAX_SHOWN] + '…'!r})")


def _matches(want: str, got: str) -> bool:
    """Tell whether ``got`` is ``want`` with any text for each ``...``."""
    first, *middle, last = want.split("...")
    if not got.startswith(first) or not got.endswith(last) or len(first) + len(last) > len(got):
        return False
    at, end = len(first), len(got) - len(last)
    for part in middle:
        at = got.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


def equal(a: Any, b: Any) -> bool:
    """Tell whether two values read from texts are equal: a float within 1e-9 relative, dicts and sets in any order."""
    if isinstance(a, int | float) and isinstance(b, int | float):
        return _close(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and _each_has_one([*a], [*b])
    if isinstance(a, dict):
        return len(a) == len(b) and _each_has_one([*a.items()], [*b.items()])
    if isinstance(a, Instance):
        return a.type_name == b.type_name and equal(a.args, b.args) and equal(a.fields, b.fields)
    if isinstance(a, complex):
        return _close(a.real, b.real) and _close(a.imag, b.imag)
    return bool(a.text == b.text) if isinstance(a, Code) else bool(a == b)


def _close(a: float, b: float) -> bool:
    if a == b or (a != a and b != b):
        return True
    try:
        return float in (type(a), type(b)) and math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE)
    except OverflowError:  # an int beyond every float
        return False


def _each_has_one(left: list[Any], right: list[Any]) -> bool:
    for item in left:
        place = next((i for i, other in enumerate(right) if equal(item, other)), None)
        if place is None:
            return False
        del right[place]
    return True
