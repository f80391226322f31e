"""Fuzzed inputs: which mutations a value can meet, how often, and that nothing but (task, seed) decides them."""

import random
import re
import subprocess
import sys
from collections import Counter

import pytest

from difftrust_core.base.literals import Instance, read_literal, write_literal
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.languages.python import fuzz as inputs
from difftrust_core.languages.python.fuzz import (
    _mutate_argument,
    mutate_node,
    mutate_value,
    sample_input,
    size_of,
)

SEEDS = [
    (3, 1.5, "abc"),
    ([1, 2], {"a": (True, None)}, {1, 2, 3}),
    (Instance("Point", (), {"x": 1, "y": [2]}),),
    (frozenset({"p", "q"}), b"xy", {("k", 1): {"z", "y", "x"}}),
]


def sampled(n, *, seed=0, task_id="Toy/0", seeds=SEEDS):
    return [sample_input(task_id, seeds, seed=seed, position=i, attempt=0) for i in range(n)]


def test_the_first_inputs_are_the_same_however_many_are_drawn():
    assert sampled(40)[:10] == sampled(10)
    assert [sample_input("Toy/0", SEEDS, seed=0, position=i, attempt=0) for i in (7, 3)] == [
        sampled(8)[7],
        sampled(8)[3],
    ]


def test_task_seed_position_and_attempt_all_matter():
    assert sampled(20, seed=1) != sampled(20)
    assert sampled(20, task_id="Toy/1") != sampled(20)
    assert len(set(sampled(200))) > 150
    attempts = {sample_input("Toy/0", SEEDS, seed=0, position=0, attempt=a) for a in range(50)}
    assert len(attempts) > 35


def test_the_same_in_every_process():
    code = (
        "from difftrust_core.languages.python.fuzz import sample_input\n"
        "from difftrust_core.base.literals import read_literal\n"
        f"seeds = [read_literal(text) for text in {[write_literal(s) for s in SEEDS]!r}]\n"
        "for i in range(60): print(sample_input('Toy/0', seeds, seed=0, position=i, attempt=0))"
    )
    for hash_seed in ("0", "1", "4242"):
        command = [sys.executable, "-c", code]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed})
        assert ran.stdout.splitlines() == sampled(60)


def test_results_are_argument_tuples_of_the_seed_they_came_from():
    lengths = {len(seed) for seed in SEEDS}
    for text in sampled(200):
        arguments = read_literal(text)
        assert type(arguments) is tuple
        assert len(arguments) in lengths
        assert write_literal(arguments) == text


def test_after_the_last_attempt_a_seed_comes_unchanged():
    texts = [sample_input("Toy/0", SEEDS, seed=0, position=i, attempt=MAX_ATTEMPTS + i % 2) for i in range(60)]
    assert set(texts) == {write_literal(seed) for seed in SEEDS}


HASHABLE = (None, False, 0, 0.0, "")
DUMMIES = (*HASHABLE, [], {}, set())
REACHED = {
    "a whole number": (5, [-5, 4, 6, 15]),
    "zero": (0, [-10, -1, 1, 10]),
    "a truth value": (True, [True, False]),
    "None": (None, [None]),
    "an ellipsis": (..., [...]),
    "an object, whose fields are nodes of their own": (Instance("P", (), {"x": 1}), [Instance("P", (), {"x": 1})]),
    "an empty tuple": ((), [(d,) for d in DUMMIES]),
    "an empty set": (set(), [{d} for d in HASHABLE]),
    "an empty frozen set": (frozenset(), [frozenset({d}) for d in HASHABLE]),
    "an empty dictionary": ({}, [{key: value} for key in HASHABLE for value in DUMMIES]),
    "a set": ({"a", "b"}, [{"a"}, {"b"}, *({"a", "b", d} for d in HASHABLE)]),
    "a list": (
        [1, 2],
        [
            *(inserted for d in DUMMIES for inserted in ([d, 1, 2], [1, d, 2], [1, 2, d])),
            *([1, 2], [2, 1], [1, 1, 2], [1, 2, 2], [1], [2]),  # swapped, duplicated, deleted
        ],
    ),
    "a dictionary": (
        {"a": 1, "b": 2},
        [
            *({"a": 1, "b": 2, key: value} for key in HASHABLE for value in DUMMIES),
            *({"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": 1}, {"b": 2}),
        ],
    ),
}


