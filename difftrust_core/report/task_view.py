"""One task of a store: clusters of equal behaviour, inputs on which programs disagree or are wrong, programs."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl

from difftrust_core.analysis.ablation.pool import Pool
from difftrust_core.analysis.clusters import Clustering, Split, cluster_candidates, splits
from difftrust_core.analysis.smallest import SmallestInput, read_smallest, smallest_of
from difftrust_core.analysis.task_details import (
    Description,
    Programs,
    TellingInput,
    read_answers,
    read_arguments,
    read_description,
    read_domain,
    read_programs,
    telling_inputs,
)
from difftrust_core.base.records import Coder, Validity
from difftrust_core.base.task import Domain
from difftrust_core.report.shown import Figure, Table
from difftrust_core.report.task_sentences import headline, statements_of
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
    description: Description | None
    """What was asked for; None where the store does not hold it."""
    clustering: Clustering
    splits: list[Split]
    """The ways in which inputs split the clusters."""
    telling: list[TellingInput]
    """Those of ``splits`` of which the store holds an input."""
    arguments: Mapping[int, str]
    """Input index -> arguments, as far as the store holds them."""
    answers: pl.DataFrame
    """What each cluster does on these inputs: cluster (0: the reference), input_index, kind, text."""
    texts: Programs
    """The candidates' texts; none where neither the store nor this machine holds them."""
    domain: Domain | None = None
    """What the task's arguments may be; None where nobody has said it."""
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
        relation = None if self.description is None else self.description.relation
        return relation is not None and bool(relation.accept)

    @property
    def language(self) -> str:
        """Return the language of the programs."""
        return "python" if self.description is None else self.description.language

    @cached_property
    def clusters(self) -> Table:
        """Return the clusters, the largest first: n_candidates, models, loads, is_reference, n_wrong.

        ``loads``: its programs do; ``is_reference``: behaves as the reference; ``n_wrong``: on how many inputs it does
        not; null without one.
        """
        return Table(_clusters(self.clustering))

    @cached_property
    def disagreeing(self) -> Table:
        """Return inputs on which the programs disagree, one of each kind, the shortest: a row for each outcome.

        Columns: the clusters that show it, whether it is the reference's, n_inputs of this kind. Kinds of which the
        store holds no input come last, with null arguments and texts.
        """
        return Table(self._disagreeing())

    @cached_property
    def wrong(self) -> Table:
        """Return inputs on which a cluster differs from the reference, also where all programs agree.

        A row for each cluster and kind of input, with what the cluster and the reference do there, as far as the store
        holds such an input.
        """
        return Table(self._wrong())

    @cached_property
    def programs(self) -> Table:
        """Return cluster, model, temperature, sample_index and code; no row where the store holds no programs."""
        return Table(_programs(self.clustering, self.texts))

    @cached_property
    def _outcomes(self) -> dict[tuple[int, int], tuple[str, str]]:
        return {(cluster, index): (kind, text) for cluster, index, kind, text in self.answers.iter_rows()}

    @property
    def frame(self) -> pl.DataFrame:
        """Return the clusters as a frame."""
        return self.clusters.frame

    @property
    def figure(self) -> Figure:
        """Return outcomes by cluster and input as a chart."""
        from difftrust_core.analysis.clusters import cells
        from difftrust_core.report.charts.behaviours import heat_map_drawing

        frame = cells(self.clustering, self.splits)
        return Figure(chart=heat_map_drawing(frame).chart(), frame=frame)

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

    def _disagreeing(self) -> pl.DataFrame:
        clustering, outcomes = self.clustering, self._outcomes
        known = {one.split.pattern: one for one in self.telling}
        sizes = clustering.counts.tolist()
        rows = []
        order = [one.split.pattern for one in known.values()]
        for split in sorted(
            self.splits, key=lambda one: order.index(one.pattern) if one.pattern in known else len(order)
        ):
            index = known[split.pattern].index if split.pattern in known else split.inputs[0]
            for place, group in enumerate(split.groups):
                kind, text = outcomes.get((group[0], index), (None, None))
                rows.append(
                    {
                        "input_index": index,
                        "arguments": self.arguments.get(index),
                        "clusters": list(group),
                        "n_candidates": sum(sizes[number - 1] for number in group),
                        "kind": kind,
                        "text": text,
                        "is_reference": None if clustering.reference_labels is None else place == split.reference_group,
                        "n_inputs": len(split.inputs),
                    }
                )
        return pl.DataFrame(rows, schema=_DISAGREEING)

    def _wrong(self) -> pl.DataFrame:
        clustering, arguments, outcomes = self.clustering, self.arguments, self._outcomes
        truth = clustering.reference_labels
        if truth is None:
            return pl.DataFrame(schema=_WRONG)
        all_load = all(cluster.loads for cluster in clustering.clusters)
        rows = []
        for number, labels in enumerate(clustering.labels, 1):
            for pattern in np.flatnonzero(labels != truth).tolist():
                inputs = np.flatnonzero(clustering.pattern_of_input == pattern).tolist()
                known = [index for index in inputs if index in arguments]
                if not known:
                    continue
                index = min(known, key=lambda i: (len(arguments[i]), i))
                kind, text = outcomes.get((number, index), (None, None))
                right_kind, right = outcomes.get((REFERENCE_CLUSTER, index), (None, None))
                column = clustering.labels[:, pattern]
                rows.append(
                    {
                        "cluster": number,
                        "input_index": index,
                        "arguments": arguments[index],
                        "kind": kind,
                        "text": text,
                        "reference_kind": right_kind,
                        "reference_text": right,
                        "all_agree": all_load and bool((column == column[0]).all()),
                        "n_inputs": len(inputs),
                    }
                )
        return pl.DataFrame(rows, schema=_WRONG).sort("cluster", pl.col("arguments").str.len_chars(), "input_index")

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
    description = read_description(store, pool.benchmark, task_id)
    arguments = read_arguments(store, pool.benchmark, task_id, equality=pool.equality)
    domain = read_domain(pool.benchmark, task_id, description)
    validity = store.settings().validity
    is_inside = validity == Validity.TESTS or (validity == Validity.DOMAIN and domain is not None)
    found = splits(clustering)
    return TaskView(
        task_id=task_id,
        statements=statements_of(clustering, description.relation if description else None, is_inside=is_inside),
        description=description,
        clustering=clustering,
        splits=found,
        telling=telling_inputs(found, arguments),
        arguments=arguments,
        answers=read_answers(store, pool, clustering, texts),
        texts=texts,
        domain=domain,
        smallest=smallest_of(clustering, read_smallest(store, pool.benchmark, task_id, equality=pool.equality), pool),
        is_inside=is_inside,
    )


