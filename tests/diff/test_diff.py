"""Versions in packages, pins, verdicts: what decides, and what is refused; pairs of which it is known."""

import sys
from pathlib import Path

import pytest

from difftrust.diff.changed_behaviour import Compare
from difftrust.diff.diff import DiffOptions, DiffReport, diff, load_version
from difftrust.diff.pair import renamed, signatures
from difftrust.outputs.report_text import text_of
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import BadStub, WrongUsage
from difftrust_core.metrics.equality import Equality
from tests.support.repository import write
from tests.support.versions.pairs import CHANGED, REFACTORED, VersionPair, compared


def compare(tmp_path: Path, old: str, new: str, name: str = "f", **chosen: object) -> DiffReport:
    write(tmp_path, {"old.py": old, "new.py": new})
    versions = (load_version(f"{tmp_path}/{which}.py::{name}") for which in ("old", "new"))
    return diff(*versions, DiffOptions(**{"n": 50, **chosen}))  # type: ignore[arg-type]


def compare_packages(
    folder: Path, where: str, files: dict[str, str], old: str, new: str, **chosen: object
) -> DiffReport:
    """Compare ``shop/WHERE`` of two packages of these modules, in which CHANGED stands for what is old or new."""
    old_files, new_files = (
        {name: text.replace("CHANGED", part) for name, text in files.items()} for part in (old, new)
    )
    return compare_modules(folder, where, old_files, new_files, **chosen)


def compare_modules(folder: Path, where: str, old: dict[str, str], new: dict[str, str], **chosen: object) -> DiffReport:
    """Compare ``shop/WHERE`` of two packages with modules of their own."""
    for which, files in (("old", old), ("new", new)):
        write(folder / which / "shop", {f"{name}.py": text for name, text in {"__init__": "", **files}.items()})
    versions = (load_version(f"{folder}/{which}/shop/{where}") for which in ("old", "new"))
    return diff(*versions, DiffOptions(**{"n": 50, **chosen}))  # type: ignore[arg-type]


@pytest.mark.parametrize("used", ["x + K", "f'{K}'", "x if K else 0"])
def test_what_rests_on_a_module_that_only_one_side_has_is_undecided(used: str, tmp_path: Path) -> None:
    text = f"from .made import K\n\n\ndef f(x: int):\n    return {used}"
    new = {"rest": f"{text} or 0\n", "made": "K = 1\n"}
    report = compare_modules(tmp_path, "rest.py::f", {"rest": f"{text}\n"}, new, n=20)
    assert report.verdict == "undecided"
    assert "a package that is not here" in report.statement


@pytest.mark.slow
def test_each_version_brings_its_package(tmp_path: Path) -> None:
    rates = "class Rate:\n    def __init__(self, share):\n        self.share = share\n\n    def of(self, cents):\n"
    texts = {
        "prices": "from .rates import RATES, Rate\nfrom . import text as words\n\n\ndef price(cents: int, kind):\n"
        "    return words.tidy(kind), Rate(RATES[kind]).of(cents)\n",
        "text": "from shop import prices\nimport missing_package\n\n\ndef tidy(text):\n    return text.strip()\n",
        "rates": f"{rates}        return cents * self.share\n\n\nRATES = {{'full': 2, 'half': CHANGED}}\n",
    }
    report = compare_packages(tmp_path, "prices.py::price", texts, "1", "2", n=600)
    assert report.verdict == "changed"
    assert report.changes[0].arguments == "(1, 'half')"
    assert [text for _, text in report.changes[0].outcomes] == ["('half', 1)", "('half', 2)"]


@pytest.mark.parametrize(
    ("new", "pin"),
    [
        ("def f(xs: list[int]):\n    xs.clear()\n    return 1", ""),
        ("def f(xs: list[int]):\n    return 2", '--expect "f([]) == 2"'),
    ],
)
def test_no_pin_is_offered_that_holds_of_both_versions(new: str, pin: str, tmp_path: Path) -> None:
    old = "def f(xs: list[int]):\n    if xs:\n        xs.clear()\n        xs.append(1)\n    return 1"
    report = compare(tmp_path, old, new)
    assert report.verdict == "changed"
    assert pin in text_of(report)
    assert ("--expect" in text_of(report).partition("Next best step")[0]) == bool(pin)


def test_the_same_program_needs_no_run(tmp_path: Path) -> None:
    documented = 'def f(x):\n    """Return x."""\n    # as it is\n    return x\n'
    report = compare(tmp_path, "def f(x):\n    return x\n", documented)
    assert (report.verdict, report.n) == ("unchanged", 0)
    assert compare(tmp_path, documented, documented, expect=("f(1) == 999",)).verdict == "changed"
    with pytest.raises(WrongUsage, match=r"g\(1\) == 2"):
        compare(tmp_path, documented, documented, expect=("g(1) == 2",))


def test_a_pin_makes_a_change_expected(tmp_path: Path) -> None:
    old, new = "def f(n: bool):\n    return 1\n", "def f(n: bool):\n    return 2 if n else 1\n"
    report = compare(tmp_path, old, new, expect=("f(True) == 2",))
    assert report.verdict == "unchanged"
    assert [(c.arguments, c.expected) for c in report.changes] == [("(True,)", True)]
    shown = new.replace(":\n", ':\n    """Count.\n\n    >>> f(True)\n    2\n    """\n', 1)
    assert compare(tmp_path, old, shown, expect=("f(False) == 1",)).verdict == "changed"  # another call is pinned
    failed = compare(tmp_path, old, new, expect=("f(True) == 3",))
    assert failed.verdict == "changed"
    assert failed.failed_expectations == ("f(True): expected 3, the new version gives 2",)


@pytest.mark.parametrize("kind", ["bool", "Color", "Literal[1, 2]"])
def test_few_inputs_decide_where_there_are_no_others(kind: str, tmp_path: Path) -> None:
    text = "from enum import Enum\nfrom typing import Literal\n\nColor = Enum('Color', 'RED BLUE')\n\n\n"
    text += f"def f(one: {kind}, other: bool):\n    return"
    assert compare(tmp_path, f"{text} (one, other)\n", f"{text} (one, other) * 1\n").verdict == "unchanged"


