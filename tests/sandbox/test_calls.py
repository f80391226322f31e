"""Calls of a user's function in the real sandbox: what the inputs become, and what is said of the calls."""

import json

import pytest

from difftrust.check.call_runner import CALLS, runner_for
from difftrust_core.base.records import Kind
from difftrust_core.exceptions import WrongUsage
from difftrust_core.sandbox.host import Limits, Sandbox
from tests.sandbox.test_host import run, values

LIMITS = Limits(call_cpu=0.2, repeat_cpu=0.05, call_wall=5.0, program_wall=60.0, max_timeouts=3)
PREAMBLE = """
from dataclasses import dataclass, field
from enum import Enum, Flag
from functools import cached_property
from typing import NamedTuple
import datetime

@dataclass
class Point:
    x: float
    y: float = 0.0
    def __post_init__(self):
        if self.x < 0:
            raise ValueError("left of the origin")
    def scaled(self, k): ...
    @classmethod
    def parse(cls, text): ...
    @staticmethod
    def norm(x, y): ...
    @property
    def area(self): ...
    @cached_property
    def cached(self): ...

@dataclass(kw_only=True)
class Options:
    sep: str = ","

class Color(Enum):
    RED = 1
    BLUE = 2

class Pair(NamedTuple):
    left: int
    right: int

def twice(x): return 2 * x
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS, runner=CALLS) as started:
        yield started


def called(sandbox, source, *inputs, preamble=PREAMBLE, entry_point="f"):
    outcomes, ran = run(sandbox, source, list(inputs), preamble=preamble, entry_point=entry_point)
    assert not ran.nondeterministic
    return outcomes


def one(sandbox, source, text, **options):
    return called(sandbox, source, text, **options)[0]


def example(source, want="", **options):
    return repr(json.dumps({"source": source, "want": want, "options": options}))


ALIKE = (
    *("Options(sep=';')", "Color.RED", "{Color.BLUE: 1}", "date(2020, 1, 1)", "ZoneInfo('Europe/Paris')"),
    *("datetime(2020, 1, 1, 0, 0, tzinfo=timezone.utc)", "Decimal('1.50')", "Fraction(1, 2)", "complex(0.0, 1.0)"),
    *("UUID('12345678-1234-5678-1234-567812345678')", "Path('a/b')", "PurePosixPath('a')", "PureWindowsPath('a\\\\b')"),
    *("range(0, 3, 1)", "bytearray(b'a')", "re.compile('a+')", "re.compile('a', 2)", "np.float64(1.0)"),
    *("np.array([[1, 2]], dtype='int64')", "np.array([], dtype='float64', shape=(0, 3))"),
    *("np.array([nan], dtype='float32')", "np.datetime64('2020-01-01', 'D')"),
)
"""What is said as it was typed."""
BUILT = dict(zip(ALIKE, ALIKE, strict=True)) | {
    "Point(1.0, 2.0)": "Point(x=1.0, y=2.0)",
    "Point(x=1.0)": "Point(x=1.0, y=0.0)",
    "Pair(1, 2)": "Pair((1, 2))",
    "datetime.date(2020, 1, 1)": "date(2020, 1, 1)",
    "time(1, 2, tzinfo=timezone(timedelta(0, 3600)))": "time(1, 2, tzinfo=timezone(timedelta(seconds=3600)))",
    "datetime(2020, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo('Europe/Paris'))": (
        "datetime(2020, 10, 25, 2, 30, tzinfo=ZoneInfo('Europe/Paris'), fold=1)"
    ),
    "iter([1, 2])": "iterator([1, 2])",
}
"""What one types -> what is said of it."""


def test_values_are_built_and_said_as_one_would_type_them(sandbox):
    outcomes = called(sandbox, "def f(x): return x", *[f"({text},)" for text in BUILT])
    assert outcomes == values(*BUILT.values())


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("str.upper", "'AB'"),
        ("len", "2"),
        ("lambda s: s + '!'", "'ab!'"),
        ("lambda s: twice(s)", "'abab'"),
        ("operator.itemgetter(0)", "'a'"),
    ],
)
def test_functions_as_arguments(sandbox, text, result):
    assert one(sandbox, "def f(function): return function('ab')", f"({text},)") == (Kind.VALUE, result)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(Point(-1.0),)", "ValueError"),
        ("(Point(),)", "TypeError"),
        ("(Missing(1),)", "NameError"),
        ("(Color.GREEN,)", "NameError"),
        ("(date(2020, 2, 30),)", "ValueError"),
        ("(1 +,)", "BadText"),
        ("[1]", "TypeError"),
        ("'no example'", "JSONDecodeError"),
    ],
)
def test_inputs_that_cannot_be_built(sandbox, text, why):
    assert one(sandbox, "def f(x): return 0", text) == (Kind.UNSUPPORTED, f"input: {why}")


def test_arguments_are_fresh_for_every_call(sandbox):
    source = "def f(x, items=[]):\n x.append(0)\n return len(x)"
    text = "([1],)"
    assert called(sandbox, source, text, text)[1] == (Kind.VALUE, "Effects(value=2, arguments=([1, 0],))")


EFFECTS = [
    ("def f(*args, k=0, **more): return args, k, more", "(1, Keywords(k=2, z=[3]))", "((1,), 2, {'z': [3]})"),
    ("def f(x): x.sort(); return x", "([3, 1],)", "Effects(value=[1, 3], arguments=([1, 3],))"),
    ("def f(x): return sorted(x)", "([3, 1],)", "[1, 3]"),
    ("def f(x): return list(x)", "(iter([1, 2]),)", "[1, 2]"),  # an iterator that is used up is no effect
    ("def f(x): print(1); return 2", "(0,)", r"Effects(value=2, printed='1\n')"),
    (
        "import sys\ndef f(x): sys.stdout.buffer.write(b'a'); sys.stderr.write('b'); return 1",
        "(0,)",
        "Effects(value=1, printed='a')",
    ),
    (
        "def f(x):\n for item in x:\n  x.clear()\n  yield item",
        "([3, 1],)",
        "Effects(value=iterator([3]), arguments=([],))",
    ),
    (
        "def f(p, *, more):\n p.x = 9.0\n more.append(1)",
        "(Point(1.0, 2.0), Keywords(more=[]))",
        "Effects(value=None, arguments=(Point(x=9.0, y=2.0), Keywords(more=[1])))",
    ),
    ("def f(a, x): x.append(1)", "(Point(1.0, 2.0), [])", "Effects(value=None, arguments=(None, [1]))"),
    (
        "def f(x): x.append(len)",  # what has no text hides no effect beside it
        "([str.upper, iter([1])],)",
        "Effects(value=None, arguments=([..., ..., ...],))",
    ),
]


@pytest.mark.parametrize(("source", "text", "said"), EFFECTS)
def test_effects(sandbox, source, text, said):
    assert one(sandbox, source, text) == (Kind.VALUE, said)


@pytest.mark.parametrize(("messages", "said"), [(False, "ValueError"), (True, "ValueError('bad', [])")])
def test_an_exception_hides_effects_and_its_message_counts_on_request(messages, said):
    source = "def f(x):\n print(x)\n x.clear()\n raise ValueError('bad', x)"
    with Sandbox(LIMITS, runner=runner_for((), messages=messages)) as sandbox:
        assert one(sandbox, source, "([1],)") == (Kind.EXCEPTION, said)


METHODS = [
    ("scaled", "(Point(1.0, 2.0), 3)", "def scaled(self, k): return self.x * k", "3.0"),
    ("scaled", "(Point(1.0, 2.0), 3)", "class Point:\n def scaled(self, k): return self.y * k", "6.0"),
    (
        "scaled",
        "(Point(1.0), 3)",
        "def scaled(self, k): return self.__class__.__name__, super().__hash__ is None",
        "('Point', False)",
    ),
    ("parse", "('1 2',)", "def parse(cls, text): return cls(*map(float, text.split()))", "Point(x=1.0, y=2.0)"),
    ("parse", "('1 2',)", "@classmethod\ndef parse(cls, text): return cls.__name__", "'Point'"),
    ("norm", "(3, 4)", "def norm(x, y): return x + y", "7"),
    ("area", "(Point(2.0, 3.0),)", "def area(self): return self.x * self.y", "6.0"),
    ("area", "(Point(2.0, 3.0),)", "@property\ndef area(self): return self.x", "2.0"),
]


@pytest.mark.parametrize(("name", "text", "source", "said"), METHODS)
def test_methods(sandbox, name, text, source, said):
    assert one(sandbox, source, text, entry_point=f"Point.{name}") == (Kind.VALUE, said)


def test_private_names_in_a_function_that_stands_for_a_method(sandbox):
    preamble = "class Stack:\n def __init__(self, items): self.__items = items\n def top(self): ..."
    source = "def top(self): return self.__items[-1]"
    assert one(sandbox, source, "(Stack([1, 2]),)", preamble=preamble, entry_point="Stack.top") == (Kind.VALUE, "2")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("async def f(x):\n import asyncio\n await asyncio.sleep(3600)\n return x", "1"),
        (
            "import asyncio\nasync def g(x):\n await asyncio.sleep(x)\n return x\n"
            "async def f(x): return await asyncio.gather(g(2), g(x))",
            "[2, 1]",
        ),
        ("import asyncio\nasync def g(): return 5\ndef f(x): return asyncio.run(g())", "5"),
        ("import asyncio\nasync def f(x): return await asyncio.to_thread(len, [x])", "1"),
        ("async def f(x):\n yield x\n yield 2", "iterator([1, 2])"),
        (
            "import asyncio\nasync def f(x):\n try: await asyncio.wait_for(asyncio.sleep(9), 1)\n"
            " except asyncio.TimeoutError: return 'late'",
            "'late'",
        ),
    ],
)
def test_coroutines_and_generators(sandbox, source, said):
    assert one(sandbox, source, "(1,)") == (Kind.VALUE, said)


@pytest.mark.parametrize("head", ["def f(x)", "async def f(x)"])
def test_a_generator_without_end_is_compared_by_its_first_thousand(sandbox, head):
    kind, said = one(sandbox, f"{head}:\n while True: yield x", "(1,)")
    assert (kind, said) == (Kind.VALUE, f"iterator([{', '.join(['1'] * 1000)}])")


MEDIAN = "def f(x): return sorted(x)[len(x) // 2]"
EXAMPLES = [
    (MEDIAN, example("f([3, 1, 2])", "2\n"), "True"),
    (MEDIAN, example("f([0, 1])", "0.5\n"), "Got('1')"),
    (MEDIAN, example("items = [1]\nf(items)", "1.0000000001"), "True"),
    (
        MEDIAN,
        example("f([])", "Traceback (most recent call last):\n  ...\nIndexError: list index out of range\n"),
        "True",
    ),
    (MEDIAN, example("f([])", "Traceback (most recent call last):\nLookupError\n"), "True"),
    (MEDIAN, example("f([])", "Traceback (most recent call last):\n    ...\nValueError: x\n"), "Got('IndexError')"),
    (MEDIAN, example("f([1])", "Traceback (most recent call last):\n    ...\nValueError: x\n"), "Got('1')"),
    (MEDIAN, example("f([])"), "Got('IndexError')"),
    (MEDIAN, example("f([1])"), "True"),
    ("def f(x): return {'b': {3, 1}, 'a': 0.1 + 0.2}", example("f(1)", "{'a': 0.3, 'b': {1, 3}}"), "True"),
    ("def f(x): print('a  b')", example("f(1)", "a b", NORMALIZE_WHITESPACE=True), "True"),
    ("def f(x): print('a\\n\\nb')", example("f(1)", "a\n<BLANKLINE>\nb\n"), "True"),
    ("def f(x): return list(range(20))", example("f(1)", "[0, 1, ..., 18, 19]\n", ELLIPSIS=True), "True"),
    ("async def f(x): return x", example("await f(1)", "1\n"), "True"),
    ("async def f(x): return x", example("import asyncio\nasyncio.run(f(1))", "1\n"), "True"),
]


@pytest.mark.parametrize(("source", "text", "said"), EXAMPLES)
def test_examples(sandbox, source, text, said):
    assert one(sandbox, source, text) == (Kind.VALUE, said)


EQUAL = [  # what f returns, what it is said to equal
    ("Decimal('1.5')", "1.5"),
    ("Fraction(2, 1)", "2"),
    ("Counter('aa')", "{'a': 2}"),
    ("defaultdict(list, {1: [2]})", "{1: [2]}"),
    ("OrderedDict(a=1)", "{'a': 1}"),
    ("Pair(1, 2)", "(1, 2)"),
    ("frozenset({1})", "{1}"),
    ("IntEnum('Level', 'LOW').LOW", "1"),
    ("StrEnum('Mode', 'LOW').LOW", "'low'"),
    ("np.int64(3)", "3"),
    ("np.array([1, 2])", "np.array([1, 2])"),
    ("0.1 + 0.2", "0.3"),
    ("[0.1 + 0.2]", "[0.3]"),
    ("Color.RED", "Color.RED"),
    ("Point(1)", "Point(x=1.0)"),
    ("None", "None"),
    ("float('nan')", "nan"),
    ("2", "1 + 1"),
    ("iter([2, 0])", "[2, 0]"),
    ("(n for n in [Color.RED])", "[Color.RED]"),
]
UNEQUAL = [
    ("Decimal('1.5')", "1.25", "Decimal('1.5')"),
    ("10 ** 12", "10 ** 12 + 1", "1000000000000"),
    ("(1, 2)", "[1, 2]", "(1, 2)"),
    ("np.array([3])", "[3]", "array([3])"),
    ("np.array([1, 2])", "np.array([1, 3])", "array([1, 2])"),
    ("'1'", "1", "'1'"),
    ("iter([2, 0])", "[2]", "[2, 0]"),
    ("None", "0", "nothing"),
]
KINDS = "import numpy as np\n" + "".join(
    f"from {name} import *\n" for name in ("collections", "decimal", "enum", "fractions")
)


def by_value(want):
    return repr(json.dumps({"source": "f(1)", "want": want, "by_value": True}))


@pytest.mark.parametrize("head", ["def f(x): return ", "async def f(x): return "])
def test_a_result_equals_a_value_by_python_or_as_outcomes_do(sandbox, head):
    for given, want in EQUAL:
        assert one(sandbox, KINDS + head + given, by_value(want)) == (Kind.VALUE, "True"), (given, want)
    for given, want, shown in UNEQUAL:
        said = f"Got({shown if shown != 'nothing' else ''!r})"
        assert one(sandbox, KINDS + head + given, by_value(want)) == (Kind.VALUE, said), (given, want)


@pytest.mark.parametrize("head", ["def f(x):", "async def f(x):"])
def test_items_equal_a_list_and_raise_where_an_exception_is_right(sandbox, head):
    assert one(sandbox, f"{head} yield x", by_value("[1]")) == (Kind.VALUE, "True")
    raised = "Traceback (most recent call last):\nZeroDivisionError\n"
    assert one(sandbox, f"{head} yield x / 0", by_value(raised)) == (Kind.VALUE, "True")


def test_a_right_value_that_cannot_be_made_says_nothing(sandbox):
    assert one(sandbox, "def f(x): return x", by_value("Point(-1)")) == (
        Kind.UNSUPPORTED,
        "the right value: ValueError",
    )
    assert one(sandbox, "def f(x): return x", by_value("Missing(1)")) == (Kind.EXCEPTION, "NameError")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import os\n\nimport yaml\ndef f(x): pass", "ModuleNotFoundError: yaml, line 3"),
        ("def f(x: pass", "SyntaxError: invalid syntax, line 1"),
        ("y = 1 / 0\ndef f(x): pass", "ZeroDivisionError: division by zero, line 1"),
        ("raise ValueError('a\\n' + 'b' * 999)\ndef f(x): pass", f"ValueError: a?{'b' * 198}, line 1"),
        ("def g(x): pass", "NameMissing"),
    ],
)
@pytest.mark.parametrize("entry_point", ["f", "Point.scaled"])
def test_why_a_program_does_not_load(sandbox, source, why, entry_point):
    assert one(sandbox, source, "(Point(1.0), 1)", entry_point=entry_point) == (Kind.LOAD_ERROR, why)


def test_a_package_that_is_not_installed():
    with pytest.raises(WrongUsage, match="no package 'nosuch' is installed"):
        runner_for(["nosuch"])


def test_only_the_libraries_asked_for_can_be_imported():
    with Sandbox(LIMITS, runner=runner_for(["yaml"])) as sandbox:
        assert one(sandbox, "import yaml\ndef f(x): return yaml.safe_load(x)", "('a: [1]',)") == (
            Kind.VALUE,
            "{'a': [1]}",
        )
        assert one(sandbox, "import pydantic\ndef f(x): return x", "(1,)")[1] == "ModuleNotFoundError: pydantic, line 1"


@pytest.mark.slow
def test_pandas():
    pytest.importorskip("pandas")
    text = "(pd.DataFrame({'a': [2, 1], 'b': ['x', 'y']}),)"
    with Sandbox(LIMITS, runner=runner_for(["pandas"])) as sandbox:
        assert called(sandbox, "def f(x): return x", text, "(pd.Series([1.5], name='a', dtype='float32'),)") == [
            (Kind.VALUE, text[1:-2]),
            (Kind.VALUE, "pd.Series([1.5], dtype='float32', name='a')"),
        ]
        assert one(sandbox, "def f(x): return x.sort_values('a')", text) == (
            Kind.VALUE, "pd.DataFrame({'a': [1, 2], 'b': ['y', 'x']}, index=[1, 0])",
        )  # fmt: skip
        assert one(sandbox, "def f(x): x['c'] = 1", text) == (
            Kind.VALUE,
            "Effects(value=None, arguments=(pd.DataFrame({'a': [2, 1], 'b': ['x', 'y'], 'c': [1, 1]}),))",
        )


POLARS = """
import os, polars as pl, subprocess
def f(x):
    refused = 0
    for attempt in (os.fork, lambda: subprocess.run(['/bin/true']), lambda: os.posix_spawn('/bin/true', ['a'], {})):
        try: attempt()
        except OSError: refused += 1
    return refused, x.lazy().group_by('b').agg(pl.col('a').sum()).sort('b').collect()
"""


def test_polars_has_threads_and_no_processes():
    pytest.importorskip("polars")
    with Sandbox(LIMITS, runner=runner_for(["polars"])) as sandbox:
        assert sandbox.still_open == ()
        assert one(sandbox, POLARS, "(pl.DataFrame({'a': [1, 2], 'b': ['x', 'x']}),)") == (
            Kind.VALUE, "(3, pl.DataFrame({'b': ['x'], 'a': [3]}))",
        )  # fmt: skip
