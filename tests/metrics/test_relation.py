"""Classes under a task's relation: examples by hand, a slow version beside the fast one, and that they are classes."""

import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust_core.base.literals import write_literal
from difftrust_core.base.records import ACCEPTED, Kind, Outcome
from difftrust_core.base.task import Order, Relation
from difftrust_core.metrics.equality import EQUALITIES, Equality, classify
from difftrust_core.metrics.relation import Classes, within
from difftrust_core.sandbox.host import read_lines
from tests.support.plain_relation import plain_classes

PAPER, STRICT = EQUALITIES


def values(*texts: str) -> list[Outcome]:
    return [(Kind.VALUE, text) for text in texts]


def same(a: str, b: str, equality: Equality = PAPER, **relation: Any) -> bool:
    one, other = Classes(equality, Relation(**relation)).classify(values(a, b))
    return one == other


@pytest.mark.parametrize("equality", EQUALITIES)
def test_without_a_relation_the_classes_are_those_of_the_equality(equality: Equality) -> None:
    outcomes = [*values("1", "1.0", "[1]", "(1,)", "0.9999"), (Kind.EXCEPTION, "KeyError"), (Kind.TIMEOUT, "")]
    expected = classify(outcomes, equality=equality)
    assert Classes(equality).classify(outcomes) == expected
    assert Classes(equality, Relation()).classify(outcomes) == expected


ORDERS = [
    ("[1, 2, 2]", "[2, 1, 2]", Order.UNORDERED, True, True),
    ("[1, 2, 2]", "[2, 1]", Order.SET, True, True),
    ("[1, 2]", "(2, 1)", Order.UNORDERED, True, False),
    ("[2000, 1]", "[1.0, 1999]", Order.UNORDERED, True, False),
    ("[[1, 2], [3]]", "[[3], [1, 2]]", Order.UNORDERED, True, True),
    ("[[1, 2], [3]]", "[[3], [2, 1]]", Order.UNORDERED, False, False),
    ("[1, 2]", "{1, 2}", Order.UNORDERED, True, False),
    ("{'a': [1, 2]}", "{'a': [2, 1]}", Order.UNORDERED, False, False),
    ("Names([1, 2])", "[2, 1]", Order.UNORDERED, True, False),
    ("[Point(x=1), Point(x=2)]", "[Point(x=2), Point(x=1)]", Order.SET, True, True),
]


def test_orders() -> None:
    found = [
        (a, b, order, same(a, b, PAPER, order=order), same(a, b, STRICT, order=order)) for a, b, order, _, _ in ORDERS
    ]
    assert found == ORDERS


TOLERANCES = [
    ({"atol": 1e-6}, [("-1e-7", "1e-7")], [("-1e-6", "1e-6")]),
    ({"atol": 0.5}, [("1000", "1000.5")], []),
    ({"atol": 1.0}, [("nan", "nan "), (str(10**400), str(10**400 + 1))], []),
    ({"atol": 0.2}, [("[1.0, [2.0, 'x']]", "[1.1, [1.9, 'x']]"), ("{1.0, 5.0}", "{5.1, 1.1}")], []),
    ({"atol": 0.2}, [("complex(1.0, 2.0)", "complex(1.1, 1.9)"), ("P(x=1.0)", "P(x=1.1)")], []),
    ({"atol": 5.0}, [], [("date(2020, 1, 1)", "date(2020, 1, 2)")]),
    ({"rtol": 0.001}, [("1000", "999")], []),
    ({"rtol": 2.0}, [], [("1", "-1"), ("inf", "1e308")]),
    ({"rtol": 0.001, "atol": 1.0}, [("1000", "998")], []),
    ({"atol": 0.1, "order": Order.UNORDERED}, [("[2.0, 1.0]", "[1.05, 2.05]")], []),
    ({"tokens": True}, [("'1.00 2\\nx'", "'1 2.0 x'"), ("'1e3 .5 +7'", "'1000 0.50 7.'")], [("'5'", "5")]),
    ({"tokens": True, "atol": 0.001}, [("'0.333'", "'0.3333'")], []),
    ({"tokens": True, "atol": 1.0}, [], [("'1e999999999'", "'1e999999998'"), ("'nan'", "'inf'")]),
]
"""A relation, pairs that are equal under it, and pairs that are not."""


@pytest.mark.parametrize(("relation", "equal", "unequal"), TOLERANCES)
@pytest.mark.parametrize("equality", EQUALITIES)
def test_tolerances(
    relation: dict[str, Any], equal: list[tuple[str, str]], unequal: list[tuple[str, str]], equality: Equality
) -> None:
    assert [pair for pair in equal if not same(*pair, equality, **relation)] == []
    assert [pair for pair in unequal if same(*pair, equality, **relation)] == []


def test_what_is_linked_through_others_is_one_class() -> None:
    classes = Classes(STRICT, Relation(atol=1.0))
    assert classes.classify(values("[0, 0]", "[1, 1]", "[2, 0]", "[9, 0]")) == [0, 0, 0, 1]
    assert classes.classify(values("[0, 0]", "[0.1, 9]", "[0.2, 0]")) == [0, 1, 0]  # the one between them is no link


