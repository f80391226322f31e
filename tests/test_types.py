"""What fits the types that a parsed file names, and what is drawn of them."""

import ast
import random

import pytest

from difftrust.search.dictionary import dictionary_of
from difftrust.search.drawing import FreshDraws, TypedInputs, texts_by_name
from difftrust.types.argument_types import Annotations, ArgumentTypes
from difftrust.types.base import Draws
from difftrust.types.own import parameters_in
from difftrust_core.base.literals import read_literal, write_literal

FILE = """
from __future__ import annotations
import datetime as dt
import typing as t
import re
import uuid
import numpy as np
import pandas as pd
import polars as pl
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, Flag, IntEnum, auto
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, Optional, Protocol, TypedDict, TypeVar, Union
from typing import List, NotRequired
from annotated_types import Ge, Interval, Len
from numpy.typing import NDArray

class Color(Enum):
    RED = "red"
    GREEN = "green"
    CRIMSON = "red"

class Level(IntEnum):
    LOW = auto()
    HIGH = auto()

class Access(Flag):
    READ = auto()
    WRITE = auto()

@dataclass
class Point:
    x: float
    y: float = 0.0

@dataclass
class Order:
    lines: list[Line]
    color: Color = Color.RED
    total: float = field(init=False)
    _: KW_ONLY
    note: Optional[str] = None

@dataclass
class Line:
    sku: str
    n: Annotated[int, Ge(1)] = 1

@dataclass
class Tree:
    value: int
    left: "Tree | None" = None
    right: "Tree | None" = None

@dataclass
class Name:
    text: str

@dataclass
class Variable:
    name: Name

@dataclass
class Sum:
    first: "Term"
    second: "Term"
    third: "Term"
    fourth: "Term"

@dataclass
class Product(Sum):
    fifth: "Term"

Term = Sum | Product | Variable

class Pair(NamedTuple):
    a: int
    b: str = ""

Old = namedtuple("Old", "x y")

class Moved(Old): ...

class Movie(TypedDict):
    title: str
    year: NotRequired[int]

class Account:
    def __init__(self, owner: str, balance: float = 0.0, *, limit: int = 5): ...

class Savings(Account):
    pass

class Shape(ABC):
    @abstractmethod
    def area(self): ...

@dataclass
class Square(Shape):
    side: int
    def area(self): return self.side ** 2

class HasArea(Protocol):
    def area(self): ...

T = TypeVar("T")

@dataclass
class Box(Generic[T]):
    item: T

class Email(str): ...

Id = NewType("Id", int)
Json = Union[dict[str, "Json"], list["Json"], str, int, None]
"""
CASES = [
    ("a: int", ["1", "-5"], ["True", "1.0", "'1'", "None", "1, 2"]),
    ("a: float", ["1.5", "2", "inf"], ["True", "'a'"]),
    ("a: list[int]", ["[]", "[1, 2]"], ["[1, False]", "(1,)", "[1.0]", "[[]]"]),
    ("a: 'List[T]'", ["[1, '']"], ["1"]),
    ("a: t.Dict[str, t.Set[int]]", ["{'a': {1}}", "{}"], ["{1: {1}}", "{'a': [1]}"]),
    ("a: int | None", ["1", "None"], ["''"]),
    ("a: Optional[str]", ["''", "None"], ["0"]),
    ("a: tuple[int, ...]", ["()", "(1, 2)"], ["[1]", "(1, '')"]),
    ("a: tuple[()], b: int", ["(), 1"], ["(1,), 1", "[], 1"]),
    ("a: tuple[int, str]", ["(1, 'a')"], ["(1,)", "(1, 'a', 2)"]),
    (
        "s: slice, m: memoryview",
        ["slice(1, 2), memoryview(b'a')", "slice(None, 3, -1), memoryview(b'')", "slice(3), memoryview(b'')"],
        ["1, memoryview(b'')", "slice(1, 2, 0), memoryview(b'')", "slice(1, 2), b''"],
    ),
    ("a: Color", ["Color.RED"], ["Color.BLUE", "'red'", "Level.LOW", "Color.CRIMSON"]),
    ("a: Level", ["Level.HIGH"], ["1"]),
    (
        "a: Point",
        ["Point(1.0)", "Point(1, 2.5)", "Point(x=1.0)", "Point(1.0, y=2.0)"],
        ["Point()", "Point('')", "Point(1, 2, 3)", "Point(1, x=2)", "1"],
    ),
    (
        "a: Order",
        ["Order([])", "Order([Line('a', 2)], Color.GREEN, note='n')"],
        ["Order([Line('a', 0)])", "Order([], Color.RED, 'n')", "Order([], total=1.0)"],
    ),
    (
        "a: Term",  # of many terms each, until what ends soonest is taken
        ["Variable(Name('x'))"],
        ["Name('x')", "Variable('x')", "Sum(Variable(Name('x')))"],
    ),
    (
        "a: Tree",
        ["Tree(1)", "Tree(1, Tree(2), None)", "Tree(1, right=Tree(3))"],
        ["Tree('')", "Tree(1, Tree(''))", "None"],
    ),
    ("a: Pair", ["Pair(1)", "Pair(1, 'b')"], ["Pair('')", "(1, 'b')"]),
    ("a: Old", ["Old(1, 'b')"], ["Old(1)"]),
    ("a: Moved", ["Moved(1, 'b')"], ["Moved(1)", "Old(1, 'b')"]),
    ("a: Movie", ["{'title': ''}", "{'title': '', 'year': 1}"], ["{}", "{'title': 1}", "{'title': '', 'x': 1}"]),
    (
        "a: Account",
        ["Account('a')", "Account('a', 1.0, limit=3)", "Savings('b')"],
        ["Account('a', 1.0, 3)", "Account()"],
    ),
    ("a: Savings", ["Savings('b')"], ["Account('a')"]),
    ("a: Shape", ["Square(1)"], ["Square('')", "Point(1.0)"]),
    ("a: HasArea", ["Square(1)"], ["Point(1.0)"]),
    ("a: Box[int]", ["Box(1)"], ["Box('')"]),
    ("a: Box[Color]", ["Box(Color.RED)"], ["Box(1)"]),
    ("a: Email", ["Email('a@b')"], ["Email(1)", "'a@b'"]),
    ("a: Id", ["1"], ["''"]),
    ("a: Json", ["{'a': [1, None, {'b': ''}]}"], ["{'a': [1.5]}", "{1: 1}"]),
    ("a: date", ["date(2024, 2, 29)"], ["date(2023, 2, 29)", "datetime(2024, 1, 1)", "'2024-01-01'"]),
    (
        "a: dt.datetime",
        ["datetime(2024, 1, 1, 3)", "datetime(2024, 1, 1, 0, 0, tzinfo=timezone.utc)"],
        ["date(2024, 1, 1)"],
    ),
    (
        "a: datetime",
        ["datetime(2024, 1, 1, 0, 0, tzinfo=ZoneInfo('Europe/Paris'))"],
        ["datetime(2024, 1, 1, 0, 0, tzinfo=ZoneInfo('No/Where'))"],
    ),
    ("a: dt.timedelta", ["timedelta(1)", "timedelta(0, 60)", "timedelta(hours=1)"], ["1", "timedelta('')"]),
    ("a: Decimal", ["Decimal('1.5')", "Decimal(1)"], ["Decimal('x')", "1.5"]),
    ("a: Fraction", ["Fraction(1, 2)"], ["Fraction(1, 0)", "0.5"]),
    ("a: complex", ["complex(0.0, 1.0)"], ["1.0"]),
    ("a: uuid.UUID", ["UUID('123e4567-e89b-12d3-a456-426614174000')"], ["UUID('x')"]),
    ("a: Path", ["Path('a/b')"], ["'a'", "Path(1)"]),
    ("a: bytes", ["b'a'"], ["'a'", "bytearray(b'a')"]),
    ("a: range", ["range(0, 3, 1)", "range(3)"], ["range(0, 3, 0)", "[1]"]),
    ("a: re.Pattern[str]", ["re.compile('a+')"], ["re.compile('(')", "'a'"]),
    ("a: Callable[[int], bool]", ["lambda x: x > 0", "bool", "operator.not_"], ["lambda x, y: x", "lambda: 1", "1"]),
    ("a: Iterator[int]", ["iter([1, 2])"], ["[1, 2]", "iter([''])"]),
    ("a: Generator[str, None, None]", ["iter([''])"], ["iter([1])"]),
    ("a: Iterable[str]", ["['a']", "('a',)", "{'a'}", "'abc'", "iter(['a'])"], ["[1]", "1"]),
    ("a: Iterable[int]", ["[1]", "range(3)"], ["'abc'"]),
    ("a: Mapping[str, int]", ["{'a': 1}", "Counter({'a': 1})"], ["{1: 1}", "[]"]),
    ("a: deque[int]", ["deque([1])"], ["deque([''])", "[1]"]),
    ("a: Counter[str]", ["Counter({'a': 1})"], ["Counter({1: 1})"]),
    ("a: defaultdict[str, list[int]]", ["defaultdict(list, {'a': [1]})"], ["defaultdict(list, {'a': ['']})"]),
    ("a: Annotated[float, Interval(ge=0, lt=1)]", ["0.0", "0.5"], ["1.0", "-0.1"]),
    ("a: Annotated[list[int], Len(1, 2)]", ["[1]", "[1, 2]"], ["[]", "[1, 2, 3]"]),
    ("a: Literal['x', Color.RED, None]", ["'x'", "Color.RED", "None"], ["'y'", "Color.GREEN"]),
    ("a: np.ndarray", ["np.array([1, 2])", "np.array([[1.5]], dtype='float64')"], ["[1]", "np.array([[1], [1, 2]])"]),
    ("a: NDArray[np.int64]", ["np.array([1], dtype='int64')"], ["np.array([1.5], dtype='float64')"]),
    (
        "a: pd.DataFrame",
        ["pd.DataFrame({'a': [1, 2], 'b': ['x', None]})"],
        ["pl.DataFrame({'a': [1]})", "pd.DataFrame({'a': [1], 'b': []})"],
    ),
    ("a: pl.Series", ["pl.Series('a', [1])"], ["pd.Series([1])"]),
    (
        "a: int, *, key: str = '', **more: int",
        ["1, Keywords(key='a', other=2)", "1"],
        ["1, Keywords(key=2)", "1, Keywords(other='')", "1, 2", "1, Keywords(a=2)"],
    ),
]


