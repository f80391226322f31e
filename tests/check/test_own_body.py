"""The user's own code as a candidate: what it is taken as, and where the report says that it stands."""

from dataclasses import replace
from pathlib import Path

import pytest

from difftrust.check.report import Cluster, standing_of
from difftrust.source.target import find_target, own_candidate
from difftrust_core.exceptions import BadStub
from tests.support.command import run
from tests.support.repository import write

MODULE = '''import functools

LIMIT = 5


def half(x):
    return x / 2


@functools.lru_cache
def area(width: int, height: int) -> int:
    """Return the area.

    Requires:
        width >= 0 and height >= 0
    """
    # a room
    return int(half(width) * 2) * height + (1 if width > LIMIT else 0)


def stub(x: int) -> int:
    """Return x."""
    ...


class Box:
    def __init__(self, size: int):
        self.size = size

    @property
    def double(self) -> int:
        return self.size * 2
'''
RIGHT = "def area(width, height):\n    return {}\n"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    bodies = {"a": "width * height", "b": "height * width", "c": "width * height + 0"}
    write(tmp_path, {"rooms.py": MODULE, **{f"c/{name}.py": RIGHT.format(text) for name, text in bodies.items()}})
    return tmp_path


def check(capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    words = ("check", "rooms.py::area", "--candidates", "c", "--with-body", "-n", "60", "--witnesses", "20")
    status, out, _ = run(capsys, *words)
    return status, out.splitlines()


def test_it_is_the_text_of_the_file(there: Path) -> None:
    ((name, code),) = own_candidate("rooms.py::area").items()
    assert name == "your code in rooms.py"
    assert code.startswith("@functools.lru_cache\ndef area(")
    assert "    # a room\n" in code
    (code,) = own_candidate("rooms.py::Box.double").values()
    assert code == "@property\ndef double(self) -> int:\n    return self.size * 2\n"
    with pytest.raises(BadStub, match="expected a body in stub to compare, found none"):
        own_candidate("rooms.py::stub")


def test_in_the_minority_it_is_said_first_with_the_input(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = check(capsys)
    assert status == 1
    assert lines[:5] == [
        "rooms.py::area: incoherent",
        "Your code in rooms.py is in the minority: 1 of 4 candidates do what it does, and 3 agree on something else",
        "  area(6, 0)",
        "    your code in rooms.py: 1",
        "    b.py and 2 more: 0",
    ]
    assert find_target("rooms.py::area").path.read_text() == MODULE


def test_in_the_consensus_it_is_said_too(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "rooms.py").write_text(MODULE.replace("(1 if width > LIMIT else 0)", "0"))
    (there / "c" / "c.py").write_text(RIGHT.format("width + height"))
    status, lines = check(capsys)
    assert status == 1
    assert lines[1] == "Your code in rooms.py is in the consensus: 3 of 4 candidates do what it does"


def cluster(number: int, *names: str, works: bool = True, contradicts: bool = False) -> Cluster:
    said = {"code": "", "outcomes": (), "loads": True, "nondeterministic": False}
    return Cluster(number=number, candidates=names, works=works, contradicts=contradicts, **said)  # type: ignore[arg-type]


ONE, OWN, PAIR = cluster(1, "a"), cluster(2, "own"), cluster(1, "a", "b")


@pytest.mark.parametrize(
    ("clusters", "place"),
    [
        ([PAIR, OWN], "minority"),
        ([ONE, OWN], "tied"),
        ([cluster(1, "own", "b"), cluster(2, "a")], "consensus"),
        ([ONE, replace(OWN, works=False)], "fails"),
        ([ONE, replace(OWN, contradicts=True)], "contradicts"),
    ],
)
def test_every_place(clusters: list[Cluster], place: str) -> None:
    assert standing_of("own", clusters).place == place


def test_what_contradicts_an_example_is_no_consensus() -> None:
    found = standing_of("own", [replace(PAIR, contradicts=True), OWN, replace(ONE, number=3)])
    assert (found.place, found.n_same, found.against, found.n_against) == ("tied", 1, 3, 1)


def test_why_own_code_does_not_work_where_no_input_was_kept(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "rooms.py").write_text('def area(n: int):\n    """Return an adder."""\n    return lambda x: x + n\n')
    for path in (there / "c").iterdir():
        path.write_text(f"def area(n):\n    return lambda {path.stem}: n\n")
    assert "Your code in rooms.py does not work here: no input was kept" in check(capsys)[1]
