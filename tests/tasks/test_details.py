"""What a store or its results say of a task, its behaviour clusters and splits."""

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.tasks.clusters import cells, cluster_candidates, splits
from difftrust.tasks.details import read_answers, read_arguments, read_outcomes, read_programs, read_task
from difftrust.tasks.task_view import view_task
from difftrust_core.estimates.pool import Coder, Members, Pool, compress, load_pool
from difftrust_core.exceptions import BadStore, TooFewCandidates, WrongUsage
from difftrust_core.store.store import REFERENCE, Store
from tests.estimates.test_ablation import members
from tests.support.tiny import OTHER, RIGHT, WRONG, executed, outcome

N = 30
M1, M2 = ("one", 0.6), ("two", 0.6)
TASK = "tiny/double"


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Store:
    root = tmp_path_factory.mktemp("evidence") / "store"
    return executed(root, n=N, one=(RIGHT, WRONG, OTHER), two=(RIGHT, RIGHT))


@pytest.fixture(scope="module")
def results(full: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return export_results(full, tmp_path_factory.mktemp("small") / "results")


def test_the_description_is_what_was_asked_for_and_programs_are_as_recorded(full: Store, results: Store) -> None:
    found = read_task(full, "tiny", TASK)
    assert (found.entry_point, found.signature, found.description) == ("double", "(x: int) -> int", "Return twice x.")
    assert found.reference == RIGHT[TASK]
    programs = read_programs(full, "tiny", TASK, [M1, M2])
    assert programs.frame.height == 5
    assert (programs.code(M1, 1), programs.code(M1, 9)) == (WRONG[TASK], None)
    assert programs.smallest({M1: (0, 1, 2), M2: (0,)}) == (M1, 0)  # "return 2 * x" is the shortest, of one's first
    assert read_task(results, "tiny", TASK) is None
    assert read_programs(results, "tiny", TASK, [M1]).frame.is_empty()


def test_outcomes_are_those_of_running_the_program_here(full: Store) -> None:
    arguments = read_arguments(full, "tiny", TASK)
    tree = read_programs(full, "tiny", TASK, [M1]).tree(M1, 2)
    found = read_outcomes(full, "tiny", TASK, trees=[tree])
    assert found["input_index"].to_list() == list(range(N)) == sorted(arguments)
    for index, kind, text in found.select("input_index", "kind", "text").iter_rows():
        expected = outcome(OTHER[TASK], "double", arguments[index])
        assert (kind, text) == (("exception", expected) if isinstance(expected, str) else ("value", expected[1]))


def test_answers_are_the_same_from_the_results_alone_where_these_know_them(full: Store, results: Store) -> None:
    answers = []
    for store in (full, results):
        pool = load_pool(store, "tiny")
        clustering = cluster_candidates(pool, TASK, [M1, M2], m=None, n=N)
        found = read_answers(store, pool, clustering, read_programs(store, "tiny", TASK, [M1, M2]))
        answers.append({row[:2]: row[2:] for row in found.iter_rows()})
    whole, few = answers
    assert len(whole) == N * 4
    assert few.items() <= whole.items()
    assert {cluster for cluster, _ in few} == {0, 1, 2, 3}


def test_telling_inputs_part_most_and_are_the_shortest_of_their_kind(full: Store, results: Store) -> None:
    pool = load_pool(full, "tiny")
    view = view_task(full, pool, TASK, [M1, M2], m=None, n=N)
    assert len(view.telling) == len(view.splits)
    assert [len(one.groups) for one in view.telling.values()] == sorted(len(s.groups) for s in view.splits)[::-1]
    for index, one in view.telling.items():
        assert len(view.arguments[index]) == min(len(view.arguments[i]) for i in one.inputs)
    few = view_task(results, load_pool(results, "tiny"), TASK, [M1, M2], m=None, n=N)
    assert 0 < len(few.telling) <= len(few.arguments)


def test_a_damaged_file_is_named(full: Store, tmp_path: Path) -> None:
    store = Store.open(shutil.copytree(full.root, tmp_path / "damaged"))
    (path,) = (store.root / "outcomes").rglob("tiny_double.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadStore, match=r"tiny_double.parquet is damaged"):
        read_outcomes(store, "tiny", TASK, trees=[REFERENCE])
    assert isinstance(read_arguments(store, "tiny", TASK), dict)
    assert read_outcomes(full, "tiny", "tiny/none", trees=[REFERENCE]).schema["text"] == pl.String


A, B = ("a", 0.6), ("b", 0.6)
# Rows: the reference's behaviour, one that differs on input 1, one on 1 and 4, one that differs on 5 only.
LABELS = np.array([[0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]], dtype=np.uint16)


def pool_of(labels: np.ndarray, members: dict[Coder, Members]) -> Pool:
    kinds = np.zeros(labels.shape, dtype=np.uint8)
    task = compress("t", {"paper": labels, "strict": labels}, kinds, reach=np.array([6, 6, 6, 5]), reference=0)
    return Pool(benchmark="x", equality="paper", tasks=(task,), members=members)


@pytest.fixture
def pool() -> Pool:
    return pool_of(LABELS, {A: members([[1, 1, 2]]), B: members([[0, 1]])})


def test_clusters_are_ordered_by_size_and_know_their_members_splits_and_cells(pool: Pool) -> None:
    found = cluster_candidates(pool, "t", [A, B], m=None, n=6)
    assert [(c.number, c.members, c.is_reference, c.n_wrong) for c in found.clusters] == [
        (1, {A: (0, 1), B: (1,)}, False, 1),
        (2, {A: (2,)}, False, 2),
        (3, {B: (0,)}, True, 0),
    ]
    assert found.on_inputs.tolist() == [[0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]
    made = splits(found)
    told = [((1,), ((1, 2), (3,)), 1), ((4,), ((1, 3), (2,)), 0)]
    assert [(split.inputs, split.groups, split.reference_group) for split in made] == told
    table = cells(found, made)
    assert table.select("cluster", "first", "last", "rank").rows() == [
        *((1, 0, 3, 0), (2, 3, 4, 0), (3, 4, 5, 1)),
        *((1, 0, 3, 0), (2, 3, 4, 1), (3, 4, 5, 0)),
    ]
    assert table.select("place", "input_index").rows() == [(0, 1)] * 3 + [(1, 4)] * 3


def test_no_order_tells_which_cluster_the_reference_is_in(pool: Pool) -> None:
    swapped = LABELS[[2, 1, 0, 3]]  # the reference behaves like A's last candidate, and both rows have one candidate
    other = pool_of(swapped, {A: members([[1, 1, 0]]), B: members([[2, 1]])})
    here, there = (cluster_candidates(each, "t", [A, B], m=None, n=6) for each in (pool, other))
    assert [c.members for c in here.clusters] == [c.members for c in there.clusters]
    assert [c.is_reference for c in here.clusters] != [c.is_reference for c in there.clusters]
    assert {s.inputs: s.groups for s in splits(here)} == {s.inputs: s.groups for s in splits(there)}


def test_fewer_inputs_merge_behaviours_and_fewer_programs_are_the_first_of_each_coder(pool: Pool) -> None:
    found = cluster_candidates(pool, "t", [A, B], m=None, n=4)
    assert [(c.n_candidates, c.is_reference) for c in found.clusters] == [(4, False), (1, True)]
    (only,) = splits(found)
    assert (only.inputs, only.groups, only.reference_group) == ((1,), ((1,), (2,)), 1)
    found = cluster_candidates(pool, "t", [A, B], m=1, n=6)
    assert [dict(c.members) for c in found.clusters] == [{A: (0,)}, {B: (0,)}]


def test_what_was_not_executed_so_far_is_refused_with_what_was(pool: Pool) -> None:
    pool.members[A].row[2] = 3  # known on 5 inputs only
    for n in (6, 0, -7):
        with pytest.raises(WrongUsage, match=f"executed on 5 inputs by all these programs, not {n};"):
            cluster_candidates(pool, "t", [A], m=None, n=n)
    with pytest.raises(WrongUsage, match="no task u"):
        cluster_candidates(pool, "u", [A], m=None, n=6)
    with pytest.raises(TooFewCandidates):
        cluster_candidates(pool, "t", [], m=None, n=6)
