"""Behaviour clusters and splits of a task by hand: two coders, five programs, six inputs."""

import numpy as np
import pytest

from difftrust.tasks.clusters import cells, cluster_candidates, splits
from difftrust_core.estimates.pool import Coder, Members, Pool, compress
from difftrust_core.exceptions import TooFewCandidates, WrongUsage
from tests.estimates.test_ablation import members

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
    assert [(c.number, c.n_candidates, c.is_reference, c.n_wrong) for c in found.clusters] == [
        (1, 3, False, 1),
        (2, 1, False, 2),
        (3, 1, True, 0),
    ]
    assert found.clusters[0].members == {A: (0, 1), B: (1,)}
    assert found.clusters[2].members == {B: (0,)}
    assert found.on_inputs.tolist() == [[0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0]]
    first, second = splits(found)
    assert (first.inputs, first.groups, first.reference_group) == ((1,), ((1, 2), (3,)), 1)
    assert (second.inputs, second.groups, second.reference_group) == ((4,), ((1, 3), (2,)), 0)
    table = cells(found, [first, second])
    assert table.select("cluster", "first", "last", "place", "input_index", "rank").rows() == [
        (1, 0, 3, 0, 1, 0),
        (2, 3, 4, 0, 1, 0),
        (3, 4, 5, 0, 1, 1),
        (1, 0, 3, 1, 4, 0),
        (2, 3, 4, 1, 4, 1),
        (3, 4, 5, 1, 4, 0),
    ]


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
