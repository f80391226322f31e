"""A user's file read as a task: seeds, types, what is refused; the docstring edited, values spelled with its names."""

import ast
import doctest
import os
import stat
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from difftrust.check.pin import parse_pin, pin_example
from difftrust.source.function import load_stub
from difftrust.source.values import Names, NotSpelled
from difftrust_core.exceptions import BadStub, WrongUsage


def written(folder: Path, text: str) -> str:
    (folder / "stub.py").write_text(text)
    return f"{folder / 'stub.py'}::f"


OVERLOADED = "from typing import overload\n@overload\ndef f(a: str): ...\n@overload\ndef f(a: list[int]): ...\n"
HINTED = [
    ("a", OVERLOADED, ["('a',)", "([1],)"], ["(1,)", "(['a'],)"]),
    ("a: Grid", "Row = tuple[int, str]\nGrid = list[Row]\n", ["([(1, '')],)"], ["([1],)", "([(1, 2)],)"]),
    ("a: int, b: str = '', *c: float", "", ["(1,)", "(1, '')", "(1, '', 2.0, 3)"], ["()", "(1, 2)", "(1, '', '')"]),
    ("a: object, b: int", "", ["('any', 1)", "(None, 1)"], ["(1, None)"]),
]


@pytest.mark.parametrize(("parameters", "before", "good", "bad"), HINTED, ids=[case[0] for case in HINTED])
def test_seeds_from_hints_fit_the_hints_and_are_the_same_each_time(
    parameters: str, before: str, good: list[str], bad: list[str], tmp_path: Path
) -> None:
    where = written(tmp_path, f'{before}def f({parameters}):\n    """Do it."""\n')
    stub, seeds = load_stub(where), load_stub(where).task.seed_inputs
    assert [stub.types.accepts(text) for text in (*good, *bad)] == [True] * len(good) + [False] * len(bad)
    assert all(map(stub.types.accepts, seeds))
    assert len(seeds) == len(set(seeds)) > 1
    assert stub.task.seed_inputs == seeds
    assert any("from the type hints" in note for note in stub.notes)
    assert set(load_stub(where, seed=1).task.seed_inputs) != set(seeds)
    written(tmp_path, f'{before}def f({parameters}):\n    """Do something else."""\n')
    assert load_stub(where).task.task_id != stub.task.task_id


