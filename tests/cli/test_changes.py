"""`difftrust diff` between revisions: the words that name them, and every function that changed."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from difftrust.cli.changes import Between, diff_changes, read_words
from difftrust.diff.comparison import DiffOptions
from difftrust_core.exceptions import WrongUsage
from tests.support.command import Capture, typed
from tests.support.repository import commit, git, repository, write


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"pkg/mod.py": "def f(x):\n    return x\n", "both/x.py": "", "other/y.py": "", "gone/z.py": ""}
    folder = repository(tmp_path_factory.mktemp("git") / "there", files)
    shutil.rmtree(folder / "gone")
    git(folder, "branch", "both")
    return folder


@pytest.fixture
def there(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "there"))
    monkeypatch.setenv("DIFFTRUST_CACHE", str(tmp_path / ".cache"))
    return tmp_path / "there"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["HEAD"], Between(old="HEAD", new=None)),
        (["HEAD", "pkg/mod.py", "other"], Between(old="HEAD", new=None, paths=("pkg/mod.py", "other"))),
        (["HEAD", "gone/z.py"], Between(old="HEAD", new=None, paths=("gone/z.py",))),
        (["HEAD~1", "main"], Between(old="HEAD~1", new="main")),
        (["HEAD~1", "main", "pkg"], Between(old="HEAD~1", new="main", paths=("pkg",))),
        (["HEAD~1..main", "pkg"], Between(old="HEAD~1", new="main", paths=("pkg",))),
        (["HEAD~1..", "pkg"], Between(old="HEAD~1", new="HEAD", paths=("pkg",))),
        (["HEAD", "./both"], Between(old="HEAD", new=None, paths=("./both",))),
    ],
)
def test_words(made: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], expected: Between) -> None:
    monkeypatch.chdir(made)
    assert read_words(words) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected a git revision"),
        (["a...b"], "REV..REV"),
        (["..a"], "REV..REV"),
        (["HEAD", "both"], "is both"),
        (["HEAD", "nosrc/"], "'nosrc/' is neither"),
        (["nowhere", "nosrc/"], "'nowhere' names no commit"),
    ],
)
def test_words_that_are_refused(made: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str) -> None:
    monkeypatch.chdir(made)
    with pytest.raises(WrongUsage, match=said):
        read_words(words)


OLD = """from pkg.util import twice

LIMIT = 3


def clamp(x: int) -> int:
    return min(x, LIMIT)


def total(xs: list[int]) -> int:
    result = 0
    for x in xs:
        result += x
    return result


def gone(x: int) -> int:
    return x


def far(x: int) -> int:
    return twice(x)
"""
NEW = OLD.replace("LIMIT = 3", "LIMIT = 4").replace("def gone", "def came").replace("twice(x)", "twice(x) + 0")
NEW = NEW.replace("    result = 0\n    for x in xs:\n        result += x\n    return result", "    return sum(xs)")


def compare(capsys: Capture, *words: str, **chosen: Any) -> tuple[int, dict[str, Any], str]:
    status = diff_changes(read_words(words), DiffOptions(n=40, **chosen), style="json")
    out, err = capsys.readouterr()
    return status, {each["name"]: each for each in json.loads(out)}, err


def test_every_function_that_changed_is_compared(there: Path, capsys: Capture) -> None:
    util = "def twice(x):\n    return 2 * x\n"
    commit(there, {"pkg/mod.py": OLD, "pkg/util.py": util, "pkg/__init__.py": "", "bad.py": "x = 1"})
    commit(there, {"pkg/mod.py": NEW, "bad.py": "def f(:"})
    status, found, err = compare(capsys, "HEAD~1", "HEAD")
    assert status == 1
    assert {name: each["verdict"] for name, each in found.items()} == {
        "HEAD:pkg/mod.py::clamp": "changed",
        "HEAD:pkg/mod.py::total": "unchanged",
        "HEAD:pkg/mod.py::far": "unchanged",
        "bad.py": "refused",
    }
    clamp = found["HEAD:pkg/mod.py::clamp"]
    assert (clamp["path"], clamp["line"]) == ("pkg/mod.py", 6)
    assert clamp["inputs"][0] == {"call": "clamp(4)", "outcomes": [["old", "3"], ["new", "4"]]}
    assert "left out, added since HEAD~1: pkg/mod.py::came" in err
    assert "left out, removed since HEAD~1: pkg/mod.py::gone" in err
    expected = compare(capsys, "HEAD~1", "HEAD", expect=("clamp(4) == 4", "clamp(9) == 4"))
    assert expected[1][clamp["name"]]["inputs"][0]["call"] == "clamp(5)"  # the smallest that nobody expected
    again = compare(capsys, "HEAD~1..HEAD")
    assert again[:2] == (status, found)
    assert "3 of 4 were compared before" in again[2]
    # The working tree, from a folder inside: the same changes by the paths as they are named there.
    write(there, {"bad.py": "x = 1", "pkg/mod.py": NEW.replace("LIMIT = 4", "LIMIT = 3")})
    status, found, err = compare(capsys, "HEAD~1", "pkg")
    assert status == 0
    assert {name: each["verdict"] for name, each in found.items()} == {
        "pkg/mod.py::total": "unchanged",
        "pkg/mod.py::far": "unchanged",
    }
    assert compare(capsys, "HEAD~1", "HEAD~1")[:2] == (0, {})
    *nothing, err = compare(capsys, "HEAD~1", "bad.py")
    assert nothing == [0, {}]
    assert "no function changed" in err
    assert "the file that is compared" not in err
    write(there, {"bad.py": "x = 2"})
    *nothing, err = compare(capsys, "HEAD~1", "bad.py")
    assert nothing == [0, {}]
    assert "left out, changed since HEAD~1 and used by no function of the file that is compared: bad.py (x)" in err


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"expect": ("other(1) == 2",)}, "a function that changed (f), got 'other(1) == 2'"),
        ({"examples": ("ff(1)",)}, "got 'ff(1)'"),
        ({"assume": ("x > 1",)}, "one function with --assume"),
    ],
)
def test_what_is_said_of_no_changed_function_is_refused(there: Path, chosen: dict[str, Any], said: str) -> None:
    write(there, {"pkg/mod.py": "def f(x):\n    return x + 1\n"})
    with pytest.raises(WrongUsage, match=re.escape(said)):
        diff_changes(read_words(["HEAD"]), DiffOptions(**chosen), style="json")


def test_the_command_takes_revisions_and_paths(there: Path, capsys: Capture) -> None:
    write(there, {"pkg/mod.py": "def f(x):\n    return -x\n"})
    status, out, err = typed(capsys, "diff HEAD -n 40 -- pkg")
    assert status == 1, err
    assert (out.splitlines()[0], out.splitlines()[-1]) == ("pkg/mod.py::f: changed", "1 function: 1 changed")
    status, _, err = typed(capsys, "diff HEAD -- other")
    assert (status, "no function changed between HEAD and the working tree" in err) == (0, True)
