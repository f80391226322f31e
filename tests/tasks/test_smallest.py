"""Smallest inputs: shrunk pair by pair, valid and of the same kinds; their table made, resumed and read by cluster."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.shipped import find_results, find_starter_results
from difftrust.tasks import shrinking, smallest_inputs
from difftrust.tasks.clusters import Clustering, cluster_candidates
from difftrust.tasks.details import DISAGREEING, WRONG, SmallestInput, read_smallest, smallest_of
from difftrust.tasks.shrinking import RIGHT, Pair, Shrinking, Smallest
from difftrust.tasks.smallest_inputs import Places, Request, find_smallest
from difftrust.verify.verification import verify
from difftrust_core.base.records import Kind
from difftrust_core.base.task import Domain, Relation, Task
from difftrust_core.datasets.recorded import selection_of
from difftrust_core.estimates.pool import load_pool
from difftrust_core.estimates.refresh import refresh_estimates
from difftrust_core.exceptions import WrongUsage
from difftrust_core.execution.answers import Checker
from difftrust_core.execution.execute import execute
from difftrust_core.metrics.equality import Equality
from difftrust_core.sandbox.host import Limits, Sandbox
from difftrust_core.store.imports import add_candidates
from difftrust_core.store.store import Store
from tests.support.command import succeed
from tests.support.tasks import small_task
from tests.support.tiny import OTHER, TASKS, candidates, contents, executed, outcome, silent
from tests.support.tiny import RIGHT as SOLVED
from tests.support.tiny import WRONG as FAULTY

CODER = ("coder", 0.6)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Return a store that has no such table yet; no test changes it."""
    return executed(tmp_path_factory.mktemp("bare") / "store", n=60, coder=(SOLVED, SOLVED, FAULTY, OTHER))


def copied(store: Store, folder: Path) -> Store:
    return Store.open(shutil.copytree(store.root, folder / "store"))


def found_of_double(store: Store) -> tuple[Clustering, list[SmallestInput]]:
    pool = load_pool(store, "tiny")
    clustering = cluster_candidates(pool, "tiny/double", [CODER], m=4, n=60)
    return clustering, smallest_of(clustering, read_smallest(store, "tiny", "tiny/double"), pool)


