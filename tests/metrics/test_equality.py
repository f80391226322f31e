"""Equality of outcomes: examples by hand, and a slow, obviously right version beside the fast one."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from difftrust_core.base.literals import Instance, read_literal, write_literal
from difftrust_core.base.records import Kind
from difftrust_core.metrics.equality import EQUALITIES, Comparison, Equality, classify, classify_forms
from difftrust_core.metrics.forms import Forms

DIGEST = "#0123456789abcdef0123456789abcdef"


def values(*texts):
    return [(Kind.VALUE, text) for text in texts]


def paper(*texts):
    return classify(values(*texts), equality=Equality.PAPER)


def strict(*texts):
    return classify(values(*texts), equality=Equality.STRICT)


def test_of_numbers_that_are_near_the_ones_between_may_be_others():
    def near(a, b):
        return (b - a) % 2 == 0

    outcomes = values("1", "2", "3", "6", "5")
    assert classify_forms(outcomes, Forms(), near, is_monotone=False) == [0, 1, 0, 1, 0]


EQUAL_ON_PAPER = [
    ("1", "True"),
    ("1000", "999"),
    ("-1000", "-999.0"),
    ("0", "-0.0"),
    ("2", "complex(2.0, 0.0)"),
    ("[1, 2]", "(1, 2)"),
    ("[[1], (2.0001,)]", "([1.0], [2])"),
    ("nan", "nan "),
    ("{1, 1000}", "frozenset({999.5, 1.0})"),
    ("{'a': 1000, 'b': 2}", "{'b': 2.0, 'a': 1000.9}"),
    ("Counter({'a': 1})", "{'a': 1}"),
    ("Point((1, 2))", "[1, 2]"),
    ("Color(1)", "1"),
    ("P(x=1, y=[2000])", "P(y=[2001], x=1.0)"),
    ("deque([1, 2])", "deque([1.0, 2])"),
    ("bytearray(b'a')", "b'a'"),
    ("''", '""'),
]


def test_paper_equal_strict_different():
    assert [pair for pair in EQUAL_ON_PAPER if (paper(*pair), strict(*pair)) != ([0, 0], [0, 1])] == []


DIFFERENT = [
    *("1000", "998", "5e-324", "nan", "inf", "1.7976931348623157e+308", "1", "'1'", "'a'", "b'a'", "None", "False"),
    *("[1]", "{1}", "deque([1])", "iterator([1])", "['a']", "dict_keys(['a'])", "'1.5'", "Decimal('1.5')"),
    *("P([1], [2])", "P([1], x=2)", "P(Q(x=1))"),
    *("P(x=1)", "Q(x=1)", "range(0, 1000, 1)", "range(0, 1001, 1)", "date(2025, 1, 1)", "date(2026, 1, 1)"),
    *(f"[1, 2, …{DIGEST}", f"[1.0, 2, …{DIGEST}", "1,,", "1.0,,", "null", "[1, 2", "[1.0, 2"),
]


def test_different_under_both():
    """One cut to its digest, or no literal, is as it is written."""
    assert paper(*DIFFERENT) == strict(*DIFFERENT) == [*range(len(DIFFERENT))]


def test_tolerance_joins_chains_and_only_chains():
    assert paper("1000", "1003", "1001", "1002") == [0, 0, 0, 0]
    assert paper("1000", "1003", "1001.5", "5") == [0, 1, 2, 3]
    assert paper("[1000, 7]", "[1001, 8]", "[1002, 7]", "[1001, 7]") == [0, 1, 0, 0]


def test_the_boundary_is_exact_however_big():
    big = 10**2000
    assert paper(hex(1000 * big), hex(999 * big)) == [0, 0]
    assert paper(hex(1000 * big), hex(999 * big - 1)) == [0, 1]
    assert paper(hex(big), "1e308") == [0, 1]
    assert paper(str(10**300), "1e+300", "1e+301") == [0, 0, 1]
    # the float 0.999 is a little less than 999/1000; the next float is a little more
    assert paper("1", "0.9990000000000001") == [0, 0]
    assert paper("1", "0.999") == [0, 1]


@pytest.mark.parametrize("equality", EQUALITIES)
def test_kinds(equality):
    """The text counts of values, exceptions and what is unsupported; what was skipped counts as a timeout."""
    outcomes = [(kind, text) for kind in Kind for text in ("a", "b", "a")]
    outcomes += [(int(kind), text) for kind, text in outcomes]  # as stored
    merged = {Kind.SKIPPED: Kind.TIMEOUT}
    whole = (Kind.VALUE, Kind.EXCEPTION, Kind.UNSUPPORTED)
    keys = [(merged.get(kind, kind), text if kind in whole else "") for kind, text in outcomes]
    assert classify(outcomes, equality=equality) == [[*dict.fromkeys(keys)].index(key) for key in keys]


def test_none_and_one_that_is_no_literal_are_labelled():
    assert classify([], equality=Equality.PAPER) == []
    assert paper("anything at all") == [0]


def test_another_equality_is_refused():
    with pytest.raises(ValueError, match="equality must be one of paper, strict, got 'loose'"):
        classify(values("1", "2"), equality="loose")


def test_forms_forget_and_stay_right():
    forms = Forms(max_characters=12)
    for number in range(100, 200):
        outcomes = values(str(number), f"{number}.0", "'x'")
        assert classify(outcomes, equality=Equality.PAPER, forms=forms) == [0, 0, 1]
        assert sum(map(len, forms)) <= 12


def test_a_very_deep_text_is_compared_as_text():
    deep = "[" * 5000 + "1" + "]" * 5000
    assert paper(deep, deep.replace("1", "1.0"), "1") == [0, 1, 2]


# --- the slow version: pairwise recursion on the values, perfect matchings for sets and dicts, union-find


def near(a, b):
    if isinstance(a, complex) or isinstance(b, complex):
        return near(a.real, b.real) and near(a.imag, b.imag)
    if a != a or b != b:
        return a != a and b != b
    if abs(a) == float("inf") or abs(b) == float("inf"):
        return a == b
    a, b = Fraction(a), Fraction(b)
    return abs(a - b) <= Fraction(1, 1000) * max(abs(a), abs(b))


def equal(a, b):
    a, b = unwrapped(a), unwrapped(b)
    numbers = (int, float, complex)
    if isinstance(a, numbers) and isinstance(b, numbers):
        return near(a, b)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, set | frozenset) and isinstance(b, set | frozenset):
        return matched(list(a), list(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return matched(list(a.items()), list(b.items()))
    if isinstance(a, Instance) and isinstance(b, Instance):
        return a.type_name == b.type_name and equal(a.args, b.args) and equal(a.fields, b.fields)
    return type(a) is type(b) and a == b


def unwrapped(value):
    return value.args[0] if isinstance(value, Instance) and value.type_name == "Sub" else value


def matched(a, b):
    return len(a) == len(b) and any(
        all(equal(x, y) for x, y in zip(a, order, strict=True)) for order in itertools.permutations(b)
    )


def slow_labels(texts):
    parsed = [read_literal(text) for text in texts]
    root = list(range(len(texts)))
    for i, j in itertools.combinations(range(len(texts)), 2):
        if equal(parsed[i], parsed[j]):
            root = [root[i] if r == root[j] else r for r in root]
    return [[*dict.fromkeys(root)].index(r) for r in root]


close = [1, True, 1.0, 1.0005, 0.9991, 1.0015, 0, False, 0.0, -1, -1.0005, 1000, 1001, 1002.0, 1003]
wide = [1e308, 5e-324, 1e-323, *map(float, ["inf", "-inf"])]
huge = st.sampled_from([1000, 1001, 1002, 1003]).map(lambda factor: factor * 10**400)
numbers = st.sampled_from(close) | st.sampled_from(wide) | huge | st.integers() | st.floats(allow_nan=False)
plain = st.none() | st.text(max_size=2) | st.binary(max_size=1) | st.sampled_from(["1", "+", "a, b", "[1]", "#"])
scalars = numbers | st.just(float("nan")) | st.complex_numbers() | plain
# Far-apart keys: with two near keys in one dict, pairing in order may miss a matching, by definition.
keys = st.tuples(st.sampled_from([1, 7, -3, 50]), st.sampled_from([1, 1.0, 1.0004, 0.9995])) | plain
dict_keys = keys.map(lambda k: k[0] * k[1] if isinstance(k, tuple) else k)


def bucket(key):
    return round(key) if isinstance(key, int | float) else key


def containers(inner):
    lists = st.lists(inner, max_size=3)
    entries = st.lists(st.tuples(dict_keys, inner), max_size=3, unique_by=lambda entry: bucket(entry[0]))
    dicts = entries.map(dict)
    sets = st.sets(numbers | plain, max_size=3)
    wrapped = st.builds(lambda x: Instance("Sub", (x,)), lists | dicts | sets)
    objects = st.builds(lambda x: Instance("Thing", (), {"x": x}), inner)
    return lists | lists.map(tuple) | sets | sets.map(frozenset) | dicts | wrapped | objects


nested = st.recursive(scalars, containers, max_leaves=6)
flat_numbers = st.lists(st.sampled_from(close), min_size=2, max_size=2)


samples = {
    "numbers": numbers,
    "pairs of near numbers": flat_numbers,
    "dicts of near numbers": st.dictionaries(st.just("k"), flat_numbers),
    "containers of near numbers": containers(st.sampled_from(close)),
    "nested": nested,
}


@pytest.mark.parametrize("sample", samples)
@settings(deadline=None)
@given(data=st.data())
def test_fast_is_slow(sample, data):
    drawn = data.draw(st.lists(samples[sample], max_size=7))
    texts = list(dict.fromkeys(map(write_literal, drawn)))
    assert paper(*texts) == slow_labels(texts)


# --- by value


def by_value(*texts, tolerance=1e-9):
    return Comparison(Equality.VALUE, tolerance=tolerance).classify(values(*texts))


EQUAL_BY_VALUE = [
    ("1", "True"),
    ("1", "1.0000000000001"),
    ("Decimal('1.50')", "1.5"),
    ("Fraction(1, 2)", "0.5"),
    ("0.0", "5.5e-17"),
    ("nan", "float64(nan)"),
    ("{1, 2.0}", "frozenset({1, 2})"),
    ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
    ("Counter({'a': 1})", "{'a': 1}"),
    ("PosixPath('a')", "PurePosixPath('a')"),
    ("P(x=1, y=2)", "P(y=2.0, x=1)"),
    ("np.array([1, 2], dtype='int64')", "np.array([1, 2], dtype='int32')"),
    ("np.array([0.1], dtype='float32')", "np.array([0.10000001], dtype='float32')"),
    ("np.float32(0.1)", "np.float32(0.10000001)"),
    ("datetime(2020, 1, 1, tzinfo=timezone.utc)", "datetime(2020, 1, 1, tzinfo=timezone(timedelta(0)))"),
    ("Effects(value=1, printed='x')", "Effects(printed='x', value=1.0)"),
    ("Decimal('1')", "Decimal('0.999999999999999999999999')"),
    ("Decimal('1E+400')", f"1{'0' * 400}"),
    (f"Decimal('{'9' * 400}')", "9" * 400),
    ("Decimal('0E+401')", "0"),
    ("{(1.0, 'a'), (1.0000000000001, 'b')}", "{(1.0000000000001, 'a'), (1.0, 'b')}"),
    ("np.array([1], 'int64')", "np.array([1], dtype='int32')"),
    ("Series([1], dtype='int64')", "Series([1.0], dtype='int32')"),
    ("DataFrame({'a': [1]}, dtypes={'a': 'int64'})", "DataFrame({'a': [1]}, dtypes={'a': 'int32'})"),
    ("DataFrame([[1], ['b']], schema=['int64', 'object'])", "DataFrame([[1], ['b']], schema=['uint8', 'str'])"),
]


def test_equal_by_value():
    assert [(a, b) for a, b in EQUAL_BY_VALUE if not by_value(a, b) == by_value(b, a) == [0, 0]] == []


DIFFERENT_BY_VALUE = [
    *("273", "273.15", "np.float64(0.1)", "np.float64(0.10000001)", "1000000000000", "1000000000001", "nan", "0.0"),
    *("Decimal('1000000000.01')", "Decimal('1000000000.02')", "Decimal('1')", "Decimal('0.9999999999999999999999985')"),
    *("Decimal('1E+999999999')", "Decimal('1E+999999998')", "Decimal('1E+401')", f"1{'0' * 401}", "1e308"),
    *("[1]", "(1,)", "iterator([1])", "'1'", "Color(1)", "P(x=1)", "Q(x=1)", "P(1, 2)", "P([1], x=2)"),
    *("np.array([1], dtype='int64')", "np.array([1.0], dtype='float64')"),
    *("Effects(value=1, printed='x')", "Effects(value=1, printed='y')"),
    *("Series([1], dtype='int64')", "Series([1], dtype='float64')"),
    *("DataFrame({'a': [1]}, dtypes={'a': 'int64'})", "DataFrame({'a': [1]}, dtypes={'a': 'float64'})"),
    "DataFrame({'a': [1]}, dtypes={'b': 'int64'})",
    *("DataFrame([[1], ['b']], schema=['int64', 'object'])", "DataFrame([[1], ['b']], schema=['object', 'int64'])"),
]


def test_different_by_value():
    assert by_value(*DIFFERENT_BY_VALUE) == [*range(len(DIFFERENT_BY_VALUE))]
    assert by_value(*DIFFERENT_BY_VALUE[::-1]) == [*range(len(DIFFERENT_BY_VALUE))]


def test_the_tolerance_by_value_is_as_said():
    assert by_value("100.0", "101.0", tolerance=0.02) == [0, 0]
    assert by_value("0.1", "0.10000000000000002", tolerance=0.0) == [0, 1]
    assert by_value("1.0", "1.0000000015", "1.0000000008") == [0, 0, 0]  # linked through the one between
    exact = Comparison(Equality.STRICT).classify(values("Decimal('1.50')", "Decimal('1.5')"))
    assert exact == [0, 1]
