"""Witness inputs of Python tasks: seeds first and as they are, types kept, constants found, hostile texts harmless."""

import random
from typing import Any

import pytest

from difftrust_core.base.literals import read_literal, write_literal
from difftrust_core.base.records import Origin, Witness
from difftrust_core.languages.python.witnesses import MAX_ARGUMENTS, mine_constants, seek_witnesses

Arguments = tuple[Any, ...]
SEEDS: list[list[Arguments]] = [
    [(3,), (-20,)],
    [([3, 1, 4, 1, 5], 2), ([], 7)],
    [("hello world",)],
    [(["ab", "c"], {"x": 1, "y": 2}, {1.5, 2.5}, True)],
    [([(1, "a"), (2, "b")],), ((1, 2, 3),)],
    [(b"raw", None, 2.5, frozenset({1}))],
]
PROGRAM = '''
LIMIT = {"a": 1, "b": 2}

def f(x):
    """Docstrings such as 'left out' and 4242 are no constants."""
    if x == 7919 or x > 31.5 or "needle" in x:
        return [2, 7, 1]
    return {(9, 9): b"raw"}[x], {8, 6}
'''


def witnesses(seeds: list[Arguments], *programs: str, key: int = 0) -> list[Witness]:
    return list(seek_witnesses(seeds, programs, key=key))


def texts(seeds: list[Arguments], *programs: str, key: int = 0) -> list[str]:
    return [witness.arguments for witness in witnesses(seeds, *programs, key=key)]


def types_in(value: Any) -> set[tuple[str, ...]]:
    """Return the types on the way to each node: ("list", "tuple", "int")."""
    own = type(value).__name__
    parts = [*value, *value.values()] if type(value) is dict else value
    below = [types_in(part) for part in parts] if isinstance(parts, list | tuple | set | frozenset) else []
    return {(own,)} | {(own, *path) for paths in below for path in paths}


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_seeds_come_first_as_they_are_and_every_change_keeps_the_types(seeds: list[Arguments]) -> None:
    found = witnesses(seeds, PROGRAM)
    assert [w.arguments for w in found[: len(seeds)]] == [write_literal(seed) for seed in seeds]
    assert [w.origin for w in found[: len(seeds)]] == [Origin.SEED] * len(seeds)
    allowed = [set().union(*(types_in(seed[i]) for seed in seeds if i < len(seed))) for i in range(len(seeds[0]))]
    for witness in found:
        values = read_literal(witness.arguments)
        assert len(values) in {len(seed) for seed in seeds}
        for value, known in zip(values, allowed, strict=True):
            assert types_in(value) <= known
    assert {w.origin for w in found} >= {Origin.SEED, Origin.CONSTANT, Origin.BOUNDARY}
    assert len({w.arguments for w in found}) == len(found)


def test_constants_of_programs_and_their_neighbours_stand_for_values_of_their_type() -> None:
    assert mine_constants([PROGRAM]).numbers == (1, 2, 31.5, 6, 7, 7919, 8, 9)
    assert mine_constants([PROGRAM]).texts == ("a", "b", "needle", b"raw")
    assert set(map(write_literal, mine_constants([PROGRAM]).containers)) >= {"[2, 7, 1]", "(9, 9)", "{6, 8}"}
    ints = texts([(3,)], PROGRAM)
    assert {f"({c},)" for c in (7919, 7920, 7918, -7919, 31, 32, 30, -31)} <= set(ints)
    floats = texts([(3.0,)], PROGRAM)
    assert {f"({c},)" for c in (31.5, 32.5, 30.5, -31.5, 7919.0)} <= set(floats)
    words = texts([("hello",)], PROGRAM)
    assert "('needle',)" in words
    assert any("needle" in text and len(text) == len("('helloneedle',)") for text in words)
    lists = texts([([3, 5],)], PROGRAM)
    assert {"([2, 7, 1],)", "([6, 8],)", "([9, 9],)"} <= set(lists)
    assert "([3, 5, 3, 5, 3, 5, 3],)" in lists  # seven long, as 7 is a constant
    assert any("7919" in text for text in lists)


def test_shapes_by_hand() -> None:
    shapes = {w.arguments for w in witnesses([([3, 1, 1, 2],)]) if w.origin is Origin.SHAPE}
    assert shapes == {
        "([],)",
        "([3],)",
        "([2],)",
        "([3, 1, 1, 2, 3, 1, 1, 2],)",
        "([3, 3, 3, 3],)",
        "([1, 1, 2, 3],)",
        "([3, 2, 1, 1],)",
        "([2, 1, 1, 3],)",
    }
    equal = {w.arguments for w in witnesses([(1, 2, "a")]) if w.origin is Origin.SHAPE}
    assert equal >= {"(1, 1, 'a')", "(2, 2, 'a')"}
    pairs = {w.arguments for w in witnesses([([(1, "a")],)]) if w.origin is Origin.SHAPE}
    assert "([(1,)],)" not in pairs  # a tuple within a list is a record


def test_the_order_depends_on_the_key_and_the_constants_alone() -> None:
    programs = [PROGRAM, "def f(x):\n    return x + 99\n"]
    once = texts([([3, 1],)], *programs, key=5)
    assert texts([([3, 1],)], *programs[::-1], key=5) == once
    random.seed(1)
    assert texts([([3, 1],)], *programs, programs[0], key=5) == once
    assert texts([([3, 1],)], *programs, key=6) != once


HOSTILE = {
    "no python": "def f(x:\n",
    "a null byte": "x = 1\0",
    "a surrogate": "x = '\ud800'",
    "deep nesting": "x = " + "[" * 5000 + "]" * 5000,
    "many minuses": "x = " + "-" * 20_000 + "1",
    "many sums": "x = " + "+".join(["1"] * 20_000),
    "long attribute": "x" + ".y" * 20_000,
    "a huge number": "x = 1" + "0" * 4000,
    "a huge hexadecimal": "x = 0x" + "f" * 100_000,
    "beyond floats": "x = 1e999 + 1e300j",
    "a long text": f"x = {'a' * 500_000!r}",
    "a long list": f"x = {list(range(100_000))}",
    "too long": "x = 1\n" * 300_000,
    "not of literals": "x = [open('/etc/passwd'), *y, {**z}, {[]: 1}]",
    "runs nothing": "raise SystemExit",
}


@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_parsed_at_most(program: str) -> None:
    found = witnesses([([3, 1], "ab")], program, PROGRAM)
    assert any("7919" in witness.arguments for witness in found)
    assert max(len(witness.arguments) for witness in found) <= MAX_ARGUMENTS
    assert len(found) < 2000
    for witness in found:
        assert write_literal(read_literal(witness.arguments)) == witness.arguments
        witness.arguments.encode()


def test_large_numbers_come_last_and_seeds_may_be_long() -> None:
    long = (list(range(10_000)),)
    found = texts([(3,), (5,)], "def f(x):\n    return x % 1000000007 == 12\n")
    assert found.index("(1000000007,)") > max(found.index(f"({c},)") for c in (12, 0, 1000))
    assert texts([long])[0] == write_literal(long)
    assert list(seek_witnesses([], [PROGRAM], key=0)) == []
