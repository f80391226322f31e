"""The canonical text of values: a table by hand, values that lie about themselves, and the way back."""

import collections
import dataclasses
import enum
import functools
import importlib.util
import itertools
import math
import random
import re
import sys
import types
from array import array
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difftrust_core.base import standard_types
from difftrust_core.base.literals import MAX_DECIMAL_BITS, read_literal
from difftrust_core.sandbox import layers
from tests.base.test_literals import in_containers

sys.modules.setdefault("standard_types", standard_types)  # as the zygote does
_spec = importlib.util.spec_from_file_location("child_canonical", layers.CHILD / "canonical.py")
child = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(child)
canonical = child.canonical


class Plain:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class Slotted:
    __slots__ = ("__dict__", "__hidden", "left", "never")

    def __init__(self):
        self.left, self.__hidden, self.free = 1, [2], "x"


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)


class Box(Generic[TypeVar("T")]):
    def __init__(self, content):
        self.content = content


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 2


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Pair(NamedTuple):
    first: int
    second: object


class Text(str):
    __slots__ = ()


class Money(Decimal):
    pass


class Day(date):
    pass


class Queue(collections.deque):
    pass


class Third(Fraction):
    pass


class Refusal(Exception):
    pass


def counting():
    yield 1
    yield [2]


TABLE = [
    (None, "None"),
    (-0.0, "0.0"),
    (1e300, "1e+300"),
    (math.nan, "nan"),
    (-math.inf, "-inf"),
    (complex(-0.0, math.nan), "complex(0.0, nan)"),
    ("it's\n\x00\x7f", '"it\'s\\n\\x00\\x7f"'),
    ("\ud800\u2028\xa0é", "'\\ud800\\u2028\\xa0é'"),
    (b"a\x00", "b'a\\x00'"),
    (bytearray(b"a"), "bytearray(b'a')"),
    (..., "..."),
    (([1],), "([1],)"),
    ([-0.0, "-0.0"], "[0.0, '-0.0']"),
    ({"b": 1, "a": [2]}, "{'a': [2], 'b': 1}"),
    ({1: "i", "1": "s", None: "n", (1,): "t", b"1": "b"}, "{'1': 's', (1,): 't', 1: 'i', None: 'n', b'1': 'b'}"),
    (set(), "set()"),
    ({3, 20, "a"}, "{'a', 20, 3}"),
    ({frozenset({2, 1}), frozenset()}, "{frozenset(), frozenset({1, 2})}"),
    (frozenset({Pair(1, 2)}), "frozenset({Pair((1, 2))})"),
    (range(3), "range(0, 3, 1)"),
    ({"a": 1}.keys(), "dict_keys(['a'])"),
    ({"a": 1}.items(), "dict_items([('a', 1)])"),
    (collections.OrderedDict(a=1).values(), "odict_values([1])"),
    (collections.Counter("aab"), "Counter({'a': 2, 'b': 1})"),
    (collections.defaultdict(list, {"k": [1]}), "defaultdict({'k': [1]})"),
    (collections.OrderedDict(b=1, a=2), "OrderedDict({'a': 2, 'b': 1})"),
    (collections.deque([1, 2], maxlen=2), "deque([1, 2])"),
    (Queue([1]), "Queue([1])"),
    (Text("a"), "Text('a')"),
    (Pair(1, "b"), "Pair((1, 'b'))"),
    (Decimal("1.50"), "Decimal('1.50')"),
    (Money("1.5"), "Money(Decimal('1.5'))"),
    (Fraction(-1, 3), "Fraction(-1, 3)"),
    (Third(1, 3), "Third(Fraction(1, 3))"),
    (date(2024, 2, 29), "date(2024, 2, 29)"),
    (Day(2024, 2, 29), "Day(date(2024, 2, 29))"),
    (datetime(2024, 2, 29, 1, 2), "datetime(2024, 2, 29, 1, 2)"),
    (datetime(2024, 2, 29, tzinfo=UTC), "datetime(2024, 2, 29, 0, 0, tzinfo=timezone(timedelta(0)))"),
    (time(1, 2, 3), "time(1, 2, 3)"),
    (timedelta(days=-1, seconds=5), "timedelta(days=-1, seconds=5)"),
    (timezone(timedelta(hours=1)), "timezone(timedelta(seconds=3600))"),
    (Plain(b=1, a=[2]), "Plain(a=[2], b=1)"),
    (Plain(), "Plain()"),
    (Slotted(), "Slotted(_Slotted__hidden=[2], free='x', left=1)"),
    (Point(1, [2]), "Point(x=1, y=[2])"),
    (Box({1}), "Box(content={1})"),
    (Colour.RED, "Colour(1)"),
    (Level.LOW, "Level(2)"),
    (Access.READ | Access.WRITE, "Access(3)"),
    (ValueError("bad", 1), "ValueError('bad', 1)"),
    (Refusal(), "Refusal()"),
    (iter([1, 2]), "iterator([1, 2])"),
    (counting(), "iterator([1, [2]])"),
    (map(str, [1]), "iterator(['1'])"),
    (object(), "object()"),
    (type("Good", (), {"__module__": []})(), "Good()"),
]


