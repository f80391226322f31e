"""What a function's file imports of its own package: known to inputs, candidates, pins and tests."""

from pathlib import Path

import pytest

import difftrust as dt
from difftrust.check.pin import pin_examples
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


def behaviours(where: str, candidates: dict[str, str], folder: Path) -> list[set[str]]:
    """Return which candidates do the same on every input."""
    folder.mkdir()
    for name, code in candidates.items():
        (folder / f"{name}.py").write_text(code)
    report = dt.check(where, candidates=folder, n=100).report
    return [{name.removesuffix(".py") for name in cluster.candidates} for cluster in report.clusters]


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
        "not here, and imported by its package: no_such_package; what uses them raises NotAvailable",
    )


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
