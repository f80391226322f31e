"""What functions are named by, one or all of a file, a class or a folder, and what they rest on."""

import ast
from pathlib import Path

import pytest

from difftrust.source.closure import preamble_of
from difftrust.source.function import Stub, load_stub
from difftrust.source.target import find_target, find_targets, is_several
from difftrust_core.exceptions import BadStub, WrongUsage
from tests.support.repository import write

GEOMETRY = '''
from __future__ import annotations
import functools
import math
import numpy as np
import requests
from dataclasses import dataclass
from functools import cached_property
from .shapes import Shape

open("executed", "w")
RATE = 1.5
LOW, HIGH = 0, 10
HIGH += 1
try:
    import ujson as json
except ImportError:
    import json


class Base(Shape):
    pass


@dataclass
class Point:
    x: float
    y: float = 0.0

    @property
    def norm(self) -> float:
        """Return the distance from the origin."""
        return helper(self.x, self.y)

    @norm.setter
    def norm(self, value): ...

    @cached_property
    def double(self):
        """Return twice the point."""

    @classmethod
    def parse(cls, text: str) -> Point:
        """Read a point."""
        return cls(*map(float, text.split(",")))

    @staticmethod
    def scale(k: int, values: list[int]) -> list[int]:
        """Scale."""
        return [k * v for v in values]

    def moved(self, dx: float = 0, *, dy: float = 0) -> Point:
        """Move."""
        return Point(self.x + dx, self.y + dy)

    def __init_subclass__(cls): ...


def helper(x, y):
    return math.hypot(x, y) * RATE


def logged(function):
    return functools.wraps(function)(lambda *a, **k: function(*a, **k))


@logged
async def area(points: list[Point], *, scale: float = RATE, **more: int) -> float:
    """Return the area."""
    return scale * requests.get(HIGH)


def rows(n: int):
    """Yield rows."""
    yield from range(n)


def used(shape: Base) -> int:
    """Return the number."""
'''


def loaded(folder: Path, name: str, text: str = GEOMETRY) -> Stub:
    (folder / "geometry.py").write_text(text)
    return load_stub(f"{folder / 'geometry.py'}::{name}", needs_docstring=False)


TARGETS = [
    ("Point.norm", "property", ["self"]),
    ("Point.double", "property", ["self"]),
    ("Point.parse", "classmethod", ["text"]),
    ("Point.scale", "staticmethod", ["k", "values"]),
    ("Point.moved", "method", ["self", "dx", "dy"]),
    ("area", "function", ["points", "scale", "more"]),
    ("rows", "function", ["n"]),
]