def test_the_file_is_not_executed(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    text = f'open({str(touched)!r}, "w")\nimport no_such_module\ndef f(a: print("x") or int = 1, b=2):\n    """Do."""\n'
    stub = load_stub(written(tmp_path, text), examples=["f(3)"])
    assert stub.task.seed_inputs[0] == "(3,)"
    assert not touched.exists()
    assert any("is not understood" in note for note in stub.notes)


def test_examples_of_all_kinds_are_seeds(tmp_path: Path) -> None:
    docstring = ">>> f(1)\n    2\n    >>> print(f(2, b=[\n    ...     3]))\n    x\n    >>> f('no number')\n    0"
    text = f'def f(a: int, b: list[int] = []):\n    """Do.\n\n    {docstring}\n    """\n'
    stub = load_stub(written(tmp_path, text), examples=["f(4) == 5", ">>> f(-6, [7])"])
    assert stub.task.seed_inputs[:4] == ("(1,)", "(2, [3])", "(4,)", "(-6, [7])")
    assert stub.notes == ("left out, for it does not fit the annotations: ('no number',)",)


REFUSED = [
    ("def g(a):\n    '''Do.'''\n", "found: g"),
    ("def f(a)\n", "SyntaxError"),
    ("def f(a: int):\n    return 1\n", "a docstring"),
    ("def f():\n    '''Do.'''\n", "has none"),
    ("def f(a):\n    '''Do.'''\n", r"parameter a: no annotation; give some with --example \"f\(\.\.\.\)\""),
    ("import xyz\ndef f(a: xyz.P):\n    '''Do.'''\n", "parameter a: annotation xyz.P"),
    ("X = X\ndef f(a: X):\n    '''Do.'''\n", "an alias of itself"),
    (
        "import xyz\ndef f(a: xyz.P):\n    '''Do.\n\n    >>> f(open('x'))\n    '''\n",
        "the arguments of its examples are not known here either",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[f"{i}" for i in range(len(REFUSED))])
def test_what_cannot_be_checked_is_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises((BadStub, WrongUsage), match=message) as refused:
        load_stub(written(tmp_path, text))
    assert "\n" not in str(refused.value)
    assert refused.value.exit_status == 2


PINS = [
    ("f(1) == 2", ">>> f(1)\n2\n"),
    ("f('a\\n', [1]) == 'x\\\\y'", ">>> f('a\\n', [1])\n'x\\\\y'\n"),
    ("f('\"\"\"') == \"'''\"", ">>> f('\"\"\"')\n\"'''\"\n"),
    ("f('é') == 'ü'", ">>> f('é')\n'ü'\n"),
    ("f(1) == {2, 1}", ">>> f(1) == {1, 2}\nTrue\n"),
    ("f(1) == [0.1]", ">>> f(1) == [0.1]\nTrue\n"),
    ("f(1) == None", ">>> f(1) is None\nTrue\n"),
    (
        "f([]) raises ValueError",
        ">>> f([])  # doctest: +IGNORE_EXCEPTION_DETAIL\nTraceback (most recent call last):\n    ...\nValueError\n",
    ),
]
DOCSTRINGS = {
    "long": '    """Do it.\n\n    And more.\n    """\n    return a\n',
    "short": '    """Do it."""\n',
    "single-quotes": "    'Do it.'\n    return 1\n",
    "with-example": '    """Do it.\n\n    >>> f(7)\n    8\n    """\n',
    "on-one-line": None,
}


@pytest.mark.parametrize("body", DOCSTRINGS.values(), ids=DOCSTRINGS)
@pytest.mark.parametrize(("pin", "example"), PINS, ids=[f"pin{i}" for i in range(len(PINS))])
def test_pins_stand_in_the_docstring_and_nothing_else_changes(
    pin: str, example: str, body: str | None, tmp_path: Path
) -> None:
    head, tail = "# -*- a comment -*-\nx = 'é'\n\n\n", "\n\ndef g(): 'Do.'\n"
    function = 'def f(a, b=1): """Do it."""\n' if body is None else f"def f(a, b=1):\n{body}"
    where = written(tmp_path, head + function + tail)
    assert pin_example(where, parse_pin(pin, "f"))
    text = (tmp_path / "stub.py").read_text()
    assert text.startswith(head + "def f(a, b=1):")
    assert text.endswith(tail)
    functions = [s for s in ast.parse(text).body if isinstance(s, ast.FunctionDef)]
    docstring = ast.get_docstring(functions[0]) or ""
    assert docstring.startswith("Do it.")
    assert docstring.rstrip().endswith(example.rstrip())
    last = doctest.DocTestParser().get_examples(docstring)[-1]
    assert f">>> {last.source}{last.want}".rstrip() == example.rstrip()
    assert not pin_example(where, parse_pin(pin, "f"))  # it stands there already
    assert (tmp_path / "stub.py").read_text() == text


OF_ITEMS = [
    ("def f(a) -> Iterator[int]", "f([2]) == [2]", ">>> list(f([2]))\n[2]"),
    ("def f(a) -> Iterator[int]", "f([2]) == [0.1]", ">>> list(f([2])) == [0.1]\nTrue"),
    ("async def f(a) -> AsyncIterator[int]", "f([2]) == [2]", ">>> f([2]) == [2]\nTrue"),
    ("def f(a) -> Iterator[int]", "f([2]) raises KeyError", ">>> list(f([2]))  # doctest: +IGNORE_EXCEPTION_DETAIL"),
]


@pytest.mark.parametrize(("head", "pin", "example"), OF_ITEMS, ids=range(len(OF_ITEMS)))
def test_a_pin_of_a_generator_lists_its_items(head: str, pin: str, example: str, tmp_path: Path) -> None:
    where = written(tmp_path, f'{head}:\n    """Yield."""\n')
    assert pin_example(where, parse_pin(pin, "f"))
    assert example in (tmp_path / "stub.py").read_text().replace("    ", "")
    assert not pin_example(where, parse_pin(pin, "f"))


def test_line_ends_encoding_mode_and_link_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.py"
    text = '# coding: latin-1\r\ndef f(a):\r\n    """Gr\xf6\xdfe.\r\n    """\r\n'
    real.write_bytes(text.encode("latin-1"))
    real.chmod(0o640)
    (tmp_path / "stub.py").symlink_to(real)
    assert pin_example(f"{tmp_path / 'stub.py'}::f", parse_pin("f(1) == 2", "f"))
    expected = text.replace('e.\r\n    """', 'e.\r\n\r\n    >>> f(1)\r\n    2\r\n    """')
    assert real.read_bytes() == expected.encode("latin-1")
    assert stat.S_IMODE(os.stat(real).st_mode) == 0o640
    assert (tmp_path / "stub.py").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["real.py", "stub.py"]


def test_what_the_encoding_of_a_file_cannot_say_is_refused(tmp_path: Path) -> None:
    text = b"# coding: latin-1\ndef f(a):\n    'Do.'\n"
    (tmp_path / "stub.py").write_bytes(text)
    with pytest.raises(BadStub, match=r"cannot take the example .*can't encode"):
        pin_example(f"{tmp_path / 'stub.py'}::f", parse_pin("f('\u20ac') == 1", "f"))
    assert (tmp_path / "stub.py").read_bytes() == text


BAD_PINS = [
    ('def f(a):\n    """Do.\n\n    >>> f(1)\n    3\n    """\n', "f(1) == 2", "already says"),
    ("def f(a):\n    return 1\n", "f(1) == 2", "a docstring"),
    ("def f(a):\n    'Do ' 'it.'\n", "f(1) == 2", "another form"),
    ('def f(a):\n    r"""Do."""\n', 'f(\'"""\') == 2', "raw docstring"),
]


@pytest.mark.parametrize(("text", "pin", "message"), BAD_PINS, ids=["contradiction", "none", "concatenated", "raw"])
def test_a_docstring_that_cannot_take_it_is_left_as_it_is(text: str, pin: str, message: str, tmp_path: Path) -> None:
    where = written(tmp_path, text)
    with pytest.raises(BadStub, match=message):
        pin_example(where, parse_pin(pin, "f"))
    assert (tmp_path / "stub.py").read_text() == text


@pytest.mark.parametrize(
    "pin", ["f(1)", "f(x) == 1", "g(1) == 1", "f(1) == x", "f(1) != 1", "f(1) raises", "1 == f(1)", "("]
)
def test_what_is_no_pin_is_refused(pin: str) -> None:
    with pytest.raises(WrongUsage):
        parse_pin(pin, "f")


def test_a_result_of_more_digits_than_python_prints_is_no_example() -> None:
    with pytest.raises(WrongUsage, match="values that Python prints"):
        parse_pin(f"f(1) == {hex(10**5_000)}", "f")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters of functions are new in Python 3.12")
def test_type_parameters_of_a_function(tmp_path: Path) -> None:
    text = 'class Box[S]:\n    def f[T, U: (int, str)](self, xs: list[T], u: U, s: S) -> T:\n        """Do it."""\n'
    (tmp_path / "stub.py").write_text(f"{text}    def __init__(self, s: S):\n        self.s = s\n")
    types = load_stub(f"{tmp_path / 'stub.py'}::Box.f").types
    assert types.unchecked == {}
    assert types.accepts("(Box(1), [1, ''], 'a', 1)")
    assert not types.accepts("(Box(1), [1, ''], 1.5, 1)")


MODULE = Names(
    ast.parse(
        "import collections\nimport datetime\nimport numpy as np\nimport pandas\nimport types\n"
        "class Account:\n    def __init__(self, balance): ...\n"
        "class Coin:\n    def __eq__(self, other): ...\n"
    )
)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("date(2020, 1, 1)", "datetime.date(2020, 1, 1)"),
        ("[Coin(1)]", "[Coin(1)]"),
        ("np.float64(1.5)", "np.float64(1.5)"),
        ("{'a': (1,)}", "{'a': (1,)}"),
        *((text, None) for text in ("Account(1)", "[{'a': Account(1)}]", "np.array([1])")),
        ("Counter({'a': 1})", "collections.Counter({'a': 1})"),
        *((text, None) for text in ("SimpleNamespace(a=1)", "MappingProxyType({})", "ChainMap({})", "defaultdict({})")),
        *((text, None) for text in ("pd.DataFrame({'a': [1]})", "Decimal('1')", "(nan,)")),
    ],
)
def test_a_result_is_spelled_if_it_has_a_name_and_equals_something(text: str, spelled: str | None) -> None:
    with pytest.raises(NotSpelled) if spelled is None else nullcontext():
        assert MODULE.spelled_result(text) == spelled


def test_an_argument_needs_no_equality() -> None:
    assert MODULE.spelled("(Account(1), np.array([1]))") == "(Account(1), np.array([1]))"
    assert MODULE.spelled("pd.Series([1])") == "pandas.Series([1])"
    pin = parse_pin("Account(1).take(np.array([2])) == 3", "Account.take").named(MODULE)
    assert pin.lines == [">>> Account(1).take(np.array([2]))", "3"]