def types_of(parameters: str) -> ArgumentTypes:
    module = ast.parse(f"{FILE}\ndef f({parameters}): ...")
    function = module.body[-1]
    assert isinstance(function, ast.FunctionDef)
    return ArgumentTypes([*parameters_in(function.args)], Annotations(module))


def tuple_of(arguments: str) -> str:
    return f"({arguments},)"


@pytest.mark.parametrize(("parameters", "good", "bad"), CASES, ids=[case[0] for case in CASES])
def test_what_fits(parameters: str, good: list[str], bad: list[str]) -> None:
    types = types_of(parameters)
    assert types.unchecked == {}
    assert [text for text in good if not types.accepts(tuple_of(text))] == []
    assert [text for text in bad if types.accepts(tuple_of(text))] == []


@pytest.mark.parametrize("parameters", [case[0] for case in CASES])
def test_what_is_drawn_and_changed_fits_and_is_the_same_each_time(parameters: str) -> None:
    types = types_of(parameters)
    fresh = FreshDraws(types)
    draws = [Draws(generator=random.Random(i)) for i in range(40)]
    drawn = [write_literal(fresh.draw(each)) for each in draws]
    assert max(each.n_drawn for each in draws) < 400
    assert [text for text in drawn if not types.accepts(text)] == []
    assert all(write_literal(read_literal(text)) == text for text in drawn)
    draws = TypedInputs(types, drawn, task_id="t", seed=0, dictionary=["1017", "word"])
    inputs = [draws(position, 0) for position in range(100)]
    assert [text for text in inputs if not draws.accepts(text)] == []
    assert inputs == [draws(position, 0) for position in range(100)]


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("a: bool", ["(False,)", "(True,)"]),
        ("a: Access", ["(Access.READ,)", "(Access.WRITE,)", *(f"(Access({n}),)" for n in range(4))]),
        ("a: Optional[Level]", ["(Level.LOW,)", "(Level.HIGH,)", "(None,)"]),
        ("a: Literal[1, 2], b: bool = True", ["(1,)", "(1, False)", "(1, True)", "(2,)", "(2, False)", "(2, True)"]),
        (
            "a: bool, *, b: Literal['x'] = 'x'",
            ["(False,)", "(False, Keywords(b='x'))", "(True,)", "(True, Keywords(b='x'))"],
        ),
        ("a: Annotated[int, Interval(ge=0, le=2)]", ["(0,)", "(1,)", "(2,)"]),
        ("a: int", None),
        ("a: Annotated[int, Interval(ge=0, le=40)], b: Annotated[int, Interval(ge=0, le=40)]", None),
        ("a: bool, *b: bool", None),
    ],
)
def test_small_domains_are_listed(parameters: str, wanted: list[str] | None) -> None:
    assert TypedInputs(types_of(parameters), [], task_id="t", seed=0).exhaustive("") == wanted


