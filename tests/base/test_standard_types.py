"""The table of standard types against the types themselves: what their texts make, reserved names, first moments."""

import importlib
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from difftrust_core.base.literals import read_literal
from difftrust_core.base.standard_types import STANDARD_TYPES
from tests.sandbox.test_canonical import canonical

VALUES = (
    *(date(2024, 5, 6), datetime(2024, 5, 6, 7, 8, 9, 10), time(7, 8, 9, 10), timedelta(1, 2, 3)),
    *(UTC, timezone(timedelta(hours=2)), Decimal("1.50"), Fraction(1, 3), range(2, 9, 3)),
    *(deque([1, 2]), Counter("aab"), OrderedDict(a=1), defaultdict(list, a=[1]), ChainMap({"a": 1}), {"a": 1}.keys()),
)
RESERVED = {"date", "datetime", "time", "timedelta", "timezone", "Decimal", "Fraction", "range"}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_what_a_text_makes_again_and_whose_text_no_class_may_pass_for(value: Any) -> None:
    text = canonical(value)
    row = STANDARD_TYPES[name := text.partition("(")[0]]
    try:
        kind = getattr(importlib.import_module(row.home), name)
        made = eval(text, {name: kind, "timedelta": timedelta})  # what the line above wrote of a value of ours
        is_rebuilt = type(made) is type(value) and made == value
    except (ValueError, TypeError):  # no home; other arguments
        is_rebuilt = False
    assert row.is_rebuilt == is_rebuilt
    own = type(name, (), {"__init__": lambda self: setattr(self, "x", 1)})()
    assert canonical(own) == ("Unnamed(x=1)" if name in RESERVED else f"{name}(x=1)")


@pytest.mark.parametrize("first", [date(2000, 1, 1), datetime(2000, 1, 1), time()])
def test_the_first_moment_has_as_many_parts_as_python_writes(first: Any) -> None:
    written = read_literal(canonical(first))
    row = STANDARD_TYPES[written.type_name]
    assert row.origin[: row.n_required] == written.args
    assert type(first)(*row.origin) == first
