"""Texts and constants that inputs are made of: mined from programs, matched by patterns."""

import re

import pytest

from difftrust.search.dictionary import dictionary_of, mine_constants
from difftrust.search.pattern_texts import pattern_texts, texts_for
from difftrust.types.frames import Array
from difftrust_core.base.literals import read_literal, write_literal

PROGRAM = '''
LIMIT = {"a": 1, "b": 2}

def f(x):
    """Docstrings such as 'left out' and 4242 are no constants."""
    if x == 7919 or x > 31.5 or "needle" in x:
        return [2, 7, 1]
    return {(9, 9): b"raw"}[x], {8, 6}
'''


def test_constants_are_found_and_sorted_whatever_the_order_of_the_programs() -> None:
    found = mine_constants([PROGRAM])
    assert found.numbers == (1, 2, 31.5, 6, 7, 7919, 8, 9)
    assert found.texts == ("a", "b", "needle", b"raw")
    programs = [PROGRAM, "def f(x):\n    return x + 99\n"]
    assert mine_constants(programs[::-1]) == mine_constants([*programs, PROGRAM])


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
    "a long list": f"x = {list(range(20_000))}",
    "too long": "x = 1\n" * 300_000,
    "not of literals": "x = [open('/etc/passwd'), *y, {**z}, {[]: 1}]",
    "runs nothing": "raise SystemExit",
}


@pytest.mark.quick(5)
@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_parsed_at_most(program: str) -> None:
    found = mine_constants([program, PROGRAM])
    assert 7919 in found.numbers
    assert len(found.numbers) + len(found.texts) < 200
    for constant in (*found.numbers, *found.texts):
        assert len(write_literal(constant)) < 2000
    assert "7919" in dictionary_of([program, PROGRAM])


PATTERN = r"([1-9]|1[0-2]):([0-5]\d) (AM|PM)"


def test_texts_match_the_patterns_of_programs() -> None:
    texts = pattern_texts([f"import re\ndef f(s):\n    return re.fullmatch({PATTERN!r}, s)\n"], seed=0)
    assert len(texts) > 5
    assert all(re.fullmatch(PATTERN, text) for text in texts)


def test_what_is_no_pattern_is_left_out() -> None:
    assert pattern_texts(["import re\nre.match('(((', s)\n", "no program ("], seed=0) == []


def test_a_text_that_python_warns_of_is_read_in_silence() -> None:
    assert set("".join(texts_for("[[a]"))) == {"[", "a"}


@pytest.mark.parametrize(
    ("code", "pattern"),
    [
        ("datetime.strptime(s, '%d.%m.%y %H:%M')", r"[0-3]\d[.][01]\d[.]\d\d [0-2]\d:[0-5]\d"),
        ("date.fromisoformat(s)", r"\d{4}-\d\d-\d\d([ T].*)?"),
        ("shlex.split(s)", r"""[-a-c=\d"' \\]+"""),
        ("next(csv.reader([s]))", r"""[a-z0-9 ,"]*"""),
        ("s.split(',')", "nothing"),
    ],
)
def test_texts_are_such_as_programs_parse(code: str, pattern: str) -> None:
    texts = pattern_texts([f"def f(s):\n    return {code}\n"], seed=0)
    assert len(texts) > 10 or pattern == "nothing"
    assert all(re.fullmatch(pattern, text) for text in texts)


def test_an_array_of_a_dtype_that_does_not_exist_does_not_fit() -> None:
    assert Array().fits(read_literal("np.array([1], dtype='int64')"))
    assert not Array().fits(read_literal("np.array([1], dtype='int64int64')"))
