"""The tests that tasks bring along, run in the real sandbox beside a store's own inputs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from difftrust.layouts.evalplus import load_evalplus
from difftrust.research.passed_tests import ALL, shares_passed, told_of_tests
from difftrust.verify.verification import verify
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Relation, Task, TaskTest
from difftrust_core.datasets.recorded import selection_of
from difftrust_core.estimates.refresh import open_pools, refresh_estimates
from difftrust_core.exceptions import WeakSandbox
from difftrust_core.execution.answers import run_answers
from difftrust_core.execution.execute import execute_tests, read_on_tests
from difftrust_core.languages.registry import language_of
from difftrust_core.sandbox.host import OutcomeTable, Sandbox
from difftrust_core.store.store import Store
from tests.support.evalplus import DOUBLE, RIGHT, WRONG, WRONG_ON_PLUS, write_release
from tests.support.tasks import add_programs, small_task
from tests.support.tiny import TASKS, run_on

SQUARE = small_task(
    "square",
    "(x: int) -> int",
    benchmark="own",
    task_id="square",
    seed_inputs=("(1,)", "(2,)", "(3,)"),
    tests=(
        TaskTest(arguments="(1,)", expected="1", group="examples"),
        TaskTest(arguments="( 2 ,)", expected="4", group="tests"),
        TaskTest(arguments="(3,)", expected="9", group="tests"),
    ),
)
SQUARES = (
    "def square(x):\n    return x * x\n",
    "def square(x):\n    return x ** x\n",
    "def square(x):\n    return 2 * x\n",
)


def stored(root: Path, tasks: Sequence[Task], *programs: dict[str, str]) -> Store:
    """Return a store with one candidate a task and table of programs, all of one coder."""
    of_tasks = [(task, "coder", [codes[task.task_id] for codes in programs if task.task_id in codes]) for task in tasks]
    store = Store.create(root)
    add_programs(store, *of_tasks)
    return store


def passed(store: Store) -> dict[tuple[str, str], float | None]:
    """Return (task, group) -> the share of the candidates that pass."""
    on_tests = read_on_tests(store)
    pools = open_pools(on_tests)
    groups = {name: told_of_tests(on_tests, name, "groups") for name in pools}
    found = shares_passed(pools, groups, m=None)
    return {(task, tests): share for task, tests, share in found.select("task_id", "tests", "passed").iter_rows()}


def test_a_release_of_evalplus_is_judged_by_group(tmp_path: Path) -> None:
    tasks = load_evalplus(write_release(tmp_path / "plus.jsonl"))
    assert load_evalplus(write_release(tmp_path / "plus.jsonl.gz")) == tasks
    store = stored(tmp_path / "store", tasks, RIGHT, WRONG_ON_PLUS, WRONG)
    run_on(store, 30)
    assert store.settings().validity == "domain"
    done = execute_tests(store)
    assert done is not None
    assert (done.n_tasks, done.n_executions, done.failures) == (2, 30, ())
    assert store.settings().validity == "domain"
    shares = {"base": 2 / 3, "plus": 1 / 3, ALL: 1 / 3}
    assert passed(store) == {
        (task.task_id, tests): pytest.approx(share) for task in tasks for tests, share in shares.items()
    }
    inputs = store.read("inputs", {"benchmark": "HumanEval+", "validity": "tests"})
    assert inputs.filter(task_id="HumanEval/901")["arguments"].to_list() == [
        *("(3.0,)", "(1.0,)", "(2.0,)", "(3.0,)", "(1.0,)")
    ]
    inside = store.read("inputs", {"benchmark": "HumanEval+", "validity": "domain"})
    assert all(int(text[1:-2]) > 0 for text in inside.filter(task_id="HumanEval/900")["arguments"])


def test_an_input_that_the_contract_excludes_is_no_test(tmp_path: Path) -> None:
    """Unless the test says which value is expected: then somebody meant it."""
    plus = {**DOUBLE, "plus_input": [[-1], [100], ["a"], [100]]}
    (task,) = load_evalplus(write_release(tmp_path / "plus.jsonl", plus))
    strict = {"HumanEval/900": "def double_up(x):\n    assert x > 0\n    return 2 * x\n"}
    told = replace(task, task_id="told", tests=(*task.tests, TaskTest(arguments="(-2,)", expected="-4", group="own")))
    store = stored(tmp_path / "store", [task, told], {**strict, "told": strict["HumanEval/900"]}, RIGHT)
    run_on(store, 5)
    execute_tests(store)
    inputs = store.read("inputs", {"benchmark": "HumanEval+", "validity": "tests"})
    assert inputs.filter(task_id="told")["arguments"].to_list()[:5] == ["(3,)", "(1,)", "(100,)", "(100,)", "(-2,)"]
    assert inputs.filter(task_id="HumanEval/900")["arguments"].to_list()[:5] == [
        *("(3,)", "(1,)", "(100,)", "(100,)", "(3,)")
    ]
    shares = passed(store)
    assert shares["HumanEval/900", ALL] == 1.0
    assert (shares["told", "base"], shares["told", "plus"], shares["told", "own"]) == (1.0, 1.0, 0.0)


def test_tests_not_executed_yet_are_no_group(tmp_path: Path) -> None:
    store = stored(tmp_path / "store", [SQUARE], {"square": SQUARES[0]}, {"square": SQUARES[1]})
    run_on(store, 2, validity="tests")
    assert told_of_tests(read_on_tests(store), "own", "groups") == {}
    run_on(store, 3, selection=selection_of(m=1))
    assert told_of_tests(read_on_tests(store), "own", "groups") == {"square": ["examples", "tests", "tests"]}
    assert list(passed(store).values()) == [None, 1.0, None]  # all, examples, tests: one had two of three
    run_on(store, 3)
    assert list(passed(store).values()) == [0.5, 1.0, 0.5]


ROOTS = ("def square(x):\n    return -x\n", "def square(x):\n    return x\n", "def square(x):\n    return 1\n")
ACCEPTS_ROOTS = "def accept(arguments, output):\n    return output * output == arguments[0] ** 2\n"
MORE = (TaskTest(arguments="(3,)", expected="27"), TaskTest(arguments="(4,)"))


def test_who_says_what_is_right_on_tests(tmp_path: Path) -> None:
    """The expected values, before the reference; without either nothing is passed; a checker.

    A task without tests is left out.
    """
    tasks = {
        "square": SQUARE,
        "told": replace(SQUARE, reference=SQUARES[0], tests=(*SQUARE.tests[:2], *MORE)),
        "untold": replace(SQUARE, tests=(*SQUARE.tests, MORE[1])),
        "root": replace(SQUARE, relation=Relation(accept=ACCEPTS_ROOTS), tests=SQUARE.tests[:2]),
        "untested": replace(SQUARE, tests=()),
    }
    programs = ({name: (ROOTS if name == "root" else SQUARES)[i] for name in tasks} for i in range(3))
    store = stored(tmp_path / "store", [replace(task, task_id=name) for name, task in tasks.items()], *programs)
    run_on(store, 10)
    done, again = execute_tests(store), execute_tests(store)
    assert done is not None
    assert again is not None
    assert (done.n_tasks, again.n_tasks, again.n_tasks_at_hand) == (4, 0, 4)
    shares = passed(store)
    assert {name: [shares[name, group] for group in ("examples", "tests", ALL)] for name, _ in shares} == {
        "square": pytest.approx([2 / 3, 1 / 3, 1 / 3]),
        "told": pytest.approx([2 / 3, 0, 0]),  # x ** x is right on 3, as the test says, and wrong on 4
        "untold": [None, None, None],
        "root": pytest.approx([1, 2 / 3, 2 / 3]),
    }
    refresh_estimates(store)
    refresh_estimates(read_on_tests(store))
    estimates = store.read("estimates").filter(equality="strict", task_id="square")
    by_policy = {validity: (n, error) for validity, n, error in estimates.select("validity", "n", "error").iter_rows()}
    # As others have four tests, 1 comes again after 1, 2, 3: x ** x is wrong on 3, 2 * x on 1, 3 and 1.
    own = store.settings().validity
    assert by_policy == {"tests": (4, pytest.approx(4 / 12)), own: (10, None)}
    for validity, groups in (("tests", ["examples", "tests", "tests"]), (own, None)):
        draws = store.read("draws", {"benchmark": "own", "validity": validity}).filter(task_id="square")
        assert draws["groups"].to_list() == [groups]
    assert verify(store).findings == ()


def test_without_tests_there_is_nothing_to_run(tmp_path: Path) -> None:
    store = stored(tmp_path / "store", TASKS, {task.task_id: task.reference or "" for task in TASKS})
    run_on(store, 10)
    assert execute_tests(store) is None


def test_the_policy_tests_runs_them_itself(tmp_path: Path) -> None:
    store = stored(tmp_path / "store", [SQUARE], {"square": SQUARES[0]}, {"square": SQUARES[1]})
    run_on(store, 4, validity="tests")
    assert store.read("inputs").select("arguments", "attempts").rows() == [(f"({x},)", 1) for x in (1, 2, 3, 1)]
    assert execute_tests(store) is None
    refresh_estimates(store)
    assert store.read("estimates").filter(equality="paper")["error"].to_list() == [pytest.approx(1 / 8)]


def test_where_programs_could_reach_more_nothing_runs_unless_that_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stored(tmp_path / "store", [SQUARE], {"square": SQUARES[0]})
    monkeypatch.setattr("difftrust_core.execution.execute.Sandbox", partial(Sandbox, wanted=frozenset()))
    with pytest.raises(WeakSandbox):
        run_on(store, 2)
    with pytest.raises(WeakSandbox):
        execute_tests(store)
    assert store.files("executions") == []
    done = execute_tests(store, allow_weak=True)
    assert done is not None
    assert done.n_executions == 3


VALUES = (
    "{'b': 1, 'a': -0.0}", "[(1,), [2.0], {3, 1}]", "'a\\nb'", "None", "complex(-0.0, 1.0)", repr(list(range(5000))),
    "{1: {2: 3}, 0: {}}", "frozenset({2})", "10000000000000000000000000", "1e-07",
    repr("x" * 16_382), repr("x" * 16_383),
)  # fmt: skip


def test_an_expected_value_is_written_as_the_sandbox_writes_a_returned_one() -> None:
    """So a program that returns an expected value exactly passes under every comparison."""
    task = replace(SQUARE, tests=tuple(TaskTest(arguments=f"({i},)", expected=text) for i, text in enumerate(VALUES)))
    inputs = [f"({i},)" for i in range(len(VALUES))]
    table = OutcomeTable.empty(len(VALUES))
    run_answers(task, "tests", inputs, table, lambda: pytest.fail("no reference is needed"))
    told = [row[0] for row in table.rows]
    program = f"def square(x):\n    return [{', '.join(VALUES)}][x]\n"
    with Sandbox(language_of(task).limits, allow_weak=True) as sandbox:
        assert told == sandbox.outcomes("", inputs, program, "square")[0]
    assert all(kind == Kind.VALUE for kind, _ in told)
