"""Which functions changed between two revisions: real repositories, small edits whose effect is known."""

from pathlib import Path

import pytest

from difftrust.diff.changed_functions import changed_functions
from difftrust_core.exceptions import WrongUsage
from tests.support.repository import commit, git, repository, write

MODULE = '''"""A module."""
import math
import os

LIMIT = 5
OTHER = 6


def helper(x):
    """Help."""
    return x + LIMIT


def user(x):
    return helper(x)


def alone(x):
    return math.floor(x)


class Box:
    """A box."""

    unit = 1

    def __init__(self, size):
        self.size = size

    def add(self, x):
        return self._sum(x)

    def _sum(self, x):
        return self.size + x

    def show(self):
        return str(self.size)


def boxed(x):
    return Box(x).show()
'''
REGISTERED = """
from functools import singledispatch

REG = {}


def reg(name):
    def add(f):
        REG[name] = f
        return f

    return add


@reg("b")
def _b(x):
    return x + 1


@reg("c")
def _c(x):
    return x + 2


def run(name, x):
    return REG[name](x)


@singledispatch
def show(x):
    return "other"


@show.register
def _(x: int):
    return "int"


@show.register
def _(x: str):
    return "str"


class Base:
    known = {}

    def __init_subclass__(cls):
        cls.known[cls.__name__] = cls


class One(Base):
    def go(self):
        return 1


class Two(One):
    def stop(self):
        return 2


def made(name):
    return Base.known[name]()


class Meta(type):
    every = []

    def __init__(cls, *parts):
        cls.every.append(cls)


class Three(metaclass=Meta):
    def wait(self):
        return 3


def first():
    return Meta.every[0]()
"""


SCOPES = """
from enum import Enum, auto

sep = ","
LIMIT = 1
K = 1
K = 2


def size(x):
    return 3


def joined(x, sep=sep):
    return sep.join(x)


def limited(x):
    return LIMIT + (lambda LIMIT: LIMIT)(x)


def last():
    return K


class Sort(Enum):
    ONE = auto()
    TWO = auto()

    def place(self):
        return self.value


class Box:
    class Lid:
        def shut(self):
            return 4

    def size(self):
        return size(self)


Box.colour = 5
"""


EDITS = [
    (MODULE, "", "", ""),
    (MODULE, "    return x + LIMIT", "    # why\n    return (x + LIMIT)", ""),
    (MODULE, '    """Help."""\n', "", ""),
    (MODULE, "x + LIMIT", "x - LIMIT", "helper user"),
    (MODULE, "LIMIT = 5", "LIMIT = 7", "helper user"),
    (MODULE, "OTHER = 6", "OTHER = 7", ""),
    (MODULE, "import math", "import cmath as math", "alone"),
    (MODULE, "import os", "import sys", ""),
    (MODULE, "self.size + x", "self.size - x", "Box._sum Box.add boxed"),
    (MODULE, "self.size = size", "self.size = size + 1", "Box.__init__ Box._sum Box.add Box.show boxed"),
    (MODULE, "unit = 1", "unit = 2", "Box.__init__ Box._sum Box.add Box.show boxed"),
    (MODULE, "A box", "The box", ""),
    (MODULE, "def user(x):", "def user(x=1):", "user"),
    (REGISTERED, "x + 1", "x - 1", "_b run"),
    (REGISTERED, '"int"', '"INT"', "show"),
    (REGISTERED, '"str"', '"STR"', "_ show"),
    (REGISTERED, "return 2", "return 3", "Two.stop made"),
    (REGISTERED, "return 3", "return 4", "Three.wait first"),
    (SCOPES, '","', '";"', "joined"),
    (SCOPES, "LIMIT = 1", "LIMIT = 2", "limited"),
    (SCOPES, "K = 1\nK = 2", "K = 2\nK = 1", "last"),
    (SCOPES, "return 3", "return 4", "Box.size size"),
    (SCOPES, "ONE = auto()\n    TWO = auto()", "TWO = auto()\n    ONE = auto()", "Sort.place"),
    (SCOPES, "return 4", "return 5", "Box.Lid.shut Box.size"),
    (SCOPES, "colour = 5", "colour = 6", "Box.size"),
    (MODULE, "OTHER = 6", "OTHER = 6\nOTHER += 1\nMORE = 2", ""),
    (MODULE, "OTHER = 6", "OTHER = 6\nif OTHER > 7:\n    print(OTHER)", ""),
    (MODULE, "class Box:", "class Kind:\n    NEW = 1\n\n\nclass Box:", ""),
]
UNUSED = {
    "OTHER = 7": ("OTHER",),
    "OTHER = 6\nOTHER += 1\nMORE = 2": ("OTHER", "MORE"),
    "OTHER = 6\nif OTHER > 7:\n    print(OTHER)": ("if OTHER > 7:",),
    "class Kind:\n    NEW = 1\n\n\nclass Box:": ("Kind",),
}
"""Edits of values that no function uses which is compared."""


