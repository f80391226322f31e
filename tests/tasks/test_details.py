"""What a store says of a task, from a store that was executed and from its results alone."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from difftrust.export import export_results
from difftrust.tasks.clusters import cluster_candidates
from difftrust.tasks.details import read_answers, read_arguments, read_outcomes, read_programs, read_task
from difftrust.tasks.task_view import view_task
from difftrust_core.estimates.pool import load_pool
from difftrust_core.exceptions import BadStore
from difftrust_core.store.store import REFERENCE, Store
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


def test_the_description_is_what_was_asked_for(full: Store, results: Store) -> None:
    found = read_task(full, "tiny", TASK)
    assert (found.entry_point, found.signature, found.description) == ("double", "(x: int) -> int", "Return twice x.")
    assert found.reference == RIGHT[TASK]
    assert read_task(results, "tiny", TASK) is None


def test_programs_are_as_recorded(full: Store, results: Store) -> None:
    found = read_programs(full, "tiny", TASK, [M1, M2])
    assert found.frame.height == 5
    assert found.code(M1, 1) == WRONG[TASK]
    assert found.code(M1, 9) is None
    assert found.smallest({M1: (0, 1, 2), M2: (0,)}) == (M1, 0)  # "return 2 * x" is the shortest, of one's first
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
    answers = {}
    for store in (full, results):
        pool = load_pool(store, "tiny")
        clustering = cluster_candidates(pool, TASK, [M1, M2], m=None, n=N)
        assert [c.n_candidates for c in clustering.clusters] == [3, 1, 1]
        found = read_answers(store, pool, clustering, read_programs(store, "tiny", TASK, [M1, M2]))
        answers[store.root] = {row[:2]: row[2:] for row in found.iter_rows()}
    whole, few = answers[full.root], answers[results.root]
    assert len(whole) == N * 4
    assert few
    assert {key: whole[key] for key in few} == few
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


@pytest.mark.quick(3)
def test_a_damaged_file_is_named(full: Store, tmp_path: Path) -> None:
    root = tmp_path / "damaged"
    shutil.copytree(full.root, root)
    (path,) = (root / "outcomes").rglob("tiny_double.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadStore, match=r"tiny_double.parquet is damaged"):
        read_outcomes(Store.open(root), "tiny", TASK, trees=[REFERENCE])
    assert isinstance(read_arguments(Store.open(root), "tiny", TASK), dict)
    assert read_outcomes(full, "tiny", "tiny/none", trees=[REFERENCE]).schema["text"] == pl.String
