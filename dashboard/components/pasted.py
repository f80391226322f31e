"""Functions and programs that a user pasted: parsed, named and written into files, never executed here."""

import ast
import re
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from difftrust.check.pin import parse_pin, pin_example
from difftrust.demo.simulated import sample_simulated
from difftrust.outputs.report_text import Report
from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadStub, DifftrustError

NAME = "pasted"
"""What the files of programs are called that were pasted, after their number."""
_FILE = re.compile(rf"\b0*(\d+)-{NAME}\.py\b")
_TEXTS = frozenset({"code", "consensus", "difference", "arguments", "outcome", "outcomes", "got", "want", "call"})
"""Parts of a report that hold programs, inputs and outcomes: nothing in them is a name of a program."""


def functions_of(source: str) -> list[str]:
    """Return the functions at the top of a text and the methods of its classes, ``Class.method``, as they stand.

    Raises BadStub if there is none, or it is no Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what the text contains, e.g. an invalid escape
            body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise BadStub(f"expected Python, found {type(e).__name__}: {e}; correct the text") from None
    found = []
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(statement.name)
        elif isinstance(statement, ast.ClassDef):
            methods = [s.name for s in statement.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
            found += [f"{statement.name}.{name}" for name in methods if not name.startswith("__")]
    if not found:
        raise BadStub("expected a function or method with a signature and a docstring, found none; paste one")
    return found


def candidate_files(programs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return file name -> program, in order; of names only plain letters are kept."""
    width = len(str(len(programs)))
    return {
        f"{number:0{width}d}-{re.sub(r'[^A-Za-z0-9_-]', '', name.removesuffix('.py'))[:40]}.py": code
        for number, (name, code) in enumerate(programs, 1)
    }


def simulated_files(stub: str, model: str, *, m: int, temperature: float, seed: int) -> dict[str, str]:
    """Return the programs of a simulated coder for a function that works; none where the text cannot be broken."""
    try:
        name = functions_of(stub)[-1]
        task = Task(
            benchmark="check",
            task_id=f"pasted/{re.sub(r'[^A-Za-z0-9_]', '_', name)}",
            entry_point=name,
            signature="",
            description="",
            seed_inputs=(),
            reference=stub,
        )
        made = sample_simulated(task, model, temperature=temperature, m=m, seed=seed)
    except DifftrustError:
        return {}
    return candidate_files([(model.replace("/", "-"), candidate.code) for candidate in made])


def with_example(stub: str, right: str) -> str:
    """Return the function with an example at the end of its docstring: ``f(1) == 2`` or ``f([]) raises ValueError``.

    Raises BadStub or WrongUsage where the docstring cannot take it.
    """
    function = functions_of(stub)[-1]
    pin = parse_pin(right, function)
    with tempfile.TemporaryDirectory(prefix="difftrust-pin-") as folder:
        path = Path(folder) / "stub.py"
        path.write_bytes(stub.encode("utf-8", "surrogatepass"))
        pin_example(f"{path}::{function}", pin)
        return path.read_text(encoding="utf-8")


def with_names(report: Report) -> Report:
    """Return the report with "program 2" for the file that a pasted program was written to."""
    return {name: value if name in _TEXTS else named(value) for name, value in report.items()}


def named(value: Any) -> Any:
    """Return a part of a report with "program 2" for the file that a pasted program was written to."""
    if isinstance(value, str):
        return _FILE.sub(r"program \1", value)
    if isinstance(value, list):
        return [named(each) for each in value]
    if isinstance(value, dict):
        return {name: each if name in _TEXTS else named(each) for name, each in value.items()}
    return value
