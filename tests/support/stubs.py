"""A user's stub and candidates for it, as files that a check is given."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from difftrust.check.check import check
from difftrust.check.options import CheckOptions, PreparedCheck
from difftrust.check.prepare import candidates_of, read_folder
from difftrust.check.report import CheckReport
from difftrust.source.function import load_stub
from tests.support.command import run


def returning(header: str, *expressions: str) -> tuple[str, ...]:
    """Return programs for a function, ``name(parameters)``, that return an expression each."""
    return tuple(f"def {header}:\n    return {expression}\n" for expression in expressions)


def write_stub(folder: Path, stub: str, codes: Sequence[str], name: str = "") -> tuple[str, Path]:
    """Write a stub and candidates, `0.py` and so on; return what names the function, the first or ``name``."""
    (folder / "stub.py").write_text(stub)
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for number, code in enumerate(codes):
        (programs / f"{number}.py").write_text(code)
    found = re.search(r"def (\w+)", stub)
    return f"{folder / 'stub.py'}::{name or (found and found[1])}", programs


def run_check(
    capsys: pytest.CaptureFixture[str], folder: Path, stub: str, codes: Sequence[str], *words: object, name: str = ""
) -> tuple[int, str]:
    """Check candidates by the command, on 100 inputs unless ``words`` say more; return exit status and output."""
    where, programs = write_stub(folder, stub, codes, name)
    status, out, _ = run(capsys, "check", where, "--candidates", programs, "-n", 100, *words)
    return status, out


def report_of(folder: Path, stub: str, codes: Sequence[str], name: str = "", **options: Any) -> CheckReport:
    """Return the report of a check of candidates, of 100 inputs unless ``options`` say more."""
    where, programs = write_stub(folder, stub, codes, name)
    function = load_stub(where, candidates=codes)
    candidates = candidates_of(read_folder(programs), function.task)
    return check(PreparedCheck(function=function, candidates=candidates, options=CheckOptions(**{"n": 100} | options)))
