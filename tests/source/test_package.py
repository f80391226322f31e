"""What a function's file imports of its own package: known to inputs, candidates, pins and tests."""

from pathlib import Path

import pytest

import difftrust as dt
from difftrust.check.check import check
from difftrust.check.options import CheckOptions
from difftrust.check.pin import pin_examples
from difftrust.check.prepare import prepare
from difftrust.check.report import CheckReport
from difftrust.source.function import load_stub

FILES = {
    "__init__.py": "",
    "text.py": "import re\n\n_WS = re.compile(r'\\s+')\n\n\ndef clean(text):\n    return _WS.sub(' ', text).strip()\n",
    "models.py": """
from dataclasses import dataclass

import no_such_package

from .core import LIMIT


@dataclass
class Line:
    sku: str
    qty: int

    def capped(self):
        return _cap(self.qty)


def _cap(qty):
    return min(qty, LIMIT)


def load(text):
    return no_such_package.load(text)
""",
    "core.py": '''
from . import models
from .nowhere import lost
from .text import clean as tidy

LIMIT = 50


def label(line: models.Line, note: str) -> str:
    """Return the SKU of a line, its quantity, at most 50, and the note without needless whitespace."""
''',
}
RIGHT = "def label(line, note):\n    return f'{line.sku} {line.capped()} {tidy(note)}'\n"


@pytest.fixture
def where(tmp_path: Path) -> str:
    """Return a function in a package that imports classes and functions of other modules of it."""
    for name, text in FILES.items():
        path = tmp_path / "shop" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return f"{tmp_path}/shop/core.py::label"


def checked(where: str, candidates: dict[str, str], folder: Path) -> CheckReport:
    """Return what a check of these candidates reports."""
    folder.mkdir()
    for name, code in candidates.items():
        (folder / f"{name}.py").write_text(code)
    return dt.check(where, candidates=folder, n=100).report


def behaviours(where: str, candidates: dict[str, str], folder: Path) -> list[set[str]]:
    """Return which candidates do the same on every input."""
    clusters = checked(where, candidates, folder).clusters
    return [{name.removesuffix(".py") for name in cluster.candidates} for cluster in clusters]


def test_inputs_and_candidates_know_what_a_file_imports_from_its_package(where: str, tmp_path: Path) -> None:
    """Under the file's names, by imports of their own, and with names of their own that other modules have too."""
    candidates = {
        "as_the_file": RIGHT,
        "relative": "from .text import clean\n" + RIGHT.replace("tidy", "clean"),
        "absolute": "import shop.text\n" + RIGHT.replace("tidy", "shop.text.clean"),
        "of_the_module": RIGHT.replace("line.capped()", "models._cap(line.qty)"),
        "inside": RIGHT.replace("return", "from .models import _cap\n    return").replace(
            "line.capped()", "_cap(line.qty)"
        ),
        "own_names": "_WS = None\n\ndef _cap(qty):\n    return -1\n\n" + RIGHT,
        "wrong": RIGHT.replace("line.capped()", "line.qty"),
    }
    assert behaviours(where, candidates, tmp_path / "candidates") == [candidates.keys() - {"wrong"}, {"wrong"}]


def test_what_is_not_there_is_said(where: str) -> None:
    """A module that does not exist, and a package that another module imports."""
    stub = load_stub(where, candidates=("def label(line, note):\n    return lost(models.load(note))\n",))
    assert stub.notes[-2:] == (
        "left out for the candidates: from .nowhere import lost",
        "not installed here, so inputs on which its package uses it are left out: no_such_package",
    )


def test_what_uses_a_missing_package_decides_nothing(where: str, tmp_path: Path) -> None:
    """One candidate comes to it where a note is long, another never: only the other inputs are compared."""
    uses = RIGHT.replace("return", "len(note) > 3 and models.load(note)\n    return")
    report = checked(where, {"one": RIGHT, "other": uses}, tmp_path / "candidates")
    assert report.verdict == "coherent"
    assert "used a package that is not here" in dict(report.left_out)
    always = RIGHT.replace("return", "models.load(note)\n    return")
    assert checked(where, {"one": RIGHT, "other": always}, tmp_path / "always").verdict == "undecided"


def test_other_modules_are_read_only_where_they_are_named(where: str) -> None:
    """A function of plain values has nothing around it."""
    Path(where.partition("::")[0]).write_text(
        'from .text import clean\n\n\ndef twice(n: int) -> int:\n    """Return n times 2."""\n'
    )
    stub = load_stub(where.replace("label", "twice"))
    assert (stub.package.before, stub.task.preamble) == ("", "")


