"""Tests of argument_kinds.py on types and inputs whose kinds can be read off."""

from pathlib import Path

import pytest

from difftrust.shipped import find_results, find_starter_results
from difftrust.tasks.argument_kinds import KINDS, kinds_of, kinds_of_inputs, kinds_of_signature, kinds_of_types
from difftrust_core.base.task import Domain, Task
from difftrust_core.estimates.pool import load_pool
from difftrust_core.store.imports import add_tasks
from difftrust_core.store.store import Store
from tests.support.tasks import small_task

STRINGS, NUMBERS, LISTS, DICTS, NESTED, OTHER = KINDS


@pytest.mark.parametrize(
    ("types", "kinds"),
    [
        ("text: str", {STRINGS}),
        ("n: int | float", {NUMBERS}),
        ("x: int | str", {NUMBERS, STRINGS}),
        ("words: list[str], k: int", {LISTS, STRINGS, NUMBERS}),
        ("mixed: list[int | str]", {LISTS}),
        ("rows: list[list[int]]", {LISTS, NESTED}),
        ("test_tup: tuple[int, ...]", {LISTS, NUMBERS}),
        ("votes: dict[str, int]", {DICTS}),
        ("kits: dict[str, set[str]]", {DICTS, NESTED}),
        ("n: Optional[int]", {NUMBERS}),
        ("n: typing.List['str'] | None", {LISTS, STRINGS}),
        ("operator: list[Literal['+', '-']]", {LISTS, STRINGS}),
        ("value: Any", {OTHER}),
        ("flag: bool", {OTHER}),
        ("numbers: list", {LISTS}),
        ("a: int, b", set()),
        ("not a type", set()),
        ("a: __import__('os').system('exit')", {OTHER}),
        ("", set()),
    ],
)
def test_kinds_are_read_off_types(types: str, kinds: set[str]) -> None:
    assert kinds_of_types(types) == kinds


def test_a_signature_states_types_or_none_and_inputs_tell_then() -> None:
    assert kinds_of_signature("(numbers: List[float], threshold: float) -> bool") == {LISTS, NUMBERS}
    assert kinds_of_signature("(a, b)") == set()
    assert kinds_of_inputs(["([1, 2], 'a')", "([], 'b')"]) == {LISTS, NUMBERS, STRINGS}
    assert kinds_of_inputs(["([(1, 2)], {'a': 1})"]) == {LISTS, NESTED, DICTS}
    assert kinds_of_inputs(["([1, 2, … (cut)", "open('x')"]) == set()


def test_the_first_source_that_tells_is_taken(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")

    def task(number: int, signature: str, domain: Domain | None) -> Task:
        return small_task(
            "f", signature, benchmark="own", task_id=f"own/{number}", seed_inputs=("({},)",), domain=domain
        )

    tasks = [task(0, "(a: int)", Domain(types="a: str")), task(1, "(a: int)", None), task(2, "(a)", None)]
    add_tasks(store, {"own": tasks})
    assert kinds_of(store, "own") == {"own/0": {STRINGS}, "own/1": {NUMBERS}, "own/2": {DICTS}}
    assert kinds_of(store, "another") == {}


@pytest.mark.slow
def test_all_shipped_tasks_have_kinds() -> None:
    store = Store.open(find_results())
    for benchmark in ("HumanEval", "MBPP"):
        executed = {task.task_id for task in load_pool(store, benchmark, equality="paper").tasks}
        assert executed
        assert executed <= kinds_of(store, benchmark).keys()
    found = kinds_of(store, "HumanEval")
    assert found["HumanEval/0"] == {LISTS, NUMBERS}
    assert found["HumanEval/1"] == {STRINGS}
    assert len(kinds_of(Store.open(find_starter_results()), "starter")) == 60