def test_a_history_is_an_example_and_a_pin(tmp_path: Path) -> None:
    """Written as the report shows it."""
    old, new, made = STACK.format(-1), STACK.format(0), "x = {}Stack(); x.push(1); x.push(0); x.peek()"
    report = compare(tmp_path, old, new, "Stack.peek", expect=(f"{made.format('')} == 0",))
    assert report.failed_expectations == (f"{made.format('')}: expected 0, the new version gives 1",)
    report = compare(tmp_path, old, new, "Stack.peek", n=1, expect=(f"{made.format('new.')} == 1",))
    assert report.failed_expectations == ()
    assert "(AfterCalls(Stack(), [push(1), push(0)]),)" not in [change.arguments for change in report.changes]
    same, shown = old.replace("if self._items", "if len(self._items)"), f">>> {made.format('')}"
    assert compare(tmp_path, old, same, "Stack.peek", examples=(shown,)).verdict == "unchanged"  # it was run


SLICE = "def f(n: int):\n    return slice({}) if n > -20 else None\n"
READING = "LIMIT = open('limits.txt').read()\n\n\ndef f(x):\n    return x, LIMIT\n"
CLOCK = "import time\n\n\ndef f(x: int):\n    return x, time.perf_counter_ns(){}\n"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("def f(x):\n    raise ValueError(x)\n", "def f(x):\n    raise ValueError(x, x)\n", "raise the same"),
        (
            "def f(x):\n    return x\n",
            "LIMIT = 1 // 0\n\n\ndef f(x):\n    return x + LIMIT\n",
            "the new version does not load: ZeroDivisionError",
        ),
        ("def f(x):\n    return x\n", READING, "the new version does not load: FileNotFoundError"),
        (CLOCK.format(""), CLOCK.format(" + 0"), "differs from itself"),
        ("def f(x):\n    return x + 1\n", "def f(x):\n    return x() + 1\n", "the new version raises on all inputs"),
        (
            "def f(x: int):\n    return {3: 1}[x]\n",
            "def f(x: int):\n    return {3: 2 - 1}[x]\n",
            "raise on all but 1 of",
        ),
        (SLICE.format("n"), SLICE.format("n + 1"), "both versions give what cannot be compared: slice"),
    ],
    ids=[
        "never returns",
        "does not load",
        "reads a file",
        "chance",
        "one never returns",
        "hardly returns",
        "no plain value",
    ],
)
def test_what_decides_nothing_is_undecided(old: str, new: str, why: str, tmp_path: Path) -> None:
    report = compare(tmp_path, old, new)
    assert report.verdict == "undecided"
    assert why in report.undecided[0].why
    assert ("--example" in report.next_step) == ("raise" in why)
    assert ("reads no other file" in report.next_step) == (new == READING)


def test_a_function_without_parameters_is_called_once(tmp_path: Path) -> None:
    report = compare(tmp_path, "def f():\n    return 1\n", "def f():\n    return 2\n", expect=("f() == 2",))
    assert (report.verdict, [c.call for c in report.changes], report.n) == ("unchanged", ["f()"], 1)
    assert compare(tmp_path, "def f():\n    return 1\n", "def f():\n    return 2\n").verdict == "changed"
    assert compare(tmp_path, "def f():\n    return 2\n", "def f():\n    return 1 + 1\n").verdict == "unchanged"


def test_objects_are_made_by_a_call(tmp_path: Path) -> None:
    text = "class Box:\n    def __init__(self, width: int):\n        self.width = {}\n"
    report = compare(tmp_path, text.format("width"), text.format("abs(width)"), "Box.__init__")
    assert (report.verdict, report.changes[0].arguments) == ("changed", "(-1,)")


