"""Each coder's candidates on each task with what can be asked of them, and means over tasks of what was found."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust.research.coders import MEAN
from difftrust_core.base.records import Coder, Kind
from difftrust_core.estimates.pool import CompactTask, Ints, Kinds, Labels, Numbers, Pool
from difftrust_core.estimates.refresh import check_reach
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.estimates import Floats, Limits, checked_confidence
from difftrust_core.metrics.intervals import RESAMPLES, task_weights

Bools = NDArray[np.bool_]
Schema = dict[str, Any]
KEY: Final = ("benchmark", "task_id", "model", "temperature")
KEY_SCHEMA: Final[Schema] = {name: pl.Float64 if name == "temperature" else pl.String for name in KEY}
CODER_SCHEMA: Final[Schema] = {name: KEY_SCHEMA[name] for name in KEY if name != "task_id"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """The first m candidates of a coder on a task, in sampled order, on the first n inputs that all of them met."""

    pool: Pool
    coder: Coder
    task: CompactTask
    rows: Numbers
    """Of each candidate the row of its behaviour."""
    samples: Numbers
    tokens: Numbers
    n: int | None

    @property
    def key(self) -> dict[str, Any]:
        """Return benchmark, task_id, model and temperature."""
        return dict(zip(KEY, (self.pool.benchmark, self.task.task_id, *self.coder), strict=True))

    @cached_property
    def patterns(self) -> NDArray[np.uint16]:
        """Return the pattern of each input."""
        return self.task.pattern_of_input[: self.n][: int(self.task.reach[self.rows].min())]

    @cached_property
    def labels(self) -> Labels:
        """Return the labels of all behaviours of the task on the patterns of these inputs."""
        return self.task.labels[self.pool.equality][:, : int(self.patterns.max()) + 1]  # numbered as they appear

    @property
    def kinds(self) -> Kinds:
        """Return the kinds of all behaviours' outcomes, as ``labels``."""
        return self.task.kinds[:, : self.labels.shape[1]]

    @cached_property
    def right(self) -> Bools:
        """Return which candidates agree with the reference on all of these inputs."""
        return np.asarray((self.labels[self.rows] == self.labels[self.task.reference]).all(axis=1))

    @property
    def votes(self) -> Ints:
        """Return 1 for each candidate that loads, else 0; 1 for all, where none does."""
        loads = self.kinds[self.rows, 0] != Kind.LOAD_ERROR
        return np.asarray(loads | ~loads.any(), dtype=np.int64)


def judged_candidates(
    pools: Mapping[str, Pool], *, temperature: float | None, m: int | None, n: int | None
) -> Iterator[Candidates]:
    """Yield the candidates of each coder at a temperature (None: at any) on each task that has a reference.

    Raises WrongUsage if there are fewer than n inputs.
    """
    for _, pool in sorted(pools.items()):
        check_reach(pool, n)
        for coder in sorted(pool.members):
            if temperature in (None, coder[1]):
                yield from (one for one in candidates_of(pool, coder, m=m, n=n) if one.task.reference is not None)


def candidates_of(pool: Pool, coder: Coder, *, m: int | None = None, n: int | None = None) -> Iterator[Candidates]:
    """Yield a coder's candidates on each task that it has some of."""
    own = pool.of(coder).first(m)
    ends = np.searchsorted(own.task, np.arange(len(pool.tasks) + 1)).tolist()
    for task, start, end in zip(pool.tasks, ends, ends[1:], strict=False):
        if start < end:
            rows, samples, tokens = (values[start:end] for values in (own.row, own.sample_index, own.completion_tokens))
            yield Candidates(pool=pool, coder=coder, task=task, rows=rows, samples=samples, tokens=tokens, n=n)


def counted_ids(pool: Pool, counted: Callable[[pl.DataFrame], pl.DataFrame]) -> set[str]:
    """Return the ids of the tasks that count: of rows of tasks ``counted`` takes those."""
    tasks = pl.DataFrame({"benchmark": pool.benchmark, "task_id": [task.task_id for task in pool.tasks]})
    return set(counted(tasks)["task_id"])


def means_table(
    rows: pl.DataFrame, schema: Schema, *, resamples: int, seed: int = 0, by: Sequence[str] = ()
) -> pl.DataFrame:
    """Return the means over tasks of the columns of ``schema`` that ``rows`` have: a row a coder, then their mean.

    ``rows``: one a (benchmark, temperature, ``by``, model, task_id). Columns that have a _low and a _high in ``schema``
    get the ends of the percentile bootstrap interval over tasks; flags are counted. In the rows of means a task counts
    with its mean over the coders. What is not known of some task is null.
    """
    values = [pl.col(name) for name in rows.columns if name in schema and name not in (*CODER_SCHEMA, *by)]
    flags = [name for name, kind in rows.schema.items() if kind == pl.Boolean]
    where = ["benchmark", "temperature", *by]
    over_models = rows.group_by(*where, "task_id").agg(
        pl.lit(MEAN).alias("model"),
        *(
            one.first() if one.meta.output_name() in flags else pl.when(one.null_count() == 0).then(one.mean())
            for one in values
        ),
    )
    both = pl.concat([rows.select(over_models.columns), over_models]).sort("task_id")
    made = []
    for key, tasks in both.group_by(*where, "model"):
        row = dict(zip((*where, "model"), key, strict=True)) | {"tasks": tasks.height}
        for own in (own for own in tasks.drop(*where, "task_id", "model") if not own.null_count()):
            row[own.name] = own.sum() if own.name in flags else own.mean()
            if f"{own.name}_low" in schema:
                ends = paired_difference(own.to_numpy(), resamples=resamples, seed=seed)
                row |= dict(zip((f"{own.name}_low", f"{own.name}_high"), ends, strict=True))
        made.append(row)
    return pl.DataFrame(made, schema=schema).sort(*where[:2], pl.col("model") == MEAN, "model", *by)


def paired_difference(
    differences: Floats, *, resamples: int = RESAMPLES, seed: int = 0, confidence: float = 0.95
) -> Limits:
    """Return the limits of the mean of one difference a task, drawn task by task: percentile bootstrap.

    ``differences``: (n_tasks,), of two ways to answer the same tasks. Raises WrongUsage without a task.
    """
    n_tasks = len(differences)
    if not n_tasks:
        raise WrongUsage("a paired difference needs a task that both have, got none; choose one benchmark")
    drawn = task_weights(n_tasks, resamples=resamples, seed=seed) @ differences / n_tasks
    confidence = checked_confidence(confidence)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
