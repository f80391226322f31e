"""The inputs that a task's page lists, what is copied as a test, and the kinds of a task's arguments."""

from pathlib import Path
from typing import Any

import pytest

import difftrust as dt
from difftrust.shipped import find_results, find_starter_results
from difftrust.tasks.argument_kinds import KINDS, kinds_of, kinds_of_inputs, kinds_of_signature, kinds_of_types
from difftrust.tasks.details import DISAGREEING, WRONG
from difftrust.tasks.task_inputs import Answer, ReadInput, as_test, read_inputs
from difftrust.tasks.task_view import REFERENCE_CLUSTER
from difftrust_core.base.task import Domain, Task
from difftrust_core.estimates.pool import load_pool
from difftrust_core.store.imports import add_tasks
from difftrust_core.store.store import Store
from tests.support.tasks import small_task


def test_an_input_is_listed_once_those_of_the_domain_first_and_clusters_that_disagree_answer_differently() -> None:
    study = dt.open(find_results())
    many = study.task("HumanEval/1", model=study.models)
    for kind in (WRONG, DISAGREEING):
        found = read_inputs(many, kind)
        assert len({one.arguments for one in found}) == len(found) > 2
        places = [["domain", "None", "types", "outside"].index(str(one.place)) for one in found]
        assert places == sorted(places)
        for one in found:
            assert one.first != one.second
            numbers = [number for answer in one.answers for number in answer.clusters]
            assert len(numbers) == len(set(numbers))
            left = answer_of(one, one.first)
            if kind == DISAGREEING:
                right = answer_of(one, one.second)
                assert (left.kind, left.text) != (right.kind, right.text) or "…" in left.text


def answer_of(one: ReadInput, cluster: int) -> Answer:
    return next(answer for answer in one.answers if cluster in answer.clusters)


def test_wrong_inputs_are_listed_also_where_all_programs_agree() -> None:
    agreeing = dt.open(find_results()).task("HumanEval/122", model="gpt_4o")
    assert read_inputs(agreeing, DISAGREEING) == []
    first, *others = read_inputs(agreeing, WRONG)
    assert (first.place, first.is_smallest, first.first, first.second) == ("domain", True, 1, REFERENCE_CLUSTER)
    assert {one.is_smallest for one in others} == {None}
    mine, right = answer_of(first, 1), next(answer for answer in first.answers if answer.is_right)
    assert mine.text != right.text
    assert right.clusters == (REFERENCE_CLUSTER,)


def wrong_on(arguments: str, right: str, kind: str = "value", place: str | None = "domain") -> ReadInput:
    answers = (
        Answer(clusters=(1,), kind="value", text="0", is_right=False),
        Answer(clusters=(REFERENCE_CLUSTER,), kind=kind, text=right, is_right=True),
    )
    same = {"kind": WRONG, "first": 1, "second": 0, "is_smallest": True, "n_inputs": None}
    return ReadInput(arguments=arguments, answers=answers, place=place, **same)


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (wrong_on("([1], 2)", "[3]"), "    assert f([1], 2) == [3]"),
        (wrong_on("('a',)", "None"), "    assert f('a') is None"),
        (wrong_on("()", "0.5"), "    assert f() == pytest.approx(0.5)"),
        (wrong_on("(1,)", "ValueError: no", "exception"), "        f(1)"),
        (wrong_on("(1,)", "2", place="types"), "    assert f(1) == 2"),
    ],
)
def test_a_test_holds_what_the_reference_answers_and_says_where_the_input_lies(one: ReadInput, line: str) -> None:
    written = as_test("f", one)
    assert written.splitlines()[-1] == line
    assert written.startswith("# This input lies outside the declared types.") == (one.place == "types")
    compile(written, "test", "exec")
    assert ("import pytest" in written) == ("pytest." in written)


def test_a_copied_test_fails_on_a_wrong_program_and_passes_on_a_right_one() -> None:
    space: dict[str, Any] = {"f": lambda xs, k: [3]}
    exec(as_test("f", wrong_on("([1], 2)", "[3]")), space)
    space["test_f"]()
    space["f"] = lambda xs, k: [4]
    with pytest.raises(AssertionError):
        space["test_f"]()


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("f", wrong_on("([1, 2…", "3")),
        ("f", wrong_on("(1,)", "[1, 2…")),
        ("f", wrong_on("(1,)", "Point(x=1)")),
        ("f", wrong_on("(1,)", "__import__('os'): x", "exception")),
        ("f(); evil", wrong_on("(1,)", "1")),
        ("f", wrong_on("(1,)", "1", "timeout")),
    ],
)
def test_what_cannot_be_written_is_not_offered(name: str, one: ReadInput) -> None:
    assert as_test(name, one) is None


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