def test_text_by_hand_and_readable():
    assert [canonical(value) for value, _ in TABLE] == [text for _, text in TABLE]
    assert all(text.isprintable() for _, text in TABLE)
    for _, text in TABLE:
        read_literal(text)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (len, "builtin_function_or_method"),
        (lambda: 1, "function"),
        (int, "type"),
        (Colour, "EnumType"),
        (re.match("a", "a"), "Match"),  # its content is out of reach: not "an object without fields"
        (array("i", [1]), "array"),
        (functools.partial(len), "partial"),
        (types.SimpleNamespace(a=1), "SimpleNamespace"),
        (memoryview(b"a"), "memoryview"),
        ([1, {"a": math}], "module"),
        (datetime(2024, 1, 1, tzinfo=type("Zone", (tzinfo,), {"utcoffset": lambda *_: None})()), "Zone"),
        (itertools.count(), "an iterator of too many items"),
        (Plain(**{"not a name": 1}), "Plain"),
        (Plain(**{"class": 1}), "Plain"),
    ],
    ids=lambda value: value if type(value) is str else "",
)
def test_values_without_a_plain_form(value, name):
    with pytest.raises(child.UnsupportedValue, match=f"^{name}$"):
        canonical(value)


@pytest.mark.parametrize("bits", [MAX_DECIMAL_BITS, MAX_DECIMAL_BITS + 1, 15_000])
def test_ints_around_the_decimal_limit(bits):
    big = 2**bits - 1
    value = [big, [-big], (-big, 1), {big}]  # beyond 14,300 bits Python prints none
    text = canonical(value)
    assert text.count("0x") == (4 if bits > MAX_DECIMAL_BITS else 0)
    assert read_literal(text) == value


def test_long_texts_are_cut_and_tell_themselves_apart():
    one, other = canonical("a" * 20_000), canonical("a" * 19_999 + "b")
    assert one[:200] == other[:200] == "'" + "a" * 199
    assert re.fullmatch("…#[0-9a-f]{32}", one[200:])
    assert one != other
    assert canonical("a" * 16_382) == f"'{'a' * 16_382}'"
    assert "…#" in canonical("a" * 16_383)


def nested(depth):
    value = [None]
    for _ in range(depth):
        value = [value]
    return value


def test_depth_and_nodes_are_limited():
    assert canonical(nested(child.MAX_DEPTH)) == "[" * 61 + "None" + "]" * 61
    with pytest.raises(child.UnsupportedValue, match="nested too deeply"):
        canonical(nested(child.MAX_DEPTH + 1))
    with pytest.raises(child.UnsupportedValue, match="nested too deeply"):
        canonical(nested(100_000))
    itself = []
    itself.append(itself)
    with pytest.raises(child.UnsupportedValue, match="nested too deeply"):
        canonical(itself)
    wide = []
    for _ in range(40):
        wide = [wide, wide]
    with pytest.raises(child.UnsupportedValue, match="too many nodes"):
        canonical(wide)


def test_what_an_iterator_raises_is_raised():
    def failing():
        yield 1
        raise KeyError("late")

    with pytest.raises(KeyError):
        canonical([failing()])


def texts_of(make):
    """Return the texts of a value alone and inside others; the value itself stays out of pytest's sight."""
    try:
        return canonical(make()), canonical([make(), {"k": make()}])
    except Exception as e:
        return type(e).__name__, str(e)


def lying(base, *arguments):
    """Return an instance of a subclass of ``base`` that lies wherever a class can."""

    def lie(*_, **__):
        raise AssertionError("the value was asked about itself")

    asked = (
        "repr str eq hash iter len bool getitem format add reduce_ex getattribute contains int float index next call"
    )
    methods = {f"__{name}__": lie for name in asked.split()}
    made = type("Liar", (base,), methods | {"items": lie, "keys": lie, "__class__": property(lie)})
    return made(*arguments)


