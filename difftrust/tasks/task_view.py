"""One task of a store: clusters of equal behaviour, inputs on which programs disagree or are wrong, programs."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import polars as pl

from difftrust.results import Figure, Table
from difftrust.tasks.clusters import Clustering, Split, cluster_candidates, splits
from difftrust.tasks.details import (
    Described,
    Programs,
    SmallestInput,
    read_answers,
    read_arguments,
    read_programs,
    read_smallest,
    read_task,
    smallest_of,
)
from difftrust.tasks.task_sentences import headline, statements_of
from difftrust_core.base.records import Coder, Validity
from difftrust_core.datasets.entries import shipped_domains
from difftrust_core.estimates.pool import Pool
from difftrust_core.store.store import Store

REFERENCE_CLUSTER = 0
"""Number under which the reference's outcomes stand among those of the clusters."""


_DISAGREEING: Final[dict[str, Any]] = {
    "input_index": pl.Int64,
    "arguments": pl.String,
    "clusters": pl.List(pl.Int64),
    "n_candidates": pl.Int64,
    "kind": pl.String,
    "text": pl.String,
    "is_reference": pl.Boolean,
    "n_inputs": pl.Int64,
}
_CLUSTERS: Final[dict[str, Any]] = {
    **{"cluster": pl.Int64, "n_candidates": pl.Int64, "models": pl.String},
    **{"loads": pl.Boolean, "is_reference": pl.Boolean, "n_wrong": pl.Int64},
}
_PROGRAMS: Final[dict[str, Any]] = {
    **{"cluster": pl.Int64, "model": pl.String, "temperature": pl.Float64},
    **{"sample_index": pl.Int64, "code": pl.String},
}
_WRONG: Final[dict[str, Any]] = {
    "cluster": pl.Int64,
    "input_index": pl.Int64,
    "arguments": pl.String,
    "kind": pl.String,
    "text": pl.String,
    "reference_kind": pl.String,
    "reference_text": pl.String,
    "all_agree": pl.Boolean,
    "n_inputs": pl.Int64,
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TaskView:
    """One task as chosen; every part shows itself and has its ``frame``."""

    task_id: str
    statements: tuple[str, ...]
    """What the inputs show about these programs and their models."""
    task: Described | None
    """What was asked for; None where neither the store nor this machine holds it."""
    clustering: Clustering
    splits: list[Split]
    """The ways in which inputs split the clusters."""
    arguments: Mapping[int, str]
    """Input index -> arguments, as far as the store holds them."""
    answers: pl.DataFrame
    """What each cluster does on these inputs: cluster (0: the reference), input_index, kind, text."""
    texts: Programs
    """The candidates' texts; none where neither the store nor this machine holds them."""
    smallest: Sequence[SmallestInput] = ()
    """The smallest inputs found on which a cluster differs from the reference, or from another; as the store has."""
    is_inside: bool = False
    """All inputs that were counted lie inside the domain, or are the benchmark's own tests."""

    @property
    def headline(self) -> str:
        """Return in one sentence how the programs behave and how right they are."""
        return headline(self.clustering, has_checker=self.has_checker)

    @property
    def has_checker(self) -> bool:
        """Tell whether the task's checker says what is right, in place of a reference."""
        relation = None if self.task is None else self.task.relation
        return relation is not None and bool(relation.accept)

    @property
    def language(self) -> str:
        """Return the language of the programs."""
        return "python" if self.task is None else self.task.language

    def code_of(self, number: int) -> str | None:
        """Return the shortest program of a cluster, or the reference; None where its text is not here."""
        if number == REFERENCE_CLUSTER:
            return (self.task and self.task.reference) or None
        found = self.texts.smallest(self.clustering.clusters[number - 1].members)
        return found and self.texts.code(*found)

    @cached_property
    def clusters(self) -> Table:
        """Return the clusters, the largest first: n_candidates, models, loads, is_reference, n_wrong.

        ``loads``: its programs do; ``is_reference``: behaves as the reference; ``n_wrong``: on how many inputs it does
        not; null without one.
        """
        rows = [
            (
                *(cluster.number, cluster.n_candidates),
                ", ".join(f"{model} at {t:g}: {len(own)}" for (model, t), own in cluster.members.items()),
                *(cluster.loads, None if cluster.n_wrong is None else cluster.is_reference, cluster.n_wrong),
            )
            for cluster in self.clustering.clusters
        ]
        return _table(rows, _CLUSTERS)

    @cached_property
    def disagreeing(self) -> Table:
        """Return inputs on which the programs disagree, one of each kind, the shortest: a row for each outcome.

        Columns: the clusters that show it, whether it is the reference's, n_inputs of this kind. Kinds of which the
        store holds no input come last, with null arguments and texts.
        """
        has_reference = self.clustering.reference_labels is not None
        known = {split.pattern for split in self.telling.values()}
        unknown = [(split.inputs[0], split) for split in self.splits if split.pattern not in known]
        rows = [
            (
                *(index, self.arguments.get(index), list(group)),
                sum(self.clustering.clusters[number - 1].n_candidates for number in group),
                *self.outcomes.get((group[0], index), (None, None)),
                place == split.reference_group if has_reference else None,
                len(split.inputs),
            )
            for index, split in (*self.telling.items(), *unknown)
            for place, group in enumerate(split.groups)
        ]
        return _table(rows, _DISAGREEING)

    @cached_property
    def wrong(self) -> Table:
        """Return inputs on which a cluster differs from the reference, also where all programs agree.

        A row for each cluster and kind of input, with what the cluster and the reference do there, as far as the store
        holds such an input.
        """
        clustering = self.clustering
        rows: list[tuple[Any, ...]] = []
        all_load = all(cluster.loads for cluster in clustering.clusters)
        for pattern in clustering.wrong_patterns():
            index = self.shortest_of(pattern)
            if index is None:
                continue
            column = clustering.labels[:, pattern]
            all_agree = all_load and bool((column == column[0]).all())
            for number in clustering.wrong_on(pattern):
                said = [self.outcomes.get((who, index)) or (None, None) for who in (number, REFERENCE_CLUSTER)]
                n_inputs = len(clustering.inputs_of(pattern))
                rows.append((number, index, self.arguments[index], *said[0], *said[1], all_agree, n_inputs))
        rows.sort(key=lambda row: (row[0], len(row[2]), row[1]))
        return _table(rows, _WRONG)

    @cached_property
    def programs(self) -> Table:
        """Return cluster, model, temperature, sample_index and code; no row where the store holds no programs."""
        rows = [
            (cluster.number, *coder, index, code)
            for cluster in self.clustering.clusters
            for coder, indices in cluster.members.items()
            for index in indices
            if (code := self.texts.code(coder, index)) is not None
        ]
        return _table(rows, _PROGRAMS)

    @cached_property
    def outcomes(self) -> dict[tuple[int, int], tuple[str, str]]:
        """Return what each cluster does on these inputs: (cluster, input index) -> (kind, text)."""
        return {(cluster, index): (kind, text) for cluster, index, kind, text in self.answers.iter_rows()}

    @property
    def frame(self) -> pl.DataFrame:
        """Return the clusters as a frame."""
        return self.clusters.frame

    @property
    def figure(self) -> Figure:
        """Return outcomes by cluster and input as a chart."""
        from difftrust.figures.heat_maps import draw_heat_map
        from difftrust.tasks.clusters import cells

        frame = cells(self.clustering, self.splits)
        return Figure(chart=draw_heat_map(frame), frame=frame)

    def __repr__(self) -> str:
        """Return the parts as text."""
        parts = [f"{title}\n{table!r}" for title, table in self._parts.items() if len(table)]
        return "\n\n".join((f"{self.task_id}: {self.headline}", *self.statements, *parts))

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(line)}</p>" for line in self.statements)
        parts = [
            f"<h4>{html.escape(title)}</h4>{table._repr_html_()}" for title, table in self._parts.items() if len(table)
        ]
        title = f"<h3>{html.escape(self.task_id)}</h3><p><b>{html.escape(self.headline)}</b></p>"
        return f"{title}{said}{''.join(parts)}"

    def shortest_of(self, pattern: int) -> int | None:
        """Return the shortest known input of a pattern; None where the store holds none."""
        known = [index for index in self.clustering.inputs_of(pattern) if index in self.arguments]
        return min(known, key=lambda index: (len(self.arguments[index]), index), default=None)

    @cached_property
    def telling(self) -> dict[int, Split]:
        """Return the shortest known input of each split: most groups first, then the shortest arguments."""
        found = {index: one for one in self.splits if (index := self.shortest_of(one.pattern)) is not None}
        order = sorted(found, key=lambda index: (-len(found[index].groups), len(self.arguments[index]), index))
        return {index: found[index] for index in order}

    @property
    def _parts(self) -> dict[str, Table]:
        return {
            "Clusters of equal behaviour": self.clusters,
            "Disagreeing inputs": self.disagreeing,
            "Wrong inputs": self.wrong,
        }


