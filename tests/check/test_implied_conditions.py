"""Conditions that docstrings and names take for granted: which are found, when they hold, what a check does then."""

from pathlib import Path

import pytest

from difftrust.check.inputs.implied_conditions import ImpliedConditions
from difftrust.conditions.predicates import Predicate
from difftrust.conditions.reading import Reading, UnreadSentence
from difftrust.source.conditions import Conditions
from difftrust.source.function import load_stub
from difftrust.types.argument_types import Parameter
from tests.support.stubs import report_of


def conditions(folder: Path, signature: str, docstring: str, *examples: str, assume: tuple[str, ...] = ()) -> list[str]:
    """Return what is taken as the domain of a function, then what only its names imply."""
    shown = "".join(f"\n    >>> {each}\n    1\n" for each in examples)
    before = "from datetime import date\n\n"
    (folder / "f.py").write_text(f'{before}def f({signature}):\n    """{docstring}\n{shown}    """\n')
    stub = load_stub(f"{folder / 'f.py'}::f", assume=assume)
    assert stub.types is not None
    implied = ImpliedConditions(
        stub.types.parameters, stub.task.description, conditions=stub.conditions, calls=stub.allowed_calls
    )
    return [*stub.conditions.texts, *(each.text for each in implied.predicates)]


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
        ("window: int", "Averages of so many (window at least 2).", ["window >= 2"]),
        ("cells: list[list[int]]", "Sum of a square matrix.", ["all((len(row) == len(cells) for row in cells))"]),
        ("values: list[float]", "Return the deviation of two or more values.", ["len(values) >= 2"]),
        (
            "day: str",
            "Return the weekday of YYYY-MM-DD.",
            [r"re.fullmatch('\\d{4}\\-(?:0[1-9]|1[0-2])\\-(?:0[1-9]|[12]\\d|3[01])', day) is not None"],
        ),
        ("day: str", "Return the weekday of YYYY-MM-DD, None if there is no such day.", []),
    ],
)
def test_names_and_docstrings_imply_conditions(
    tmp_path: Path, signature: str, docstring: str, found: list[str]
) -> None:
    assert conditions(tmp_path, signature, docstring) == found


def test_examples_and_stated_conditions_overrule_them(tmp_path: Path) -> None:
    assert conditions(tmp_path, "count: int", "Return stars.", "f(-1)") == []
    assert conditions(tmp_path, "count: int", "Return stars.", "f(2)") == ["count >= 0"]
    assert conditions(tmp_path, "count: int", "Return stars.", assume=("count > -5",)) == ["count > -5"]


COUNTER = '''class Counter:
    """Counts names."""

    def __init__(self):
        self.seen = {}

    def add(self, name: str, times: int = 1) -> int:
        """Count a name and return how often it was seen by now."""
'''


@pytest.mark.parametrize(("said", "verdict"), [("", "incoherent"), (" Requires: times > 0", "undecided")])
def test_a_method_is_undecided_where_no_call_may_come_before_it(said: str, verdict: str, tmp_path: Path) -> None:
    body = "    self.seen[name] = self.seen.get(name, 0) + times\n    return self.seen[name]\n"
    one = f"def add(self, name, times=1):\n{body}"
    other = one.replace("self.seen.get(name, 0) + times", "self.seen[name] + 1 if name in self.seen else times")
    report = report_of(tmp_path, COUNTER.replace("by now.", f"by now.{said}"), (one, other), "Counter.add", n=200)
    assert report.verdict == verdict
    assert bool(report.undecided) == (verdict == "undecided")
    assert all("every object was Counter()" in each.why for each in report.undecided)


@pytest.mark.parametrize(
    ("said", "origin", "in_doubt"),
    [
        ((), "assume", ["(-1, 1)", "(1, -1)"]),
        (("wage >= 0",), "assume", ["(-1, 1)", "(1, -1)"]),
        (("tour > 0",), "assume", []),
        (("tour > 0",), "requires", []),
        (("tour > 0",), "body", ["(-1, 1)", "(1, -1)"]),
        (("wage >= 0", "wage < 9"), "assume", []),
        (("wage >= 0", "wage < 9"), "requires", ["(-1, 1)", "(1, -1)"]),
    ],
)
def test_what_is_said_in_python_settles_what_was_not_read(
    said: tuple[str, ...], origin: str, in_doubt: list[str]
) -> None:
    parameters = [Parameter(name=name, annotation=None, required=True) for name in ("tour", "wage")]
    unread = [
        UnreadSentence(text=f"The tour has to be {how}.", names=frozenset(["tour"]), origin="prose") for how in "ab"
    ]
    stated = tuple(Predicate(text=text, origin=origin) for text in said)
    found = Conditions(stated=stated, reading=Reading(unread=tuple(unread)))
    implied = ImpliedConditions(parameters, conditions=found)
    assert [text for text in ("(-1, 1)", "(1, -1)") if implied.doubt(text)] == in_doubt