def test_no_such_function(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class A:\n    pass\n")
    with pytest.raises(BadStub, match=r"expected a method A\.__init__"):
        load_version(f"{tmp_path}/a.py::A.__init__")
    with pytest.raises(WrongUsage, match=r"expected module\.py::function"):
        load_version("f")


def test_calls_that_both_take(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("def f(a, b=1, *, gone=2): ...\n")
    (tmp_path / "new.py").write_text("def f(a, c=1, *, more=2): ...\n")
    old, new = (load_version(f"{tmp_path}/{name}.py::f").target for name in ("old", "new"))
    found = [([p.name for p in each.parameters], each.note) for each in signatures(old, new)]
    assert found == [
        (["a", "c"], ""),
        (["a", "c", "more"], "it gives more, which the old version does not take"),
        (["a", "b", "gone"], "it gives gone, which the new version does not take"),
    ]
    assert renamed(old, new) == [("b", "c")]


@pytest.mark.parametrize(
    ("old", "new", "call"),
    [
        ("def f(a: bool, b: int): return a - b", "def f(b: int, a: bool): return a - b", "f(True, 0)"),
        ("def f(a: bool, b: bool): return a", "def f(a: bool, *, b: bool): return a", "f(True, True)"),
        ("def f(a: bool): return a", "def f(a: bool, /): return a", "f(a=True)"),
        ("def f(a: bool, b=1): return a", "def f(a: bool, b): return a", "f(True)"),
        ("async def f(a: bool): return a", "def f(a: bool): return a", "f(True)"),
    ],
    ids=["order", "by name only", "by position only", "default", "async"],
)
def test_a_call_that_the_new_version_takes_otherwise_or_not_is_a_change(
    old: str, new: str, call: str, tmp_path: Path
) -> None:
    report = compare(tmp_path, old, new, n=10)
    assert report.verdict == "changed", report.statement
    assert call in {change.call.replace("False", "True") for change in report.changes}


def test_which_differences_count() -> None:
    rule = Compare(Equality.VALUE, tolerance=1e-9, raised={"ValueError"})
    one, type_error, value_error = (Kind.VALUE, "1"), (Kind.EXCEPTION, "TypeError"), (Kind.EXCEPTION, "ValueError")
    assert rule.weigh(one, (Kind.VALUE, "True"), sure=False) == "counts"
    assert rule.weigh((Kind.VALUE, "0.3"), (Kind.VALUE, "0.30000000000000004"), sure=True) == "same"
    assert rule.weigh((Kind.VALUE, "'<f at 0x7f1>'"), (Kind.VALUE, "'<f at 0x7f2>'"), sure=True) == "same"
    assert rule.weigh(one, type_error, sure=False) == "doubtful"
    assert rule.weigh(one, type_error, sure=True) == "counts"
    assert rule.weigh(type_error, value_error, sure=False) == "counts"
    assert rule.weigh(type_error, (Kind.EXCEPTION, "AttributeError"), sure=True) == "doubtful"
    assert rule.weigh(one, (Kind.TIMEOUT, ""), sure=True) == "nothing"


RARE = """
def f(x: int) -> str:
    if x * x - 1000003 * x == 987654321987:
        return {}
    try:
        return str({})
    except ZeroDivisionError:
        return "none"
"""
HANDLED = """
import re
def f(text: str) -> str:
    def code(match):
        try:
            return chr(int(match.group(1)))
        except {}:
            return match.group(0)
    return re.sub("&#([0-9]+);", code, text)
"""
OLD_PYTHON = """
import sys
def f(x: int) -> int:
{}    return x + 1
"""
SHOWN = """
def made(name):
    class Sentinel:
        def __repr__(self):
            return {}
    return Sentinel()
MISSING = made("MISSING")
def f(x: int, y: object = MISSING) -> int:
    return {}x if y is MISSING else 0
"""
KINDS = """
def f(x, y):
    if {} and (x == 0 or x == 1):
        if y is True or y is False:
            return False
    return x == y
"""
BESIDE = """
def f(text: str, mode: str, level: int) -> int:
    if mode == "zz-top" and level == 4711:
        return len(text{})
    return 0
"""
HEARS = "try:\n        return g(x)\n    except ValueError as e:\n        return len(str(e))"
NAMING = """
from decimal import Decimal
TABLE = {{"ab": 1, "b": 2}}
def is_known(text):
    return text in TABLE
def f(text: str, x: Decimal) -> int:
    \'\'\'Return a length.

    Requires: is_known(text)
    \'\'\'
    assert isinstance(x, Decimal)
    return len(text){}
"""
HEIR = """
class Base:
    def f(self, x: int) -> int:
        return self.scale() * x{}
    def scale(self):
        return 2
class Times(Base):
    def __init__(self, by: int):
        self.by = by
    def scale(self):
        return self.by
"""
COUNTED = """
def f(text: str) -> str:
    if text.count("-") not in (4, 5):
        raise ValueError
    return text.split("-")[0]{}
"""
REFUSES = """
def g(x):
    if x * x - 1000003 * x == 987654321987:
        raise ValueError(f"not {}: {{x}}")
    return x
def f(x: int) -> int:
    {}
"""
SAID = """
def g(x):
    {}return x
def f(x: int) -> int:
    return g(x) if x * x - 1000003 * x == 987654321987 else x
"""
LEFT_OUT = """
class Counts:
    def __init__(self):
        self.kept = {{}}

    def most(self, n=None):
        \"""Return the n most common, all by default.\"""
        if {}n <= 0:
            return []
        return sorted(self.kept)[:n]
"""
PRICE = """
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
def f(text: str) -> str:
    return str(Decimal(text).quantize(Decimal("0.01"), {}))
"""
CODED = """
def f(x: int) -> int:
    return 1 if x * 7 - 11 == {} * 7 - 11 + len(str(x)) - 4 else 0
"""
SELDOM = """
def f(xs: list[int]) -> list[int]:
    return [{} for x in xs if {}]
"""
RULES = """
import re

RULES = [('x$', 'y'), ('(ab)+c$', 'z'){}]


def f(word: str) -> str:
    for rule, new in RULES:
        if re.search(rule, word):
            return re.sub(rule, new, word)
    return word
"""
TABLE = """
FACTORS = {{'mile': {}}}


def f(n: int) -> int:
    return n * FACTORS['mile'] if {} else n
"""
UNMET = "n * n - 1000003 * n == 987654321987"
GUARDED = """
try:
    import nowhere_to_be_found as fast
except ImportError:
    fast = None


def f(n: int) -> int:
    return {} if fast is None else fast.twice(n)
"""
CLASS = """
class Counter:
    def __init__(self, n: int):
        self.n = n

    def size(self) -> int:
        return self.n {}

    def never(self) -> int:
        if self.n * self.n == 987654321987:
            return {}
        return 2
"""
CASES = """
def f(d: str, m: int) -> str:
    match m * m - 1000003 * m:
        case 987654321987 if d.{}():
            return d + "a"
        case 987654321987:
            return "m"
    return d
"""
SPAN = """
class Span:
    def __init__(self, n: int):
        if n % 3:
            raise ValueError(n)
        self.n = n

    def __lt__(self, other):
        return _less(self.n, other)

    def twice(self) -> int:
        return self.n {}

    def before(self, other: int) -> bool:
        return other * other - 1000003 * other == 987654321987 and self < abs(other)


def _less(n, other):
    return {}
"""
NAMED = "from operator import itemgetter\n\n\ndef f(x: int):\n    return {}\n"
MADE = """
class P:
    def __init__(self):
        self.x = {}
        self.last = None
        self.clear()

    def clear(self):
        self.word = {}

    def get(self, n: int):
        self.last = n
        return n + {}
"""
NAMESAKES = """
import re

_WORD = re.compile("[a-z]+")


class Version:
    pattern = re.compile("[0-9]+")

    def __init__(self, text: str):
        self.text = text

    @classmethod
    def read(cls, text: str):
        match = _WORD.match(text) or cls.pattern.match(text) or re.match("x", text)
        return match.end() if match else 0

    def match(self, other: str):
        return self.text == other {}


def match(text: str):
    return text {}


def f(text: str):
    return Version.read(text) {}
"""
OTHER = """
class P:
    def __init__(self, x: int):
        self.x = x

    def {}(self, o):
        if {}:
            return {}
        return self.x == o.x
"""
TYPED = "{}\nL = list[K]\n\n\ndef f(x: int, n: int) -> 'L':\n    {}\n    return found\n"


STACK = """
MOST = 1000


class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items = [*self._items, item][-MOST:]

    def peek(self):
        return self._items[{}] if self._items else None
"""
HELPED = """
def step(n):
    return {}


class Counter:
    def __init__(self):
        self.n = 0

    def add(self, n: int):
        self.n += step(n)

    def get(self):
        return self.n {}
"""
BARE = """
class Box:
    def __init__(self):
        self.kept = 0

    @property
    def get(self):
        return {}
"""
FLAGGED = "import re\n\n\ndef f(text: str):\n    return re.compile(r{}).search(text) is not None\n"
MONEY = "from decimal import Decimal\n\n\ndef f(n: int, x: Decimal):\n    return {}\n"
OPEN = "import json\n\n\ndef f(obj):\n    return {}\n"
COMMAND = "import sys\n\n\ndef f(n: int):\n    return {}, n\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "name", "verdict", "shown"),
    [
        # Methods without annotations are called before; an object as it is made shows nothing.
        (STACK, (-1,), (0,), "Stack.peek", "changed", "push("),
        # What only these rest on is there, and not asked for.
        (HELPED, ("n", ""), ("n", "% 7"), "Counter.get", "changed", "add("),
        (HELPED, ("n", ""), (f"1 if {UNMET} else n", "+ 0"), "Counter.get", "unchanged", ""),
        (BARE, ("self.kept",), ("self.kept * 2",), "Box.get", "undecided", "every object was Box()"),
        # Flags of a pattern, the sign of nothing, dicts where nothing is known, the command line.
        (FLAGGED, ("'#[0-9a-f]{6}$'",), ("'#[0-9a-f]{6}$', re.I",), "f", "changed", "#"),
        (FLAGGED, ("'^ERROR: (.*)$'",), ("'^ERROR: (.*)$', re.M",), "f", "changed", "\\n"),
        (FLAGGED, ("'BEGIN(.*)END'",), ("'(?s)BEGIN(.*)END'",), "f", "changed", "\\n"),
        (MONEY, ("n * x",), ("n * x if x else abs(n * x)",), "f", "unchanged", ""),
        (MONEY, ("n * x",), ("n * x + Decimal('0.0')",), "f", "changed", ""),
        (OPEN, ("json.dumps(obj)",), ("json.dumps(obj, sort_keys=True)",), "f", "changed", "{"),
        (COMMAND, ("sys.argv",), ("['']",), "f", "unchanged", ""),
        # Lines that no input reaches decide nothing.
        (RARE, ("'a'", "x"), ("'b'", "x"), "f", "undecided", "no input reached what differs: return 'b'"),
        (RARE, ("'a'", "x"), ("'a'", "0 + x"), "f", "unchanged", ""),
        (
            SELDOM,
            ("1 if x * x - 1000003 * x == 987654321987 else x", 1),
            ("2 if x * x - 1000003 * x == 987654321987 else x", 1),
            "f",
            "undecided",
            "differs: 2",
        ),
        (
            SELDOM,
            ("x", "x * x - 1000003 * x == 987654321987 and x"),
            ("x", "x * x - 1000003 * x == 987654321987 and -x"),
            "f",
            "undecided",
            "differs: -x",
        ),
        (SELDOM, ("x + x", "x > 3"), ("2 * x", "not x <= 3"), "f", "unchanged", ""),
        (CASES, ("isdigit",), ("isdecimal",), "f", "undecided", ": case 987654321987 if d.isdecimal():"),
        (HANDLED, ("ValueError",), ("(ValueError, OverflowError)",), "f", "changed", "&#"),
        (HANDLED, ("ValueError",), ("(ValueError, LookupError)",), "f", "undecided", "differs: except LookupError"),
        (OLD_PYTHON, ("    if sys.version_info < (3,):\n        x = long(x)\n",), ("",), "f", "unchanged", ""),
        (
            OLD_PYTHON,
            ("    if sys.version_info[0] == 2 and x > 10**30:\n        x = 0\n",),
            ("",),
            "f",
            "undecided",
            "x = 0",
        ),
        (SHOWN, ("name", ""), ("name + ''", "0 + "), "f", "unchanged", ""),
        (SAID, ("",), ("'Say nothing.'\n    x = x + 0\n    ",), "f", "undecided", "differs: x = x + 0"),
        # Two of other kinds together, where code tells kinds apart.
        (KINDS, ("type(x) is int",), ("not isinstance(x, bool)",), "f", "changed", "(0.0, "),
        # Conditions name what their module binds; a base is tried by its heirs; a separator comes as often as is asked.
        (NAMING, ("",), (" + (text == 'b')",), "f", "changed", "('b', "),
        (NAMING, ("",), (" + (text == 'c')",), "f", "unchanged", ""),
        (HEIR, ("",), (" + (self.scale() == 7)",), "Base.f", "changed", "(Times(7), "),
        (COUNTED, ("",), (" + 'a'",), "f", "changed", "---"),
        # Messages that nobody hears need not be reached.
        (REFUSES, ("odd", "return g(x)"), ("even", "return g(x)"), "f", "unchanged", ""),
        (REFUSES, *((word, HEARS) for word in ("odd", "even")), "f", "undecided", "differs: raise ValueError("),
        # What has a default may be left out, whatever its type.
        (LEFT_OUT, ("",), ("n is not None and ",), "Counts.most", "changed", "(Counts(),)"),
        # What the versions compare, match and round is followed, and what reaches the changed lines is varied.
        (BESIDE, ("",), (".encode()",), "f", "changed", "'zz-top', 4711"),
        (HANDLED, ("ValueError",), ("OverflowError",), "f", "changed", "&#"),
        (PRICE, ("ROUND_HALF_UP",), ("ROUND_HALF_EVEN",), "f", "changed", "5"),
        (CODED, (5291,), (5292,), "f", "changed", "529"),
        # What a function rests on is sought and reached: patterns, tables, fallbacks, other methods.
        (RULES, ("",), (", (r'(pass)er?by(s?)$', r'\\2')",), "f", "changed", "by"),
        (TABLE, (1609, "n > 8"), (1610, "n > 8"), "f", "changed", "9"),
        (TABLE, (1609, UNMET), (1610, UNMET), "f", "undecided", "FACTORS"),
        (GUARDED, ("n",), ("n + n - n",), "f", "unchanged", ""),
        (GUARDED, ("n",), ("n + (n > 7)",), "f", "changed", "8"),
        (CLASS, ("", 1), ("+ 0", 3), "Counter.size", "unchanged", ""),
        (CLASS, ("", 1), ("+ 0", 3), "Counter.never", "undecided", "return 3"),
        # Methods that only operators call count where an operator may call them.
        (SPAN, ("* 2", "n < other"), ("+ self.n", "other > n"), "Span.twice", "unchanged", ""),
        (SPAN, ("* 2", "n < other"), ("* 2", "other > n"), "Span.before", "undecided", ""),
        (SPAN, ("* 2", "n < other"), ("* 2", "n <= other"), "Span.__lt__", "changed", ""),
        # What is known by its name is compared.
        (NAMED, ("len if x > 3 else sum",), ("sum if x <= 3 else len",), "f", "unchanged", ""),
        (NAMED, ("len if x > 3 else sum",), ("len if x > 3 else max",), "f", "changed", ""),
        (NAMED, ("x if x > 3 else NotImplemented",), ("NotImplemented if x <= 3 else x",), "f", "unchanged", ""),
        (NAMED, ("int if x > 3 else str",), ("str if x <= 3 else int",), "f", "unchanged", ""),
        (NAMED, ("itemgetter(1) if x > 3 else len",), ("itemgetter(0) if x > 3 else len",), "f", "changed", ""),
        # What annotations alone name is not asked for.
        (TYPED, ("K = int", "found: K = x"), ("K = float", "found = x"), "f", "unchanged", ""),
        (TYPED, ("K = int", "found: K = x"), ("K = int", "found: K = x + (x == 7)"), "f", "changed", ""),
        (TYPED, ("K = 1", "found = x or K"), ("K = 2", "found = x or K"), "f", "changed", ""),
        (
            TYPED,
            ("K = 1", f"found = K if {UNMET} else x"),
            ("K = 2", f"found = K if {UNMET} else x"),
            "f",
            "undecided",
            "",
        ),
        # What a constructor sets is no behaviour of a method.
        (MADE, ("(1,)", "'a'", 1), ("1", "'a'", "0 + 1"), "P.get", "unchanged", ""),
        (MADE, ("(1,)", "'a'", 1), ("1", "'a'", 2), "P.get", "changed", ""),
        (MADE, ("1", "'a'", 1), ("1", "'b'", 1), "P.clear", "changed", ""),
        (MADE, ("1", "'a'", 1), ("2", "'a' + ''", 1), "P.clear", "unchanged", ""),
        # A variable or a method of a pattern is not what the module calls so.
        (NAMESAKES, ("", "", ""), ("or 1 // 0", "+ ''", "+ 0"), "f", "unchanged", ""),
        (NAMESAKES, ("", "", ""), ("or 1 // 0", "+ ''", "+ 0"), "Version.read", "unchanged", ""),
        # An object of another class is tried where classes are told apart.
        *(
            (OTHER, (name, guard, False), (name, guard, NotImplemented), f"P.{name}", "changed", "")
            for name, guard in (
                ("__eq__", "not isinstance(o, P)"),
                ("same", "not isinstance(o, P)"),
                ("__eq__", "getattr(o, 'x', None) is None"),
            )
        ),
    ],
)
def test_what_counts_and_what_is_reached_decides(
    text: str, old: tuple[object, ...], new: tuple[object, ...], name: str, verdict: str, shown: str, tmp_path: Path
) -> None:
    report = compare(tmp_path, text.format(*old), text.format(*new), name, n=300 if text == SPAN else 50)
    assert report.verdict == verdict, report.statement
    assert report.n_differing == 0 or verdict == "changed"
    said = [*(change.arguments for change in report.changes), *(doubt.why for doubt in report.undecided)]
    assert any(shown in each for each in said) or not shown


def test_a_branch_that_is_gone_has_to_be_reached_too(tmp_path: Path) -> None:
    old = RARE.format("'a'", "x")
    new = old.replace("    if x * x - 1000003 * x == 987654321987:\n        return 'a'\n", "")
    assert "return 'a'" in compare(tmp_path, old, new).undecided[0].why


KEPT = """
import time

_kept = {{}}


def f(x: str, n: int):
    {}
"""
MEMO = "return _kept.setdefault({}, x * (n % 5))"
COUNT = "_kept[0] = _kept.get(0, 0) + 1; return {} + _kept[0]"


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (MEMO.format("x"), MEMO.format("(x, n)"), "undecided"),
        (COUNT.format("n"), COUNT.format("n + (n > 7)"), "changed"),
        ("return time.time_ns()", "return time.time_ns() + 1", "undecided"),
    ],
    ids=["key", "counter", "time"],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_earlier_calls_left_behind_is_no_change_of_a_call(
    old: str, new: str, verdict: str, seed: int, tmp_path: Path
) -> None:
    report = compare(tmp_path, KEPT.format(old), KEPT.format(new), seed=seed)
    assert report.verdict == verdict, report.statement
    assert all(change.outcomes[0] != change.outcomes[1] for change in report.changes)


