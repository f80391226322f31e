"""Calls with literal arguments in a function's file, package and tests are seeds; nothing there is executed."""

import os
from pathlib import Path

import pytest

from difftrust.source.function import load_stub
from difftrust.source.literal_calls import Calls, mine_calls
from difftrust.source.target import find_target

MODULE = """
import enum
from dataclasses import dataclass
from datetime import date
class Color(enum.Enum):
    RED = 1
@dataclass
class Point:
    x: int
    y: int = 0
    def moved(self, dx, *, dy=0): ...
    @classmethod
    def parse(cls, text): ...
    @property
    def norm(self): ...
def double(x): return 2 * x
def f(a, b=2, *rest, key=None): ...
START = 7
f(START)
if __name__ == "__main__":
    print(f("main"))
"""
TEST = """
import datetime, pytest, asyncio
import shop.geo
from shop.geo import f as g, Point as P, Color, double
from shop import geo as G
from other import f
open("executed", "w")
TABLE = [(1, "t")]

@pytest.fixture
def origin():
    return P(0, 0)

{body}
"""


def mined(folder: Path, body: str, name: str = "f") -> Calls:
    package = folder / "project" / "shop"
    package.mkdir(parents=True, exist_ok=True)
    (folder / "project" / "pyproject.toml").touch()
    (package / "__init__.py").touch()
    (package / "geo.py").write_text(MODULE)
    (folder / "project" / "tests").mkdir(exist_ok=True)
    (folder / "project" / "tests" / "test_geo.py").write_text(TEST.format(body=body))
    return mine_calls(find_target(f"{package / 'geo.py'}::{name}"))


OF_FILE = ("(7,)", "('main',)")
FOUND = [
    ("shop.geo.f(1, 2, 3)\nG.f(b=1, a='x')", ["(1, 2, 3)", "('x', 1)"]),
    ("f(1)", []),  # of another module
    ("g(make())", []),
    ("g(*[1, 2], **{'key': 3})", ["(1, 2, Keywords(key=3))"]),
    ("g(P(1, y=2), Color.RED)", ["(Point(1, y=2), Color.RED)"]),
    (
        "g(datetime.date(2020, 1, 2), datetime.date.fromisoformat('2021-02-03'))",
        ["(date(2020, 1, 2), date(2021, 2, 3))"],
    ),
    ("g(len, lambda n: n + 1)", ["(len, lambda n: n + 1)"]),
    ("g(double)", ["(lambda x: double(x),)"]),
    ("g(lambda n: n + unknown)", []),
    ("g(range(3))", ["(range(0, 3, 1),)"]),
    ("def test():\n    xs = [1]\n    assert g(xs) == 2\n    xs.append(3)\n    g(xs)", ["([1],)"]),
    ("for a, b in TABLE + [(2, 'u')]:\n    g(a, b)", ["(1, 't')", "(2, 'u')"]),
    ("def test():\n    with pytest.raises(ValueError):\n        g('')", ["('',)"]),
    ("class TestF:\n    async def test(self):\n        self.assertEqual(await g(6), 1)", ["(6,)"]),
    (
        "@pytest.mark.parametrize('a, want', [(1, 2), pytest.param(3, ValueError, id='x'), (make(), 1)])\n"
        "@pytest.mark.parametrize(['b'], [(8,), (9,)])\ndef test(a, b, want):\n    assert g(a, b) == want",
        ["(1, 8)", "(3, 8)", "(1, 9)", "(3, 9)"],
    ),
    ("@pytest.mark.parametrize('a', TABLE)\ndef test(a):\n    g(a)", ["((1, 't'),)"]),
]


@pytest.mark.parametrize(("body", "seeds"), FOUND, ids=[b[:30] for b, _ in FOUND])
def test_calls_in_tests(body: str, seeds: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = mined(tmp_path, body)
    assert found.seeds[: len(OF_FILE)] == OF_FILE
    assert sorted(found.seeds[len(OF_FILE) :]) == sorted(seeds)
    assert [name for name, _ in found.files] == ["geo.py", *(["test_geo.py"] if seeds else [])]
    assert not (tmp_path / "executed").exists()


METHODS = [
    (
        "Point.moved",
        "p = P(1)\np.moved(2, dy=3)\nassert p.moved(4) == 0\np.norm",
        ["(Point(1), 2, Keywords(dy=3))", "(AfterCalls(Point(1), [moved(2, dy=3)]), 4)"],
    ),
    ("Point.moved", "p = P(1)\np.moved(2) + p.moved(3)\np.moved(4)", ["(Point(1), 2)", "(Point(1), 3)"]),
    ("Point.moved", "p = P(1)\nfor i in x:\n    p.moved(2)\np.moved(4)", []),
    ("Point.moved", "p = P(1)\np.moved(y)\np.moved(4)", []),
    (
        "Point.moved",
        "p = P(1)\nnext(p)\np[0] = 'a'\ndel p[1]\np.moved(4)",
        ["(AfterCalls(Point(1), [__next__(), __setitem__(0, 'a'), __delitem__(1)]), 4)"],
    ),
    ("Point.moved", "p = P(1)\nassert len(p) == 1\np.moved(4)", ["(Point(1), 4)"]),
    ("Point.moved", "p = P(1)\nturn(p)\np.moved(4)", []),
    ("Point.moved", "def test(origin):\n    origin.moved(5)", ["(Point(0, 0), 5)"]),
    ("Point.moved", "P.moved(P(1), 2)\nx.moved(3)", ["(Point(1), 2)"]),
    ("Point.parse", "P.parse('1,2')\nshop.geo.Point.parse(text='3')", ["('1,2',)", "('3',)"]),
    ("Point.norm", "assert P(3, 4).norm == 5", ["(Point(3, 4),)"]),
]


@pytest.mark.parametrize(("name", "body", "seeds"), METHODS, ids=[b[:30] for _, b, _ in METHODS])
def test_calls_of_methods(name: str, body: str, seeds: list[str], tmp_path: Path) -> None:
    assert list(mined(tmp_path, body, name).seeds) == seeds


def test_files_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    _ = mined(tmp_path, "g(1)")
    tests = tmp_path / "project" / "tests"
    os.mkfifo(tests / "test_a.py")
    (tests / "test_b.py").write_bytes(b"f(\xff\x00")
    (tests / "test_c.py").write_text("from shop.geo import f\nf(" + "(" * 5_000)
    (tests / "test_d.py").symlink_to(tests)
    (tests / "test_e.py").write_text("from shop.geo import f\nf('e')\n")
    assert mine_calls(find_target(f"{tmp_path / 'project' / 'shop' / 'geo.py'}::f")).seeds[2:] == ("('e',)", "(1,)")


def test_many_calls_are_bounded(tmp_path: Path) -> None:
    assert len(mined(tmp_path, "\n".join(f"g({i})" for i in range(1_000))).seeds) == 100


def test_they_are_seeds_and_said_so(tmp_path: Path) -> None:
    _ = mined(tmp_path, "g('x')")
    stub = load_stub(f"{tmp_path / 'project' / 'shop' / 'geo.py'}::f", needs_docstring=False)
    assert stub.task.seed_inputs[:3] == ("(7,)", "('main',)", "('x',)")
    assert "calls with literal arguments found: 2 in geo.py, 1 in test_geo.py; they are seed inputs" in stub.notes
    assert "a: int | str, by the calls found" in stub.notes
