"""From released layouts to verdicts: right programs never fail or disagree, wrong ones are found as their case says."""

import pytest

from difftrust_core.base.records import Kind
from difftrust_core.estimates.behaviours import load_matrix
from difftrust_core.languages.registry import load_language
from difftrust_core.store.store import REFERENCE, Store
from tests.contests.layouts import NAMES, ContestCase, load_cases, task_id, write_layout, write_samples
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


def outcomes_of(store: Store, case: ContestCase, validity: str, equality: str) -> dict[str, list[int]]:
    """Return of the reference, called "", and of each program the outcomes on the task's tests, or on further inputs.

    ``equality``: or "kinds".
    """
    where = {"benchmark": NAMES[case.layout], "validity": validity}
    matrix = load_matrix(store, where, task_id(case), [0])
    table = matrix.kinds if equality == "kinds" else matrix.labels[equality]
    language = load_language("python" if case.function else "stdin")
    trees = {"": REFERENCE, **{program.name: language.tree_id(program.code) for program in case.programs}}
    return {name: table[matrix.row_of[tree]].tolist() for name, tree in trees.items() if tree in matrix.row_of}


@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_by_tests(store: Store, equality: str) -> None:
    for case in CASES:
        found = outcomes_of(store, case, "tests", equality)
        failing = {program.name for program in case.programs if found[program.name] != found[""]}
        assert failing == {program.name for program in case.programs if program.found == "tests"}, case.name


@pytest.mark.parametrize("equality", ["paper", "strict"])
def test_on_further_inputs(store: Store, equality: str) -> None:
    for case in CASES:
        found = outcomes_of(store, case, "domain", equality)
        right = {program.name for program in case.programs if program.right}
        disagreeing = {program.name for program in case.programs if found[program.name] != found[min(right)]}
        assert disagreeing.isdisjoint(right), case.name
        assert disagreeing.issuperset(program.name for program in case.programs if program.found == "fuzz"), case.name


def test_only_slow_programs_run_out_of_time(store: Store) -> None:
    for case in CASES:
        found = outcomes_of(store, case, "tests", "kinds")
        slow = {program.name for program in case.programs if int(Kind.TIMEOUT) in found[program.name]}
        assert slow == ({"minute_by_minute"} if case.name == "lit_minutes" else set()), case.name
