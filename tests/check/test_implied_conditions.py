"""Conditions that docstrings and names take for granted: which are found, when they hold, what a check does then."""

import ast
from pathlib import Path

import pytest

from difftrust.check.implied_conditions import ImpliedConditions
from difftrust.source.doctests import Example
from difftrust.types.argument_types import Parameter
from difftrust_core.base.literals import write_literal
from tests.support.stubs import report_of


def expected(signature: str, docstring: str, *examples: str, requires: str = "") -> ImpliedConditions:
    (function,) = ast.parse(f"def f({signature}): ...").body
    assert isinstance(function, ast.FunctionDef)
    parameters = [Parameter(name=a.arg, annotation=a.annotation, required=True) for a in function.args.args]
    made = [Example(source=source, origin="docstring") for source in examples]
    return ImpliedConditions(parameters, docstring, examples=made, requires=requires)


def conditions(signature: str, docstring: str, *examples: str, requires: str = "") -> list[str]:
    return [each.text for each in expected(signature, docstring, *examples, requires=requires).conditions]


@pytest.mark.parametrize(
    ("signature", "docstring", "found"),
    [
        ("start: date, end: date", "Return the days between.", ["start <= end"]),
        ("first_day: date, last_day: date", "Return the days between.", ["first_day <= last_day"]),
        ("start: int, end: int", "Return the distance, in either order.", []),
        ("value: float, low: float, high: float", "Limit a value.", ["low <= high"]),
        ("count: int", "Return so many stars.", ["count >= 0"]),
        ("total: int, per_page: int", "Return how many pages.", ["total >= 0", "per_page >= 1"]),
        ("count: int", "Take the last items where count is negative.", []),
        ("n: int", "Return n factorial of a non-negative number.", ["n >= 0"]),
        ("n: int", "Return the roman numeral of a positive integer.", ["n >= 1"]),
        ("numbers: list[int]", "Return the first positive number.", []),
        ("window: int", "Averages of so many (window at least 2).", ["window >= 2"]),
        ("red: int", "Return a colour; each part is 0 to 255.", ["0 <= red <= 255"]),
        ("values: list[int], x: int", "Return where x stands in the sorted list.", ["values == sorted(values)"]),
        ("values: list[int]", "Return a sorted list.", []),
        ("square: list[list[int]]", "Sum of a square matrix.", ["all(len(row) == len(square) for row in square)"]),
        ("values: list[float]", "Return the deviation of two or more values.", ["len(values) >= 2"]),
        ("clock: str", 'Return the minutes of a time "HH:MM".', ["clock is a time of the form HH:MM"]),
        ("clock: str", 'Tell whether a text is a time "HH:MM".', []),
        ("day: str", "Return the weekday of YYYY-MM-DD.", ["day is a date of the form YYYY-MM-DD"]),
        ("day: str", "Return the weekday of YYYY-MM-DD, None if there is no such day.", []),
    ],
)
def test_names_and_docstrings_imply_conditions(signature: str, docstring: str, found: list[str]) -> None:
    assert conditions(signature, docstring) == found


def test_examples_and_stated_conditions_overrule_them() -> None:
    assert conditions("count: int", "Return stars.", "f(-1)") == []
    assert conditions("count: int", "Return stars.", "f(2)") == ["count >= 0"]
    assert conditions("count: int", "Return stars.", requires="count > -5") == []


def test_conditions_hold_on_values() -> None:
    of_dates = expected("start: date, end: date", "")
    assert of_dates.broken("(date(2020, 1, 1), date(2020, 1, 1))") is None
    assert of_dates.broken("(date(2020, 2, 1), date(2020, 1, 31))") is not None
    of_day = expected("day: str", "YYYY-MM-DD")
    days = ("2024-02-29", "2023-02-29", "2024-1-5")
    assert [of_day.broken(write_literal((day,))) is None for day in days] == [True, False, False]


CLAMP = 'def clamp(value: float, low: float, high: float) -> float:\n    """Limit a value to low and high."""\n'
CLAMPS = (
    "def clamp(value, low, high):\n    return max(low, min(high, value))\n",
    "def clamp(value, low, high):\n    return min(high, max(low, value))\n",
)


def test_a_disagreement_where_start_is_after_end_is_no_alarm_and_stands_in_the_report(tmp_path: Path) -> None:
    report = report_of(tmp_path, CLAMP, CLAMPS, n=200)
    assert report.verdict == "undecided"
    assert [(each.doubt, each.condition) for each in report.validation] == [("not low <= high", "low <= high")]
    assert '--assume "low <= high"' in report.next_step


def test_a_disagreement_inside_is_one_nonetheless(tmp_path: Path) -> None:
    wrong = "def clamp(value, low, high):\n    return value if value < high else high\n"
    report = report_of(tmp_path, CLAMP, (CLAMPS[0], wrong), n=200)
    assert report.verdict == "incoherent"


def test_a_candidate_that_refuses_texts_does_not_hide_what_others_do_on_them(tmp_path: Path) -> None:
    stub = 'def size(text: str) -> int:\n    """Return how many letters a text has."""\n'
    refuses = "def size(text):\n    raise ValueError\n"
    report = report_of(tmp_path, stub, ("def size(text):\n    return len(text)\n", refuses), n=200)
    assert report.verdict == "incoherent"


COUNTER = '''class Counter:
    """Counts names."""

    def __init__(self):
        self.seen = {}

    def add(self, name: str, times: int = 1) -> int:
        """Count a name and return how often it was seen by now."""
'''


def test_a_method_that_only_ran_on_new_objects_is_undecided(tmp_path: Path) -> None:
    body = "    self.seen[name] = self.seen.get(name, 0) + times\n    return self.seen[name]\n"
    one = f"def add(self, name, times=1):\n{body}"
    other = one.replace("self.seen.get(name, 0) + times", "self.seen[name] + 1 if name in self.seen else times")
    report = report_of(tmp_path, COUNTER, (one, other), "Counter.add", n=200)
    assert report.verdict == "undecided"
    assert "every object was Counter()" in report.undecided[0].why


def test_flags_are_drawn_together(tmp_path: Path) -> None:
    stub = (
        "from enum import IntFlag\n\nclass Mode(IntFlag):\n    READ = 1\n    WRITE = 2\n\n"
        'def may(have: Mode, need: Mode) -> bool:\n    """Tell whether all that is needed is there."""\n'
    )
    codes = (
        "def may(have, need):\n    return have & need == need\n",
        "def may(have, need):\n    return bool(have & need)\n",
    )
    assert report_of(tmp_path, stub, codes, n=200).verdict == "incoherent"
