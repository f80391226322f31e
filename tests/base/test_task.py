"""What makes a task valid, and the one line that says what is wrong with one that is not."""

import pytest

from difftrust_core.base.literals import Instance
from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadTask

GIVEN = {
    "benchmark": "Toy",
    "task_id": "Toy/0",
    "entry_point": "add",
    "signature": "(a: int, b: int) -> int",
    "description": "Add two numbers.",
    "seed_inputs": ("(1, 2)", "(-1, 0x10)"),
}


@pytest.mark.parametrize(
    ("seed_inputs", "arguments"),
    [
        (("(1, 2)", "(-1, 0x10)"), [(1, 2), (-1, 16)]),
        (("(P(x=1),)", "()"), [(Instance("P", (), {"x": 1}),), ()]),
        ((), []),
    ],
)
def test_a_valid_task_gives_its_arguments(seed_inputs, arguments):
    assert Task(**{**GIVEN, "seed_inputs": seed_inputs}).arguments() == arguments


REFUSED = [
    ("benchmark", "", "needs a benchmark and a plain id"),
    ("task_id", "", "needs a benchmark and a plain id"),
    ("task_id", " Toy", "' Toy'"),
    ("task_id", "Toy\u202e0", r"'Toy\u202e0'"),
    ("task_id", "\ud800", r"'\ud800'"),
    ("task_id", "x" * 501, "at most 500 characters, got 501"),
    ("entry_point", "", "must be a function name, got ''"),
    ("entry_point", "a.b.c", "must be a function name, got 'a.b.c'"),
    ("entry_point", "lambda", "must be a function name, got 'lambda'"),
    ("seed_inputs", ("(1, 2)", "f'{1}'"), "seed inputs must be literals: JoinedStr"),
    ("seed_inputs", ("(1,",), "seed inputs must be literals: not a literal (SyntaxError)"),
    ("seed_inputs", ("(1)",), "a seed input is a tuple of arguments, got '(1)'; write (x,) for one"),
    ("seed_inputs", ("[1, 2]",), "got '[1, 2]'; write (x,) for one"),
]


def test_refused_with_one_line():
    for field, value, said in REFUSED:
        with pytest.raises(BadTask) as refused:
            Task(**{**GIVEN, field: value})
        message = str(refused.value)
        assert said in message
        assert "\n" not in message
        if field not in ("benchmark", "task_id"):
            assert message.startswith("task Toy/0 of Toy: ")
