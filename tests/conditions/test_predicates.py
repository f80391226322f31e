"""Predicates: a closed set of operations on literal values, never more; and likeness to the arguments of examples."""

import ast
from typing import Any

import pytest

from difftrust.conditions.likeness import are_like
from difftrust.conditions.predicates import Predicate, negated
from difftrust_core.base.literals import Instance, read_literal

HOSTILE = [
    "__import__('os').system('true')",
    "xs.__class__",
    "(lambda: 1)()",
    "[x for x in ().__class__.__bases__]",
    "open('/etc/passwd')",
    "xs.append(1)",
    "2 ** 2 ** 40 > 0",
    "'a' * 10 ** 12 == 'a'",
    "[0] * 10 ** 12 == xs",
    "all(1 for i in range(10 ** 12))",
    "sum(1 for a in range(10 ** 4) for b in range(10 ** 4)) > 0",
    "re.fullmatch('(a+)+b', 'a' * 50)",
    "'%1000000000d' % 1 == ''",
    "unknown > 1",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_outside_the_set_is_not_evaluated(text: str) -> None:
    assert Predicate(text=text).holds({"xs": [1]}) is None


HOLDS: list[tuple[str, dict[str, Any], bool | None]] = [
    ("0 <= n < len(xs)", {"n": 1, "xs": [1, 2]}, True),
    ("n is None or n > 0", {"n": None}, True),
    ("all((a < b for a, b in zip(xs, xs[1:])))", {"xs": [1, 3, 2]}, False),
    ("n > 0", {"n": "text"}, None),
    ("n > 0", {}, None),
    ("start <= end", {"start": read_literal("date(2020, 2, 1)"), "end": read_literal("date(2020, 1, 31)")}, False),
]


@pytest.mark.parametrize(("text", "values", "holds"), HOLDS)
def test_predicates_hold_on_values(text: str, values: dict[str, Any], holds: bool | None) -> None:
    assert Predicate(text=text).holds(values) is holds
    opposite = Predicate(text=ast.unparse(negated(Predicate(text=text).tree)))
    assert opposite.holds(values) is (None if holds is None else not holds)


def span(start: int, end: int) -> Instance:
    """Return an object with two fields."""
    return Instance("Span", (), {"start": start, "end": end})


LIKE: list[tuple[Any, list[Any], bool]] = [
    (6, [1, 5], False),
    (3.0, [1, 5], False),
    ("10:59", ["09:15", "00:59"], True),
    ("12-30", ["09:15"], False),
    ("VI", ["IX", "XII"], False),
    ("big dog", ["a cat", "the quick fox"], True),
    ("", ["ab"], False),
    ([1, 2, 4], [[1, 2, 5], [2, 4, 5]], True),
    ([2, 1, 4], [[1, 2, 5], [2, 4, 5]], False),
    ({"b": 1}, [{"a": 2}, {"a": 1}], False),
    ("3" * 5000, ["3" * 5000], True),
    ("10.0.0.200", ["10.0.0.255"], True),
    ("10.0.0.256", ["10.0.0.255"], False),
    ("10.0.0.020", ["10.0.0.255"], False),
    ([(1, 3), (4, 6)], [[(1, 3), (3, 6), (7, 9)], [(0, 9), (9, 10)]], True),
    ([(1, 3), (2, 6)], [[(1, 3), (3, 6), (7, 9)], [(0, 9), (9, 10)]], False),
    ([span(1, 3), span(6, 4)], [[span(1, 3), span(4, 6)]], False),
    (span(5, 2), [span(1, 5)], False),
    (span(2, 5), [span(1, 5), span(3, 6)], True),
    ({"a": None, "b": "a"}, [{"abc": None, "d": "abc", "e": "d"}, {"fg": None, "h": "fg"}], True),
    ({"a": ["b"], "b": []}, [{"a": ["b"], "b": []}], True),
    ({"a": ["b"], "b": ["a"]}, [{"a": ["b"], "b": ["a", "a"]}], True),
    ({"a": ["b"], "b": ["a"]}, [{"a": ["b"], "b": ["c"], "c": []}, {"a": ["b"], "b": []}], False),
    ([None, 4], [[4, None], [6, 5]], False),
    ({"a": None, "b": "c"}, [{"abc": None, "d": "abc", "e": "d"}, {"fg": None, "h": "fg"}], False),
]


@pytest.mark.parametrize(("value", "seen", "alike"), LIKE)
def test_values_are_like_those_of_examples(value: Any, seen: list[Any], alike: bool) -> None:
    assert are_like({"v": value}, [{"v": other} for other in seen], {"v"}) is alike


def test_arguments_keep_the_order_that_all_calls_have() -> None:
    calls = [{"a": 1, "b": 5}, {"a": 2, "b": 9}]
    assert are_like({"a": 1, "b": 5}, calls, {"a", "b"})
    assert not are_like({"a": 2, "b": 2}, [*calls, {"a": 1, "b": 2}], {"a", "b"})


@pytest.mark.parametrize(
    ("arguments", "alike"),
    [
        ({"xs": [2, 4, 6], "x": 4, "width": 3, "text": "a bcd"}, True),
        ({"xs": [2, 4, 6], "x": 5, "width": 3, "text": "a bcd"}, False),
        ({"xs": [2, 4, 6], "x": 4, "width": 2, "text": "a bcd"}, False),
    ],
)
def test_arguments_keep_to_each_other_as_in_all_calls(arguments: dict[str, Any], alike: bool) -> None:
    calls = [
        {"xs": [1, 2, 9], "x": 2, "width": 3, "text": "bcd a"},
        {"xs": [1, 5, 9], "x": 5, "width": 2, "text": "ab cd"},
    ]
    assert are_like(arguments, calls, {"xs", "x", "text"}) is alike