@pytest.mark.parametrize("name", ["__init__", "use"])
def test_a_package_takes_its_own_modules_from_itself(name: str, tmp_path: Path) -> None:
    text = "from . import keys\n\n\ndef f(x: int):\n    return keys.key(x)\n"
    files = {"use": text, "__init__": text, "keys": "def key(x):\n    return CHANGED\n"}
    report = compare_packages(tmp_path, f"{name}.py::f", files, "x * 2", "x + x + (x == 7)")
    assert [change.arguments for change in report.changes] == ["(7,)"], report.statement


@pytest.mark.parametrize(
    ("body", "verdict"),
    [("near(x)", "unchanged"), ("near(x) + far(x)", "changed"), ("near(x) + globals()['far'](x)", "changed")],
)
def test_of_an_import_only_the_names_that_are_used_count(body: str, verdict: str, tmp_path: Path) -> None:
    use = f"from .places import far, near\n\n\ndef f(x: int):\n    return {body}\n"
    places = "def near(x):\n    return x\n\n\ndef far(x):\n    return x * CHANGED\n"
    report = compare_packages(tmp_path, "use.py::f", {"use": use, "places": places}, "2", "3")
    assert (report.verdict, report.n > 0) == (verdict, verdict == "changed"), report.statement


def test_a_class_with_another_name_is_compared_under_the_new_one(tmp_path: Path) -> None:
    text = (
        "class {}:\n    def __init__(self, x: int):\n        self.x = x\n    def f(self, y: int):\n        return {}\n"
    )
    bodies = ("Old", "Old(self.x + y)"), ("New", "New(self.x + y + (y > 3))"), ("New", "New(y + self.x)")
    for name, made in zip(("old", "new", "same"), bodies, strict=True):
        write(tmp_path, {f"{name}.py": text.format(*made)})
    old, new, same = (load_version(f"{tmp_path}/{name}.f") for name in ("old.py::Old", "new.py::New", "same.py::New"))
    changed, alike = (diff(old, other, DiffOptions(n=50)) for other in (new, same))
    assert (changed.verdict, alike.verdict) == ("changed", "unchanged")
    assert changed.changes[0].call == "New(0).f(4)"
    assert "the class Old is now called New: it is compared under that name" in changed.notes
    write(tmp_path, {"old.py": "New = 0\n" + text.format(*bodies[0])})
    taken = diff(load_version(f"{tmp_path}/old.py::Old.f"), same, DiffOptions(n=50))
    assert (taken.verdict, [note for note in taken.notes if "Old" in note]) == ("undecided", [])


