"""`difftrust check --ask`: answers from standard input, a value, a word that is none, the end of the file."""

import subprocess
import sys
from pathlib import Path

import pytest

MODULE = '''
def middle(values: list[int]) -> int:
    """Return the middle one of the sorted values, the smaller one of two."""
'''
CODES = {
    "a": "def middle(values):\n    return sorted(values)[len(values) // 2]\n",
    "b": "def middle(values):\n    return sorted(values)[(len(values) - 1) // 2]\n",
    "c": "def middle(values):\n    return sorted(values)[len(values) >> 1]\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(MODULE)
    (tmp_path / "codes").mkdir()
    for name, code in CODES.items():
        (tmp_path / "codes" / f"{name}.py").write_text(code)
    return tmp_path


def run(folder: Path, *options: str, answers: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", "from difftrust.cli import main; main()", "check", "m.py::middle"]
    words = [*command, "--candidates", "codes", "-n", "60", *options]
    return subprocess.run(words, cwd=folder, input=answers, capture_output=True, text=True, timeout=300)


def test_one_answer_settles_and_is_written(folder: Path) -> None:
    done = run(folder, "--ask", "--out", "kept.py", "--pin", "answers", "--write-tests", "t.py", answers="[\n0\n")
    assert done.returncode == 1, done.stderr
    assert "Question 1 of at most 5; 3 candidates left\n  middle([1, 0])\n    a: 1   2 candidates\n" in done.stderr
    assert 'expected a letter, a value such as [1, 2], "raises ValueError"' in done.stderr
    assert "1 answer: 1 candidate left: b.py" in done.stderr
    assert "--example 'middle([1, 0]) == 0'" in done.stderr
    assert (folder / "kept.py").read_text() == CODES["b"]
    assert "assert middle([1, 0]) == 0" in (folder / "t.py").read_text()
    assert ">>> middle([1, 0])\n    0" in (folder / "m.py").read_text()


@pytest.mark.slow
def test_the_end_of_the_file_keeps_what_was_answered(folder: Path) -> None:
    done = run(folder, "--ask", answers="")
    assert done.returncode == 1, done.stderr
    assert done.stderr.rstrip().endswith("nothing was answered")
    assert (folder / "m.py").read_text() == MODULE


def test_answers_cannot_be_written_where_none_are_asked_for(folder: Path) -> None:
    done = run(folder, "--pin", "answers", answers="")
    assert done.returncode == 2
    assert "expected --ask with --pin answers" in done.stderr
