"""Who judges which inputs are kept: a quorum counts those candidates only that load; a reference is never dropped."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from difftrust_core.base.task import Task
from difftrust_core.execution.execute import execute
from difftrust_core.execution.plan import Program
from difftrust_core.execution.validity import Jury
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.tiny import RIGHT, TASKS, candidates

HALF = Task(
    benchmark="tiny", task_id="tiny/half", entry_point="half", signature="(x)", description="", seed_inputs=("(1,)",)
)
HALVES = Program(tree_id="a", code="def half(x):\n    return 12 / x\n", n_candidates=1)
RAISES = Program(tree_id="b", code="def half(x):\n    raise ValueError\n", n_candidates=1)
BROKEN = Program(tree_id="c", code="def half(x:\n", n_candidates=3)
HANGS = Program(tree_id="d", code="def half(x):\n    while True:\n        pass\n", n_candidates=2)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(call_cpu=0.05, program_cpu=0.1)) as started:
        yield started


@pytest.mark.parametrize(
    ("programs", "valid"),
    [
        ((), [True, True]),  # nobody judges
        ((HALVES,), [True, False]),
        ((HALVES, RAISES), [True, False]),  # half of the candidates
        ((HALVES, BROKEN), [True, False]),  # one of one, for three do not load
        ((HALVES, HANGS), [False, False]),  # one of three
        ((BROKEN,), [True, True]),  # nobody is left to judge
    ],
)
def test_half_of_the_candidates_that_load_decide(
    sandbox: Sandbox, programs: tuple[Program, ...], valid: list[bool]
) -> None:
    jury = Jury(HALF, programs, sandbox)
    for _ in range(2):  # those that were dropped stay so
        assert jury.valid(["(4,)", "(0,)"]).tolist() == valid


def test_a_reference_that_does_not_load_accepts_nothing(sandbox: Sandbox) -> None:
    assert Jury(HALF, (BROKEN,), sandbox, dismisses=()).valid(["(4,)"]).tolist() == [False]


def test_candidates_that_do_not_load_reject_no_input(tmp_path: Path) -> None:
    broken = [{task.task_id: f"def {task.entry_point}(:{' ' * i}\n" for task in TASKS} for i in range(3)]
    store = Store.create(tmp_path / "store")
    add_candidates(store, candidates("coder", RIGHT, RIGHT, *broken), {"tiny": TASKS}, n_jobs=1)
    execute(store, n=20, validity="quorum", say=lambda line: None)
    attempts = store.read("inputs").filter(pl.col("task_id") == "tiny/double")["attempts"]
    assert attempts.to_list() == [1] * 20
