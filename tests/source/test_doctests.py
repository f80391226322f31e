"""Examples of docstrings and of the command line, as the sandbox takes them."""

import json
from pathlib import Path

import pytest

from difftrust.source.doctests import Example
from difftrust.source.function import load_stub
from difftrust_core.base.literals import read_literal
from difftrust_core.exceptions import WrongUsage

BEFORE = """
from dataclasses import dataclass
from enum import Enum
class Color(Enum):
    RED = 1
@dataclass
class Point:
    x: int
    @property
    def norm(self):
        '''Return it.'''
    def moved(self, by):
        '''Move it.'''
def plain(a=0, b=0):
    '''Do.'''
async def awaited(a):
    '''Do.'''
async def several(a):
    '''Do.'''
    yield a
"""
RAISES = "Traceback (most recent call last):\n    ...\n{}\n"


def examples(folder: Path, docstring: str = "", *, given: str | None = None, name: str = "f") -> list[Example]:
    margin = docstring.replace("\n", "\n    ")
    (folder / "geo.py").write_text(f'{BEFORE}\ndef f(a=0, b=0):\n    """Do.\n\n    {margin}\n    """\n')
    return list(load_stub(f"{folder / 'geo.py'}::{name}", examples=[] if given is None else [given]).examples)


DOCSTRINGS = [
    (">>> f(1)", [("f(1)\n", "")]),
    (">>> x = 2\n>>> f(1) == x\nTrue", [("x = 2\nf(1)\n", "x\n")]),
    (">>> f(1) == 2\nFalse", [("f(1) == 2\n", "False\n")]),
    (">>> x = 1\n>>> y = x\n>>> f(y)\n2\n>>> f(3)\n4", [("x = 1\ny = x\nf(y)\n", "2\n"), ("f(3)\n", "4\n")]),
    (
        ">>> g = f(3)\n>>> next(g)\n0\n>>> next(g)\n1",
        [("g = f(3)\nnext(g)\n", "0\n"), ("g = f(3)\nnext(g)\nnext(g)\n", "1\n")],
    ),
    (
        ">>> xs = [2, 1]\n>>> f(xs)\n>>> xs\n[1, 2]",
        [("xs = [2, 1]\nf(xs)\n", ""), ("xs = [2, 1]\nf(xs)\nxs\n", "[1, 2]\n")],
    ),
    (">>> from geo import f as g, Point\n>>> g(Point(1))\n2", [("f(Point(1))\n", "2\n")]),
    (">>> import geo, math\n>>> geo.f(math.pi)\n2", [("import math\nf(math.pi)\n", "2\n")]),
    (">>> from datetime import date\n>>> f(date.min)\n2", [("from datetime import date\nf(date.min)\n", "2\n")]),
    (">>> for x in (1, 2):\n...     print(f(x))\n1\n2", [("for x in (1, 2):\n    print(f(x))\n", "1\n2\n")]),
    (">>> f(1)  # doctest: +SKIP\n2", []),
]


@pytest.mark.parametrize(("docstring", "wanted"), DOCSTRINGS, ids=[d[:25] for d, _ in DOCSTRINGS])
def test_examples_of_the_docstring(docstring: str, wanted: list[tuple[str, str]], tmp_path: Path) -> None:
    found = examples(tmp_path, docstring)
    assert [(e.source, e.want) for e in found] == wanted
    assert [e.stated for e in found] == [bool(want) for _, want in wanted]
    assert {e.origin for e in found} <= {"docstring"}


def test_options_and_tracebacks(tmp_path: Path) -> None:
    text = ">>> f(1)  # doctest: +ELLIPSIS\n[1, ...]\n>>> f(2)\nTraceback (most recent call last):\nKeyError: 'x'"
    first, second = examples(tmp_path, text)
    assert (dict(first.options), first.exception) == ({"ELLIPSIS": True}, "")
    assert (second.stated, second.exception) == (True, "KeyError")
    told = json.loads(read_literal(first.text))
    said = {"source": "f(1)  # doctest: +ELLIPSIS\n", "want": "[1, ...]\n", "options": {"ELLIPSIS": True}}
    assert told == said | {"by_value": False}


GIVEN = [
    ("plain", "plain(1) == 2", "plain(1)\n", "2\n"),
    ("plain", "plain(1) -> 'x'", "plain(1)\n", "'x'\n"),
    ("plain", ">>> plain(1)\n2", "plain(1)\n", "2\n"),
    ("plain", "plain(1) is None", "plain(1)\n", "None\n"),
    ("plain", "plain(1) is True", "plain(1) is True\n", "True\n"),
    ("plain", "abs(plain(1) - 2) < 1", "abs(plain(1) - 2) < 1\n", "True\n"),
    ("plain", "not plain(1)", "not plain(1)\n", "True\n"),
    ("plain", "sorted(plain(1))", "sorted(plain(1))\n", ""),
    ("plain", "plain(1) == plain(2)", "plain(1) == plain(2)\n", "True\n"),
    ("plain", "plain(1) == date.min", "from datetime import date\nplain(1)\n", "date.min\n"),
    ("plain", "plain(1) == nan", "plain(1)\n", "nan\n"),
    ("awaited", ">>> awaited(1) == {2}\nTrue", "awaited(1)\n", "{2}\n"),
    ("awaited", "await awaited(1) raises KeyError", "awaited(1)\n", RAISES.format("KeyError")),
    ("awaited", "awaited(1) is None", "awaited(1)\n", "None\n"),
    ("awaited", "awaited(1) > 2", "import asyncio\nasyncio.run(awaited(1)) > 2\n", "True\n"),
    ("several", "len(several(1)) == 1", "\nlen(asyncio.run(_all(several(1)))) == 1\n", "True\n"),
    ("Point.norm", "Point(1).norm == 2", "Point(1).norm\n", "2\n"),
    ("Point.moved", "Point(1).moved(2) == Point(3)", "Point(1).moved(2)\n", "Point(3)\n"),
]


@pytest.mark.parametrize(("name", "given", "source", "want"), GIVEN, ids=[g[1][:30] for g in GIVEN])
def test_examples_of_the_user(name: str, given: str, source: str, want: str, tmp_path: Path) -> None:
    (example,) = examples(tmp_path, given=given, name=name)
    assert (example.source[-len(source) :], example.want, example.stated) == (source, want, bool(want))
    assert example.origin == "--example"


@pytest.mark.parametrize("given", ["plain(", "other(1)", "1 + 1", "plain(x)", "norm(1)", ">>> 1", "plain = 1", ""])
def test_what_is_no_example_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="expected") as refused:
        _ = examples(tmp_path, given=given, name="plain")
    assert "\n" not in str(refused.value)


def test_examples_are_seeds_too(tmp_path: Path) -> None:
    text = ">>> from geo import Point as P\n>>> p = P(1)\n>>> f(p, b=Color.RED)\n2\n\nFor instance f('x') is 3."
    _ = examples(tmp_path, text)
    seeds = load_stub(f"{tmp_path / 'geo.py'}::f", examples=["f(4) == 5"]).task.seed_inputs
    assert seeds[:3] == ("(Point(1), Color.RED)", "(4,)", "('x',)")