REGISTRY = """
TABLE = {}


def adds(name):
    def add(f):
        TABLE[name] = f
        return f

    return add


class Base:
    kinds = {}

    def __init_subclass__(cls):
        Base.kinds[cls.__name__] = cls
"""
USER = """
from .registry import TABLE, Base


def f(name: str, x: int):
    return TABLE[name](x)


def h(name: str, x: int):
    TABLE.setdefault(name, abs)
    return TABLE[name](x)


def g(name: str, x: int):
    return Base.kinds[name]().of(x)
"""
ADDING = """
from . import registry
from .registry import Base, adds


@adds("ab")
def one(x: int):
    return x + {}


def two(x: int):
    return x * {}


registry.TABLE["cd"] = two


class Thrice(Base):
    def of(self, x):
        return x - {}
"""


@pytest.mark.parametrize(
    ("changed", "name", "arguments"),
    [
        ((2, 1, 1), "use.py::f", ["('ab', 0)"]),
        ((1, 2, 1), "use.py::f", ["('cd', 1)"]),
        ((1, 1, 2), "use.py::g", ["('Thrice', 0)"]),
        ((2, 1, 1), "use.py::h", ["('ab', 0)"]),
        ((1, 1, 2), "use.py::f", []),
        ((1, 2, 2), "adding.py::one", []),
        ((2, 1, 2), "adding.py::two", []),
    ],
    ids=["decorator", "assignment", "subclass", "added to", "no subclass", "one of them", "another"],
)
@pytest.mark.parametrize("importing", ["__init__", "use"])
def test_what_other_modules_add_to_a_registry_belongs_to_what_looks_it_up(
    changed: tuple[int, ...], name: str, arguments: list[str], importing: str, tmp_path: Path
) -> None:
    texts = {"registry": REGISTRY, "use": USER}
    texts[importing] = f"from . import adding\n{texts.get(importing, '')}"
    old, new = ({**texts, "adding": ADDING.format(*numbers)} for numbers in ((1, 1, 1), changed))
    report = compare_modules(tmp_path, name, old, new)
    assert [change.arguments for change in report.changes] == arguments, report.statement
    assert bool(report.n) == bool(arguments)


