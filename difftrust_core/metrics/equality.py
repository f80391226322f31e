"""Decide when two outcomes are equal.

STRICT is Python equality with types. VALUE, for checks, is Python's ``==`` on what a caller sees, floats within a
tolerance (``by_value``). PAPER is the published comparison, repaired: numbers within 0.1 % are
equal, int, float and bool alike; list equals tuple; the rest is exact; compared recursively; and made an
equivalence relation by joining what is linked through other outcomes on the same input.

How PAPER avoids most of the pair work: the *form* of a value is its skeleton (its text with every number
replaced by a mark for the number's sign) and the numbers' magnitudes in order. NaN, zero and the infinities
equal only themselves, so they stay in the skeleton. Values with different skeletons differ; values with one
skeleton are equal when their magnitudes are near each other, one by one.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any, Final

from difftrust_core.base.literals import BadText, Instance, read_literal, write_literal
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.metrics import by_value


class Equality(StrEnum):
    """When two outcomes are equal."""

    PAPER = "paper"
    STRICT = "strict"
    VALUE = "value"


EQUALITIES: Final = (Equality.PAPER, Equality.STRICT)
"""Those of stores, for which every result is kept."""


TOLERANCE: Final = Fraction(1, 1000)
"""Under PAPER, numbers are equal if they differ by at most this share of the larger one."""
_LEAST, _WHOLE = (1 - TOLERANCE).as_integer_ratio()

Skeleton = str | tuple[int, str]
Magnitude = int | float | Fraction
Form = tuple[Skeleton, tuple[Magnitude, ...]]
Part = tuple[str, tuple[Magnitude, ...]]
Near = Callable[[Any, Any], bool]
"""Tells whether two numbers are equal; of three in order, the outer ones only if the inner one is equal to both."""

NOT_SUBCLASSES: Final = frozenset(
    ("iterator", "range", "slice", "Decimal", "Fraction", "deque", "array", "memoryview")
) | {"dict_keys", "dict_values", "dict_items"}
"""Written like subclasses of builtins, ``Name(content)``, but not equal to their content."""
EXACT: Final = frozenset(("range", "slice", "Decimal", "Fraction", "date", "datetime", "time", "timedelta"))
"""Exact by nature: with 0.1 % on their parts, 2025-01-01 would equal 2026-01-01."""

_BUILTINS = frozenset((dict, list, tuple, set, frozenset, int, float, complex, str, bytes, bytearray))
DIGEST = re.compile(r"#[0-9a-f]{32}\Z")
# What JSON reads exactly as Python does: lists, numbers and plain strings. Its reader is ten times faster.
_JSON_ALIKE = re.compile(r"""(?=[\[\d'-])(?:[\[\]\d, .e+-]|'[^'"\\]*')*""", re.ASCII)
_VALUE = int(Kind.VALUE)
# Plain ints, because hashing an enum member takes longer than all the rest of a key.
_TEXT_COUNTS = frozenset((int(Kind.EXCEPTION), int(Kind.UNSUPPORTED)))
_TIMEOUTS = frozenset((int(Kind.TIMEOUT), int(Kind.SKIPPED)))
_REFUSED = -1
_MAX_FORMS = 20_000


class Forms(dict[str, Form]):
    """The forms of one task's value texts, found by text and made on first use, by ``form_of`` or as PAPER has them.

    It forgets everything once it holds more than ``max_characters`` of text, so its memory is bounded.
    """

    def __init__(self, form_of: Callable[[Any], Part] | None = None, *, max_characters: int = 4_000_000):
        super().__init__()
        self._form_of, self._max_characters = form_of or paper_form, max_characters
        self._characters = 0

    def __missing__(self, text: str) -> Form:
        self._characters += len(text)
        if self._characters > self._max_characters:
            self.clear()
            self._characters = len(text)
        form = self[text] = _form_of_text(text, self._form_of)
        return form


def classify(outcomes: Sequence[tuple[Kind, str]], *, equality: Equality, forms: Forms | None = None) -> list[int]:
    """Return one class label per outcome; equal labels mean equal outcomes.

    ``outcomes``: the distinct outcomes seen on one input, as (kind, text). Labels are 0, 1, ... by first
    appearance, and an equivalence relation under both equalities: under PAPER the classes are the connected
    components of "within 0.1 %" among these outcomes. Exceptions are equal when their types are; a timeout
    equals a skipped call; memory, crash, load error and forged are one class each. A value whose text is
    a digest or no literal is equal to the same text only. Sets and dicts are sorted, then paired in order.

    ``forms``: what was parsed before; pass one per task, it makes PAPER fast. Raises ValueError for another
    equality. Source: §6 of Valentin et al. ("Equality of outcomes" in the measurement notes).
    """
    if equality not in EQUALITIES:
        raise ValueError(f"equality must be one of {', '.join(EQUALITIES)}, got {equality!r}; see Comparison")
    if len(outcomes) == 1:
        return [0]
    if equality == Equality.STRICT:
        return numbered(_keys(outcomes))
    return classify_forms(outcomes, Forms() if forms is None else forms)


def classify_forms(outcomes: Sequence[tuple[Kind, str]], forms: Forms, near: Near | None = None) -> list[int]:
    """Return one class label per outcome: values are equal where they are linked by ``forms`` that are near.

    ``near``: of two numbers; by default within 0.1 %, of magnitudes.
    """
    keys = _keys(outcomes)
    if sum([type(key) is str for key in keys]) < 2:  # a lone value needs no parsing: it differs from all the rest
        return numbered(keys)
    parsed = [forms[key] if type(key) is str else (key, ()) for key in keys]
    skeletons = [skeleton for skeleton, _ in parsed]
    labels = numbered(skeletons)
    if len(set(labels)) == len(labels):
        return labels
    return _split(labels, [numbers for _, numbers in parsed], partial(_join_near, near=near or _near))


class Comparison:
    """One rule for many inputs of a task: what was parsed for one is known for the next.

    ``tolerance``: of VALUE, the share of the larger by which two floats may differ.
    """

    def __init__(self, equality: Equality, *, tolerance: float = by_value.TOLERANCE):
        self.equality, self.tolerance = Equality(equality), tolerance
        self._forms = Forms()
        self._value_forms: dict[str, by_value.Form] = {}

    def classify(self, outcomes: Sequence[Outcome]) -> list[int]:
        """Return one class label per outcome, as ``classify`` does: an equivalence relation under all three."""
        if self.equality is not Equality.VALUE:
            return classify(outcomes, equality=self.equality, forms=self._forms)
        if len(outcomes) == 1:
            return [0]
        keys = _keys(outcomes)
        if sum([type(key) is str for key in keys]) < 2:
            return numbered(keys)
        parsed = [self._form(key) if isinstance(key, str) else (str(key), ()) for key in keys]
        skeletons = [(type(key) is str, form[0]) for key, form in zip(keys, parsed, strict=True)]
        return _split(numbered(skeletons), [form[1] for form in parsed], self._split_group)

    def are_equal(self, one: Outcome, other: Outcome) -> bool:
        """Tell whether two outcomes are equal when they are compared with each other alone."""
        first, second = self.classify([one, other])
        return first == second

    def _form(self, text: str) -> by_value.Form:
        if text not in self._value_forms:
            if len(self._value_forms) > _MAX_FORMS:
                self._value_forms.clear()
            self._value_forms[text] = by_value.value_form(text)
        return self._value_forms[text]

    def _split_group(self, group: list[int], numbers: list[Any], component: list[int]) -> None:
        for part in by_value.split_by_numbers(group, numbers, self.tolerance):
            for member in part:
                component[member] = part[0]


def _keys(outcomes: Sequence[tuple[Kind, str]]) -> list[Any]:
    """Return what each outcome is known by: a value's text; of others the kind, and what else of them counts."""
    return [text if kind == _VALUE else _other_key(kind, text) for kind, text in outcomes]


def _other_key(kind: int, text: str) -> tuple[int, str]:
    if kind in _TEXT_COUNTS:
        return (int(kind), text)
    return (int(Kind.TIMEOUT) if kind in _TIMEOUTS else int(kind), "")


def numbered(keys: Iterable[object]) -> list[int]:
    """Number the keys by first appearance."""
    first: dict[object, int] = {}
    return [first.setdefault(key, len(first)) for key in keys]


def _split(labels: list[int], numbers: list[Any], join: Callable[[list[int], list[Any], list[int]], None]) -> list[int]:
    """Split the classes of equal skeleton by their numbers; ``join`` names in ``component`` who belongs together."""
    members: dict[int, list[int]] = {}
    for position, label in enumerate(labels):
        members.setdefault(label, []).append(position)
    component = list(range(len(labels)))
    for group in members.values():
        if len(group) > 1:
            join(group, numbers, component)
    return numbered(component)


def _join_near(group: list[int], numbers: list[tuple[Any, ...]], component: list[int], *, near: Near) -> None:
    """Join, in ``component``, what is near each other in a group of one skeleton."""
    group.sort(key=numbers.__getitem__)
    for i, here in enumerate(group, 1):
        mine = numbers[here]
        for there in group[i:]:
            theirs = numbers[there]
            if mine and not near(mine[0], theirs[0]):
                break  # the first numbers only grow from here on
            if all(map(near, mine[1:], theirs[1:])):
                old, new = component[there], component[here]
                component[:] = [new if c == old else c for c in component]
            if len(mine) < 2:
                break  # on a line, links between neighbours make the same components


def _near(a: int | float, b: int | float) -> bool:
    """Tell whether two positive numbers satisfy |a - b| <= TOLERANCE max(a, b), in exact arithmetic."""
    if a > b:
        a, b = b, a
    if a + a < b:
        return False  # the usual case, cheaply; doubling is exact, or infinite and then not below b
    if type(a) is int and type(b) is int:
        return _LEAST * b <= _WHOLE * a
    (p, q), (r, s) = a.as_integer_ratio(), b.as_integer_ratio()
    return _LEAST * r * q <= _WHOLE * p * s


def _form_of_text(text: str, form_of: Callable[[Any], Part]) -> Form:
    try:
        return form_of(_read(text))
    except Exception:  # BadText, or what a text does that was written to do it: it costs this outcome alone
        return ((_REFUSED, text), ())


def _read(text: str) -> Any:
    if _JSON_ALIKE.fullmatch(text):
        try:
            return json.loads(text.replace("'", '"'))
        except (ValueError, RecursionError):
            pass
    if DIGEST.search(text):
        raise BadText("a digest")
    return read_literal(text)


def paper_form(value: Any) -> Part:
    """Return the form of a value under PAPER."""
    kind = type(value)
    if kind in (int, float, bool):
        return _number(value)
    if kind is str:
        return (repr(value), ())
    if kind in (list, tuple):
        return joined("[", map(paper_form, value), "]")
    if kind in (set, frozenset):
        return joined("<", sorted(map(paper_form, value)), ">")
    if kind is dict:
        return joined("{", sorted(joined("", map(paper_form, entry), "") for entry in value.items()), "}")
    if kind is complex:
        parts = (_number(value.real), _number(value.imag))
        return joined("complex(", parts, ")") if value.imag else parts[0]
    if kind is Instance:
        return _instance(value)
    return (repr(bytes(value) if kind is bytearray else value), ())


def _number(x: int | float) -> Part:
    if x == 0:
        return ("0", ())
    if isinstance(x, float) and not math.isfinite(x):
        return (repr(x), ())
    return ("+" if x > 0 else "-", (abs(x),))


def _instance(value: Instance) -> Part:
    name, args, fields = value.type_name, value.args, value.fields
    if name in EXACT:
        return (write_literal(value), ())
    if is_subclass(value):
        return paper_form(args[0])
    parts = [paper_form(arg) for arg in args]
    parts += [joined(f"{field}=", [paper_form(fields[field])], "") for field in sorted(fields)]
    return joined(f"{name}(", parts, ")")


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
