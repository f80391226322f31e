"""Shrinking: it ends, what is left is minimal by the fuzzer's own mutations, and what it says of itself is true."""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust.search.shrink import moved_together, shrink, shrink_shown
from difftrust_core.base.literals import read_literal, write_literal
from difftrust_core.languages.python.fuzz import mutate_node, size_of
from difftrust_core.languages.python.simpler import neighbours, simplicity
from tests.test_types import types_of

VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-50, 50), st.floats(width=16), st.text(max_size=4), st.binary(max_size=3)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.integers(-2, 2), st.text(max_size=2)), inner, max_size=3),
        st.sets(st.integers(-3, 3), max_size=3),
    ),
    max_leaves=5,
)


def everything(text: str) -> bool:
    return True


def shown_by(test: Callable[..., bool]) -> Callable[[Any], list[bool | None]]:
    return lambda texts: [test(*read_literal(text)) for text in texts]


@settings(deadline=None, max_examples=20, derandomize=True)
@given(VALUES)
def test_neighbours_are_simpler_and_every_value_stays_readable(value: Any) -> None:
    for made in neighbours((value,)):
        assert simplicity(made) < simplicity((value,))
        assert write_literal(read_literal(write_literal(made))) == write_literal(made)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(VALUES, st.integers(0, 2**32))
def test_whatever_one_mutation_makes_simpler_is_among_the_neighbours(value: Any, seed: int) -> None:
    """The fuzzer's own mutations, floats aside, of which there are endlessly many."""
    generator = random.Random(seed)
    known = {write_literal(made) for made in neighbours((value,))}
    for _ in range(40):
        mutant = mutate_node(value, generator.randrange(size_of(value)), generator)
        if simplicity(mutant) < simplicity(value) and not changes_a_float(value, mutant):
            assert write_literal((mutant,)) in known


def changes_a_float(one: Any, other: Any) -> bool:
    def floats(value: Any) -> list[str]:
        if type(value) is float:
            return [repr(value)]
        if type(value) is dict:
            return [f for item in value.items() for part in item for f in floats(part)]
        return [f for part in value for f in floats(part)] if type(value) in (list, tuple, set) else []

    return bool(set(floats(other)) - set(floats(one)))


CASES = [
    ("long-list", "([5, -7, 30, 99, 2, 8, 41, 6],)", lambda xs: sum(xs) > 60, "([61],)"),
    ("large-int", "(123456,)", lambda x: x >= 1000, "(1000,)"),
    ("negative", "(-77, 3)", lambda x, y: x * y < 0, "(-1, 1)"),
    ("text", "('the quick brown fox  jumps',)", lambda s: "  " in s, "('  ',)"),
    ("letters", "('xZqR',)", lambda s: s != s.lower(), "('A',)"),
    ("float", "(17.375,)", lambda x: x != int(x), "(0.1,)"),
    ("nested", "({'k': [1, (2, 3)], 'other': []},)", lambda d: any(d.values()), "({'': [0]},)"),
    ("set", "({5, 9, -3},)", lambda s: len(s) > 1, "({0, 1},)"),
    ("duplicate-keys", "({'a': 5, 'b': 7},)", lambda d: 7 in d.values(), "({'': 7},)"),
    ("none", "(None, 0)", lambda a, b: True, "(None, 0)"),
    ("date", "(date(2024, 5, 6),)", lambda day: len(getattr(day, "args", ())) == 3, "(date(2000, 1, 1),)"),
    ("moments", "(datetime(2024, 5, 6, 7, 8, 9, 10), time(7, 8, 9, 10))",
     lambda day, hour: [len(getattr(moment, "args", ())) for moment in (day, hour)] == [7, 4],
     "(datetime(2000, 1, 1, 0, 0, 0, 0), time(0, 0, 0, 0))"),
]  # fmt: skip


@pytest.mark.parametrize(("start", "test", "end"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_to_a_known_end(start: str, test: Callable[..., bool], end: str) -> None:
    found = shrink(start, shown_by(test), neighbours, accepts=everything)
    assert found.minimal
    assert found.arguments == end


def test_what_is_not_accepted_is_never_tried() -> None:
    asked: list[str] = []

    def shows(texts: Any) -> list[bool | None]:
        asked.extend(texts)
        return [True] * len(texts)

    def even(text: str) -> bool:
        return read_literal(text)[0] % 2 == 0

    assert shrink("(40,)", shows, neighbours, accepts=even).arguments == "(0,)"
    assert asked
    assert all(map(even, asked))
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("(50000, 50007)", "(0, 7)"),
        ("(-900.5, -893.5)", "(0.0, 7.0)"),
        ("(date(700, 6, 9), date(707, 6, 9))", "(date(2000, 1, 1), date(2007, 1, 1))"),
    ],
)
def test_what_a_condition_ties_goes_down_together(start: str, end: str) -> None:
    asked: list[Any] = []

    def first(value: Any) -> float:
        parts = getattr(value, "args", (value, 1, 1))
        return parts[0] if len(parts) == 3 and type(parts[0]) in (int, float) else math.nan

    def shows(texts: Any) -> list[bool | None]:
        asked.append(texts)
        return [first(b) - first(a) == 7 for a, b in map(read_literal, texts)]

    found = shrink_shown([start], shows, neighbours, accepts=everything)
    assert found is not None
    assert (found.arguments, len(asked) < 40) == (end, True)


