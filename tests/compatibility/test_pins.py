"""What earlier code pinned, in a docstring and as tests, is what a check and a diff go by."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compatibility.golden import DATA
from tests.support.command import Capture, run


@pytest.fixture
def pins(tmp_path: Path) -> Path:
    """Return a copy of the pinned files."""
    return Path(shutil.copytree(DATA / "pins", tmp_path / "pins"))


def test_candidates_are_held_against_pins(pins: Path, capsys: Capture) -> None:
    said = run(capsys, "check", f"{pins / 'pinned.py'}::middle", "--candidates", pins / "middle", "-n", 100, "--json")
    assert said.status == 1
    report = json.loads(said.out)
    contradictions = {(each["call"], name) for each in report["contradictions"] for name in each["candidates"]}
    assert contradictions == {("middle([3, 1, 2])", "unsorted.py"), ("middle([0, 1])", "larger.py")}
    assert (report["n_examples"], report["verdict"]) == (3, "incoherent")


def test_a_pin_is_written_as_it_was_then(pins: Path, capsys: Capture) -> None:
    shutil.copy(pins / "pinned.py", pins / "then.py")
    shutil.copy(pins / "said_tests.py", pins / "said_then.py")
    shutil.copy(pins / "module.py", pins / "pinned.py")
    (pins / "said_tests.py").unlink()
    for pin in ("middle([0, 1]) == 0", "middle([]) raises IndexError"):
        options = ("--pin", pin, "--write-tests", pins / "said_tests.py")
        assert run(capsys, "check", f"{pins / 'pinned.py'}::middle", *options).status == 0
    options = ("--expect", "parity(True) == 'even'", "--write-tests", pins / "said_tests.py")
    said = run(capsys, "diff", f"{pins / 'old.py'}::parity", f"{pins / 'new.py'}::parity", *options)
    assert said.status == 0
    assert "Behaviour changed only where it was expected." in said.out
    assert (pins / "pinned.py").read_text() == (pins / "then.py").read_text()
    assert (pins / "said_tests.py").read_text() == (pins / "said_then.py").read_text()


def test_the_tests_written_then_run(pins: Path) -> None:
    shutil.copy(pins / "middle" / "smaller.py", pins / "pinned.py")
    called = "import said_tests as t; [getattr(t, name)() for name in dir(t) if name.startswith('test_')]"
    done = subprocess.run([sys.executable, "-c", called], cwd=pins, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
