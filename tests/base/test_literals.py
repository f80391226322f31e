"""The text form of values: written by hand, read back, refused."""

import ast
import math
import os
import random
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from difftrust_core.base import literals
from difftrust_core.base.literals import (
    MAX_DECIMAL_BITS,
    BadText,
    Code,
    Instance,
    read_literal,
    tuple_text,
    write_literal,
)
from difftrust_core.metrics.by_value import ByValue
from difftrust_core.metrics.forms import Forms

WRITTEN = [
    (None, "None"),
    (True, "True"),
    (-7, "-7"),
    (1.5, "1.5"),
    (-0.0, "-0.0"),
    (float("-inf"), "-inf"),
    (complex(1, -2), "complex(1.0, -2.0)"),
    ("a'b\n", '"a\'b\\n"'),
    ("\ud800", "'\\ud800'"),
    (b"\x00", "b'\\x00'"),
    (..., "..."),
    ([], "[]"),
    ((), "()"),
    ((1,), "(1,)"),
    ((1, [2]), "(1, [2])"),
    ({}, "{}"),
    ({"b": 1, "a": 2}, "{'b': 1, 'a': 2}"),
    (set(), "set()"),
    ({10, 9, "a"}, "{'a', 10, 9}"),
    (frozenset(), "frozenset()"),
    (frozenset({1}), "frozenset({1})"),
    (bytearray(b"x"), "bytearray(b'x')"),
    (Instance("Point", (), {"y": [1], "x": None}), "Point(y=[1], x=None)"),
    (Instance("Counter", ({"a": 1},)), "Counter({'a': 1})"),
    (Instance("Empty"), "Empty()"),
]


def test_written_and_read_back():
    assert [write_literal(value) for value, _ in WRITTEN] == [text for _, text in WRITTEN]
    for value, text in WRITTEN:
        back = read_literal(text)
        assert type(back) is type(value), text
        assert back == value, text
        assert write_literal(back) == text


def test_nan_is_read_back():
    assert math.isnan(read_literal(write_literal(math.nan)))


@pytest.mark.parametrize("sign", [1, -1])
def test_ints_beyond_the_limit_are_hexadecimal(sign):
    below, above = sign * (2**MAX_DECIMAL_BITS - 1), sign * 2**MAX_DECIMAL_BITS
    assert write_literal(below) == str(below)
    assert write_literal([above]) == ("[0x1" if sign > 0 else "[-0x1") + "0" * 1000 + "]"
    assert read_literal(write_literal([below, above])) == [below, above]
    assert read_literal(write_literal(sign * 10**100_000)) == sign * 10**100_000


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()


def in_containers(scalars):
    """Return a strategy: these, in lists, tuples, dictionaries and sets."""
    hashable = st.recursive(
        scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5
    )
    return st.recursive(
        scalars | st.sets(hashable, max_size=3),
        lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(hashable, inner, max_size=3),
        max_leaves=10,
    )


VALUES = st.recursive(
    in_containers(SCALARS | st.complex_numbers(allow_nan=False)),
    lambda inner: (
        st.dictionaries(st.sampled_from(["x", "left", "_z"]), inner).map(lambda fields: Instance("Node", (), fields))
        | inner.map(lambda content: Instance("Stack", (content,)))
        | st.lists(inner, max_size=3)
    ),
    max_leaves=3,
)


@given(VALUES)
def test_every_value_is_read_back(value):
    text = write_literal(value)
    assert text.isprintable()
    assert read_literal(text) == value
    assert write_literal(read_literal(text)) == text


def test_spellings_that_are_not_written_are_read():
    assert read_literal("{1: 2, 'a': {3}}") == {1: 2, "a": {3}}
    assert read_literal("0x10") == 16
    assert read_literal("(1)") == 1
    assert read_literal("--1") == 1
    assert read_literal("'a' 'b'") == "ab"


def test_instances_are_made_by_the_caller():
    made = read_literal("[P(1, x=2)]", lambda name, args, fields: (name, args, fields))
    assert made == [("P", (1,), {"x": 2})]


@pytest.mark.parametrize(
    "text",
    [
        *("bytearray(10000000000000000000000000000000)", "bytearray([1])", "frozenset(1)", "frozenset({1}, x=1)"),
        *("complex('a', 'b')", "complex(True, 1.0)", "complex(1.0)", "complex((1.0, 2.0))", "bytearray('a')"),
    ],
)
def test_a_name_of_a_builtin_with_other_content_is_a_class_that_has_this_name(text):
    """Nothing is made of such content: an int would be a size."""
    value = read_literal(text)
    assert type(value) is Instance
    assert write_literal(value) == text


@pytest.mark.slow
def test_a_million_hostile_texts_are_read_or_refused():
    """A share of them here; all with DIFFTRUST_TEXTS=1000000. Nothing but BadText, and little memory."""
    n = int(os.environ.get("DIFFTRUST_TEXTS", "5000"))
    tracemalloc.start()
    try:
        for text in hostile_texts(n, seed=0):
            try:
                value = read_literal(text)
            except BadText:
                value = None
            for form in (paper_form_of, value_form_of):
                assert form(text) == form(text)
            assert value is None or len(write_literal(value)) < 20 * len(text) + 200
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def paper_form_of(text: str) -> object:
    return Forms()[text]


def value_form_of(text: str) -> object:
    return Forms(ByValue().form)[text]


