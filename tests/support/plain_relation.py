"""When two values of a task are right together, plainly and slowly: pair by pair, orders by trying them all."""

import itertools
import math
from fractions import Fraction
from typing import Any

from difftrust_core.base.task import Order, Relation


def plain_classes(values: list[Any], relation: Relation, equality: str) -> list[int]:
    """Return the classes of "linked by values that are equal in pairs", numbered by first appearance."""
    linked = {
        (i, j) for i, j in itertools.product(range(len(values)), repeat=2) if _equal(i, j, values, relation, equality)
    }
    while True:
        more = {(i, k) for i, j in linked for j2, k in linked if j == j2} - linked
        if not more:
            break
        linked |= more
    numbers: dict[int, int] = {}
    return [
        numbers.setdefault(min(j for j in range(len(values)) if (i, j) in linked), len(numbers))
        for i in range(len(values))
    ]


def _equal(i: int, j: int, values: list[Any], relation: Relation, equality: str) -> bool:
    return equal(values[i], values[j], relation, relation.equality or equality)


def equal(a: Any, b: Any, relation: Relation, equality: str) -> bool:
    """Tell whether two whole values are equal."""
    lists = isinstance(a, list | tuple) and isinstance(b, list | tuple)
    if relation.order == Order.KEPT or not lists:
        return _same(a, b, relation, equality)
    if equality == "strict" and type(a) is not type(b):
        return False
    a, b = list(a), list(b)
    if relation.order == Order.SET:
        a, b = _without_repeats(a, relation, equality), _without_repeats(b, relation, equality)
    return len(a) == len(b) and any(
        all(_same(x, y, relation, equality) for x, y in zip(a, order, strict=True))
        for order in itertools.permutations(b)
    )


def _without_repeats(items: list[Any], relation: Relation, equality: str) -> list[Any]:
    exactly = Relation(tokens=relation.tokens, atol=0.0, rtol=0.0)
    kept: list[Any] = []
    for item in items:
        if equality == "strict" and not _is_tolerant(relation):
            is_new = not any(_same(item, other, Relation(), "strict") for other in kept)
        else:
            is_new = not any(_same(item, other, exactly, equality, exact=True) for other in kept)
        kept += [item] if is_new else []
    return kept


def _is_tolerant(relation: Relation) -> bool:
    return bool(relation.atol or relation.rtol or relation.tokens)


def _same(a: Any, b: Any, relation: Relation, equality: str, exact: bool = False) -> bool:
    strict = equality == "strict"
    if _is_number(a, strict) and _is_number(b, strict):
        if exact or _is_tolerant(relation):
            return _near(a, b, relation.atol, relation.rtol)
        return (type(a) is type(b) and repr(a) == repr(b)) if strict else _near(a, b, 0, Fraction(1, 1000))
    if isinstance(a, str) and isinstance(b, str):
        return _same_words(a.split(), b.split(), relation) if relation.tokens else a == b
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        alike = len(a) == len(b) and (type(a) is type(b) or not strict)
        return alike and all(_same(x, y, relation, equality, exact) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key], relation, equality, exact) for key in a)
    return type(a) is type(b) and repr(a) == repr(b)


def _same_words(one: list[str], other: list[str], relation: Relation) -> bool:
    def same(a: str, b: str) -> bool:
        x, y = _number_of(a), _number_of(b)
        return a == b if x is None or y is None else _near(x, y, relation.atol, relation.rtol)

    return len(one) == len(other) and all(map(same, one, other))


def _number_of(word: str) -> Fraction | None:
    try:
        return Fraction(word) if set(word) <= set("0123456789.+-eE") else None
    except ValueError:
        return None


def _is_number(value: Any, strict: bool) -> bool:
    return isinstance(value, int | float) and not (strict and isinstance(value, bool))


def _near(a: Any, b: Any, atol: float, rtol: float | Fraction) -> bool:
    if any(isinstance(x, float) and not math.isfinite(x) for x in (a, b)):
        return repr(a) == repr(b)
    one, other = Fraction(a), Fraction(b)
    return abs(one - other) <= Fraction(atol) + Fraction(rtol) * max(abs(one), abs(other))
