"""`difftrust check --ask`: answers from standard input, a value, a word that is none, the end of the file."""

import io
from pathlib import Path

import pytest

from tests.support.command import Capture, typed
from tests.support.repository import write
from tests.support.stubs import returning

MODULE = '''
def middle(values: list[int]) -> int:
    """Return the middle one of the sorted values, the smaller one of two."""
'''
PLACES = ("len(values) // 2", "(len(values) - 1) // 2", "len(values) >> 1")
CODES = dict(zip("abc", returning("middle(values)", *(f"sorted(values)[{place}]" for place in PLACES)), strict=True))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"m.py": MODULE, **{f"codes/{name}.py": code for name, code in CODES.items()}})
    return tmp_path


CHECK = "check m.py::middle --candidates codes -n 60 --ask"


def test_one_answer_settles_and_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("[\n0\n"))
    status, _, err = typed(capsys, f"{CHECK} --out kept.py --pin answers --write-tests t.py")
    assert status == 1, err
    assert "Question 1 of at most 5; 3 candidates left\n  middle([0, 1])\n    a: 1   2 candidates\n" in err
    assert 'expected a letter, a value such as [1, 2], "raises ValueError"' in err
    assert "1 answer: 1 candidate left: b.py" in err
    assert "--example 'middle([0, 1]) == 0'" in err
    assert (folder / "kept.py").read_text() == CODES["b"]
    assert "assert middle([0, 1]) == 0" in (folder / "t.py").read_text()
    assert ">>> middle([0, 1])\n    0" in (folder / "m.py").read_text()


@pytest.mark.slow
def test_the_end_of_the_file_keeps_what_was_answered(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    status, _, err = typed(capsys, CHECK)
    assert status == 1, err
    assert err.rstrip().endswith("nothing was answered")
    assert (folder / "m.py").read_text() == MODULE
