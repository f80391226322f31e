"""Calls of methods of each kind as they are shown: typed by hand, they do what is said of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import difftrust as dt
from difftrust.check.spelling import kind_in, parts_of, spelled_in, spelled_method
from difftrust.outputs.report_text import text_of
from difftrust.source.function import load_stub

MODULE = """
from dataclasses import dataclass
from datetime import date

@dataclass
class Box:
    w: int
    h: int
    @property
    def area(self) -> int:
        '''Return the area.'''
        return self.w * self.h
    @staticmethod
    def gap(a: 'Box', b: 'Box') -> int:
        '''Return how much wider a is.'''
        return a.w - b.w
    @classmethod
    def since(cls, day: date, n: int) -> int:
        '''Return the day of the month, n days later.'''
        return day.day + n
    def grown(self, by: int) -> int:
        '''Return the greater width.'''
        return self.w + by
"""
CALLS = [
    ("area", "(Box(w=2, h=3),)", "Box(w=2, h=3).area", 6),
    ("gap", "(Box(w=2, h=3), Box(w=1, h=3))", "Box.gap(Box(w=2, h=3), Box(w=1, h=3))", 1),
    ("since", "(date(2000, 1, 2), 3)", "Box.since(date(2000, 1, 2), 3)", 5),
    ("grown", "(Box(w=2, h=3), 3)", "Box(w=2, h=3).grown(3)", 5),
]


@pytest.mark.parametrize(("name", "arguments", "call", "value"), CALLS, ids=[each[0] for each in CALLS])
def test_a_call_of_each_kind_of_method_is_spelled_as_one_types_it(
    name: str, arguments: str, call: str, value: int, tmp_path: Path
) -> None:
    (tmp_path / "boxes.py").write_text(MODULE)
    preamble = load_stub(f"{tmp_path / 'boxes.py'}::Box.{name}").task.preamble
    assert spelled_in(preamble, f"Box.{name}", arguments) == call
    names: dict[str, Any] = {"__name__": "typed"}
    exec(MODULE, names)
    assert eval(call, names) == value


def test_a_property_of_an_object_that_was_used_before_is_not_called() -> None:
    assert kind_in("no program", "Box.area") == "method"
    used = "(AfterCalls(Box(), [add(1)]),)"
    assert spelled_method("Box.area", used, "property") == "x = Box(); x.add(1); x.area"
    changed = "Effects(value=1, arguments=(Box(w=2),))"
    assert parts_of(changed, used)[1] == "changes its argument: x -> Box(w=2)"


def test_versions_of_a_property_are_told_apart_by_an_input_that_does_not_call_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old.py", tmp_path / "new.py"
    old.write_text(MODULE)
    new.write_text(MODULE.replace("self.w * self.h", "abs(self.w) * self.h"))
    found = dt.diff(f"{old}::Box.area", f"{new}::Box.area", n=40)
    assert {change.call.rpartition(".")[2] for change in found.report.changes} == {"area"}
    assert '--expect "Box(' in text_of(found.report)
    used = replace(found.report.changes[0], call="x = Box(1, 2); x.grow(1); x.area")
    assert '--expect "' not in text_of(replace(found.report, changes=(used,)))  # none could be given so
