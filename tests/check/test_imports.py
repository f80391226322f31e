"""A check loads no more than it needs: what is heavy stays out, whatever the machine's speed."""

import subprocess
import sys
from pathlib import Path

HEAVY = {
    "altair",
    "annotated_types",
    "duckdb",
    "hypothesis",
    "joblib",
    "litellm",
    "numpy.testing",
    "pandas",
    "polars",
    "pydantic",
    "requests",
    "rich",
    "scipy",
    "streamlit",
}
_RUN = """\
import sys
from difftrust.cli import main
try:
    main(sys.argv[1:])
except SystemExit as e:
    print(e.code, *sys.modules, file=sys.stderr)
"""
MODULE = '''\
def share(values: list[int], whole: float = 1.0, *, name: str = "") -> float:
    """Return what part of the whole the values are.

    >>> share([1, 2], 4.0)
    0.75
    """
'''


def loaded(folder: Path, function: str, *more: str) -> tuple[str, set[str]]:
    """Run a check in a process of its own; return its exit status and the modules that it loaded."""
    (folder / "parts.py").write_text(MODULE)
    programs = folder / "programs"
    programs.mkdir()
    (programs / "a.py").write_text("def share(values, whole=1.0, *, name=''):\n    return sum(values) / whole\n")
    (programs / "b.py").write_text("def share(values, whole=1.0, *, name=''):\n    return sum(values) / abs(whole)\n")
    arguments = ["check", f"{folder / 'parts.py'}::{function}", "--candidates", str(programs), *more]
    ended = subprocess.run([sys.executable, "-c", _RUN, *arguments], capture_output=True, text=True, check=True)
    status, *modules = ended.stderr.splitlines()[-1].split()
    return status, set(modules)


def test_a_check_of_plain_types_loads_nothing_heavy(tmp_path: Path) -> None:
    status, modules = loaded(tmp_path, "share")
    assert status == "1"
    assert not HEAVY & modules
    assert "numpy" in modules


def test_a_refusal_loads_still_less(tmp_path: Path) -> None:
    status, modules = loaded(tmp_path, "share", "--assume", "whole >")
    assert status == "2"
    assert not (HEAVY | {"numpy", "difftrust.check.check"}) & modules


def test_a_missing_function_is_told_as_soon(tmp_path: Path) -> None:
    status, modules = loaded(tmp_path, "shares")
    assert status == "2"
    assert not (HEAVY | {"numpy", "difftrust.check.check"}) & modules