LIARS = [
    (int, (5,), "Liar(5)"),
    (float, (0.5,), "Liar(0.5)"),
    (complex, (1, 2), "Liar(complex(1.0, 2.0))"),
    (str, ("a",), "Liar('a')"),
    (bytes, (b"a",), "Liar(b'a')"),
    (bytearray, (b"a",), "Liar(bytearray(b'a'))"),
    (list, ([1, [2]],), "Liar([1, [2]])"),
    (tuple, ((1,),), "Liar((1,))"),
    (dict, ({"a": 1},), "Liar({'a': 1})"),
    (set, ({1, 2},), "Liar({1, 2})"),
    (frozenset, ({1},), "Liar(frozenset({1}))"),
    (collections.deque, ([1],), "Liar([1])"),
    (Decimal, ("1.5",), "Liar(Decimal('1.5'))"),
    (date, (2024, 1, 2), "Liar(date(2024, 1, 2))"),
    (datetime, (2024, 1, 2), "Liar(datetime(2024, 1, 2, 0, 0))"),
    (timedelta, (1,), "Liar(timedelta(days=1))"),
    (ValueError, ("a",), "Liar('a')"),
    (object, (), "Liar()"),
]


def test_liars_are_not_asked():
    for base, arguments, text in LIARS:
        alone, inside = texts_of(lambda base=base, arguments=arguments: lying(base, *arguments))
        assert alone == text
        assert inside == f"[{text}, {{'k': {text}}}]"


class Meta(type):
    __flags__ = 0
    __mro__ = __name__ = __dict__ = __module__ = property(lambda cls: 1 / 0)

    def __getattribute__(cls, name):
        raise AssertionError(f"the class was asked for {name}")

    def __eq__(cls, other):
        raise AssertionError("the class was compared")

    __hash__ = None


class Made(metaclass=Meta):
    def __init__(self):
        self.x = 1


def test_metaclasses_are_not_asked():
    assert texts_of(Made) == ("Made(x=1)", "[Made(x=1), {'k': Made(x=1)}]")


@pytest.mark.parametrize("name", ["two\nlines", "a(b", "", "class", "x" * 300, "a\u2028"])
def test_type_names_stay_names(name):
    kind = type("Good", (list,), {})
    kind.__name__ = name
    assert canonical(kind([1])) == "Unnamed([1])"
    assert child.exception_name(type("Good", (Exception,), {})()) == "Good"


VALUES = in_containers(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers()
)


@given(VALUES)
def test_every_builtin_is_read_back(value):
    text = canonical(value)
    assert text.isprintable()
    if len(text) <= child.MAX_TEXT:
        assert canonical(read_literal(text)) == text
        assert "nan" in text or read_literal(text) == value  # nan is not equal to itself


@given(st.lists(st.floats(allow_nan=False) | st.integers() | st.text()))
def test_the_fast_way_writes_what_the_slow_way_writes(values):
    slow = "[" + ", ".join([canonical(v) for v in values]) + "]"
    assert len(slow) > child.MAX_TEXT or canonical(values) == slow


@pytest.mark.parametrize("name", ["set", "frozenset", "complex", "bytearray", "Decimal", "Fraction", "date", "range"])
def test_a_class_with_the_name_of_a_value_that_is_written_alike_does_not_pass_for_it(name):
    empty, subclass, raised = type(name, (), {}), type(name, (tuple,), {}), type(name, (Exception,), {})
    assert canonical(empty()) == "Unnamed()"
    assert canonical(subclass((1.0, 2.0))) == "Unnamed((1.0, 2.0))"
    assert canonical(raised(1.0, 2.0)) == "Unnamed(1.0, 2.0)"


@pytest.mark.parametrize(
    ("base", "arguments"),
    [(types.SimpleNamespace, ()), (functools.partial, (len,)), (array, ("i",)), (random.Random, ()), (property, ())],
)
def test_an_instance_of_a_subclass_of_a_c_type_keeps_its_content_to_itself(base, arguments):
    """Its fields are not all of it: two of them that differ would be one."""
    made = type("Made", (base,), {})(*arguments)
    made.x = 1
    with pytest.raises(child.UnsupportedValue, match=r"^Made$"):
        canonical(made)
