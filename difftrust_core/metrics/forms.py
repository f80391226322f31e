"""Take values apart for comparison: one reader of their texts, for the rules of `equality`, `by_value`, `relation`.

The *form* of a value is its skeleton (its text with every number replaced by a mark) and the numbers in order. Values
with different skeletons differ; those with one skeleton are equal where their numbers are near each other, one by one.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from difftrust_core.base.literals import BadText, Instance, read_literal, write_literal
from difftrust_core.base.standard_types import STORED, names_of

Skeleton = str | tuple[int, str]
Part = tuple[str, tuple[Any, ...]]
"""The form of a part of a value: skeleton and numbers."""
Form = tuple[Skeleton, tuple[Any, ...]]
DIGEST = re.compile(r"#[0-9a-f]{32}\Z")
# What JSON reads exactly as Python does: lists, numbers and plain strings. Its reader is ten times faster.
_JSON_ALIKE = re.compile(r"""(?=[\[\d'-])(?:[\[\]\d, .e+-]|'[^'"\\]*')*""", re.ASCII)
_REFUSED = -1
EXACT: Final = STORED | {"slice"}
"""Exact by nature: with 0.1 % on their parts, 2025-01-01 would equal 2026-01-01."""
NOT_SUBCLASSES: Final = names_of("span", "number") | STORED
"""Written like subclasses of builtins, ``Name(content)``, but not equal to their content."""
_BUILTINS = frozenset((dict, list, tuple, set, frozenset, int, float, complex, str, bytes, bytearray))
_OPENINGS: Final[Mapping[type, str]] = {list: "[", tuple: "[", set: "<", frozenset: "<", bytes: "", bytearray: ""}


class Rule:
    """How PAPER takes values apart; the other rules say what differs from it.

    A list equals a tuple, a set a frozenset, a subclass of a builtin its content. A number's mark is its sign, and its
    number its magnitude; zero, NaN and the infinities equal only themselves, so they stay in the skeleton.
    """

    openings: Mapping[type, str] = _OPENINGS
    """How the form of a container begins; of one that is not here, with its type's name."""

    def number(self, value: int | float) -> Part:
        """Return the form of a whole number, a float or a truth value."""
        if value == 0:
            return ("0", ())
        if isinstance(value, float) and not math.isfinite(value):
            return (repr(value), ())
        return ("+" if value > 0 else "-", (abs(value),))

    def form(self, value: Any) -> Part:
        """Return the form of a value."""
        kind = type(value)
        if kind in (int, float, bool):
            return self.number(value)
        if kind is str:
            return self.text(value)
        if kind is Instance:
            return self.instance(value)
        opening = self.openings.get(kind, f"{kind.__name__}[")
        if kind in (list, tuple):
            return joined(opening, map(self.form, value), "]")
        if kind in (set, frozenset):
            return joined(opening, self.sorted(map(self.form, value)), ">")
        if kind is dict:
            return joined("{", self.sorted(joined("", map(self.form, entry), "") for entry in value.items()), "}")
        if kind is complex:
            return self.complex(value)
        return (opening + repr(bytes(value)) if kind in (bytes, bytearray) else repr(value), ())

    def sorted(self, parts: Iterable[Part]) -> list[Part]:
        """Return the forms of what has no order, in an order."""
        return sorted(parts)

    def text(self, value: str) -> Part:
        """Return the form of a text."""
        return (repr(value), ())

    def complex(self, value: complex) -> Part:
        """Return the form of a complex number, that of its real part where it has no other."""
        parts = (self.number(value.real), self.number(value.imag))
        return joined("complex(", parts, ")") if value.imag else parts[0]

    def instance(self, value: Instance) -> Part:
        """Return the form of a value that is written as a call."""
        if value.type_name in EXACT:
            return (write_literal(value), ())
        return self.form(value.args[0]) if is_subclass(value) else self.object(value)

    def object(self, value: Instance) -> Part:
        """Return the form of an object: its type's name, content and fields."""
        parts = [self.form(arg) for arg in value.args]
        parts += [self.field(name, value.fields[name]) for name in sorted(value.fields)]
        return joined(f"{value.type_name}(", parts, ")")

    def field(self, name: str, content: Any) -> Part:
        """Return the form of a field of such a value."""
        return joined(f"{name}=", [self.form(content)], "")


def is_subclass(value: Instance) -> bool:
    """Tell whether a value is an instance of a subclass of a builtin that is known by its content."""
    if len(value.args) != 1 or value.fields or value.type_name in NOT_SUBCLASSES:
        return False
    return type(value.args[0]) in _BUILTINS


def joined(opening: str, parts: Iterable[Part], closing: str) -> Part:
    """Return the form of a value that is made of parts."""
    forms = list(parts)
    skeleton = opening + ",".join([form[0] for form in forms]) + closing
    return (skeleton, tuple([number for form in forms for number in form[1]]))


class Forms(dict[str, Form]):
    """The forms of one task's value texts, found by text and made on first use, by ``form_of`` or as PAPER has them.

    It forgets everything once it holds more than ``max_characters`` of text, so its memory is bounded.
    """

    def __init__(self, form_of: Callable[[Any], Part] | None = None, *, max_characters: int = 4_000_000):
        super().__init__()
        self._form_of, self._max_characters = form_of or Rule().form, max_characters
        self._characters = 0

    def __missing__(self, text: str) -> Form:
        self._characters += len(text)
        if self._characters > self._max_characters:
            self.clear()
            self._characters = len(text)
        try:
            form: Form = self._form_of(_read(text))
        except Exception:  # BadText, or what a text does that was written to do it: it costs this outcome alone
            form = ((_REFUSED, text), ())
        self[text] = form
        return form


def _read(text: str) -> Any:
    if _JSON_ALIKE.fullmatch(text):
        try:
            return json.loads(text.replace("'", '"'))
        except (ValueError, RecursionError):
            pass
    if DIGEST.search(text):
        raise BadText("a digest")
    return read_literal(text)
