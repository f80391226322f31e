"""From released layouts to verdicts: right programs never fail or disagree, wrong ones are found as their case says."""

from dataclasses import dataclass

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
ALL = load_cases()
FEW = [case for case in ALL if case.name in ("parcel_shelves", "ring_of_towns", "spring")]


@dataclass(frozen=True)
class Judged:
    """A store in which the programs of some cases were executed."""

    cases: list[ContestCase]
    store: Store

    def matrix(self, case: ContestCase, validity: str) -> Matrix:
        """Return the outcomes on the task's tests, or on further inputs."""
        return load_matrix(self.store, {"benchmark": NAMES[case.layout], "validity": validity}, task_id(case), [0])


@pytest.fixture(
    scope="module", params=[pytest.param(FEW, id="few"), pytest.param(ALL, id="all", marks=pytest.mark.slow)]
)
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Import and execute by the command line."""
    root = tmp_path_factory.mktemp("judged")
    tasks, store = root / "tasks", root / "store"
    tasks.mkdir()
    for layout in NAMES:
        write_layout(tasks / f"{layout}.jsonl", layout, request.param)
    samples = write_samples(root / "samples.jsonl", request.param)
    succeed("import", samples, "--tasks", tasks, "--model", "own", "--temperature", 0, "--store", store)
    succeed("execute", "--store", store, "-n", N_INPUTS, "--jobs", 2)
    return Judged(request.param, Store.open(store))


@pytest.mark.slow
@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_by_tests(judged: Judged, equality: str) -> None:
    for case in judged.cases:
        matrix = judged.matrix(case, "tests")
        answers = matrix.labels[equality][matrix.row_of[REFERENCE]]
        failing = {p.name for p in case.programs if (_labels(matrix, case, p, equality) != answers).any()}
        assert failing == {p.name for p in case.programs if p.found == "tests"}, case.name


@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_on_further_inputs(judged: Judged, equality: str) -> None:
    for case in judged.cases:
        matrix = judged.matrix(case, "domain")
        right = next(program for program in case.programs if program.right)
        agreed = _labels(matrix, case, right, equality)
        disagreeing = {p.name for p in case.programs if (_labels(matrix, case, p, equality) != agreed).any()}
        assert disagreeing.isdisjoint(p.name for p in case.programs if p.right), case.name
        assert disagreeing.issuperset(p.name for p in case.programs if p.found == "fuzz"), case.name


def test_only_slow_programs_run_out_of_time(judged: Judged) -> None:
    for case in judged.cases:
        matrix = judged.matrix(case, "tests")
        slow = {p.name for p in case.programs if (matrix.kinds[_row(matrix, case, p)] == int(Kind.TIMEOUT)).any()}
        assert slow == ({"minute_by_minute"} if case.name == "lit_minutes" else set()), case.name


def _labels(matrix: Matrix, case: ContestCase, program: Program, equality: str) -> NDArray[np.uint16]:
    return matrix.labels[equality][_row(matrix, case, program)]


def _row(matrix: Matrix, case: ContestCase, program: Program) -> int:
    return matrix.row_of[load_language("python" if case.function else "stdin").tree_id(program.code)]
