"""The domain: conditions of the user, of the docstring and of the body; documented exceptions."""

import ast
from pathlib import Path

import pytest

from difftrust.source.docstring import exceptions_in, types_in
from difftrust.source.function import Stub, load_stub
from difftrust_core.exceptions import WrongUsage


def loaded(folder: Path, docstring: str = "Do.", body: str = "", assume: tuple[str, ...] = ()) -> Stub:
    margin = docstring.replace("\n", "\n    ")
    before = "import math\nLIMIT = 9\ndef ok(x): return x > 0\n"
    text = f'{before}def f(a: int, b: int = 0):\n    """{margin}\n    """\n    {body}\n'
    (folder / "stub.py").write_text(text)
    return load_stub(f"{folder / 'stub.py'}::f", assume=assume)


def requires(stub: Stub) -> str:
    return stub.task.domain.requires if stub.task.domain else ""


DOCSTRINGS = [
    ("Do.\n\nRequires:\n    a > 0\n    - b <= a", "(a > 0) and (b <= a)"),
    ("Do.\n\nRequires: a > 0", "(a > 0)"),
    ("Do.\n\nAssumes:\n    `a != b`, a < 9.", "(a != b) and (a < 9)"),
    ("Do.\n\nPreconditions\n-------------\n* 0 <= a < LIMIT\n\nReturns\n-------\nint", "(0 <= a < LIMIT)"),
    ("Do.\n\n:pre: ok(a)", "(ok(a))"),
    ("Do.\n\nRequires:\n    a <= b: the interval is not empty", "(a <= b)"),
    ("Do.\n\nRequires:\n    all(x > 0\n        for x in (a, b))", "(all((x > 0 for x in (a, b))))"),
    ("Do.\n\nReturns:\n    a > 0", ""),
]


@pytest.mark.parametrize(("docstring", "wanted"), DOCSTRINGS, ids=[d[6:30] for d, _ in DOCSTRINGS])
def test_conditions_of_the_docstring(docstring: str, wanted: str, tmp_path: Path) -> None:
    assert requires(loaded(tmp_path, docstring)) == wanted


@pytest.mark.parametrize("line", ["a is well-known", "a must be sorted", "unknown(a)", "a := 3", "1 < 2"])
def test_prose_is_said_to_be_not_understood(line: str, tmp_path: Path) -> None:
    stub = loaded(tmp_path, f"Do.\n\nRequires:\n    {line}\n    b > 0")
    assert requires(stub) == "(b > 0)"
    assert any("not understood as a condition" in note and line in note for note in stub.notes)


def test_leading_asserts_are_conditions(tmp_path: Path) -> None:
    body = 'assert a > 0, "positive"\n    assert LIMIT\n    assert ok(b)\n    c = 1\n    assert b > 1'
    stub = loaded(tmp_path, body=body)
    assert requires(stub) == "(a > 0) and (ok(b))"
    assert "def ok(x)" in stub.task.preamble


def test_conditions_of_the_user_come_first_and_bring_what_they_name(tmp_path: Path) -> None:
    stub = loaded(tmp_path, "Do.\n\nRequires:\n    b > 0", assume=("a < LIMIT", "math.isqrt(a) ** 2 == a"))
    assert requires(stub) == "(a < LIMIT) and (math.isqrt(a) ** 2 == a) and (b > 0)"
    assert "LIMIT = 9" in stub.task.preamble


BAD = [
    ("c > 1", "c is not known"),
    ("1 < 2", "names none"),
    ("(c := a)", "without await"),
    ("", "invalid syntax"),
]


@pytest.mark.parametrize(("assume", "message"), BAD, ids=[b[0] for b in BAD])
def test_what_is_no_condition_is_refused_in_one_line(assume: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=message) as refused:
        _ = loaded(tmp_path, assume=(assume,))
    assert "\n" not in str(refused.value)


EXCEPTIONS = [
    ("Raises:\n    ValueError: if empty\n    KeyError, OSError", {"ValueError", "KeyError", "OSError"}),
    ("Raises\n------\nValueError\n    If empty.\njson.JSONDecodeError\n    x", {"ValueError", "JSONDecodeError"}),
    (":raises TypeError: if odd", {"TypeError"}),
    ("Return it; ValueError if there is none.", {"ValueError"}),
    ("A `KeyError` is raised when it is missing.", {"KeyError"}),
    ("Never raises ValueError.", set()),
    ("Return the text of a ValueError.", set()),
    ("Does not raise KeyError, raises IndexError instead.", {"IndexError"}),
    ("Raise a BadDate or ValueError if Day is odd.", {"BadDate", "ValueError"}),
]


@pytest.mark.parametrize(("docstring", "wanted"), EXCEPTIONS, ids=[d[:30] for d, _ in EXCEPTIONS])
def test_documented_exceptions(docstring: str, wanted: set[str]) -> None:
    assert exceptions_in(docstring, {"BadDate"}) == wanted


TYPES = [
    ("Args:\n    a (int): x\n    b (list of str, optional): y", {"a": "int", "b": "list[str]"}),
    ("Args:\n    a: A string to cut.\n    b (int or None): y", {"a": "str", "b": "int | None"}),
    (
        "Parameters\n----------\na : array_like\n    x\nb : {'x', 'y'}, default 'x'",
        {"a": "list[float]", "b": "Literal['x', 'y']"},
    ),
    (":param a: x\n:type a: dict\n:param int b: y", {"a": "dict", "b": "int"}),
    ("Args:\n    a (tuple of (int, int)): x\n    b (pd.DataFrame): y", {"a": "tuple[int, int]", "b": "pd.DataFrame"}),
    ("Args:\n    a: The first.\n    b: see below", {}),
]


@pytest.mark.parametrize(("docstring", "wanted"), TYPES, ids=[d[:30] for d, _ in TYPES])
def test_types_of_the_docstring(docstring: str, wanted: dict[str, str]) -> None:
    assert {name: ast.unparse(t) for name, t in types_in(docstring, ["a", "b"]).items()} == wanted
