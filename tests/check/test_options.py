"""Options of `difftrust check` that change which inputs are drawn and when two outcomes are equal."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import run

Capture = pytest.CaptureFixture[str]


def check(capsys: Capture, folder: Path, stub: str, codes: list[str], *words: object) -> tuple[int, dict[str, Any]]:
    """Check the candidates with these options; return the exit status and the report."""
    programs = folder / "candidates"
    programs.mkdir(exist_ok=True)
    for number, code in enumerate(codes):
        (programs / f"{number}.py").write_text(code)
    (folder / "module.py").write_text(stub)
    name = stub.partition("def ")[2].partition("(")[0]
    asked = ("check", folder / f"module.py::{name}", "--candidates", programs, "-n", 100, "--format=json", *words)
    status, out, _ = run(capsys, *asked)
    return status, json.loads(out)


REFUSES = [
    f"def halve(x):\n    if x % 2:\n        raise ValueError({text!r})\n    return x // 2\n"
    for text in ("odd", "no half")
]
HALVE = '''def halve(x: int) -> int:
    """Return half of x.

    Raises:
        ValueError: if x is odd.
    """
'''


def test_messages_of_exceptions_count_only_with_message(tmp_path: Path, capsys: Capture) -> None:
    status, found = check(capsys, tmp_path, HALVE, REFUSES)
    assert (status, found["verdict"]) == (0, "coherent")
    status, found = check(capsys, tmp_path, HALVE, REFUSES, "--message")
    assert (status, found["verdict"]) == (1, "incoherent")
    (shown,) = found["disagreements"]
    assert int(shown["arguments"].strip("(,)")) % 2 == 1


SCALE = 'def scale(x: float) -> float:\n    """Return three tenths of x."""\n'
SCALES = ["def scale(x):\n    return x * 0.3\n", "def scale(x):\n    return x * 0.3 * 1.0005\n"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((), 1),  # by value, 1e-9: they differ by 5e-4
        (("--tolerance", "1e-3"), 0),
        (("--tolerance", "1e-4"), 1),
        (("--equality", "paper"), 0),  # numbers within 0.1 % agree
        (("--equality", "strict"), 1),
    ],
)
def test_numbers_agree_as_far_as_the_options_say(
    words: tuple[str, ...], status: int, tmp_path: Path, capsys: Capture
) -> None:
    got, found = check(capsys, tmp_path, SCALE, SCALES, *words)
    assert got == status
    assert found["verdict"] == ("incoherent" if status else "coherent")
    assert found["tolerance"] == float(words[1] if words[:1] == ("--tolerance",) else 1e-9)
    assert found["equality"] == (words[1] if words[:1] == ("--equality",) else "value")


@pytest.mark.parametrize(("equality", "status"), [("value", 1), ("paper", 0), ("strict", 1)])
def test_a_list_and_a_tuple_agree_by_the_paper_s_rule_only(
    equality: str, status: int, tmp_path: Path, capsys: Capture
) -> None:
    stub = 'def both(x: int) -> list[int]:\n    """Return x twice."""\n'
    codes = ["def both(x):\n    return [x, x]\n", "def both(x):\n    return (x, x)\n"]
    assert check(capsys, tmp_path, stub, codes, "--equality", equality)[0] == status


TOTAL = 'def total(xs: list[int]) -> int:\n    """Return the sum."""\n'
TOTALS = [
    "def total(xs):\n    return sum(xs)\n",
    "def total(xs):\n    return sum(x for x in xs if type(x) is int)\n",
]


def test_inputs_leave_the_types_only_with_no_types(tmp_path: Path, capsys: Capture) -> None:
    status, found = check(capsys, tmp_path, TOTAL, TOTALS)
    assert (status, found["typed"]) == (0, True)
    status, found = check(capsys, tmp_path, TOTAL, TOTALS, "--no-types", "--inputs", "all")
    assert (status, found["typed"], found["validity"]) == (1, False, "all")
    assert found["n_distinct"] > 1