LOOPS = """
def f(n: int) -> int:
    found = 0
    while n:
        n, found = n {} 2, found + 1
    return found
"""


@pytest.mark.slow
def test_inputs_on_which_both_hang_leave_the_others_to_be_compared(tmp_path: Path) -> None:
    report = compare(tmp_path, LOOPS.format("//"), LOOPS.format("// 1 //"), n=400)
    assert report.verdict == "unchanged", report.statement
    assert compare(tmp_path, LOOPS.format("//"), LOOPS.format("// (1 + (n > 7)) //"), n=400).verdict == "changed"


def test_a_parameter_that_takes_any_object_gets_one_of_its_own_class(tmp_path: Path) -> None:
    old = (
        "class P:\n    def __init__(self, x: int, y: int):\n        self.x, self.y = x, y\n\n"
        "    def __eq__(self, other: object) -> bool:\n"
        "        return isinstance(other, P) and self.x == other.x and self.y == other.y\n"
    )
    report = compare(tmp_path, old, old.replace(" and self.y == other.y", ""), "P.__eq__", n=300)
    assert report.changes[0].call in ("P(0, 0).__eq__(P(0, 1))", "P(0, 1).__eq__(P(0, 0))")
    old += "\n\ndef same(a: object, b: object):\n    return isinstance(a, P) and isinstance(b, P) and a.x == b.x\n"
    report = compare(tmp_path, old, old.replace(" and a.x == b.x", ""), "same", n=300)
    assert report.changes[0].call in ("same(P(0, 0), P(1, 0))", "same(P(1, 0), P(0, 0))")


