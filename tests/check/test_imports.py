"""A check loads no more than it needs: what is heavy stays out, whatever the machine's speed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stubs import write_stub

HEAVY = {
    *("altair", "annotated_types", "duckdb", "hypothesis", "joblib", "litellm", "numpy.testing", "pandas", "polars"),
    *("pydantic", "requests", "rich", "scipy", "streamlit"),
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
    codes = [
        f"def share(values, whole=1.0, *, name=''):\n    return sum(values) / {w}\n" for w in ("whole", "abs(whole)")
    ]
    _, programs = write_stub(folder, MODULE, codes)
    arguments = ["check", f"{folder / 'stub.py'}::{function}", "--candidates", str(programs), *more]
    ended = subprocess.run([sys.executable, "-c", _RUN, *arguments], capture_output=True, text=True, check=True)
    status, *modules = ended.stderr.splitlines()[-1].split()
    return status, set(modules)


def test_a_check_of_plain_types_loads_nothing_heavy(tmp_path: Path) -> None:
    status, modules = loaded(tmp_path, "share", "--format=json")
    assert status == "1"
    assert not HEAVY & modules
    assert "numpy" in modules


@pytest.mark.parametrize("words", [("share", "--assume", "whole >"), ("shares",)], ids=["condition", "function"])
def test_a_refusal_loads_still_less(words: tuple[str, ...], tmp_path: Path) -> None:
    status, modules = loaded(tmp_path, *words)
    assert status == "2"
    assert not (HEAVY | {"numpy", "difftrust.check.check"}) & modules