@pytest.mark.parametrize(("name", "kind", "parameters"), TARGETS, ids=[t[0] for t in TARGETS])
def test_targets(name: str, kind: str, parameters: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stub = loaded(tmp_path, name)
    target = find_target(f"{tmp_path / 'geometry.py'}::{name}")
    assert (target.kind, target.entry_point, stub.task.entry_point) == (kind, name, name)
    assert [p.name for p in target.parameters()] == parameters
    assert all(map(stub.types.accepts, stub.task.seed_inputs))
    assert f"geometry/{name}/" in stub.task.task_id
    assert len(stub.task.seed_inputs) > 1
    assert not (tmp_path / "executed").exists()


YIELDING = [
    ("def f(): yield 1", True),
    ("def f() -> Iterator[int]: ...", True),
    ("def f() -> 'typing.Iterator[int]': ...", True),
    ("def f() -> Generator[int, None, str]: ...", True),
    ("async def f() -> AsyncIterator[int]: ...", True),
    ("async def f() -> Iterator[int]: ...", False),
    ("def f() -> Iterator[int] | None: ...", False),
    ("def f() -> list[Iterator[int]]: ...", False),
    ("def f() -> Iterable[int]: ...", False),
    ("def f(): return (lambda: (yield 1))", False),
]


@pytest.mark.parametrize(("text", "is_generator"), YIELDING, ids=[text for text, _ in YIELDING])
def test_generators_yield_or_say_so(text: str, is_generator: bool, tmp_path: Path) -> None:
    (tmp_path / "stub.py").write_text(text)
    assert find_target(f"{tmp_path / 'stub.py'}::f").is_generator == is_generator


def test_type_comments_are_annotations(tmp_path: Path) -> None:
    module = tmp_path / "flats.py"
    module.write_text(
        "def shares(total, areas):\n    # type: (int, list[int]) -> list[int]\n    return areas\n"
        "def one(a,  # type: str\n        b: int):\n    # type: (...) -> int\n    return b\n"
    )
    found = [ast.unparse(find_target(f"{module}::{name}").function.args) for name in ("shares", "one")]
    assert found == ["total: int, areas: list[int]", "a: str, b: int"]


def test_a_method_that_documents_an_exception_is_called_before_too(tmp_path: Path) -> None:
    text = 'class Meter:\n    def add(self, n: int) -> int:\n        """Raises ValueError if n is negative."""\n'
    seeds = loaded(tmp_path, "Meter.add", text).task.seed_inputs
    assert any(seed.startswith("(AfterCalls(Meter(), [add(") for seed in seeds)


def test_a_method_has_its_object_as_first_argument_and_its_class_without_the_body(tmp_path: Path) -> None:
    seeds = loaded(tmp_path, "Point.moved").task.seed_inputs
    assert {seed.partition("Point(")[0] for seed in seeds} == {"(", "(AfterCalls("}
    assert any("Keywords(dy=" in seed for seed in seeds)
    preamble = loaded(tmp_path, "Point.parse").task.preamble
    made = next(s for s in ast.parse(preamble).body if isinstance(s, ast.ClassDef))
    bodies = {s.name: [ast.unparse(b) for b in s.body] for s in made.body if isinstance(s, ast.FunctionDef)}
    assert bodies["parse"] == ["..."]
    assert bodies["moved"][-1] == "return Point(self.x + dx, self.y + dy)"
    assert "def helper(x, y)" in preamble  # of norm
    assert "RATE = 1.5" in preamble
    assert "requests" not in preamble


def test_the_preamble_is_what_the_function_rests_on_in_the_order_of_the_file(tmp_path: Path) -> None:
    stub = loaded(tmp_path, "area")
    kept = [ast.unparse(s).splitlines()[0] for s in ast.parse(stub.task.preamble).body]
    assert kept == [
        *("from __future__ import annotations", "import functools", "import math", "import numpy as np"),
        *("from dataclasses import dataclass", "from functools import cached_property"),
        *("RATE = 1.5", "LOW, HIGH = (0, 10)", "HIGH += 1", "@dataclass", "def helper(x, y):", "def logged(function):"),
    ]
    assert stub.notes[-1] == (
        "left out for the candidates: import requests; --allow-import requests lets candidates use it"
    )
    assert stub.libraries == ("numpy",)
    stub = load_stub(f"{tmp_path / 'geometry.py'}::area", allow_imports=["requests"])
    assert "import requests" in stub.task.preamble
    assert stub.libraries == ("numpy", "requests")
    assert not any("left out" in note for note in stub.notes)
    # A definition that needs a missing import is left out and named.
    preamble = preamble_of(find_target(f"{tmp_path / 'geometry.py'}::used"))
    assert "class Base" not in preamble.text
    assert preamble.notes == (
        "left out for the candidates: from .shapes import Shape",
        "left out for the candidates: Base, which needs Shape",
    )


def test_names_that_examples_or_candidates_use_are_in_the_preamble(tmp_path: Path) -> None:
    text = "LIMIT = 3\nRATES = [1]\nOTHER = 2\ndef f(a: int):\n    '''Do, up to LIMIT.'''\n"
    (tmp_path / "stub.py").write_text(text)
    where = f"{tmp_path / 'stub.py'}::f"
    assert load_stub(where).task.preamble == "LIMIT = 3\n"
    found = load_stub(where, candidates=["def f(a):\n    return RATES[0]\n"], examples=["f(OTHER)"]).task.preamble
    assert found == "LIMIT = 3\nRATES = [1]\nOTHER = 2\n"
    assert not find_target(where).is_written
    (tmp_path / "stub.py").write_text(
        "def f(a):\n    '''Do.'''\n    raise NotImplementedError\ndef g(a):\n    return a\n"
    )
    assert [find_target(f"{tmp_path / 'stub.py'}::{name}").is_written for name in "fg"] == [False, True]


REFUSED = [
    ("Point", "is a class; name a method"),
    ("Point.nothing", "found: norm, double"),
    ("Nothing.f", "a class Nothing"),
    ("Point.__init_subclass__", "called on an object"),
    ("nothing", "found: helper, logged, area"),
    ("a.b.c", "module.py::Class.method"),
]


@pytest.mark.parametrize(("name", "message"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_is_no_function_is_refused(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises((BadStub, WrongUsage), match=message) as refused:
        _ = loaded(tmp_path, name)
    assert refused.value.exit_status == 2
    assert "\n" not in str(refused.value)


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


@pytest.mark.parametrize(
    ("path", "imports", "root"),
    [
        ("tools/rates.py", "from tools.text import clean", "."),
        ("tools/rates.py", "import tools.text", "."),
        ("tools/rates.py", "from tools import text", "."),
        ("tools/rates.py", "from .text import clean", "."),
        ("tools/rates.py", "try:\n    from tools.text import clean\nexcept ImportError:\n    clean = None", "."),
        ("tools/deep/rates.py", "from ..text import clean", "."),
        ("tools/rates.py", "from text import clean", "tools"),
        ("tools/rates.py", "from tools.nowhere import clean", "tools"),
        ("tools/rates.py", "from tools import nowhere", "tools"),
        ("tools/json/rates.py", "import json", "tools/json"),
        ("shop/rates.py", "from .text import clean", "."),
        ("shop/rates.py", "from shop.text import clean", "."),
        ("shop/shop/rates.py", "from shop.text import clean", "shop"),
    ],
)
def test_a_folder_without_init_is_a_package_if_the_file_imports_from_it(
    path: str, imports: str, root: str, tmp_path: Path
) -> None:
    """And one with it always is: only what it imports from tells of the former (PEP 420)."""
    text = dict.fromkeys(("tools/text.py", "tools/json/text.py", "shop/text.py"), "def clean(): ...\n")
    text |= {"shop/shop/text.py": "", "shop/shop/__init__.py": "", "shop/__init__.py": ""}
    if path.startswith("shop/shop"):
        del text["shop/__init__.py"]
    write(tmp_path, {**text, path: f"{imports}\n\n\ndef f(x): ...\n"})
    assert find_target(f"{tmp_path / path}::f").root == (tmp_path / root).resolve()