def test_a_class_that_is_imported_for_its_annotation_alone_is_known_unless_the_code_needs_it(tmp_path: Path) -> None:
    head = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .models import User\n\n\n"
    models = "class User:\n    def __init__(self, age: int):\n        self.age = age\n"
    files = {"models": models, "m": f"{head}def adult(u: 'User'):\n    return CHANGED 18\n"}
    strict = compare_packages(tmp_path, "m.py::adult", files, "u.age >=", "u.age >", n=600)
    assert strict.changes[0].call == "adult(User(18))"
    needing = compare_packages(tmp_path, "m.py::adult", files, "u.age >=", "isinstance(u, User) and u.age >=", n=600)
    assert needing.verdict != "unchanged"


MODELS = """
import enum
from dataclasses import dataclass
Kind = enum.Enum("Kind", "FEW MANY")
if True:
    @dataclass
    class Box:
        width: int
@dataclass
class Money:
    cents: int
@dataclass
class Item:
    kind: Kind
    box: Box
    price: Money
"""


@pytest.mark.parametrize("imported", ["Item", "Box, Item, Kind, Money"])
def test_inputs_are_made_of_classes_that_the_function_does_not_name(imported: str, tmp_path: Path) -> None:
    code = f"from .models import {imported}\n\n\ndef f(item: Item | None, n: int):\n"
    code += "    return item.price.cents * CHANGED if item else 0\n"
    report = compare_packages(tmp_path, "m.py::f", {"models": MODELS, "m": code}, "n", "(n - 1)")
    assert report.verdict == "changed"
    assert report.changes[0].call == "f(Item(Kind.FEW, Box(0), Money(1)), 0)"


@pytest.mark.parametrize(
    ("imported", "kind"),
    [
        ("from .models import Kind as K", "K"),
        ("from . import models", "models.Kind"),
        ("import shop.models as m", "m.Kind"),
        ("import shop.models", "shop.models.Kind"),
    ],
)
def test_pins_examples_and_tests_may_give_classes_of_other_modules(imported: str, kind: str, tmp_path: Path) -> None:
    files = {"models": MODELS, "m": f"{imported}\n\n\ndef f(kind):\n    return CHANGED\n"}
    new = f"1 + (kind is {kind}.MANY)"
    report = compare_packages(tmp_path, "m.py::f", files, "1", new, expect=(f"f({kind}.MANY) == 2",))
    assert (report.verdict, [c.call for c in report.changes]) == ("unchanged", ["f(Kind.MANY)"])
    report = compare_packages(tmp_path, "m.py::f", files, "1", new, examples=(f"f({kind}.MANY)",))
    assert (report.verdict, [c.call for c in report.changes]) == ("changed", ["f(Kind.MANY)"])
    files["test_m"] = f"from .m import f\n{imported}\nf({kind}.MANY)\n"
    report = compare_packages(tmp_path, "m.py::f", files, f"{new} * 0", new)
    assert (report.verdict, [c.call for c in report.changes]) == ("changed", ["f(Kind.MANY)"])


@pytest.mark.parametrize(
    ("imported", "annotation"),
    [
        ("from . import models", "'list[models.Item]'"),
        ("import shop.models", "list[shop.models.Item] | None"),
        ("from .models import Item as I", "list[I]"),
        ("from . import models\nItems = list[models.Item]", "Items"),
        ("from .models import Item as I\nclass Mine(I):\n    pass", "list[Mine]"),
        ("from . import orders", "list[orders.Order]"),
    ],
)
def test_an_annotation_may_qualify_a_class_or_rename_it(imported: str, annotation: str, tmp_path: Path) -> None:
    orders = "from . import models\nclass Order:\n    def __init__(self, item: models.Item):\n"
    orders += "        self.box, self.price = item.box, item.price\n"
    code = f"{imported}\n\n\ndef f(items: {annotation}):\n"
    code += "    return sum(item.price.cents for item in items or () if item.box.width CHANGED 3)\n"
    report = compare_packages(tmp_path, "m.py::f", {"models": MODELS, "orders": orders, "m": code}, "==", ">=", n=300)
    assert report.verdict == "changed", report.statement
    assert not [note for note in report.notes if "not understood" in note]


def test_an_example_that_is_not_read_decides_nothing(tmp_path: Path) -> None:
    old, new = "def f(n):\n    return n\n", "def f(n):\n    return n if n != 7 ** 77 else 0\n"
    report = compare(tmp_path, old, new, examples=("f(pow(7, 77))",))
    assert report.verdict == "undecided"
    assert report.undecided[0].why == "the arguments of f(pow(7, 77)) are not known here, so it was not run"
    notes = compare(tmp_path, old, new, expect=("f(pow(7, 77)) == 0",)).notes
    assert notes[0].startswith("the arguments of f(pow(7, 77)) == 0 are not known here")


@pytest.mark.parametrize("kind", ["Item", "Item | None"])
def test_a_class_that_the_code_reads_and_no_longer_imports_is_not_there(kind: str, tmp_path: Path) -> None:
    models = MODELS.replace("    kind: Kind\n    box: Box\n", "")
    code = f"from .models import ItemCHANGED\n\n\ndef f(item: {kind}, n: int):\n"
    code += "    return Money(item.price.cents).cents if item else n\n"
    report = compare_packages(tmp_path, "m.py::f", {"models": models, "m": code}, ", Money", "", n=1000)
    assert report.verdict == "undecided"


