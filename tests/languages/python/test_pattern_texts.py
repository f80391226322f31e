"""Texts that patterns of programs match, keys of a module's tables, and parts that occur again."""

import random
import re

from difftrust_core.base.literals import read_literal
from difftrust_core.languages.python.pattern_texts import key_texts, pattern_texts
from difftrust_core.languages.python.related import shared
from difftrust_core.languages.python.types.base import Draws, Part
from difftrust_core.languages.python.types.containers import Items
from difftrust_core.languages.python.types.nested import Tree
from difftrust_core.languages.python.types.numbers import Whole
from difftrust_core.languages.python.types.tables import Array

PATTERN = r"([1-9]|1[0-2]):([0-5]\d) (AM|PM)"


def test_texts_match_the_patterns_of_programs() -> None:
    texts = pattern_texts([f"import re\ndef f(s):\n    return re.fullmatch({PATTERN!r}, s)\n"], seed=0)
    assert len(texts) > 5
    assert all(re.fullmatch(PATTERN, text) for text in texts)


def test_what_is_no_pattern_is_left_out() -> None:
    assert pattern_texts(["import re\nre.match('(((', s)\n", "no program ("], seed=0) == []


def test_a_table_is_looked_up_in_other_letters_too() -> None:
    assert key_texts("RATES = {'DE': 19, 2: 3}\n") == ["DE", "de", "De"]


def test_a_part_comes_from_another_argument() -> None:
    kind = Items((list,), Whole())
    parts = [Part(value=[1, 2], type=kind), Part(value=[30, 40], type=kind)]
    drawn = [shared(parts, Draws(generator=random.Random(seed))) for seed in range(50)]
    assert any({1, 2} & set(second) or {30, 40} & set(first) for first, second in drawn)
    assert all(kind.fits(value) for values in drawn for value in values)


def test_dicts_of_anything_are_nested_under_the_same_names() -> None:
    trees = [Tree().draw(Draws(generator=random.Random(seed))) for seed in range(50)]
    inner = [value for tree in trees for value in tree.values() if isinstance(value, dict)]
    assert any(isinstance(value, dict) for tree in inner for value in tree.values())


def test_an_array_of_a_dtype_that_does_not_exist_does_not_fit() -> None:
    assert Array().fits(read_literal("np.array([1], dtype='int64')"))
    assert not Array().fits(read_literal("np.array([1], dtype='int64int64')"))
