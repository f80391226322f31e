"""What files, classes and folders name, and what is left out of them and why."""

from pathlib import Path

import pytest

from difftrust.source.target import find_target, find_targets, is_several
from difftrust_core.exceptions import BadStub, WrongUsage
from tests.support.repository import write

SHAPES = """
import abc
from typing import overload


@overload
def area(x: int) -> int: ...
@overload
def area(x: str) -> str: ...
def area(x):
    def nested(y):
        return y
    return nested(x)


if True:
    def conditional(x):
        return x


def nothing():
    return 1


def _private(x):
    return x


class Box(abc.ABC):
    def __init__(self, size):
        self.size = size

    def __eq__(self, other):
        return True

    @property
    def double(self):
        return self.size * 2

    @double.setter
    def double(self, value):
        self.size = value

    @abc.abstractmethod
    def later(self, x): ...

    class Inner:
        def hidden(self, x):
            return x


class _Hidden:
    def add(self, x):
        return x


def add(x):
    return x
"""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        {
            "src/shapes.py": SHAPES,
            "src/broken.py": "def f(:",
            "src/sub/b.py": "def f(x):\n    return x\n",
            "src/tests/helper.py": "def f(x):\n    return x\n",
            "src/test_it.py": "def test_f(x):\n    return x\n",
            "src/.hidden/c.py": "def f(x):\n    return x\n",
            "src/env/c.py": "def f(x):\n    return x\n",
            "src/mine/pyvenv.cfg": "",
            "src/mine/c.py": "def f(x):\n    return x\n",
        },
    )
    (tmp_path / "src" / "link.py").symlink_to(tmp_path / "src" / "shapes.py")
    return tmp_path


TAKEN = ["src/shapes.py::area", "src/shapes.py::conditional", "src/shapes.py::Box.double", "src/shapes.py::add"]


def test_a_file_has_its_public_functions(there: Path) -> None:
    targets = find_targets(["src/shapes.py"])
    assert list(targets.found) == TAKEN
    assert {s.where.partition("::")[2]: s.why for s in targets.skipped} == {
        "nothing": "takes no arguments",
        "_private": "private",
        "Box.__eq__": "a special method",
        "Box.later": "abstract",
        "_Hidden.add": "private",
    }
    for where in targets.found:
        assert find_target(where).entry_point == where.partition("::")[2]


def test_a_folder_has_the_files_below_but_for_tests_and_environments(there: Path) -> None:
    targets = find_targets(["src"])
    assert list(targets.found) == [*TAKEN, "src/sub/b.py::f"]
    assert [s.where for s in targets.skipped if s.is_fault] == ["src/broken.py"]
    assert {s.where for s in targets.skipped if s.why == "a test"} == {
        "src/test_it.py::test_f",
        "src/tests/helper.py::f",
    }


def test_several_are_taken_once_and_what_is_named_is_taken(there: Path) -> None:
    found = find_targets(
        ["src/shapes.py::_private", "src/shapes.py::Box", "src/shapes.py", "src/shapes.py::area"]
    ).found
    assert list(found) == ["src/shapes.py::_private", TAKEN[2], TAKEN[0], TAKEN[1], TAKEN[3]]


def test_what_is_one_and_what_is_several(there: Path) -> None:
    assert [is_several(text) for text in ("src", "src/shapes.py", "src/shapes.py::Box")] == [True] * 3
    assert [is_several(t) for t in ("src/shapes.py::area", "nowhere", "src/shapes.py::Box.double", "x")] == [False] * 4


@pytest.mark.parametrize(
    ("text", "error"),
    [("nowhere", WrongUsage), ("nowhere.py", WrongUsage), ("src/shapes.py::no", BadStub), ("n.py::f", BadStub)],
)
def test_what_is_not_there_is_refused(there: Path, text: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="expected"):
        find_targets(["src/shapes.py", text])