def test_a_guess_in_place_of_an_annotation_that_is_not_understood_is_told(tmp_path: Path) -> None:
    code = "from zz import Widget\n\n\ndef f(s: Widget, n: int):\n    return s + n\n"
    notes = compare(tmp_path, code, code.replace("s + n", "s + n + 1")).notes
    assert "s: int, by its use or name; its annotation Widget is not understood" in notes


CODES = "RED_CODE = 1\nBLUE_CODE = 2\n"
BY_TEXT = """
import importlib
from . import codes
from .util import double

TABLES = {0: codes}


class F:
    def run(self, n: int):
        return CHANGED

    def do_int(self, n):
        return double(n)


def f(n: int):
    return CHANGED
"""


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("f", "codes.RED_CODE + n", "getattr(codes, 'red'.upper() + '_CODE') + n"),
        ("f", "codes.RED_CODE + n", "TABLES[0].RED_CODE + n"),
        ("f", "codes.RED_CODE + n", "vars(codes)['RED_CODE'] + n"),
        ("f", "codes.RED_CODE + n", "globals()['codes'].RED_CODE + n"),
        ("F.run", "self.do_int(n)", "getattr(self, 'do_' + type(n).__name__)(n)"),
    ],
)
def test_what_is_looked_up_by_a_text_is_there(name: str, old: str, new: str, tmp_path: Path) -> None:
    files = {"use": BY_TEXT, "codes": CODES, "util": "def double(n):\n    return n * 2\n"}
    report = compare_packages(tmp_path, f"use.py::{name}", files, old, new)
    assert report.verdict == "unchanged", report.statement


@pytest.mark.parametrize("name", ["use", "codes"])
def test_a_name_that_was_left_out_of_a_program_is_no_behaviour(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[diff.__module__], "_MAX_WHOLE", 0)
    text = "import importlib\n\nRED_CODE = 1\n\n\ndef f(n: int):\n    return n + CHANGED\n"
    new = f"importlib.import_module('shop.{name}').RED_CODE"
    report = compare_packages(tmp_path, "use.py::f", {"use": text, "codes": CODES}, "RED_CODE", new)
    assert report.verdict == "undecided"
    assert "looks up a name of its package" in report.statement


def test_what_may_be_looked_up_is_left_out_where_it_does_not_load(tmp_path: Path) -> None:
    table = "from .table import ROWS\n\n\nclass F:\n    def rows(self):\n        return ROWS\n\n"
    text = table + "    def run(self, n: int):\n        return n if self.__dict__ else CHANGED\n"
    files = {"use": text, "table": "ROWS = open('rows.csv').read()\n"}
    assert compare_packages(tmp_path, "use.py::F.run", files, "n + 1", "1 + n").verdict == "unchanged"


@pytest.mark.parametrize(
    "call", ["warn('old', DeprecationWarning)", "warn_explicit('old', DeprecationWarning, 'm.py', 1)"]
)
def test_a_warning_is_a_change(call: str, tmp_path: Path) -> None:
    text = "import warnings\n\n\ndef f(n: int):\n    {}return n\n"
    report = compare(tmp_path, text.format(""), text.format(f"warnings.{call}\n    "))
    assert report.changes[0].outcomes[1][1] == "Effects(value=0, printed='warning: DeprecationWarning\\n')"


def test_a_module_knows_where_it_is_but_not_on_which_machine(tmp_path: Path) -> None:
    text = "import os\nfrom .util import PLACE\n\nHERE = os.path.dirname(__file__)\n\n\ndef f(n: bool):\n"
    files = {"use": f"{text}    return CHANGED\n", "util": "PLACE = __file__\n"}
    new = "HERE, PLACE, __name__, __package__, __spec__.name"
    report = compare_packages(tmp_path, "use.py::f", files, "HERE", new)
    assert [text for _, text in report.changes[0].outcomes] == [
        "'/shop'",
        "('/shop', '/shop/util.py', 'shop.use', 'shop', 'shop.use')",
    ]


DOCUMENTED = '''
"""{}"""


def g(text):
    """{}"""
    return text


def f(text):
    return len(text) + (sum(map(ord, text)) * len(text) == {})
'''


@pytest.mark.parametrize("docstrings", [("\n>>> f('9x-7-qq')\n7\n", ""), ("", "\n    >>> f('9x-7-qq')\n    7\n    ")])
def test_doctests_of_the_module_and_of_other_functions_give_inputs(docstrings: tuple[str, ...], tmp_path: Path) -> None:
    report = compare(tmp_path, DOCUMENTED.format(*docstrings, -1), DOCUMENTED.format(*docstrings, 3836))
    assert [change.arguments for change in report.changes] == ["('9x-7-qq',)"]


POINTS = """
def f(obj):
    if "shape" in obj:
        return f(obj["shape"])
    if isinstance(obj, (tuple, list)):
        return len(obj)
    return [{} for part in obj.get("points", obj)]
"""


def test_a_parameter_that_is_looked_up_by_texts_gets_dicts_that_have_them(tmp_path: Path) -> None:
    report = compare(tmp_path, POINTS.format("part + 0"), POINTS.format("part + 0 if part < 2 else 0"))
    assert [change.call for change in report.changes] == ["f({'points': [1, 2]})"]


QUICK = {"boundary", "formatted"}
PAIRS = (*CHANGED, *REFACTORED)


def name_of(pair: VersionPair) -> str:
    return f"{pair.name}-{'changed' if pair.changes else 'refactored'}"


@pytest.mark.quick(2)
@pytest.mark.parametrize("pair", sorted(PAIRS, key=lambda pair: pair.name not in QUICK), ids=name_of)
def test_a_change_is_found_on_a_small_input_and_a_refactoring_is_none(pair: VersionPair, tmp_path: Path) -> None:
    report = compared(pair, tmp_path)
    assert report.verdict == ("changed" if pair.changes else "unchanged"), report.statement
    assert not report.undecided
    assert (report.n_differing >= 1, len(report.changes) >= 1) == (pair.changes, pair.changes)
    assert not pair.changes or report.changes[0].n_nodes <= 5
