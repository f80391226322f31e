"""The verdict on programs that are alike or differ in one respect, and the input that shows it: a row each."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from difftrust.check.inputs.input_filter import OVERFLOWS, TOO_LARGE
from difftrust.diff.diff import DiffOptions, diff, load_version
from tests.support.stubs import returning, run_check

STATUS = {"coherent": 0, "incoherent": 1, "undecided": 3}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A stub and programs for it, or for what ``name`` names in it; the options, and what the check says."""

    stub: str
    codes: tuple[str, ...]
    name: str = ""
    words: tuple[str, ...] = ()
    verdict: str
    shown: str = ""
    """The arguments of the first disagreement; where it is undecided, of the first input to be validated."""
    outcomes: frozenset[str] = frozenset()
    """What the programs of the first disagreement return there."""
    doubt: str = ""
    """Why the input is to be validated."""


ANIMALS = '''class Animal:
    def __init__(self, n: int):
        self.n = n

    def legs(self) -> int:
        return 4


class Bird(Animal):
    def legs(self) -> int:
        return 2


def total(xs: list[Animal]) -> int:
    """Return the number of legs."""
    return sum(x.legs() for x in xs)
'''
VEC = """class Vec:
    def __init__(self, *xs: float):
        self.xs = xs


def total(v: Vec) -> float:
    '''Return the sum.'''
"""
ITEMS = """class Items(list):
    def __init__(self, xs: list[int], total: int):
        super().__init__(xs)
        self.total = total


def f(n: int) -> Items:
    '''Return n alone.'''
"""
SQUARE = """from functools import cached_property


class V:
    def __init__(self, a: int):
        self.a = a

    @cached_property
    def sq(self) -> int:
        '''Return the square.'''
"""
NESTED = """from dataclasses import dataclass
from typing import Generic, TypeVar
T = TypeVar('T')
@dataclass
class N(Generic[T]):
    value: T
    rest: 'N[list[T]] | None' = None
def depth(n: N[int]) -> int:
    '''Return how many there are.'''
"""
MODE = """from enum import IntFlag

class Mode(IntFlag):
    READ = 1
    WRITE = 2

def may(have: Mode, need: Mode) -> bool:
    '''Tell whether all that is needed is there.'''
"""
ARRAY = """import numpy as np
from numpy.typing import NDArray


def f(x: NDArray[np.int64]) -> int:
    '''Return the sum.'''
"""
SUMS = (
    "import numpy as np\n\n\ndef f(x):\n    return int(np.sum(x))\n",
    "def f(x):\n    return sum(int(item) for item in x)\n",
    "import numpy as np\n\n\ndef f(x):\n    return int(np.sum(x[1:]))\n",
)
NAN = 'def f(x: float) -> float:\n    """Return x{}."""\n'
NANS = ("def f(x):\n    return x\n", "import math\n\n\ndef f(x):\n    return 0.0 if math.isnan(x) else x\n")
DAY = 'import datetime\ndef f(day: datetime.date) -> int:\n    """Return the year."""\n'
CLAMP = 'def clamp(value: float, low: float, high: float) -> float:\n    """Limit a value to low and high."""\n'
REFUSED = (
    'def halve(x: int) -> int:\n    """Return half of x.\n\n    Raises:\n        ValueError: if x is odd.\n    """\n'
)
REFUSALS = tuple(
    f"def halve(x):\n    if x % 2:\n        raise ValueError({text!r})\n    return x // 2\n"
    for text in ("odd", "no half")
)
SCALE = 'def scale(x: float) -> float:\n    """Return three tenths of x."""\n'
SCALES = returning("scale(x)", "x * 0.3", "x * 0.3 * 1.0005")
TOTAL = 'def total(xs: list[int]) -> int:\n    """Return the sum."""\n'
TOTALS = returning("total(xs)", "sum(xs)", "sum(x for x in xs if type(x) is int)")
DISTINCT = 'def f(xs: list[int]) -> list[int]:\n    """Return the distinct numbers{}."""\n'
ORDERS = returning("f(xs)", "sorted(set(xs))", "sorted(set(xs), reverse=True)")
ROWS = {
    "heirs of a class that inputs are made of": Row(
        stub=ANIMALS,
        codes=returning("total(xs)", "sum(x.legs() for x in xs)", "4 * len(xs)"),
        name="total", verdict="incoherent", shown="([Bird(0)],)",
    ),
    "objects of any number of arguments": Row(
        stub=VEC,
        codes=returning("total(v)", "sum(v.xs)", "sum(v.xs[:4])"),
        name="total", verdict="incoherent", shown="(Vec(0.0, 0.0, 0.0, 0.0, 1.0),)",
    ),
    "any number of arguments": Row(
        stub='def total(*xs: float) -> float:\n    """Return the sum."""\n',
        codes=returning("total(*xs)", "sum(xs)", "sum(xs[:4])"),
        verdict="incoherent",
    ),
    "NaN that the docstring names": Row(
        stub=NAN.format(", or 0 for a NaN"), codes=NANS, verdict="incoherent", shown="(nan,)"
    ),
    "NaN unnamed": Row(stub=NAN.format(", also where it is infinite"), codes=NANS, verdict="undecided", shown="(nan,)"),
    "NaN ruled out": Row(stub=NAN.format(". x must not be NaN"), codes=NANS, verdict="coherent"),
    "a field of a subclass of a builtin": Row(
        stub=ITEMS, codes=returning("f(n)", "Items([n], n)", "Items([n], 0)"), name="f", verdict="incoherent",
        shown="(1,)", outcomes=frozenset({"Items([1], total=1)", "Items([1], total=0)"}),
    ),
    "a field named like a method of its builtin": Row(
        stub='class Items(list):\n    pass\n\n\ndef f(n: int) -> Items:\n    """Return n alone."""\n',
        codes=tuple(f"def f(n):\n    items = Items([n])\n    items.count = {k}\n    return items\n" for k in "n0"),
        name="f", verdict="incoherent",
    ),
    "a dictionary with a default": Row(
        stub='def f(n: int) -> dict[int, set[int]]:\n    """Return n with itself."""\n',
        codes=(
            *returning("f(n)", "{n: {n}}"),
            "from collections import defaultdict\n\n\ndef f(n):\n    return defaultdict(set, {n: {n}})\n",
        ),
        verdict="coherent",
    ),
    "a cached property": Row(
        stub=SQUARE,
        codes=tuple(f"{before}def sq(self):\n    return self.a ** 2\n" for before in ("", "@cached_property\n")),
        name="V.sq", verdict="coherent",
    ),
    "a class that nests its own type parameter": Row(
        stub=NESTED, codes=returning("depth(n)", "1", "1 + bool(n.rest)"), name="depth", verdict="incoherent"
    ),
    "flags drawn together": Row(
        stub=MODE, codes=returning("may(have, need)", "have & need == need", "bool(have & need)"), name="may",
        verdict="incoherent",
    ),
    "arrays of several dimensions refused": Row(stub=ARRAY, codes=SUMS[:2], verdict="undecided"),
    "arrays summed from the second on": Row(stub=ARRAY, codes=SUMS, verdict="incoherent"),
    **{
        f"a candidate that begins {own!r} and arguments of the standard library": Row(
            stub=DAY,
            codes=(f"{own}def f(day):\n    return day.year\n", *returning("f(d)", "d.timetuple()[0]")),
            verdict="coherent",
        )
        for own in ("date = None\n", "import datetime\n")
    },
    "a large number in a text": Row(
        stub='def size(text: str) -> int:\n    """Return the size of a number. Raises ValueError for none."""\n',
        codes=(
            *returning("size(text)", "abs(int(text)) if text != '9999999999' else 9999999999"),
            "def size(text):\n    n, k = abs(int(text)), 0\n    while k < n:\n        k += 1\n    return k\n",
        ),
        verdict="undecided", doubt=TOO_LARGE,
    ),
    "a large number for a function in C": Row(
        stub='def wide(text: str, n: int) -> str:\n    """Put spaces for tabs; n must be 1 or more."""\n',
        codes=returning("wide(text, n)", "text.expandtabs(n)", "text.expandtabs(n) if n < 2**31 else text"),
        verdict="undecided", doubt=OVERFLOWS,
    ),
    "low above high": Row(
        stub=CLAMP,
        codes=returning("clamp(value, low, high)", "max(low, min(high, value))", "min(high, max(low, value))"),
        verdict="undecided", shown="(0.0, 1.0, 0.0)", doubt="not low <= high",
    ),
    "low below high": Row(
        stub=CLAMP,
        codes=returning("clamp(value, low, high)", "max(low, min(high, value))", "value if value < high else high"),
        verdict="incoherent",
    ),
    "texts refused by one": Row(
        stub='def size(text: str) -> int:\n    """Return how many letters a text has."""\n',
        codes=(*returning("size(text)", "len(text)"), "def size(text):\n    raise ValueError\n"),
        verdict="incoherent",
    ),
    "an empty argument": Row(
        stub='def first(items: list[int]) -> int:\n    """Return the first item."""\n',
        codes=returning("first(items)", "items[0]", "items[0] if items else 0"),
        verdict="undecided", shown="([],)", doubt="an argument is empty",
    ),
    "messages of exceptions": Row(stub=REFUSED, codes=REFUSALS, verdict="coherent"),
    "messages that count": Row(stub=REFUSED, codes=REFUSALS, words=("--message",), verdict="incoherent", shown="(1,)"),
    "numbers by value": Row(stub=SCALE, codes=SCALES, verdict="incoherent"),  # within 1e-9: they differ by 5e-4
    "a wide tolerance": Row(stub=SCALE, codes=SCALES, words=("--tolerance", "1e-3"), verdict="coherent"),
    "numbers within 0.1 %": Row(stub=SCALE, codes=SCALES, words=("--equality", "paper"), verdict="coherent"),
    "numbers strictly": Row(stub=SCALE, codes=SCALES, words=("--equality", "strict"), verdict="incoherent"),
    "inputs of the types": Row(stub=TOTAL, codes=TOTALS, verdict="coherent"),
    "inputs of no types": Row(
        stub=TOTAL, codes=TOTALS, words=("--no-types", "--inputs", "all"), verdict="incoherent"
    ),
    "any order": Row(stub=DISTINCT.format(" in any order"), codes=ORDERS, verdict="coherent"),
    "an order": Row(stub=DISTINCT.format(""), codes=ORDERS, verdict="incoherent"),
}  # fmt: skip
"""What is checked -> the check."""
HANGS = "def f({0}):\n    while {1}:\n        pass\n    return {2}\n"
SLOW = {
    "a program that hangs on large numbers": Row(
        stub='def f(n: int) -> int:\n    """Return twice n, a non-negative integer."""',
        codes=(*returning("f(n)", "2 * n", "2 * n"), HANGS.format("n", "n >= 100_000", "2 * n")),
        verdict="undecided", shown="(100000,)", doubt=TOO_LARGE,
    ),
    **{
        f"a program that hangs from the year {year} on": Row(
            stub=DAY, codes=(*returning("f(day)", "day.year"), HANGS.format("day", f"day.year >= {year}", "day.year")),
            verdict=verdict,
        )
        for year, verdict in ((1, "incoherent"), (2200, "undecided"))
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "row", [*ROWS.values(), *(pytest.param(row, marks=pytest.mark.slow) for row in SLOW.values())], ids=[*ROWS, *SLOW]
)
def test_a_verdict(row: Row, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("-n", 200, "--format=json", *row.words)
    status, out = run_check(capsys, tmp_path, row.stub, row.codes, *words, name=row.name)
    found = json.loads(out)
    assert (status, found["verdict"]) == (STATUS[row.verdict], row.verdict)
    if row.shown:
        first = (found["disagreements"] or found["validation"])[0]
        is_tried = row.doubt != TOO_LARGE  # where time runs out, no smaller input is tried
        assert (first["arguments"], first["minimal"]) == (row.shown, is_tried)
    if row.outcomes:
        assert {text for _, text in found["disagreements"][0]["outcomes"]} == row.outcomes
    if row.doubt:
        assert {each["doubt"] for each in found["validation"]} == {row.doubt}
    asked = dict(zip(row.words, row.words[1:], strict=False))
    assert found["equality"] == asked.get("--equality", "value")
    assert found["tolerance"] == float(asked.get("--tolerance", "1e-9"))
    assert (found["validity"], found["typed"]) == (asked.get("--inputs", "quorum"), "--no-types" not in row.words)


@pytest.mark.parametrize(
    ("old", "new", "name", "call"),
    [
        (ANIMALS, ANIMALS.replace("return 2", "return 3"), "total", "total([Bird(0)])"),
        (*(f"{NANS[1].replace('x):', 'x: float):').replace('0.0', zero)}" for zero in ("0.0", "1.0")), "f", "f(nan)"),
    ],
    ids=["heirs", "NaN"],
)
def test_versions_are_compared_on_the_same_inputs(tmp_path: Path, old: str, new: str, name: str, call: str) -> None:
    for version, text in (("old", old), ("new", new)):
        (tmp_path / f"{version}.py").write_text(text)
    versions = [load_version(f"{tmp_path / version}.py::{name}") for version in ("old", "new")]
    assert diff(*versions, DiffOptions(n=100)).changes[0].call == call