@pytest.mark.parametrize(
    ("parameters", "requires", "n"),
    [
        ("month: int, leap: bool", "(month > 0 and month < 13)", 28),  # with the ends, which the condition rules out
        ("n: int", "(n % 2 == 0 and n >= 2) and n <= 1024", 1023),
        ("n: int", "60 % n == 0", 121),
        ("n: int", "-2.5 < n and 3 >= n", 7),
        ("n: int", "n >= 1 or n <= 3", None),
        ("n: int", "1 <= n <= 5000", None),
        ("n: int", "1 <= n <=", None),
        ("n: int, k: int", "0 <= n <= 3 and n <= k", None),
        ("x: float", "0 <= x <= 3", None),
        ("unit: str, n: int", "unit in ('mm', 'cm', 1) and 1 <= n <= 5", 10),
        ("x: float", "x in (0.5, 1.0)", 2),
        ("n: int", "n in (6, 12, 24) and n > 6", 3),
        ("n: int", "n in ('a', 'b')", None),
        ("n: int", "3 <= n <= 2", None),
        ("unit: str", "unit in ('a', b)", None),
    ],
)
def test_conditions_bound_what_is_listed(parameters: str, requires: str, n: int | None) -> None:
    found = TypedInputs(types_of(parameters), [], task_id="t", seed=0).exhaustive(requires)
    assert (found and len(found)) == n


