"""Cluster one task's candidates by behaviour, and find the inputs on which the clusters disagree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.base.records import Coder, Kind
from difftrust_core.estimates.pool import CompactTask, Ints, Labels, Pool
from difftrust_core.exceptions import TooFewCandidates, WrongUsage

_CELLS = ("cluster", "n_candidates", "first", "last", "place", "input_index", "n_inputs", "rank")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Candidates with equal outcomes on all n inputs."""

    number: int
    """1, 2, ...: the largest first, of equally large ones the one of the first coder and sample; those that do not load
    last. Nothing in this order depends on the reference."""
    members: Mapping[Coder, tuple[int, ...]]
    """Coder -> sample indices."""
    n_wrong: int | None
    """Inputs on which it differs from the reference; None without a reference."""
    loads: bool = True
    """Whether its programs load. Those that do not failed, which is seen without a reference; they do not agree."""

    @property
    def is_reference(self) -> bool:
        """Tell whether the reference behaves so too."""
        return self.n_wrong == 0

    @property
    def n_candidates(self) -> int:
        """Return how many candidates it has."""
        return sum(map(len, self.members.values()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Clustering:
    """The clusters of a task. A *pattern* is one kind of input: those on which the same behaviours agree."""

    task_id: str
    n: int
    clusters: tuple[Cluster, ...]
    labels: Labels
    """(n_clusters, n_patterns): equal in a column if the outcomes are."""
    reference_labels: Labels | None
    """(n_patterns,)."""
    pattern_of_input: NDArray[np.uint16]
    """(n,)."""

    @property
    def counts(self) -> Ints:
        """Return the candidates of each cluster: (n_clusters,)."""
        return np.array([cluster.n_candidates for cluster in self.clusters], dtype=np.int64)

    @property
    def on_inputs(self) -> Labels:
        """Return the outcome classes on each input: (n_clusters, n)."""
        return self.labels[:, self.pattern_of_input]

    def inputs_of(self, pattern: int) -> list[int]:
        """Return the inputs of a pattern, ascending."""
        return np.flatnonzero(self.pattern_of_input == pattern).tolist()

    def wrong_patterns(self) -> list[int]:
        """Return the patterns on which a cluster differs from the reference; none without one."""
        truth = self.reference_labels
        return [] if truth is None else np.flatnonzero((self.labels != truth).any(axis=0)).tolist()

    def wrong_on(self, pattern: int) -> list[int]:
        """Return the numbers of the clusters that differ from the reference on a pattern."""
        assert self.reference_labels is not None
        return (np.flatnonzero(self.labels[:, pattern] != self.reference_labels[pattern]) + 1).tolist()


@dataclass(frozen=True, kw_only=True)
class Split:
    """Inputs that split the candidates into the same groups."""

    pattern: int
    inputs: tuple[int, ...]
    """Their indices, ascending."""
    groups: tuple[tuple[int, ...], ...]
    """Numbers of the clusters that agree here, the group of most candidates first, then that of the first cluster."""
    reference_group: int | None
    """The group that agrees with the reference here; None without one, or if no candidate does."""


def cluster_candidates(pool: Pool, task_id: str, coders: Sequence[Coder], *, m: int | None, n: int) -> Clustering:
    """Return the clusters of the first m candidates of each coder on the first n inputs of a task.

    Raises WrongUsage for another task, or if a candidate or the reference was not executed on n inputs,
    TooFewCandidates if no coder has a candidate.
    """
    index = next((i for i, task in enumerate(pool.tasks) if task.task_id == task_id), None)
    if index is None:
        raise WrongUsage(f"{pool.benchmark} has no task {task_id}; its tasks: {pool.tasks[0].task_id}, ...")
    task = pool.tasks[index]
    members = _members_of_rows(pool, index, coders, m)
    if not members:
        raise TooFewCandidates(f"{task_id} has no candidate of these models; choose others")
    rows = sorted(members) + ([] if task.reference is None else [task.reference])
    reach = min(len(task.pattern_of_input), *(int(task.reach[row]) for row in rows))
    if not 0 < n <= reach:
        raise WrongUsage(
            f"{task_id} was executed on {reach:,} inputs by all these programs, not {n:,}; choose 1 to {reach:,}"
        )
    return _clustering(task, pool.equality, members, n)


def _members_of_rows(
    pool: Pool, index: int, coders: Sequence[Coder], m: int | None
) -> dict[int, dict[Coder, tuple[int, ...]]]:
    found: dict[int, dict[Coder, tuple[int, ...]]] = {}
    for coder in coders:
        own = pool.of(coder).first(m)
        own = own.where(own.task == index)
        for row in np.unique(own.row).tolist():
            found.setdefault(row, {})[coder] = tuple(own.sample_index[own.row == row].tolist())
    return found


def _clustering(
    task: CompactTask, equality: str, members: Mapping[int, Mapping[Coder, tuple[int, ...]]], n: int
) -> Clustering:
    """Merge the rows that are equal on the patterns that the n inputs use, and order them."""
    pattern_of_input = task.pattern_of_input[:n]
    labels = task.labels[equality][:, : int(pattern_of_input.max()) + 1]  # patterns are numbered as they appear
    merged: dict[bytes, tuple[int, dict[Coder, tuple[int, ...]]]] = {}
    for row in sorted(members):
        _, own = merged.setdefault(labels[row].tobytes(), (row, {}))
        for coder, indices in members[row].items():
            own[coder] = tuple(sorted((*own.get(coder, ()), *indices)))
    truth = None if task.reference is None else labels[task.reference]
    loads = task.kinds[:, 0] != Kind.LOAD_ERROR
    rows = sorted(
        merged.values(), key=lambda one: (not loads[one[0]], -sum(map(len, one[1].values())), sorted(one[1].items()))
    )
    wrong = [None if truth is None else int((labels[row] != truth)[pattern_of_input].sum()) for row, _ in rows]
    clusters = tuple(
        Cluster(
            number=number,
            members=dict(sorted(own.items())),
            n_wrong=n_wrong,
            loads=bool(loads[row]),
        )
        for number, ((row, own), n_wrong) in enumerate(zip(rows, wrong, strict=True), 1)
    )
    return Clustering(
        task_id=task.task_id,
        n=n,
        clusters=clusters,
        labels=labels[[row for row, _ in rows]],
        reference_labels=truth,
        pattern_of_input=pattern_of_input,
    )


def splits(clustering: Clustering) -> list[Split]:
    """Return the ways in which inputs split the clusters: most groups first, then most inputs, then the first input."""
    found = [
        _split(clustering, pattern)
        for pattern in range(clustering.labels.shape[1])
        if (clustering.labels[:, pattern] != clustering.labels[0, pattern]).any()
    ]
    return sorted(found, key=lambda split: (-len(split.groups), -len(split.inputs), split.inputs[0]))


def _split(clustering: Clustering, pattern: int) -> Split:
    column, counts = clustering.labels[:, pattern], clustering.counts
    labels = list(dict.fromkeys(column.tolist()))  # by the first cluster: a label's number may tell the reference's
    labels.sort(key=lambda label: -int(counts[column == label].sum()))
    truth = None if clustering.reference_labels is None else int(clustering.reference_labels[pattern])
    return Split(
        pattern=pattern,
        inputs=tuple(clustering.inputs_of(pattern)),
        groups=tuple(tuple((np.flatnonzero(column == label) + 1).tolist()) for label in labels),
        reference_group=labels.index(truth) if truth in labels else None,
    )


def cells(clustering: Clustering, found: Sequence[Split]) -> pl.DataFrame:
    """Return which outcome each cluster has on each split: a row a (cluster, split), splits in their order.

    Columns: cluster, n_candidates, first and last (the places of its candidates, all of them below each other), place
    of the split, input_index (its first), n_inputs, rank (0: the outcome of most candidates there).
    """
    last = np.cumsum(clustering.counts).tolist()
    rows = [
        (number, size, last[number - 1] - size, last[number - 1], place, split.inputs[0], len(split.inputs), rank)
        for place, split in enumerate(found)
        for rank, group in enumerate(split.groups)
        for number in group
        for size in [clustering.clusters[number - 1].n_candidates]
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(_CELLS, pl.Int64), orient="row").sort("place", "cluster")