def view_task(store: Store, pool: Pool, task_id: str, coders: Sequence[Coder], *, m: int | None, n: int) -> TaskView:
    """Return the task ``task_id`` of a pool for the first m candidates of each coder on the first n inputs.

    Raises WrongUsage or TooFewCandidates where there is nothing to show, saying what to choose.
    """
    clustering = cluster_candidates(pool, task_id, coders, m=m, n=n)
    texts = read_programs(store, pool.benchmark, task_id, coders)
    task = read_task(store, pool.benchmark, task_id)
    arguments = read_arguments(store, pool.benchmark, task_id, equality=pool.equality)
    validity, has_domain = (
        store.settings().validity,
        (task and task.domain) or shipped_domains(pool.benchmark).get(task_id),
    )
    is_inside = validity == Validity.TESTS or (validity == Validity.DOMAIN and bool(has_domain))
    return TaskView(
        task_id=task_id,
        statements=statements_of(clustering, task.relation if task else None, is_inside=is_inside),
        task=task,
        clustering=clustering,
        splits=splits(clustering),
        arguments=arguments,
        answers=read_answers(store, pool, clustering, texts),
        texts=texts,
        smallest=smallest_of(clustering, read_smallest(store, pool.benchmark, task_id, equality=pool.equality), pool),
        is_inside=is_inside,
    )


def _table(rows: Sequence[tuple[Any, ...]], schema: Mapping[str, Any]) -> Table:
    return Table(pl.DataFrame(rows, schema=schema, orient="row"))
