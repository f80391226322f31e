"""Cluster one task's candidates by behaviour, and find the inputs on which the clusters disagree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.analysis.ablation.compact import CompactTask
from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.base.records import Coder, Kind
from difftrust_core.exceptions import TooFewCandidates, WrongUsage

Labels = NDArray[np.uint16]
Ints = NDArray[np.int64]
_CELLS = ("cluster", "n_candidates", "first", "last", "place", "input_index", "n_inputs", "rank")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Candidates with equal outcomes on all n inputs."""

    number: int
    """1, 2, ...: the largest first, of equally large ones the one of the first coder and sample; those that do not load
    last. Nothing in this order depends on the reference."""
    row: int
    """Row of one of its behaviours within the task, the one of most candidates."""
    members: Mapping[Coder, tuple[int, ...]]
    """Coder -> sample indices."""
    is_reference: bool
    """Whether the reference behaves so too."""
    n_wrong: int | None
    """Inputs on which it differs from the reference; None without a reference."""
    loads: bool = True
    """Whether its programs load. Those that do not failed, which is seen without a reference; they do not agree."""

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
    kinds: NDArray[np.uint8]
    """(n_clusters, n_patterns): ``records.Kind``."""
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


@dataclass(frozen=True, kw_only=True)
class Split:
    """Inputs that split the candidates into the same groups."""

    pattern: int
    inputs: tuple[int, ...]
    """Their indices, ascending."""
    groups: tuple[tuple[int, ...], ...]
    """Numbers of the clusters that agree here, the group of most candidates first, then that of the first cluster."""
    labels: tuple[int, ...]
    """The outcome class of each group."""
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
    if n > len(task.pattern_of_input) or any(task.reach[row] < n for row in rows):
        reach = min(int(task.reach[row]) for row in rows)
        raise WrongUsage(f"{task_id} was executed on {reach:,} inputs by all these programs, not {n:,}; choose fewer")
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
    width = int(pattern_of_input.max()) + 1  # patterns are numbered as they appear
    labels = task.labels[equality][:, :width]
    weights = np.bincount(pattern_of_input, minlength=width)
    rows_of: dict[bytes, list[int]] = {}
    for row in sorted(members, key=lambda row: (-_size(members[row]), row)):
        rows_of.setdefault(labels[row].tobytes(), []).append(row)
    merged = [(rows, _joined([members[row] for row in rows])) for rows in rows_of.values()]
    loads = task.kinds[:, 0] != Kind.LOAD_ERROR
    merged.sort(key=lambda pair: (not loads[pair[0][0]], -_size(pair[1]), sorted(pair[1].items())))
    truth = None if task.reference is None else labels[task.reference]
    wrong = [None if truth is None else int(weights[labels[rows[0]] != truth].sum()) for rows, _ in merged]
    leaders = [rows[0] for rows, _ in merged]
    return Clustering(
        task_id=task.task_id,
        n=n,
        clusters=tuple(
            Cluster(
                number=i + 1,
                row=rows[0],
                members=own,
                is_reference=wrong[i] == 0,
                n_wrong=wrong[i],
                loads=bool(loads[rows[0]]),
            )
            for i, (rows, own) in enumerate(merged)
        ),
        labels=labels[leaders],
        kinds=task.kinds[leaders, :width],
        reference_labels=truth,
        pattern_of_input=pattern_of_input,
    )


def _size(members: Mapping[Coder, tuple[int, ...]]) -> int:
    return sum(map(len, members.values()))


def _joined(parts: Sequence[Mapping[Coder, tuple[int, ...]]]) -> dict[Coder, tuple[int, ...]]:
    coders = sorted({coder for part in parts for coder in part})
    return {coder: tuple(sorted(i for part in parts for i in part.get(coder, ()))) for coder in coders}


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
        inputs=tuple(np.flatnonzero(clustering.pattern_of_input == pattern).tolist()),
        groups=tuple(tuple((np.flatnonzero(column == label) + 1).tolist()) for label in labels),
        labels=tuple(labels),
        reference_group=labels.index(truth) if truth in labels else None,
    )


def cells(clustering: Clustering, found: Sequence[Split]) -> pl.DataFrame:
    """Return which outcome each cluster has on each split: a row a (cluster, split), splits in their order.

    Columns: cluster, n_candidates, first and last (the places of its candidates, all of them below each other), place
    of the split, input_index (its first), n_inputs, rank (0: the outcome of most candidates there).
    """
    last = np.cumsum(clustering.counts).tolist()
    rows = [
        {
            "cluster": number,
            "n_candidates": clustering.clusters[number - 1].n_candidates,
            "first": last[number - 1] - clustering.clusters[number - 1].n_candidates,
            "last": last[number - 1],
            "place": place,
            "input_index": split.inputs[0],
            "n_inputs": len(split.inputs),
            "rank": rank,
        }
        for place, split in enumerate(found)
        for rank, group in enumerate(split.groups)
        for number in group
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(_CELLS, pl.Int64)).sort("place", "cluster")
