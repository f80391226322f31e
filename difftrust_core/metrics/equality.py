"""Decide when two outcomes are equal.

STRICT is Python equality with types. VALUE, for checks, is Python's ``==`` on what a caller sees, floats within a
tolerance (``by_value``). PAPER is the published comparison, repaired: numbers within 0.1 % are
equal, int, float and bool alike; list equals tuple; the rest is exact; compared recursively; and made an
equivalence relation by joining what is linked through other outcomes on the same input.

Values are taken apart by `forms`, which avoids most of the pair work.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from difftrust_core.base.records import EQUALITIES as EQUALITIES
from difftrust_core.base.records import Equality as Equality
from difftrust_core.base.records import Kind, Outcome
from difftrust_core.metrics import by_value
from difftrust_core.metrics.forms import Forms

TOLERANCE: Final = Fraction(1, 1000)
"""Under PAPER, numbers are equal if they differ by at most this share of the larger one."""
_LEAST, _WHOLE = (1 - TOLERANCE).as_integer_ratio()

Near = Callable[[Any, Any], bool]
"""Tells whether two numbers are equal; of three in order, the outer ones only if the inner one is equal to both."""

_VALUE = int(Kind.VALUE)
# Plain ints, because hashing an enum member takes longer than all the rest of a key.
_TEXT_COUNTS = frozenset((int(Kind.EXCEPTION), int(Kind.UNSUPPORTED)))
_TIMEOUTS = frozenset((int(Kind.TIMEOUT), int(Kind.SKIPPED)))


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


def classify_forms(
    outcomes: Sequence[tuple[Kind, str]], forms: Forms, near: Near | None = None, *, is_monotone: bool = True
) -> list[int]:
    """Return one class label per outcome: values are equal where they are linked by ``forms`` that are near.

    ``near``: of two numbers; by default within 0.1 %, of magnitudes. ``is_monotone``: it holds for the outer ones of
    three numbers in order only if it holds for the inner one and both.
    """
    keys = _keys(outcomes)
    if sum([type(key) is str for key in keys]) < 2:  # a lone value needs no parsing: it differs from all the rest
        return numbered(keys)
    parsed = [forms[key] if type(key) is str else (key, ()) for key in keys]
    labels = numbered([skeleton for skeleton, _ in parsed])
    if len(set(labels)) == len(labels):
        return labels
    members: dict[int, list[int]] = {}
    for position, label in enumerate(labels):
        members.setdefault(label, []).append(position)
    component, numbers = list(range(len(labels))), [numbers for _, numbers in parsed]
    for group in members.values():
        if len(group) > 1:
            _join_near(group, numbers, component, near=near or _near, is_monotone=is_monotone)
    return numbered(component)


class Comparison:
    """One rule for many inputs of a task: what was parsed for one is known for the next.

    ``tolerance``: of VALUE, the share of the larger by which two floats may differ.
    """

    def __init__(self, equality: Equality, *, tolerance: float = by_value.TOLERANCE):
        self.equality, self.tolerance = Equality(equality), tolerance
        self._forms = Forms(by_value.ByValue().form if self.equality is Equality.VALUE else None)

    def classify(self, outcomes: Sequence[Outcome]) -> list[int]:
        """Return one class label per outcome, as ``classify`` does: an equivalence relation under all three."""
        if self.equality is not Equality.VALUE:
            return classify(outcomes, equality=self.equality, forms=self._forms)
        near = partial(by_value.near, tolerance=self.tolerance)
        return classify_forms(outcomes, self._forms, near, is_monotone=False)

    def are_equal(self, one: Outcome, other: Outcome) -> bool:
        """Tell whether two outcomes are equal when they are compared with each other alone."""
        first, second = self.classify([one, other])
        return first == second


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


def _join_near(
    group: list[int], numbers: list[tuple[Any, ...]], component: list[int], *, near: Near, is_monotone: bool
) -> None:
    """Join, in ``component``, what is near each other in a group of one skeleton."""
    group.sort(key=numbers.__getitem__)
    for i, here in enumerate(group, 1):
        mine = numbers[here]
        for there in group[i:]:
            theirs = numbers[there]
            if mine and not near(mine[0], theirs[0]):
                if is_monotone:
                    break  # the first numbers only grow from here on
                continue
            if component[there] != component[here] and all(map(near, mine[1:], theirs[1:])):
                old, new = component[there], component[here]
                component[:] = [new if c == old else c for c in component]
            if is_monotone and len(mine) < 2:
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
