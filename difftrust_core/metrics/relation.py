"""Decide which outcomes of a task are right together: the classes of its relation, an equivalence relation always.

Without a relation they are those of the reader's equality (``equality``). A relation may fix the equality, take the
order of a list for nothing, compare numbers within a tolerance, texts word by word, or replace values by their normal
forms. Under a checker, ``accept``, all accepted values are one class. What is said to be equal may be linked through
other outcomes on the same input: classes are connected components.
"""

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from difftrust_core.base.literals import Instance, write_literal
from difftrust_core.base.records import ACCEPTED, Kind, Outcome
from difftrust_core.base.task import Order, Relation
from difftrust_core.metrics.equality import Equality, Near, classify, classify_forms, numbered
from difftrust_core.metrics.forms import EXACT, Forms, Part, Rule, is_subclass, joined

__all__ = ["ACCEPTED", "Classes", "Said", "has_checker"]

Said = bool | str | None
"""Of an outcome: whether the task's checker accepts it, or the text of its normal form; None: neither is known."""
_LISTS = (list, tuple)
_UNORDERED = (list, tuple, set, frozenset)
_NUMBER = re.compile(r"[+-]?(?:\d+(?P<rest>\.\d*)?|(?P<dot>\.\d+))(?P<exponent>[eE][+-]?\d{1,3})?", re.ASCII)
_MAX_DIGITS = 1_000
"""Of a word that is a number: longer ones are words like others."""


def has_checker(relation: Relation | None) -> bool:
    """Tell whether something of a relation runs in the sandbox: ``accept`` or ``normal``."""
    return relation is not None and bool(relation.accept or relation.normal)


class Classes:
    """The classes of one task's outcomes, under one equality and its relation.

    What was parsed for one input is known for the next. ``relation.equality`` overrides ``equality``; under a tolerance
    or ``tokens``, numbers are compared by ``relation`` alone, and ``equality`` says what else counts: types (STRICT),
    or not those of lists and tuples, subclasses and bools (PAPER).
    """

    def __init__(self, equality: Equality, relation: Relation | None = None):
        self._relation = relation = relation or Relation()
        self._equality = Equality(relation.equality or equality)
        is_tolerant = bool(relation.atol or relation.rtol or relation.tokens)
        self._has_own_forms = is_tolerant or relation.order != Order.KEPT
        is_strict = self._equality is Equality.STRICT
        form: Callable[[Any], Part] = _written if is_strict else Rule().form
        if is_tolerant:
            form = _Within(tokens=relation.tokens, is_strict=is_strict).form
        if relation.order != Order.KEPT:
            form = partial(_in_any_order, order=relation.order, form=form, is_strict=is_strict)
        self._forms = Forms(form)
        self._near = within(relation.atol, relation.rtol) if is_tolerant else None

    def classify(self, outcomes: Sequence[Outcome], said: Sequence[Said] = ()) -> list[int]:
        """Return one class label per outcome: 0, 1, ... by first appearance; equal labels mean right together.

        ``outcomes``: the distinct outcomes on one input. ``said``: what the checker or normal form says of each, where
        the relation has one (``execution.answers``). Accepted ones, and ACCEPTED itself, are one class; what is not
        accepted is compared by value, and so is what has no normal form, among others of its kind.
        """
        if not said:
            return self._by_value(outcomes)
        groups: dict[object, list[int]] = {}
        for place, (outcome, word) in enumerate(zip(outcomes, said, strict=True)):
            accepted = word is True or (bool(self._relation.accept) and outcome == ACCEPTED)
            groups.setdefault(ACCEPTED if accepted else type(word) is str, []).append(place)
        labels: list[object] = [ACCEPTED] * len(outcomes)
        for group, places in groups.items():
            if group is ACCEPTED:
                continue
            compared = [(Kind.VALUE, word) if isinstance(word := said[p], str) else outcomes[p] for p in places]
            for place, label in zip(places, self._by_value(compared), strict=True):
                labels[place] = (group, label)
        return numbered(labels)

    def _by_value(self, outcomes: Sequence[Outcome]) -> list[int]:
        if self._has_own_forms:
            return classify_forms(outcomes, self._forms, self._near)
        return classify(outcomes, equality=self._equality, forms=self._forms)


class _Within(Rule):
    """How values are taken apart whose numbers are compared within a tolerance: numbers are signed."""

    def __init__(self, *, tokens: bool, is_strict: bool):
        self._tokens, self._is_strict = tokens, is_strict
        if is_strict:
            self.openings = {}

    def number(self, value: float | Fraction) -> Part:
        if isinstance(value, float) and not math.isfinite(value):
            return (repr(value), ())
        return (repr(value), ()) if self._is_strict and type(value) is bool else ("#", (value,))

    def text(self, value: str) -> Part:
        return joined("text(", map(self._word, value.split()), ")") if self._tokens else (repr(value), ())

    def complex(self, value: complex) -> Part:
        parts = (self.number(value.real), self.number(value.imag))
        return joined("complex(", parts, ")") if value.imag or self._is_strict else parts[0]

    def instance(self, value: Instance) -> Part:
        if self._is_strict and value.type_name not in EXACT:
            return self.object(value)
        return super().instance(value)

    def _word(self, word: str) -> Part:
        found = _NUMBER.fullmatch(word) if len(word) <= _MAX_DIGITS else None
        if found is None:
            return (repr(word), ())
        is_whole = not (found["rest"] or found["dot"] or found["exponent"])
        return self.number(int(word) if is_whole else Fraction(Decimal(word)))


def _written(value: Any) -> Part:
    return (write_literal(value), ())


def _in_any_order(value: Any, order: str, form: Callable[[Any], Part], *, is_strict: bool) -> Part:
    """Return the form of a value in whose outermost list order does not count."""
    while not is_strict and type(value) is Instance and is_subclass(value):
        value = value.args[0]
    kind = type(value)
    if kind not in (_LISTS if is_strict else _UNORDERED):
        return form(value)
    parts = sorted(map(form, value))
    if order == Order.SET:
        parts = [part for i, part in enumerate(parts) if part != parts[i - 1] or not i]
    return joined(f"{kind.__name__}<" if is_strict else "<", parts, ">")


def within(atol: float, rtol: float) -> Near:
    """Return what tells whether two numbers satisfy |a - b| <= atol + rtol max(|a|, |b|), in exact arithmetic.

    An ``rtol`` above 1 counts as 1: all numbers of one sign are equal then.
    """
    absolute, share = Fraction(atol), min(Fraction(rtol), Fraction(1))

    def near(a: float | Fraction, b: float | Fraction) -> bool:
        if a == b:
            return True
        one, other = Fraction(a), Fraction(b)
        return abs(one - other) <= absolute + share * max(abs(one), abs(other))

    return near
