"""What is said to be right, written as tests: plain pytest runs them and they fail where the function is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from difftrust.check.pin import write_tests
from difftrust_core.exceptions import WrongUsage
from tests.support.repository import write

SHAPES = """
import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from decimal import Decimal


class BadSize(ValueError):
    pass


@dataclass
class Point:
    x: float
    y: float

    def scaled(self, by: float) -> "Point":
        return Point(self.x * by, self.y * by)


def half(value):
    if value is None:
        raise BadSize
    return value / 2


def price(value: Decimal) -> Decimal:
    return value * 2


def first(values):
    return values[0] if values else None


def upto(n):
    yield from range(n)


async def later(x):
    await asyncio.sleep(0)
    return x


def evens(values) -> Iterator[int]:
    return iter([value for value in values if value % 2 == 0])


async def told(values) -> AsyncIterator[int]:
    ...  # a stub


def round(value):
    return value + 1
"""
SAID = {
    "half": ["half(0.6) == 0.3", "half(None) raises BadSize", "half('a') raises TypeError", "half(3) == 1.5"],
    "Point.scaled": ["Point(1.0, 2.0).scaled(2.0) == Point(2.0, 4.0)"],
    "price": ["price(Decimal('1.5')) == Decimal('3.0')"],
    "first": ["first([]) == None", "first([True]) == True", "first(['a', 'b']) == 'a'"],
    "upto": ["upto(3) == [0, 1, 2]"],
    "evens": ["evens([1, 2]) == [2]"],
    "later": ["later(3) == 3"],
    "round": ["round(1) == 2"],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, {"src/pkg/__init__.py": "", "src/pkg/shapes.py": SHAPES})
    (tmp_path / "tests").mkdir()
    return tmp_path


def run(project: Path, file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(file)]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_plain_pytest_runs_them_and_they_fail_where_the_function_is_wrong(project: Path) -> None:
    file, module = project / "tests" / "test_said.py", project / "src" / "pkg" / "shapes.py"
    n = 0
    for name, texts in SAID.items():
        done = write_tests(file, f"{module}::{name}", texts)
        assert (list(done.new), done.there_already, done.left_out) == (texts, (), ())
        n += len(texts)
    assert "difftrust" not in file.read_text()
    assert not [line for line in file.read_text().splitlines() if line != line.rstrip()]
    passed = run(project, file)
    assert f"{n} passed" in passed.stdout, passed.stdout
    module.write_text(SHAPES.replace("value / 2", "value / 3").replace("return x\n", "return x + 1\n"))
    failed = run(project, file)
    assert f"3 failed, {n - 3} passed" in failed.stdout, failed.stdout


def test_what_is_there_stays_and_is_not_written_again(project: Path) -> None:
    file, where = project / "tests" / "test_own.py", f"{project / 'src' / 'pkg' / 'shapes.py'}::half"
    own = "def test_half_1():\n    assert True  # mine\n"
    file.write_text(own)
    first = write_tests(file, where, SAID["half"][:2])
    again = write_tests(file, where, SAID["half"])
    assert first.new == tuple(SAID["half"][:2])
    assert again.there_already == first.new
    assert again.new == tuple(SAID["half"][2:])
    text = file.read_text()
    assert text.startswith(own)
    assert [f"def test_half_{k}(" in text for k in range(1, 7)] == [True] * 5 + [False]


def test_what_no_test_can_say_is_named(project: Path) -> None:
    file, where = project / "tests" / "test_said.py", f"{project / 'src' / 'pkg' / 'shapes.py'}::half"
    done = write_tests(
        file, where, ["half(1) is odd", "other(1) == 2", "half(Fraction(1, 2)) == 1", "half(0) raises Nope"]
    )
    assert done.new == ()
    assert len(done.left_out) == 4
    assert not file.exists()


def test_items_of_a_coroutine_are_no_test(project: Path) -> None:
    file, where = project / "tests" / "test_said.py", f"{project / 'src' / 'pkg' / 'shapes.py'}::told"
    ((text, why),) = write_tests(file, where, ["told([1]) == [1]"]).left_out
    assert (text, "asynchronous generator" in why) == ("told([1]) == [1]", True)


@pytest.mark.parametrize("name", ["notes.txt", "missing/test_x.py", "."])
def test_another_file_is_never_clobbered(project: Path, name: str) -> None:
    (project / "notes.txt").write_text("not Python at all\n")
    with pytest.raises(WrongUsage, match="expected a"):
        write_tests(project / name, f"{project / 'src' / 'pkg' / 'shapes.py'}::half", SAID["half"])
    assert (project / "notes.txt").read_text() == "not Python at all\n"