@pytest.mark.parametrize(("module", "old", "new", "expected"), EDITS, ids=[f"{new}"[:30] for _, _, new, _ in EDITS])
def test_an_edit_changes_what_uses_it(module: str, old: str, new: str, expected: str, tmp_path: Path) -> None:
    there = repository(tmp_path / "repo", {"src/mod.py": module})
    (there / "link").symlink_to("src")
    assert old in module
    write(there, {"src/mod.py": module.replace(old, new), "src/new.py": "NEW = 1\n"})
    found = changed_functions("HEAD", None, ["link"], folder=there)
    assert sorted(change.entry_point for change in found.functions) == sorted(expected.split())
    assert {change.kind for change in found.functions} <= {"changed"}
    assert found.unused == ({"src/mod.py": UNUSED[new]} if new in UNUSED else {})


def test_added_removed_moved_and_left_out(tmp_path: Path) -> None:
    there = repository(
        tmp_path / "repo",
        {
            "a.py": "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n",
            "b.py": MODULE,
            "tests/t.py": "def f(x): ...\n",
        },
        {"a.py": "def f(x):\n    return x\n\n\ndef h(x):\n    return x\n", "test_b.py": "def f(x): ...\n"},
    )
    git(there, "mv", "b.py", "c.py")
    commit(there, {"c.py": MODULE.replace("math.floor", "math.ceil"), "tests/t.py": "def f(x):\n    return 1\n"})
    found = changed_functions("HEAD~2", "HEAD", folder=there).functions
    assert [(c.path, c.entry_point, c.kind, c.old_path) for c in found] == [
        ("a.py", "h", "added", ""),
        ("a.py", "g", "removed", "a.py"),
        ("c.py", "alone", "changed", "b.py"),
    ]
    assert not changed_functions("HEAD", None, folder=there).functions


def test_paths_narrow_it_from_the_current_folder(tmp_path: Path) -> None:
    one, other = "def f(x):\n    return 1\n", "def f(x):\n    return 2\n"
    there = repository(tmp_path / "repo", {"a/x.py": one, "a/y.py": one, "ab/x.py": one}, {})
    write(there, {"a/x.py": other, "a/y.py": other, "ab/x.py": other, "a/new.py": one, "a/ignored.py": one})
    write(there, {".gitignore": "ignored.py\n"})

    def paths(*chosen: str, folder: Path = there) -> list[str]:
        return [change.path for change in changed_functions("HEAD", None, chosen, folder=folder).functions]

    assert paths() == ["a/new.py", "a/x.py", "a/y.py", "ab/x.py"]
    assert paths("a") == paths("a/") == paths(".", folder=there / "a") == ["a/new.py", "a/x.py", "a/y.py"]
    assert paths("x.py", "../ab", folder=there / "a") == ["a/x.py", "ab/x.py"]
    for wrong, said in (("nowhere", "neither side has any"), ("/etc", "name one inside"), ("-x", "write ./-x")):
        with pytest.raises(WrongUsage, match=said):
            paths(wrong)
    with pytest.raises(WrongUsage, match="names no commit"):
        changed_functions("HEAD", "nowhere", folder=there)


def test_a_long_chain_is_compared_and_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    chain = "def code(x):\n    if x == 0:\n        return 0\n" + "".join(
        f"    elif x == {n}:\n        return {n}\n" for n in range(1, 200)
    )
    deep = "def long():\n    return " + " + ".join(["'a'"] * 2000) + "\n"
    there = repository(tmp_path / "repo", {"a.py": chain, "b.py": deep, "mod.py": MODULE})
    write(there, {"a.py": chain.replace("return 7\n", "return 8\n"), "b.py": deep.replace("'a'", "'b'", 1)})
    write(there, {"mod.py": MODULE.replace("x + LIMIT", "x +")})
    found = changed_functions("HEAD", None, folder=there)
    assert [change.entry_point for change in found.functions] == ["code"]
    assert found.unreadable == ("b.py", "mod.py")
