"""Texts that patterns of programs match, keys of a module's tables, and parts that occur again."""

import re

from difftrust.search.pattern_texts import key_texts, pattern_texts, texts_for
from difftrust.types.frames import Array
from difftrust_core.base.literals import read_literal

PATTERN = r"([1-9]|1[0-2]):([0-5]\d) (AM|PM)"


def test_texts_match_the_patterns_of_programs() -> None:
    texts = pattern_texts([f"import re\ndef f(s):\n    return re.fullmatch({PATTERN!r}, s)\n"], seed=0)
    assert len(texts) > 5
    assert all(re.fullmatch(PATTERN, text) for text in texts)


def test_what_is_no_pattern_is_left_out() -> None:
    assert pattern_texts(["import re\nre.match('(((', s)\n", "no program ("], seed=0) == []


def test_a_text_that_python_warns_of_is_read_in_silence() -> None:
    assert set("".join(texts_for("[[a]"))) == {"[", "a"}


def test_a_table_is_looked_up_in_other_letters_too() -> None:
    assert key_texts("RATES = {'DE': 19, 2: 3}\n") == ["DE", "de", "De"]


def test_an_array_of_a_dtype_that_does_not_exist_does_not_fit() -> None:
    assert Array().fits(read_literal("np.array([1], dtype='int64')"))
    assert not Array().fits(read_literal("np.array([1], dtype='int64int64')"))
