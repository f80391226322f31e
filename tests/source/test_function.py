"""A user's file read as a task: seeds, types, what is refused; and the docstring edited."""

import ast
import doctest
import os
import stat
import sys
from pathlib import Path

import pytest

from difftrust.check.pin import parse_pin, pin_example
from difftrust.source.function import load_stub
from difftrust_core.exceptions import BadStub, WrongUsage


def written(folder: Path, text: str) -> str:
    (folder / "stub.py").write_text(text)
    return f"{folder / 'stub.py'}::f"


def typed(folder: Path, parameters: str, before: str = "") -> str:
    return written(folder, f'{before}\ndef f({parameters}):\n    """Do it."""\n')


ACCEPTED = [
    ("a: int", "", ["(1,)", "(-5,)"], ["(True,)", "(1.0,)", "('1',)", "(None,)", "()", "(1, 2)"]),
    ("a: float", "", ["(1.5,)", "(2,)", "(inf,)"], ["(True,)", "('a',)"]),
    ("a: list[int]", "", ["([],)", "([1, 2],)"], ["([1, False],)", "((1,),)", "([1.0],)", "([[]],)"]),
    ("a: 'List[int]'", "from typing import List\n", ["([1],)"], ["([None],)"]),
    (
        "a: t.Dict[str, t.Set[int]]",
        "import typing as t\n",
        ["({'a': {1}},)", "({},)"],
        ["({1: {1}},)", "({'a': [1]},)"],
    ),
    ("a: int | None", "", ["(1,)", "(None,)"], ["('',)"]),
    ("a: Optional[str]", "from typing import Optional\n", ["('',)", "(None,)"], ["(0,)"]),
    (
        "a",
        "from typing import overload\n@overload\ndef f(a: str): ...\n@overload\ndef f(a: list[int]): ...",
        ["('a',)", "([1],)"],
        ["(1,)", "(['a'],)"],
    ),
    ("a: tuple[int, ...]", "", ["((),)", "((1, 2),)"], ["([1],)", "((1, ''),)"]),
    (
        "s: slice, m: memoryview",
        "",
        ["(slice(1, 2), memoryview(b'a'))", "(slice(None, 3, -1), memoryview(b''))", "(slice(3), memoryview(b''))"],
        ["(1, memoryview(b''))", "(slice(1, 2, 0), memoryview(b''))", "(slice(1, 2), b'')"],
    ),
    ("a: tuple[()], b: int", "", ["((), 1)"], ["((1,), 1)", "([], 1)"]),
    ("a: tuple[int, str]", "", ["((1, 'a'),)"], ["((1,),)", "((1, 'a', 2),)"]),
    ("a: Grid", "Row = list[int]\nGrid = list[Row]\n", ["([[1]],)"], ["([1],)"]),
    ("a: list[T]", "from typing import TypeVar\nT = TypeVar('T')\n", ["([1, ''],)"], ["(1,)"]),
    ("a: Literal['x', 2]", "from typing import Literal\n", ["('x',)", "(2,)"], ["('y',)", "(3,)"]),
    ("a: int, b: str = '', *c: float", "", ["(1,)", "(1, '')", "(1, '', 2.0, 3)"], ["()", "(1, 2)", "(1, '', '')"]),
    ("a: object, b: int", "", ["('any', 1)", "(None, 1)"], ["(1, None)"]),
]


@pytest.mark.parametrize(("parameters", "before", "good", "bad"), ACCEPTED, ids=[case[0] for case in ACCEPTED])
def test_types(parameters: str, before: str, good: list[str], bad: list[str], tmp_path: Path) -> None:
    where = typed(tmp_path, parameters, before)
    types = load_stub(where, examples=[f"f{good[0].replace(',)', ')')}"]).types
    assert [text for text in good if not types.accepts(text)] == []
    assert [text for text in bad if types.accepts(text)] == []