@pytest.mark.parametrize(
    ("start", "moved"),
    [
        ("(5, 'x', 8, 'y')", ["(0, 'x', 3, 'y')", "(-3, 'x', 0, 'y')"]),
        ("(2, 1, 1.5)", ["(0, -1, 1.5)", "(1, 0, 1.5)"]),
        ("(time(3), time(1, 4))", ["(time(0), time(-2, 4))", "(time(2), time(0, 4))"]),
        (
            "(date(2003, 2, 1), date(2003, 5, 1))",
            ["(date(2000, 2, 1), date(2000, 5, 1))"] * 2
            + ["(date(2003, 1, 1), date(2003, 4, 1))", "(date(2003, -2, 1), date(2003, 1, 1))"]
            + ["(date(2003, 2, 1), date(2003, 5, 1))"] * 2,
        ),
    ],
)
def test_two_values_of_one_kind_move_alike(start: str, moved: list[str]) -> None:
    assert list(map(write_literal, moved_together(read_literal(start)))) == moved


def test_a_value_becomes_simpler_wherever_it_stands() -> None:
    made = set(map(write_literal, moved_together((["ab", {"ab": 7}], "x", 7))))
    assert {"(['', {'': 7}], 'x', 7)", "(['b', {'b': 7}], 'x', 7)", "(['ab', {'ab': 0}], 'x', 0)"} <= made
    assert not [text for text in made if "'x'" not in text]
    thrice = set(map(write_literal, moved_together(([3, 3, 3],))))
    assert {"([0, 0, 0],)", "([0, 3, 0],)", "([3, 2, 2],)"} <= thrice


@pytest.mark.parametrize("steps", [{True}, {False}, {True, False}])
def test_every_step_down_is_tried_large_or_small(steps: set[bool]) -> None:
    def around(arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
        if coarse in steps and arguments[0] > 1:
            yield (arguments[0] - 4,)

    found = shrink("(9,)", lambda texts: [True for _ in texts], around, accepts=everything)
    assert (found.arguments, found.minimal) == ("(1,)", True)


@pytest.mark.parametrize(("most", "is_minimal"), [(3, False), (4, True)])
def test_an_input_with_as_many_neighbours_as_may_be_tried_is_not_called_minimal(most: int, is_minimal: bool) -> None:
    def around(arguments: tuple[Any, ...], *, coarse: bool = False) -> Iterator[tuple[Any, ...]]:
        yield from ((n,) for n in (3, 2, 1, 0))  # none is a neighbour of itself

    found = shrink("(3,)", lambda texts: [False for _ in texts], around, accepts=everything, max_tried=most)
    assert (found.arguments, found.minimal) == ("(3,)", is_minimal)


def test_a_budget_ends_it_unproven() -> None:
    asked: list[str] = []

    def shows(texts: Any) -> list[bool | None]:
        asked.extend(texts)
        return [len(read_literal(text)[0]) >= 90 for text in texts]

    found = shrink(write_literal(("abcdefghij" * 10,)), shows, neighbours, accepts=everything, max_tried=60)
    assert not found.minimal
    assert len(asked) <= 60
    assert len(read_literal(found.arguments)[0]) >= 90


@pytest.mark.parametrize(("answer", "is_minimal"), [(None, False), (False, True)])
def test_an_answer_that_is_missing_leaves_it_unproven(answer: bool | None, is_minimal: bool) -> None:
    def shows(texts: Any) -> list[bool | None]:
        return [answer if text == "(1,)" else False for text in texts]

    found = shrink("(3,)", shows, neighbours, accepts=everything)
    assert (found.arguments, found.minimal) == ("(3,)", is_minimal)


def test_the_order_of_simplicity() -> None:
    ordered = ["(0,)", "(1,)", "(-1,)", "(2,)", "(11,)", "(0.5,)", "(1.5,)", "(0.25,)", "('a',)", "('b',)", "('A',)"]
    ordered += ["(' ',)", "('!',)", "('\\x00',)", "('aa',)", "(['aa'],)"]
    keys = [simplicity(read_literal(text)) for text in ordered]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("parameters", "start", "part", "smallest"),
    [
        ("a: date", "(date(2027, 11, 10),)", "202", "(date(2020, 1, 1),)"),
        ("a: Decimal", "(Decimal('-2.98'),)", "-", "(Decimal('-1'),)"),
        ("a: Tree", "(Tree(8, Tree(7, None, Tree(-8)), Tree(-5, right=None)),)", "-", "(Tree(-1),)"),
        ("a: Order", "(Order([Line('ab', 3), Line('c')], Color.GREEN, note='n'),)", "Line", "(Order([Line('')]),)"),
        ("a: pd.DataFrame", "(pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']}),)", "y", "(pd.DataFrame({'b': ['y']}),)"),
        ("a: np.ndarray", "(np.array([[1, 2], [3, -4]], dtype='int64'),)", "-", "(np.array([[-1]]),)"),
        ("a: Optional[Tree]", "(Tree(1),)", "", "(None,)"),
    ],
)
def test_calls_are_shrunk_by_their_types(parameters: str, start: str, part: str, smallest: str) -> None:
    types = types_of(parameters)
    shrunk = shrink(start, lambda texts: [part in text for text in texts], neighbours, accepts=types.accepts)
    assert (shrunk.arguments, shrunk.minimal) == (smallest, True)