@pytest.mark.parametrize(("value", "results"), REACHED.values(), ids=REACHED)
def test_one_mutation_reaches_exactly(value, results):
    reached = {write_literal(mutate_value(value, random.Random(i))) for i in range(3_000)}
    assert reached == {*map(write_literal, results)}


def test_floats_move_twice_as_often_by_less_than_one():
    moves = [mutate_value(100.0, random.Random(i)) - 100.0 for i in range(3_000)]
    assert max(map(abs, moves)) <= 10
    within = sum(abs(move) <= 1 for move in moves) / 3_000
    assert within == pytest.approx(2 / 3 + 1 / 3 * 1 / 10, abs=0.03)
    assert sum(move > 0 for move in moves) / 3_000 == pytest.approx(1 / 2, abs=0.03)


FORMS_OF_A_STRING = {
    *("αβγ", "", "α", "γ", "αβ", "αγ", "βγ"),  # unchanged, cut, or dropped at the end
    *("ααβγ", "αββγ", "αβγγ", "αβαβγ", "αβγβγ", "αβγαβγ"),  # a part repeated
    *("?βγ", "α?γ", "αβ?", "?αβγ", "α?βγ", "αβ?γ"),  # a character replaced or inserted
    *("αβγ" + "?" * n for n in range(1, 11)),
}


def test_one_mutation_of_a_string_reaches_these_forms_alone():
    results = [mutate_value("αβγ", random.Random(i)) for i in range(3_000)]
    seen = Counter(re.sub("[^αβγ]", "?", result) for result in results)  # none of them is a character that is inserted
    assert set(seen) == FORMS_OF_A_STRING
    replaced = sum(seen[form] for form in seen if "?" in form and len(form) == 3)
    assert replaced == pytest.approx(3_000 / 7, abs=80)  # as often as each of the seven operations


def test_an_empty_string_only_grows_by_characters_that_are_control_printable_or_extended():
    results = [mutate_value("", random.Random(i)) for i in range(20_000)]
    assert {len(r) for r in results} == set(range(11))
    characters = [ord(c) for r in results for c in r]
    assert set(characters) <= {*range(0x20), *range(0x20, 0x7F), *range(0x80, 0x100)}
    shares = [sum(a <= c < b for c in characters) / len(characters) for a, b in ((0, 32), (32, 127), (128, 256))]
    assert shares == pytest.approx([2 / 7, 4 / 7, 1 / 7], abs=0.02)


def test_bytes_stay_bytes():
    results = [mutate_value(b"ab", random.Random(i)) for i in range(500)]
    assert {type(r) for r in results} == {bytes}
    assert {b"", b"a", b"b", b"abab"} <= set(results)


@pytest.mark.parametrize(
    ("target", "start", "form"),
    [
        (1, 10, "[{}, [20], {{'k': 30}}, P(x=40)]"),
        (3, 20, "[10, [{}], {{'k': 30}}, P(x=40)]"),
        (6, 30, "[10, [20], {{'k': {}}}, P(x=40)]"),
        (8, 40, "[10, [20], {{'k': 30}}, P(x={})]"),
    ],
)
def test_nodes_are_numbered_in_preorder_and_the_rest_is_kept(target, start, form):
    value = [10, [20], {"k": 30}, Instance("P", (), {"x": 40})]
    assert size_of(value) == 9
    after = {write_literal(mutate_node(value, target, random.Random(i))) for i in range(200)}
    assert after == {form.format(start + step) for step in (-10, -1, 1, 10)}
    assert write_literal(value) == form.format(start)


def test_a_mutation_that_breaks_a_hash_leaves_the_value():
    key = {(1,): "v"}
    for i in range(300):
        after = mutate_node(key, 1, random.Random(i))
        assert all(type(k) is tuple for k in after)
        assert hash(next(iter(after))) is not None
    assert any(mutate_node(key, 1, random.Random(i)) == key for i in range(300))


def test_an_argument_is_mutated_one_ten_or_thirty_times_equally_often(monkeypatch):
    monkeypatch.setattr(inputs, "mutate_node", lambda value, target, generator: value + 1)
    counts = Counter(_mutate_argument(0, random.Random(i)) for i in range(3_000))
    assert set(counts) == {1, 10, 30}
    assert min(counts.values()) > 900
