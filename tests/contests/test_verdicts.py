"""From released layouts to verdicts: right programs never fail or disagree, wrong ones are found as their case says."""

import numpy as np
import pytest
from numpy.typing import NDArray

from difftrust_core.base.records import Kind
from difftrust_core.estimates.behaviours import Matrix, load_matrix
from difftrust_core.languages.registry import load_language
from difftrust_core.store.store import REFERENCE, Store
from tests.contests.case import ContestCase, Program, load_cases
from tests.contests.layouts import NAMES, task_id, write_layout, write_samples
from tests.support.command import succeed

pytestmark = pytest.mark.slow

N_INPUTS = 60
CASES = load_cases()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Import and execute the programs of the cases by the command line."""
    root = tmp_path_factory.mktemp("judged")
    tasks, store = root / "tasks", root / "store"
    tasks.mkdir()
    for layout in NAMES:
        write_layout(tasks / f"{layout}.jsonl", layout, CASES)
    samples = write_samples(root / "samples.jsonl", CASES)
    succeed("import", samples, "--tasks", tasks, "--model", "own", "--temperature", 0, "--store", store)
    succeed("execute", "--store", store, "-n", N_INPUTS, "--jobs", 2)
    return Store.open(store)


def matrix_of(store: Store, case: ContestCase, validity: str) -> Matrix:
    """Return the outcomes on the task's tests, or on further inputs."""
    return load_matrix(store, {"benchmark": NAMES[case.layout], "validity": validity}, task_id(case), [0])


@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_by_tests(store: Store, equality: str) -> None:
    for case in CASES:
        matrix = matrix_of(store, case, "tests")
        answers = matrix.labels[equality][matrix.row_of[REFERENCE]]
        failing = {p.name for p in case.programs if (_labels(matrix, case, p, equality) != answers).any()}
        assert failing == {p.name for p in case.programs if p.found == "tests"}, case.name


@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_on_further_inputs(store: Store, equality: str) -> None:
    for case in CASES:
        matrix = matrix_of(store, case, "domain")
        right = next(program for program in case.programs if program.right)
        agreed = _labels(matrix, case, right, equality)
        disagreeing = {p.name for p in case.programs if (_labels(matrix, case, p, equality) != agreed).any()}
        assert disagreeing.isdisjoint(p.name for p in case.programs if p.right), case.name
        assert disagreeing.issuperset(p.name for p in case.programs if p.found == "fuzz"), case.name


def test_only_slow_programs_run_out_of_time(store: Store) -> None:
    for case in CASES:
        matrix = matrix_of(store, case, "tests")
        slow = {p.name for p in case.programs if (matrix.kinds[_row(matrix, case, p)] == int(Kind.TIMEOUT)).any()}
        assert slow == ({"minute_by_minute"} if case.name == "lit_minutes" else set()), case.name


def _labels(matrix: Matrix, case: ContestCase, program: Program, equality: str) -> NDArray[np.uint16]:
    return matrix.labels[equality][_row(matrix, case, program)]


def _row(matrix: Matrix, case: ContestCase, program: Program) -> int:
    return matrix.row_of[load_language("python" if case.function else "stdin").tree_id(program.code)]
