"""The command line in this process, and stores made by it."""

import contextlib
import io
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from difftrust.cli import main

Capture = pytest.CaptureFixture[str]


class Said(NamedTuple):
    """How a command ended, and what it wrote to standard output and standard error."""

    status: int
    out: str
    err: str


def run(capsys: Capture, *words: object) -> Said:
    """Run a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return Said(int(ended.value.code or 0), out, err)


def typed(capsys: Capture, line: str) -> Said:
    """Run a command as it is typed behind `difftrust`."""
    return run(capsys, *shlex.split(line))


def succeed(*words: object) -> str:
    """Run a command that ends with status 0, in a fixture or a test; return its standard output."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert not ended.value.code, said.getvalue()
    return said.getvalue()


def write_samples(path: Path, codes: Mapping[str, Sequence[str | None]]) -> Path:
    """Write programs of tasks, by id, as a file of samples."""
    lines = [{"task_id": task_id, "solution": code} for task_id, programs in codes.items() for code in programs]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def executed_samples(
    folder: Path, codes: Mapping[str, Sequence[str | None]], *, n: int, tasks: Sequence[object] = (), model: str = "m1"
) -> Path:
    """Return the store of these programs, imported and executed on n inputs by the command line."""
    samples, store = write_samples(folder / "samples.jsonl", codes), folder / "store"
    succeed("import", samples, *tasks, *f"--model {model} --temperature 0.6 --store {store}".split())
    succeed(*f"execute -n {n} --jobs 1 --store {store}".split())
    return store