@pytest.fixture(scope="module")
def store(bare: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = copied(bare, tmp_path_factory.mktemp("smallest"))
    find_smallest(store, Request())
    return store


def test_each_cluster_gets_its_smallest_wrong_and_disagreeing_input(store: Store) -> None:
    clustering, found = found_of_double(store)
    assert clustering.clusters[0].is_reference
    numbers = {cluster.members[CODER]: cluster.number for cluster in clustering.clusters}
    faulty, other = numbers[2,], numbers[3,]
    assert {(one.kind, one.first, one.second): one.arguments for one in found} == {
        (WRONG, faulty, 0): "(-1,)",  # 0 for negative numbers
        (WRONG, other, 0): "(1,)",  # the square
        (DISAGREEING, 1, faulty): "(-1,)",
        (DISAGREEING, 1, other): "(1,)",
    }
    codes = {0: SOLVED, 1: SOLVED, faulty: FAULTY, other: OTHER}
    for one in found:
        assert (one.is_smallest, one.place) == (True, None)
        assert [number for number, _, _ in one.outcomes] == [one.first, one.second]
        for number, _, text in one.outcomes:
            assert outcome(codes[number]["tiny/double"], "double", one.arguments) == ("int", text)


def test_what_is_there_is_not_made_again_and_the_store_verifies(store: Store) -> None:
    before = contents(store, "smallest")
    assert [Path(name).name for name in before] == ["smallest.parquet"]
    again = find_smallest(store, Request())
    assert (again.n_tasks, again.n_pairs, again.n_at_hand) == (0, 0, len(store.read("smallest")))
    assert contents(store, "smallest") == before
    assert verify(store).findings == ()


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(
    store: Store, bare: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = copied(bare, tmp_path)
    whole = smallest_inputs.run_smallest
    done: list[str] = []

    def one_task_then_stop(job: smallest_inputs._Job) -> object:
        if done:
            raise KeyboardInterrupt
        done.append(job.behaviours.task_id)
        return whole(job)

    monkeypatch.setattr(smallest_inputs, "run_smallest", one_task_then_stop)
    with pytest.raises(KeyboardInterrupt):
        find_smallest(stopped, Request())
    assert set(stopped.read("smallest")["task_id"]) == set(done)
    monkeypatch.undo()
    went_on = find_smallest(stopped, Request())
    assert (went_on.n_tasks, went_on.n_at_hand > 0) == (2, True)
    assert contents(stopped, "smallest") == contents(store, "smallest")


@pytest.mark.slow
def test_more_candidates_add_their_pairs_or_start_anew(store: Store, bare: Store, tmp_path: Path) -> None:
    other = copied(bare, tmp_path)
    first = find_smallest(other, Request(selection=selection_of(m=3)))
    more = find_smallest(other, Request(selection=selection_of(m=4)))
    assert more.n_at_hand == first.n_found > 0
    assert contents(other, "smallest") == contents(store, "smallest")
    # Rows get other numbers when there are more candidates, so what spoke of them goes.
    add_candidates(other, candidates("new", OTHER, OTHER, OTHER), {"tiny": TASKS}, n_jobs=1)
    execute(other, n=60, say=silent)
    refresh_estimates(other)
    assert other.read("smallest").is_empty()
    assert verify(other).findings == ()


def test_results_keep_the_table_are_not_filled_without_texts_and_those_from_before_have_none(
    store: Store, bare: Store, tmp_path: Path
) -> None:
    empty = export_results(bare, tmp_path / "bare")
    found = find_smallest(empty, Request())
    assert (found.n_tasks, found.without_texts) == (0, tuple(task.task_id for task in TASKS))
    assert empty.read("smallest").is_empty()
    results = export_results(store, tmp_path / "results")
    assert results.read("smallest").equals(store.read("smallest"))
    settings = results.settings()
    results.write_settings(replace(settings, tables=tuple(name for name in settings.tables if name != "smallest")))
    assert read_smallest(results, "tiny", "tiny/double").is_empty()
    assert found_of_double(results)[1] == []


def test_the_strict_comparison_reads_what_the_tolerant_one_found_and_a_task_must_be_known(store: Store) -> None:
    tolerant, strict = (read_smallest(store, "tiny", "tiny/total", equality=name) for name in ("paper", "strict"))
    assert not tolerant.is_empty()
    assert strict.equals(tolerant)
    with pytest.raises(WrongUsage, match="no two programs differ in tiny/nothing, or it is no task here"):
        find_smallest(store, Request(tasks=frozenset({"tiny/nothing"})))


def test_the_command_says_what_it_did(bare: Store, tmp_path: Path) -> None:
    root = copied(bare, tmp_path).root
    for said in ("8 of 8 inputs found, 8 of them as small as they get; 0 were there", "0 of 0 inputs found"):
        assert said in succeed("smallest", "--store", root, "--task", "tiny/double", "--task", "tiny/total", "-j", "1")


@pytest.mark.parametrize("find", [find_starter_results, find_results])
def test_the_shipped_stores_hold_small_inputs_inside_the_domains(find: Callable[[], Path]) -> None:
    shipped = Store.open(find())
    rows = shipped.read("smallest")
    inside = rows.filter(validity="domain")
    assert set(inside["place"]) == {"domain"}
    assert inside["is_smallest"].mean() > 0.8  # type: ignore[operator]
    assert inside["arguments"].str.len_chars().median() < 30  # type: ignore[operator]
    assert rows.filter(pl.col("first_kind") == "load_error").is_empty()
    assert sum(path.stat().st_size for path in shipped.files("smallest")) < 5e6


REFERENCE = "def total(items):\n    if not items:\n        raise ValueError\n    return sum(items)\n"
TASK = small_task("total", "(items: list[int]) -> int", seed_inputs=("([1, 2, 3],)",), reference=REFERENCE)
SKIPS_FIRST = "def total(items):\n    if not items:\n        raise ValueError\n    return sum(items[1:])\n"
ZERO = "def total(items):\n    return sum(items)\n"
BEYOND_NINE = "def total(items):\n    return sum(items) if sum(items) < 10 else -1\n"
LONG = "([17, 250, 3, 0, 90, 4],)"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Return a sandbox for all tests here."""
    with Sandbox(Limits()) as started:
        yield started


def shrunk(
    sandbox: Sandbox,
    codes: Mapping[int, str],
    pairs: Sequence[tuple[int, int]],
    inputs: Sequence[str] = (LONG,),
    *,
    task: Task = TASK,
    validity: str = "reference",
    checker: Checker | None = None,
) -> dict[tuple[int, int], Smallest]:
    work = Shrinking(
        task, codes, sandbox, validity=validity, equality=Equality.PAPER, checker=checker, places=Places(task, sandbox)
    )
    starts = tuple(range(len(inputs)))
    found = work.smallest([Pair(first=one, second=other, starts=starts) for one, other in pairs], list(inputs))
    return {(one.pair.first, one.pair.second): one for one in found}


def test_each_pair_that_differs_ends_on_its_own_smallest_input(sandbox: Sandbox) -> None:
    codes = {0: SKIPS_FIRST, 1: BEYOND_NINE, 2: ZERO, 3: ZERO + "\n"}
    found = shrunk(sandbox, codes, [(0, RIGHT), (1, RIGHT), (0, 1), (2, 3)])
    smallest = {(0, RIGHT): "([1],)", (1, RIGHT): "([10],)", (0, 1): "([1],)"}
    assert {pair: one.arguments for pair, one in found.items()} == smallest
    assert all(one.is_smallest for one in found.values())
    assert found[0, RIGHT].outcomes == ((Kind.VALUE, "0"), (Kind.VALUE, "1"))
    assert found[1, RIGHT].outcomes == ((Kind.VALUE, "-1"), (Kind.VALUE, "10"))


def test_an_input_stays_valid_by_the_policy(sandbox: Sandbox) -> None:
    # On [] the reference raises: under `reference` that is no input, under `all` it is the smallest.
    codes = {0: "def total(items):\n    return len(items)\n", 1: "def total(items):\n    return len(items) + 1\n"}
    assert shrunk(sandbox, codes, [(0, 1)])[0, 1].arguments == "([0],)"
    assert shrunk(sandbox, codes, [(0, 1)], validity="all")[0, 1].arguments == "([],)"


def test_inside_a_domain_it_stays_inside(sandbox: Sandbox) -> None:
    domain = Domain(types="items: list[int]", requires="len(items) >= 2 and all(v > 2 for v in items)")
    task = replace(TASK, domain=domain, seed_inputs=("([3, 3],)",))
    found = shrunk(sandbox, {0: SKIPS_FIRST}, [(0, RIGHT)], ["([17, 250, 30, 90, 4],)"], task=task, validity="domain")
    assert (found[0, RIGHT].arguments, found[0, RIGHT].is_smallest) == ("([3, 3],)", True)


def test_the_kinds_of_outcome_stay_as_they_were(sandbox: Sandbox) -> None:
    # On [] the two differ as well, by an exception; what was seen was two values.
    either = "def total(items):\n    return items[0] if len(items) < 3 else sum(items)\n"
    found = shrunk(sandbox, {0: ZERO, 1: either}, [(0, 1)], ["([5, 3],)"], validity="all")[0, 1]
    assert [kind for kind, _ in found.outcomes] == [Kind.VALUE] * 2
    assert found.arguments == "([0, 1],)"


HANGS = "def total(items):\n    while len(items) > 2: pass\n    return sum(items)\n"
LEAVES = "import os\ndef total(items):\n    if len(items) > 1: os._exit(0)\n    return 5\n"


@pytest.mark.parametrize("hostile", [HANGS, LEAVES], ids=["hangs", "leaves"])
def test_a_program_that_hangs_or_leaves_takes_nothing_along(hostile: str, sandbox: Sandbox) -> None:
    found = shrunk(sandbox, {0: hostile, 1: SKIPS_FIRST}, [(0, RIGHT), (1, RIGHT)])
    assert found[1, RIGHT].arguments == "([1],)"
    if hostile == HANGS:
        assert (found[0, RIGHT].arguments, found[0, RIGHT].is_smallest) == (LONG, False)
    else:
        assert found[0, RIGHT].outcomes[0][0] in (Kind.CRASH, Kind.VALUE)


def test_a_program_of_chance_is_not_called_smallest(sandbox: Sandbox) -> None:
    # It differs at most calls; what is found is run again, and what does not differ then is left out or goes back.
    chance = "import os\ndef total(items):\n    return sum(items) + os.urandom(1)[0] % 2\n"
    found = shrunk(sandbox, {0: chance, 1: SKIPS_FIRST}, [(0, RIGHT), (1, RIGHT)], [LONG, "([5, 5],)", "([7],)"])
    assert found[1, RIGHT].arguments == "([1],)"
    if (0, RIGHT) in found:
        one, other = found[0, RIGHT].outcomes
        assert one != other


def test_a_checker_says_what_is_right(sandbox: Sandbox) -> None:
    relation = Relation(accept="def accept(arguments, output):\n    return output in (sum(arguments[0]), 0)\n")
    task = replace(TASK, relation=relation, reference=None)
    with Sandbox(Limits()) as other:
        codes = {0: BEYOND_NINE, 1: SKIPS_FIRST}
        found = shrunk(
            sandbox, codes, [(0, RIGHT), (1, RIGHT)], task=task, validity="all", checker=Checker(task, other)
        )
    assert found[0, RIGHT].arguments == "([10],)"
    assert found[0, RIGHT].outcomes == ((Kind.VALUE, "-1"), None)
    assert found[1, RIGHT].arguments == "([1, 1],)"  # on one item it returns 0, which is accepted


def test_the_budget_ends_it(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinking, "MAX_CALLS", 1)
    found = shrunk(sandbox, {0: SKIPS_FIRST}, [(0, RIGHT)])
    assert (found[0, RIGHT].arguments, found[0, RIGHT].is_smallest) == (LONG, False)


def test_places_tell_types_from_conditions(sandbox: Sandbox) -> None:
    task = replace(TASK, domain=Domain(types="items: list[int]", requires="len(items) < 3"))
    inputs = ["([1],)", "([1, 2, 3],)", "(['a'],)", "('abc',)"]
    assert Places(task, sandbox).of(inputs) == ["domain", "outside", "types", "types"]
    assert Places(TASK, sandbox).of(inputs) == [None] * 4
    raises = replace(TASK, domain=Domain(types="items: list[int]", requires="items[0] > 0"))
    assert Places(raises, sandbox).of(["([],)", "([1],)"]) == ["outside", "domain"]