_WORDS = (
    *("(", ")", "[", "]", "{", "}", ",", ":", "=", ".", "-", "+", "*", "**", "'", '"', "\\", "#", "…", " ", "e", "x"),
    *("0", "1", "7", "1e400", "0x1f", "10" * 40, "9" * 5_000, "inf", "nan", "None", "True", "...", "1j", "f'{x}'"),
    *("'a'", "'\\ud800'", "'\\x00'", "set()", "frozenset", "bytearray(", "complex(", "range(", "Decimal(", "Fraction("),
    *("date(", "np.array(", "ndarray(", "float32(", "Counter(", "Point(x=", "lambda x: ", "len", "str.upper", "Path("),
    *("iterator(", "dtype=", "deque(", "Unnamed(", "timezone(", "DataFrame(", "yield", "await x", ":=", " if "),
)  # fmt: skip
_WHOLE = (
    *(text for _, text in WRITTEN),
    *("{1: [2.5, -3], 'k': (None, ...)}", "Decimal('1.5')", "Fraction(1, 3)", "range(0, 9, 2)", "ndarray([1.0, 2.0])"),
    *("date(2024, 1, 2)", "Unnamed(x=1)", "[[[[[[1]]]]]]", "ValueError('a', 2)", "Counter({'a': 1})", "dict_keys([1])"),
)


def hostile_texts(n: int, seed: int) -> Iterator[str]:
    """Yield texts of random words, texts of values with some words exchanged, and some nested deeply."""
    draws = random.Random(seed)
    for _ in range(n):
        way = draws.random()
        if way < 0.3:
            yield "".join(draws.choices(_WORDS, k=draws.randrange(1, 12)))
        elif way < 0.9:
            text = draws.choice(_WHOLE)
            for _ in range(draws.randrange(1, 4)):
                at = draws.randrange(len(text) + 1)
                text = text[:at] + draws.choice(_WORDS) + text[at + draws.randrange(3) :]
            yield text
        elif way < 0.99:
            yield draws.choice(_WORDS) + ", ".join(draws.choices(_WHOLE, k=3)) + draws.choice((")", "]", "}", "})"))
        else:
            opening = draws.choice(("(", "[", "{", "-", "P(", "P(x=", "{1: ", "frozenset({", "lambda: ", "b", "not "))
            yield (
                opening * draws.randrange(50, 2_000)
                + "1"
                + draws.choice((")", "]", "}", "})")) * draws.randrange(2_000)
            )


def test_instances_compare_by_name_content_and_fields():
    two, three = Instance("P", (1,), {"x": 2}), Instance("P", (1,), {"x": 3})
    assert len({two, Instance("P", (1,), {"x": 2}), three, Instance("Q", (1,), {"x": 2}), Instance("P", (2,))}) == 4
    assert Instance("P") != "P()"
    assert repr(Instance("P", (1,))) == "P(1)"


REFUSED = [
    ("", "SyntaxError"),
    ("1\n2", "SyntaxError"),
    ("x", "Name"),
    ("1)", "SyntaxError"),
    ("1 + 1", "BinOp"),
    ("[i for i in x]", "ListComp"),
    ("f'{1}'", "JoinedStr"),
    ("a[0].b(1)", "Call"),
    ("f(1).x", "Attribute"),
    ("f(*[1])", "Starred"),
    ("f(**{})", "Call"),
    ("{**{}}", "Dict"),
    ("-'a'", "str"),
    ("{[]}", "TypeError"),
    ("{{}: 1}", "TypeError"),
    ("complex(0x1" + "0" * 400 + ", 1.0)", "OverflowError"),
    ("frozenset([[]])", "TypeError"),
    ("(x for x in [])", "GeneratorExp"),
    ("'\x00'", ""),
    ("\ud800", "UnicodeEncodeError"),
    ("(" * 5_000 + ")" * 5_000, ""),
    ("[" * 150 + "1" + "]" * 149, "SyntaxError"),
    ("-" * 3_000 + "1", ""),
]


def test_refused_with_one_line():
    for text, named in REFUSED:
        with pytest.raises(BadText) as refused:
            read_literal(text)
        assert named in str(refused.value), text[:99]
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 500


def test_values_without_a_text_form_are_refused():
    with pytest.raises(BadText, match="a object has no text form"):
        write_literal([object()])


@given(st.text(alphabet="()[],'\"-+.e 0129a\\n", max_size=12))
@example("(1)")
@example("(1,)")
@example("(1, 2,)")
@example("()")
@example("(,)")
@example("('a' 'b',)")
@example("(1), (2)")
@example("-0.0")
@example("1e400")
@example("[1][0]")
def test_the_quick_reader_agrees_with_pythons_own(text):
    try:
        quick = literals._read_plain(text)
    except ValueError:
        return
    assert repr(quick) == repr(ast.literal_eval(text.strip(" ")))


def test_code_equals_code_of_the_same_text_alone() -> None:
    assert Code("int") == Code("int") != Code("str")
    assert Code("int") != "int"


def test_names_of_functions_dotted_names_and_lambdas_are_code() -> None:
    codes = ["len", "sorted", "str.upper", "a.b.c", "lambda x: x + 1"]
    assert read_literal(f"[{', '.join(codes)}]") == [Code(text) for text in codes]


@pytest.mark.parametrize(
    ("text", "written"), [("( 1,'a' )", "(1, 'a')"), ("(1,)", "(1,)"), ("()", "()"), ("[1]", None), ("(1", None)]
)
def test_the_text_of_a_tuple_is_that_of_no_other_value(text: str, written: str | None) -> None:
    assert tuple_text(text) == written
