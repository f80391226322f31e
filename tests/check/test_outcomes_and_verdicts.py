"""What is said of outcomes, what would tell more, and verdicts that are kept."""

import os
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from difftrust.check import verdict_cache
from difftrust.check.outcomes import Answers, builtin_of, is_a
from difftrust.check.programs import imported_packages
from difftrust.check.report import Doing, Validation
from difftrust.check.spelling import spelled_call
from difftrust.check.verdict import _settle, next_step
from difftrust.check.verdict_cache import KeptVerdicts
from difftrust_core.base.records import Kind
from difftrust_core.metrics.equality import Comparison, Equality


def test_the_builtin_exception_that_counts() -> None:
    raised = ("UnicodeDecodeError", "KeyError('a(b)')", "Own('x')")
    assert [builtin_of(each) for each in raised] == ["ValueError", "KeyError", "Own"]


@pytest.mark.parametrize(
    ("raised", "name", "expected"),
    [
        ("KeyError('x')", "LookupError", True),
        ("KeyError('x')", "ValueError", False),
        ("Own('x')", "Own", True),
        ("Own('x')", "KeyError", False),
        ("Own('x')", "Exception", True),
        ("", "Exception", False),
    ],
)
def test_what_an_exception_is(raised: str, name: str, expected: bool) -> None:
    assert is_a(raised, name) == expected


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([[0], [0]], "more programs (-m 4)"),
        ([[0, 0], [1, 0]], "more programs (-m 4), best from another model"),
        ([[0, 0, 0, 0], [0, 0, 1, 0]], "more inputs (-n 8)"),
    ],
    ids=["one input", "the first splits", "the second half splits"],
)
def test_more_inputs_while_their_second_half_splits(labels: list[list[int]], said: str) -> None:
    found = SimpleNamespace(labels=np.array(labels), counts=np.ones(2, dtype=int))
    assert next_step("coherent", (), found, len(labels[0])).startswith(said)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["'\"'", "'$HOME'", "'`ls`'", "'it\\'s'", "'\\n'", "1"])
def test_a_shell_takes_the_remedy_as_it_is_meant(text: str) -> None:
    doing = (Doing(candidates=("a.py",), outcome=(Kind.EXCEPTION, "ValueError")),)
    left_out = Validation(arguments=f"({text},)", minimal=True, doing=doing, condition=f"x != {text}")
    task = SimpleNamespace(preamble="", entry_point="f")
    words = shlex.split(_settle(left_out, task).replace(";", ""))  # type: ignore[arg-type]
    call = spelled_call("f", f"({text},)")
    assert [words[k + 1] for k, word in enumerate(words) if word.startswith("--")] == [
        f"{call} raises ValueError",
        f"x != {text}",
    ]


def test_exceptions_that_derive_from_a_documented_one_are_equal_to_it_and_others_are_not() -> None:
    raised = [(Kind.EXCEPTION, name) for name in ("UnicodeDecodeError", "ValueError", "KeyError")]
    one, other, unlike = Answers(Comparison(Equality.VALUE), ["ValueError"]).classify(raised)
    assert (one == other, one == unlike) == (True, False)
    assert len(set(Answers(Comparison(Equality.VALUE)).classify(raised))) == 3


def test_packages_are_what_is_imported_by_its_own_name_and_no_part_of_the_standard_library() -> None:
    code = (
        "from .own import a\nfrom . import b\nfrom numpy.linalg import norm\nimport os, pandas as pd\nimport pandas\n"
    )
    assert imported_packages(code) == {"numpy": 3, "pandas": 4}
    assert imported_packages("import (") == {}


def test_a_verdict_that_cannot_be_kept_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    there = KeptVerdicts(tmp_path / "file")
    there.keep("x", {})
    assert there.find("x") is None


def test_the_oldest_verdicts_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_cache, "MOST", 4)
    for number in range(5):
        KeptVerdicts(tmp_path).keep(str(number), {})
        os.utime(tmp_path / f"{number}.json", (number, number))
    KeptVerdicts(tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["2", "3", "4"]
