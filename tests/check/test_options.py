"""Options of `difftrust check` that change which inputs are drawn and when two outcomes are equal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.stubs import run_check

Check = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Return what checks the candidates with these options, and returns the exit status and the report."""

    def checked(stub: str, codes: list[str], *words: object) -> tuple[int, dict[str, Any]]:
        status, out = run_check(capsys, tmp_path, stub, codes, "--format=json", *words)
        return status, json.loads(out)

    return checked


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


def test_messages_of_exceptions_count_only_with_message(check: Check) -> None:
    status, found = check(HALVE, REFUSES)
    assert (status, found["verdict"]) == (0, "coherent")
    status, found = check(HALVE, REFUSES, "--message")
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
def test_numbers_agree_as_far_as_the_options_say(words: tuple[str, ...], status: int, check: Check) -> None:
    got, found = check(SCALE, SCALES, *words)
    assert got == status
    assert found["verdict"] == ("incoherent" if status else "coherent")
    assert found["tolerance"] == float(words[1] if words[:1] == ("--tolerance",) else 1e-9)
    assert found["equality"] == (words[1] if words[:1] == ("--equality",) else "value")


TOTAL = 'def total(xs: list[int]) -> int:\n    """Return the sum."""\n'
TOTALS = ["def total(xs):\n    return sum(xs)\n", "def total(xs):\n    return sum(x for x in xs if type(x) is int)\n"]


def test_inputs_leave_the_types_only_with_no_types(check: Check) -> None:
    status, found = check(TOTAL, TOTALS)
    assert (status, found["typed"]) == (0, True)
    status, found = check(TOTAL, TOTALS, "--no-types", "--inputs", "all")
    assert (status, found["typed"], found["validity"]) == (1, False, "all")
    assert found["n_distinct"] > 1