def test_normal_forms_replace_values_before_these_are_compared() -> None:
    classes = Classes(STRICT, Relation(normal="..."))
    outcomes = [*values("[2, 1]", "[1, 2]", "'x'", "[1, 2] "), (Kind.EXCEPTION, "KeyError")]
    assert classes.classify(outcomes, ["[1, 2]", "[1, 2]", "'y'", None, None]) == [0, 0, 1, 2, 3]
    # They come before orders and tolerances.
    classes = Classes(PAPER, Relation(normal="...", order=Order.UNORDERED, atol=0.1))
    assert classes.classify(values("'a'", "'b'"), ["[1.0, 2.0]", "[2.0, 1.05]"]) == [0, 0]


def test_accepted_values_are_one_class() -> None:
    classes = Classes(PAPER, Relation(accept="..."))
    outcomes = [*values("[3]", "1", "1.0001", "[4]"), (Kind.EXCEPTION, "KeyError"), ACCEPTED, (Kind.TIMEOUT, "")]
    assert classes.classify(outcomes, [True, False, False, True, False, True, False]) == [0, 1, 1, 0, 2, 0, 3]
    assert classes.classify([ACCEPTED, *values("1")], [False, True]) == [0, 0]
    assert classes.classify(values("1000", "1000.5"), [True, False]) == [0, 1]  # near, and only one of them is right


def test_no_reply_may_say_accepted() -> None:
    assert read_lines(b"V1\nV'<accepted>'\n", [], 2) == ["V1", "V'<accepted>'"]
    for reply in (b"V<accepted>\n", b"V1\nV<accepted>\nV2\n"):
        with pytest.raises(ValueError, match="not a program's to say"):
            read_lines(reply, [], 3)


def test_lines_are_counted_before_there_is_a_text_for_each() -> None:
    reply = b"\n" * (30 << 20)
    tracemalloc.start()
    with pytest.raises(ValueError, match="more lines than inputs"):
        read_lines(reply, [], 549)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    with pytest.raises(ValueError, match="more lines than inputs"):
        read_lines(b"V1\nV2\n", [], 1)


def test_a_tolerance_is_monotone() -> None:
    near = within(0.1, 5.0)  # a share above 1 counts as 1
    assert near(1, 10**9)
    assert near(0, 7)
    assert not near(-1, 1)


NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from(
        [0.0, 0.5, 1.0, 1.0004, 1.001, 1.5, -1.0, -0.4, 2.5, 1000, 1000.9, 1001.8, float("nan"), float("inf")]
    ),
    st.booleans(),
)
TEXTS = st.sampled_from(["", "a", "1 2", "1.0 2", " 1  2.5 ", "1.4 2", "x 1", "-1 2"])
SCALARS = st.one_of(NUMBERS, TEXTS, st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    ),
    max_leaves=5,
)
RELATIONS = st.builds(
    Relation,
    equality=st.sampled_from(["", "paper", "strict"]),
    atol=st.sampled_from([0.0, 0.5, 1.0]),
    rtol=st.sampled_from([0.0, 0.001, 0.5]),
    tokens=st.booleans(),
)
ORDERED = st.builds(
    Relation,
    order=st.sampled_from([Order.UNORDERED, Order.SET]),
    atol=st.sampled_from([0.0, 0.5]),
    rtol=st.sampled_from([0.0, 0.001]),
    tokens=st.booleans(),
)
FLAT = st.one_of(st.lists(SCALARS, max_size=4), st.lists(SCALARS, max_size=4).map(tuple), SCALARS)


def of_texts(found: list[Any]) -> list[Outcome]:
    return [(Kind.VALUE, write_literal(value)) for value in found]


@settings(max_examples=400, deadline=None)
@given(
    st.tuples(st.lists(VALUES, max_size=7), RELATIONS) | st.tuples(st.lists(FLAT, max_size=6), ORDERED),
    st.sampled_from(EQUALITIES),
)
def test_the_classes_are_those_of_the_plain_version(drawn: tuple[list[Any], Relation], equality: Equality) -> None:
    found, relation = drawn
    assert Classes(equality, relation).classify(of_texts(found)) == plain_classes(found, relation, equality)


@settings(deadline=None)
@given(st.lists(VALUES, max_size=7), st.one_of(RELATIONS, ORDERED), st.sampled_from(EQUALITIES), st.randoms())
def test_neither_order_nor_what_was_seen_before_matters(
    found: list[Any], relation: Relation, equality: Equality, draws: Any
) -> None:
    outcomes = of_texts(found)
    places = list(range(len(outcomes)))
    draws.shuffle(places)
    classes = Classes(equality, relation)
    labels = classes.classify(outcomes)
    shuffled = classes.classify([outcomes[place] for place in places])
    pairs = {(labels[place], label) for place, label in zip(places, shuffled, strict=True)}
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    assert [*dict.fromkeys(labels)] == sorted(set(labels))  # 0, 1, ... by first appearance