@pytest.mark.parametrize(
    ("imported", "spelled"),
    [
        ("from . import models", "models.Line"),
        ("from .models import Line", "Line"),
        ("import shop.models as m", "m.Line"),
    ],
)
def test_pins_name_a_class_as_the_file_does(where: str, imported: str, spelled: str) -> None:
    """What the report shows as Line('a', 2) is written by the name that the file has for it."""
    path = Path(where.partition("::")[0])
    path.write_text(path.read_text().replace("from . import models", imported).replace("models.Line", spelled))
    pin_examples(where, ["label(Line('a', 2), '') == 'a 2 '"])
    assert f">>> label({spelled}('a', 2), '')\n    'a 2 '\n" in path.read_text()


BOXES = "class Box:\n    def __init__(self, n: int):\n        self.n = n\n\n    def own(self):\n        {own}\n"
ALIKE = [
    pytest.param(
        {
            "use.py": "from .boxes import Box\n\n\ndef pack(n):\n    return n * 2\n\n\nF",
            "boxes.py": BOXES.format(own=own),
        },
        *("use.py", "box: Box", "box.own()", "box.n * 2"),
        id=own[:20],
    )
    for own in (
        "from .use import pack as p\n        return p(self.n)",
        "from . import use\n        return use.pack(self.n)",
        "import shop.use\n        return shop.use.pack(self.n)",
    )
]
ALIKE += [
    pytest.param(
        {"use.py": "from .rates import *\n\n\nF", "rates.py": "RATE = 3\n"},
        *("use.py", "n: int", "n * RATE", "n * 3"),
        id="star",
    ),
    pytest.param(
        {"sub/__init__.py": "from .rates import RATE\n\n\nF", "sub/rates.py": "RATE = 3\n", "rates.py": "RATE = 10\n"},
        *("sub/__init__.py", "n: int", "n * RATE", "n * 3"),
        id="package",
    ),
    pytest.param(
        {
            "use.py": "from . import boxes\nfrom .old import Box as Old\n\n\nF",
            "boxes.py": BOXES.format(own="return self.n"),
            "old.py": BOXES.format(own="return -1"),
        },
        *("use.py", "box: boxes.Box", "[box.own(), isinstance(box, Old)]", "[box.n, False]"),
        id="one name for two classes",
    ),
]


@pytest.mark.parametrize(("files", "path", "parameter", "one", "other"), ALIKE)
def test_names_are_those_of_their_own_modules(
    files: dict[str, str], path: str, parameter: str, one: str, other: str, tmp_path: Path
) -> None:
    """Imported in a function, all at once, by a package, or under a name that another module has too."""
    name = parameter.partition(":")[0]
    function = f'def f({parameter}):\n    """Return what it says."""\n'
    for each, text in {"__init__.py": "", **files}.items():
        (tmp_path / "shop" / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / each).write_text(text.replace("F", function) if each == path else text)
    codes = {"one": one, "other": other, "wrong": f"({other}, 0)"}
    candidates = {key: f"def f({name}):\n    return {value}\n" for key, value in codes.items()}
    found = behaviours(f"{tmp_path}/shop/{path}::f", candidates, tmp_path / "candidates")
    assert sorted(map(sorted, found)) == [["one", "other"], ["wrong"]]


def test_inputs_are_of_classes_that_inherit_in_other_modules_too(tmp_path: Path) -> None:
    """As they are where all stand in one file."""
    kinds = "@dataclass\nclass Base:\n    n: int\n\n\n@dataclass\nclass Special(Base):\n    pass\n"
    (tmp_path / "kinds.py").write_text(f"from dataclasses import dataclass\n\n\n{kinds}")
    (tmp_path / "use.py").write_text('from kinds import Base\n\n\ndef f(x: Base):\n    """Return what it is."""\n')
    candidates = {
        "one": "def f(x):\n    return x.n\n",
        "other": "def f(x):\n    return x.n + (type(x).__name__ > 'C')\n",
    }
    assert behaviours(f"{tmp_path}/use.py::f", candidates, tmp_path / "candidates") == [{"one"}, {"other"}]


def test_own_code_that_needs_a_missing_package_is_not_compared(tmp_path: Path) -> None:
    """It does not load, as a candidate that imports the package does not; --allow-import is the remedy."""
    path, folder = tmp_path / "use.py", tmp_path / "candidates"
    path.write_text('import no_such_package\n\n\ndef f(n: int):\n    """Do."""\n    return no_such_package.f(n)\n')
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.py").write_text(f"def f(n):\n    return n + {len(name)}\n")
    options = CheckOptions.of({"n": 50, "with_body": True}, candidates=folder)
    report = check(prepare(f"{path}::f", options))
    assert report.verdict == "undecided"
    assert "your code in use.py: a package is missing" in report.statement
