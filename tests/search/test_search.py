"""The search, by the real sandbox: it reaches what stands in the programs, and believes no trace unread."""

import json
import random
import re
from pathlib import Path

import pytest

from difftrust.check.check import check
from difftrust.check.options import CheckOptions
from difftrust.check.prepare import prepare
from difftrust.check.report import CheckReport
from difftrust.search.patterns import formatted_texts, matching_texts
from difftrust.search.traces import met_in, missed_ways, read_trace
from difftrust_core.base.records import Kind


def checked(folder: Path, parameters: str, *bodies: str) -> CheckReport:
    """Check functions of these bodies, with few random inputs."""
    (folder / "module.py").write_text(f'def f({parameters}) -> int:\n    """Return a number."""\n')
    (folder / "candidates").mkdir()
    for name, body in zip("abc", bodies, strict=False):
        (folder / "candidates" / f"{name}.py").write_text(f"import re\n\ndef f({parameters}):\n    {body}\n")
    return check(prepare(f"{folder}/module.py::f", CheckOptions(candidates=folder / "candidates", n=50)))


@pytest.mark.parametrize(
    ("parameters", "condition"),
    [
        ("n: int", "n == 60 * 60 * 24"),
        ("s: str", "s.startswith('ftp://') and len(s) == 13"),
        ("d: dict[str, int]", "d.get('total') == 500"),
        ("s: str", r"re.fullmatch(r'[A-Z]{2}-\d{4}', s)"),
    ],
)
def test_what_one_program_compares_with_is_tried(tmp_path: Path, parameters: str, condition: str) -> None:
    found = checked(tmp_path, parameters, "return 0", f"return 1 if {condition} else 0")
    assert found.verdict in ("incoherent", "disagreement found")
    assert len(found.clusters) == 2


def test_a_green_says_which_branches_no_input_took(tmp_path: Path) -> None:
    found = checked(tmp_path, "n: int", "return n % 5", "return n - n // 5 * 5 if n % 5 < 9 else exit()")
    assert found.verdict == "coherent"
    assert any("b.py 1 of 2 branches (line 4 never false)" in note for note in found.notes)


def test_a_program_that_tells_when_it_is_traced_is_judged_as_it_is_written(tmp_path: Path) -> None:
    found = checked(tmp_path, "n: int", "return n", "return n + any(x.startswith('_difftrust') for x in globals())")
    assert found.verdict == "coherent"


def test_a_trace_is_data_that_may_say_anything() -> None:
    assert read_trace((Kind.TIMEOUT, "")).outcome == (Kind.TIMEOUT, "")
    for text in (
        "",
        "[]",
        "{",
        '{"outcome": "V1"}',
        json.dumps({"outcome": "X", "ways": [], "operands": [], "n": 0}),
    ):
        assert read_trace((Kind.VALUE, text)).outcome == (Kind.FORGED, "")
    said = {"outcome": "V1", "ways": [["1.0.1.4+", 3]], "operands": [["==", "f()()", "1"], ["==", 1, "1"]], "n": 1e9}
    trace = read_trace((Kind.VALUE, json.dumps(said)))
    assert (trace.ways, trace.n_operations) == ({("1.0.1.4+", 2)}, 10**6)
    assert trace.operands == (("==", "f()()", "1"),)
    assert met_in(*trace.operands[0]) is None


def test_each_test_has_two_ways() -> None:
    code = "def f(n):\n    if n > 3:\n        return 1\n    return 0\n"
    assert missed_ways(code, []) == (2, [(2, False), (2, True)])


def test_texts_match_the_patterns_they_are_made_of() -> None:
    pattern = r"([1-9]|1[0-2]):([0-5]\d) (AM|PM)"
    texts = matching_texts(pattern, 12, random.Random(0))
    assert len(texts) > 5
    assert all(re.fullmatch(pattern, text) for text in texts)
    assert matching_texts("(((", 3, random.Random(0)) == []
    assert all(re.fullmatch(r"\d{4}-\d\d", text) for text in formatted_texts("%Y-%m", 5, random.Random(0)))
