"""What Python asks of a task: a reference that defines the entry point."""

import pytest

from difftrust_core.base.task import Task
from difftrust_core.exceptions import BadTask
from difftrust_core.languages.registry import language_of
from tests.support.tasks import small_task


def task(reference: str) -> Task:
    return small_task("add", "(a, b)", benchmark="Toy", task_id="Toy/0", seed_inputs=("(1, 2)",), reference=reference)


REFERENCES = [
    "def add(a, b):\n    return a + b\n",
    "async def add(a, b):\n    return a + b\n",
    "class add:\n    def __init__(self, a, b): ...\n",
    "import operator\nadd = operator.add\n",
    "def sub(a, b):\n    return a - b\nadd = other = sub\n",
    "s = '\\d'\ndef add(a, b): return a + b",  # an invalid escape is the text's own matter
]


def test_references_that_define_the_entry_point() -> None:
    for reference in REFERENCES:
        language_of(task(reference)).check(task(reference))


OTHERS = [
    "",
    "def add(a, b",
    "class A:\n    def add(self): pass",
    "if True:\n    def sub(): pass",
    "\x00",
]


def test_others_are_refused_with_one_line() -> None:
    for reference in OTHERS:
        with pytest.raises(BadTask) as refused:
            language_of(task(reference)).check(task(reference))
        assert str(refused.value) == "task Toy/0 of Toy: the reference must define add at its top level"