@pytest.mark.parametrize(("parameters", "before"), [(c[0], c[1]) for c in ACCEPTED], ids=[c[0] for c in ACCEPTED])
def test_seeds_from_hints_fit_the_hints_and_are_the_same_each_time(
    parameters: str, before: str, tmp_path: Path
) -> None:
    stub = load_stub(typed(tmp_path, parameters, before))
    assert all(map(stub.types.accepts, stub.task.seed_inputs))
    assert len(stub.task.seed_inputs) == len(set(stub.task.seed_inputs)) > 1
    assert load_stub(typed(tmp_path, parameters, before)).task == stub.task
    assert any("from the type hints" in note for note in stub.notes)
    other = load_stub(typed(tmp_path, parameters, before), seed=1).task.seed_inputs
    assert "Literal" in parameters or set(other) != set(stub.task.seed_inputs)


def test_the_file_is_not_executed(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    text = f'open({str(touched)!r}, "w")\nimport no_such_module\ndef f(a: print("x") or int = 1, b=2):\n    """Do."""\n'
    stub = load_stub(written(tmp_path, text), examples=["f(3)"])
    assert stub.task.seed_inputs[0] == "(3,)"
    assert not touched.exists()
    assert any("is not understood" in note for note in stub.notes)


def test_a_class_of_the_users_own_is_checked_and_part_of_the_preamble(tmp_path: Path) -> None:
    text = (
        "import math, collections\nimport numpy\nfrom dataclasses import dataclass\nLIMIT = 3\n\n@dataclass\n"
        "class Point:\n    x: int = LIMIT\n\ndef other():\n    pass\n\n"
        'def f(p: Point, k: int) -> float:\n    """Do."""\n'
    )
    stub = load_stub(written(tmp_path, text), examples=["f(Point(1), 2)"])
    assert stub.task.seed_inputs[0] == "(Point(1), 2)"
    assert stub.task.preamble == (
        "import math, collections\nimport numpy\nfrom dataclasses import dataclass\nLIMIT = 3\n"
        "@dataclass\nclass Point:\n    x: int = LIMIT\n"
    )
    assert stub.notes == ()
    assert stub.types.accepts("(Point(7), 1)")
    assert not stub.types.accepts("(Point(''), 1)")
    assert not stub.types.accepts("(Point(7, 8), 1)")
    assert not stub.types.accepts("(Point(7), '')")


def test_examples_of_all_kinds_are_seeds(tmp_path: Path) -> None:
    docstring = ">>> f(1)\n    2\n    >>> print(f(2, b=[\n    ...     3]))\n    x\n    >>> f('no number')\n    0"
    text = f'def f(a: int, b: list[int] = []):\n    """Do.\n\n    {docstring}\n    """\n'
    stub = load_stub(written(tmp_path, text), examples=["f(4) == 5", ">>> f(-6, [7])"])
    assert stub.task.seed_inputs[:4] == ("(1,)", "(2, [3])", "(4,)", "(-6, [7])")
    assert stub.notes == ("left out, for it does not fit the annotations: ('no number',)",)


def test_another_docstring_is_another_task(tmp_path: Path) -> None:
    ids = {load_stub(written(tmp_path, f'def f(a: int):\n    """{text}"""\n')).task.task_id for text in ("A.", "B.")}
    assert len(ids) == 2
    assert all(task_id.startswith("stub/f/") for task_id in ids)


REFUSED = [
    ("def g(a):\n    '''Do.'''\n", "found: g"),
    ("def f(a)\n", "SyntaxError"),
    ("def f(a: int):\n    return 1\n", "a docstring"),
    ("def f():\n    '''Do.'''\n", "has none"),
    ("def f(a):\n    '''Do.'''\n", r"parameter a: no annotation; give some with --example \"f\(\.\.\.\)\""),
    ("import xyz\ndef f(a: xyz.P):\n    '''Do.'''\n", "parameter a: annotation xyz.P"),
    ("X = X\ndef f(a: X):\n    '''Do.'''\n", "an alias of itself"),
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


def test_what_is_refused_says_so_of_examples_that_are_given_already(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="the arguments of its examples are not known here either"):
        load_stub(typed(tmp_path, "s: Widget", "from zz import Widget"), examples=["f(open('x')) == 3"])