def _clusters(clustering: Clustering) -> pl.DataFrame:
    rows = [
        {
            "cluster": cluster.number,
            "n_candidates": cluster.n_candidates,
            "models": ", ".join(f"{model} at {t:g}: {len(own)}" for (model, t), own in cluster.members.items()),
            "loads": cluster.loads,
            "is_reference": cluster.is_reference if clustering.reference_labels is not None else None,
            "n_wrong": cluster.n_wrong,
        }
        for cluster in clustering.clusters
    ]
    kinds = [pl.Int64, pl.Int64, pl.String, pl.Boolean, pl.Boolean, pl.Int64]
    return pl.DataFrame(rows, schema=dict(zip(rows[0], kinds, strict=True)))


def _programs(clustering: Clustering, programs: Programs) -> pl.DataFrame:
    rows = [
        {"cluster": cluster.number, "model": coder[0], "temperature": coder[1], "sample_index": index, "code": code}
        for cluster in clustering.clusters
        for coder, indices in cluster.members.items()
        for index in indices
        if (code := programs.code(coder, index)) is not None
    ]
    kinds = [pl.Int64, pl.String, pl.Float64, pl.Int64, pl.String]
    names = ["cluster", "model", "temperature", "sample_index", "code"]
    return pl.DataFrame(rows, schema=dict(zip(names, kinds, strict=True)))
