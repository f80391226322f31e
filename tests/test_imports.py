"""Commands and modules load no more than they need: what is heavy stays out, whatever the machine's speed."""

import subprocess
import sys
from pathlib import Path

import pytest

from difftrust.cli.commands import COMMANDS
from tests.support.stubs import returning, write_stub

HEAVY = {
    *("altair", "annotated_types", "duckdb", "hypothesis", "joblib", "litellm", "numpy.testing", "pandas", "polars"),
    *("pydantic", "requests", "rich", "scipy", "streamlit"),
}
UNCHECKED = HEAVY | {"numpy", "difftrust.check.check"}
NEVER = {"scipy", "sqlglot", "pyarrow", "hypothesis", "tiktoken", "markdown_it"}
NO_COMMAND = {f"difftrust.cli.{module}" for module in COMMANDS}
MODULE = '''\
def share(values: list[int], whole: float = 1.0, *, name: str = "") -> float:
    """Return what part of the whole the values are.

    >>> share([1, 2], 4.0)
    0.75
    """
'''
PARTS = ("sum(values) / whole", "sum(values) / abs(whole)")
CHECK = ("check", "stub.py::share", "--candidates", "programs")
RUN = "from difftrust.cli import main\ntry:\n    main({})\nexcept SystemExit as e:\n    assert e.code == {}"
LOADS: dict[str, tuple[str, set[str], set[str]]] = {
    "help": (RUN.format(["--help"], 0), set(), HEAVY | {"numpy"} | NO_COMMAND),
    "help of a command": (
        RUN.format(["check", "--help"], 0),
        {"difftrust.cli.check"},
        HEAVY | {"numpy"} | NO_COMMAND - {"difftrust.cli.check"},
    ),
    "a check of plain types": (RUN.format([*CHECK, "--format=json"], 1), {"numpy"}, HEAVY),
    "a condition refused": (RUN.format([*CHECK, "--assume", "whole >"], 2), set(), UNCHECKED),
    "a function refused": (RUN.format(["check", "stub.py::shares", *CHECK[2:]], 2), set(), UNCHECKED),
    "a worker": ("import difftrust_core.execution.worker", {"polars"}, NEVER | {"duckdb", "joblib"}),
    "steps": ("import difftrust_core.execution.execute, difftrust_core.store.imports", {"polars"}, NEVER | {"duckdb"}),
    "tables": ("import difftrust.tables.paper_tables", {"polars"}, NEVER | {"joblib"}),
}
"""What runs -> its code, what it loads and what it does not."""


@pytest.mark.parametrize(("code", "with_these", "without"), LOADS.values(), ids=LOADS)
def test_nothing_is_loaded_that_is_not_needed(
    code: str, with_these: set[str], without: set[str], tmp_path: Path
) -> None:
    write_stub(tmp_path, MODULE, returning("share(values, whole=1.0, *, name='')", *PARTS))
    words = [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(ended.stderr.splitlines()[-1].split())
    assert with_these <= loaded
    assert not without & loaded
