"""The public doors: the command line, as the installed console script and in this process, and the public API."""

import importlib
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
DATA = HERE / "data"
REPOSITORY = HERE.parents[1]
Capture = pytest.CaptureFixture[str]


def public_api() -> ModuleType:
    """Return what people import: ``difftrust``, else its older name."""
    try:
        found = importlib.import_module("difftrust")
    except ModuleNotFoundError:
        return importlib.import_module("difftrust_core")
    return found if found.__file__ else importlib.import_module("difftrust_core")  # not a mere folder of that name


def command_line() -> Any:
    """Return what the console script calls."""
    (script,) = entry_points(group="console_scripts", name="difftrust")
    return script.load()


@dataclass(frozen=True, kw_only=True)
class Said:
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str


def run_here(capsys: Capture, *words: object) -> Said:
    """Run a command in this process, which need not import everything again."""
    before = sys.argv
    sys.argv = ["difftrust", *map(str, words)]
    status: Any = 0
    try:
        command_line()()
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    return Said(status=int(status or 0), out=out, err=err)


def run(*words: object, cwd: Path | None = None) -> Said:
    """Run a command in a process of its own."""
    called = "from tests.compatibility.doors import command_line; command_line()()"
    start = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); sys.argv[0] = 'difftrust'; {called}"
    done = subprocess.run(
        [sys.executable, "-c", start, *map(str, words)], cwd=cwd, capture_output=True, text=True, check=False
    )
    return Said(status=done.returncode, out=done.stdout, err=done.stderr)