def test_unknown_types_are_named_and_drawn_like_the_seeds() -> None:
    types = types_of("a, b: nowhere.Thing, c=(1, 'x')")
    assert types.unchecked == {
        "a": "no annotation",
        "b": "annotation nowhere.Thing is not understood",
        "c": "no annotation",
    }
    draws = TypedInputs(types, ["([1, 2], Thing(1))", "([3], Thing(2))"], task_id="t", seed=0)
    first = [read_literal(draws(position, 0))[0] for position in range(100)]
    assert all(type(value) is list and all(type(part) is int for part in value) for value in first)


def test_texts_of_a_set_come_in_the_same_order_in_each_process() -> None:
    found = texts_by_name(types_of("a: set[str]"), [f"({set('fedcba')!r},)"])
    assert found == {"a": list("abcdef")}


def test_a_frame_with_gaps_is_changed_like_another() -> None:
    types, seed = types_of("a: pl.DataFrame"), "(pl.DataFrame({'x': [None, 1.5, None], 'y': [None, None, None]}),)"
    draws = TypedInputs(types, [seed], task_id="t", seed=0)
    assert all(types.accepts(draws(position, 0)) for position in range(300))


def test_the_columns_of_frames_are_those_that_are_known() -> None:
    draws = Draws(generator=random.Random(1), columns={"day": "date", "price": "float", "n": "int", "who": "str"})
    (frame,) = FreshDraws(types_of("a: pl.DataFrame")).draw(draws)
    assert list(frame.args[0]) == ["day", "price", "n", "who"]


PLANTED = {
    "a boundary": ("age: int", "age > 18", lambda age: age == 18),
    "a remainder": ("n: int", "n % 97 == 13", lambda n: n % 97 == 13),
    "two constants": ("a: int, b: int", "a == 317 and b == 41", lambda a, b: (a, b) == (317, 41)),
    "a substring": ("s: str", "'qzx' in s", lambda s: "qzx" in s),
    "a prefix": ("s: str", "s.startswith('ftp://')", lambda s: s.startswith("ftp://") and len(s) > 6),
    "equal elements": ("xs: list[int]", "", lambda xs: len(xs) > 2 and len(set(xs)) == 1),
    "numbers far from 0": ("xs: list[float]", "", lambda xs: len(xs) > 2 and min(xs) > 1e4 and max(xs) - min(xs) < 99),
    "a length of 13": ("xs: list[int]", "len(xs) == 13", lambda xs: len(xs) == 13),
    "a key and its value": ("d: dict[str, int]", "d.get('total') == 500", lambda d: d.get("total") == 500),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_hit_within_a_thousand_inputs(name: str) -> None:
    parameters, condition, is_hit = PLANTED[name]
    types, n_hit = types_of(parameters), 0
    program = f"def f({parameters}):\n    if {condition or 'True'}:\n        return 1\n"
    for seed in range(10):
        fresh = FreshDraws(types)
        seeds = [write_literal(fresh.draw(Draws(generator=random.Random(f"{seed}/{i}")))) for i in range(20)]
        draws = TypedInputs(types, seeds, task_id=name, seed=seed, dictionary=dictionary_of([program]))
        n_hit += any(is_hit(*read_literal(draws(position, 0))) for position in range(1000))
    assert n_hit >= 9


@pytest.mark.parametrize("parameters", ["x: int", "n: int", "x: float", "xs: list[int]", "text: str"])
def test_most_inputs_of_one_argument_are_distinct(parameters: str) -> None:
    draws = TypedInputs(types_of(parameters), [], task_id="t", seed=0)
    assert len({draws(position, 0) for position in range(1000)}) > 400


@pytest.mark.parametrize(
    "value",
    [
        *(
            "pl.DataFrame({'a': [None, 1.5], 'b': [None, None]})",
            "pd.Series([None, 1])",
            "np.array(5)",
            "[None, nan, 'a']",
        ),
        *("Decimal('NaN')", "date(9999, 12, 31)", "{'a': None, 'b': [1, None]}", "1" + "0" * 400, "re.compile('(')"),
    ],
)
def test_no_value_of_a_seed_stops_the_drawing(value: str) -> None:
    draws = TypedInputs(types_of("a"), [f"({value},)"], task_id="t", seed=0)
    assert all(type(read_literal(draws(position, 0))) is tuple for position in range(300))
