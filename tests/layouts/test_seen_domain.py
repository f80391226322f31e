"""What the tests of a task say of its arguments."""

from typing import Any

import pytest

from difftrust.layouts.contests import seen_domain
from difftrust.types.domain import PythonDomain
from tests.support.tasks import small_task


def requires(names: str, *calls: tuple[Any, ...], said: str = "") -> tuple[str, list[str]]:
    found = seen_domain(names.split(), calls, said)
    return found.types, found.requires.split("\nand ")


def test_numbers_lists_texts_and_tables() -> None:
    types, rules = requires("n xs word", (3, [4, -2], "ab"), (1, [], "zzz"))
    assert types == "n: int, xs: list[int], word: str"
    assert rules == [
        "1 <= n <= 3",
        "0 <= len(xs) <= 2",
        "all(-2 <= a <= 4 for a in xs)",
        "2 <= len(word) <= 3",
        "set(word) <= set('abz')",
    ]
    # Six letters stand for all.
    _, rules = requires("word", ("abcdef",), ("A-1",))
    assert rules[1] == "set(word) <= set('-1Aabcdefghijklmnopqrstuvwxyz')"
    grids = [[[1, 0], [0, 1]], [[1], [1]], [[0, 0, 1], [1, 1, 1]], [[0], [1]], [[1, 1], [0, 0]]]
    types, rules = requires("grid", *[(grid,) for grid in grids])
    assert types == "grid: list[list[int]]"
    assert rules == [
        "2 <= len(grid) <= 2",
        "all(1 <= len(a) <= 3 and all(0 <= b <= 1 for b in a) for a in grid)",
        "len(set(map(len, grid))) <= 1",
    ]


def test_what_holds_in_every_test_unless_these_are_two_and_the_description_says_nothing() -> None:
    _, rules = requires(
        "xs ys k",
        *[([1, 2, 5], [3, 3, 3], 1), ([0, 4, 9], [1, 5, 2], 2), ([2, 3, 4, 8], [7, 7, 1, 0], 3)],
        *[([1, 2, 6], [3, 0, 3], 1), ([0, 4, 8], [1, 6, 2], 2)],
    )
    assert rules[-5:] == [
        "len(set(xs)) == len(xs)",
        "xs == sorted(xs)",
        "len(xs) == len(ys)",
        "k < len(xs)",
        "k < len(ys)",
    ]
    calls = [([1, 2, 5], 1), ([0, 4, 9], 2)]
    assert len(requires("xs k", *calls)[1]) == 3
    assert requires("xs k", *calls, said="The list is in non-decreasing order.")[1][3:] == ["xs == sorted(xs)"]
    assert requires("xs k", *calls, said="All numbers are distinct.")[1][3:] == ["len(set(xs)) == len(xs)"]


@pytest.mark.parametrize(
    "calls", [[], [(1, 2)], [(1,), ("a",)], [(None,)], [({"a": 1},)], [([1, "a"],)], [(True,), (1,)]]
)
def test_no_domain_where_the_types_differ(calls: list[tuple[Any, ...]]) -> None:
    assert seen_domain(["x"], calls) is None


def test_the_language_reads_it() -> None:
    domain = seen_domain(["xs", "k"], [([1, 2], 1), ([3], 0)])
    task = small_task("Solution.f", "(xs: List[int], k: int) -> int", seed_inputs=("([1, 2], 1)",), domain=domain)
    found = PythonDomain(task, domain)
    assert found.fits("([1, 2], 1)")
    assert not found.fits("([1, 'a'], 1)")
    names: dict[str, Any] = {}
    exec(found.predicate, names)
    assert names["inside"]([3, 1], 0)
    with pytest.raises(names["OutsideTheDomain"]):
        names["inside"]([], 0)
