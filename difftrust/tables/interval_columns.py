"""Intervals over tasks for every cell of a table of coders, and for the ranking of the coders.

All coders of a benchmark are resampled together, task by task: what one task does to all of them stays together.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations
from typing import Final

import numpy as np
import polars as pl

from difftrust.research.coders import MEAN, MEASURES, RHOS, rankings, table_4, with_ends
from difftrust.tables.request import TableRequest
from difftrust_core.base.records import Detection
from difftrust_core.metrics.estimates import Floats, Limits, quotients
from difftrust_core.metrics.intervals import RESAMPLES, bca_limits, statistic_of, task_weights, weighted_correlation

LOW: Final = "_low"
HIGH: Final = "_high"
_FEWEST_CODERS = 3
_ALL_ORDERS = 8
"""Coders whose ranks have few enough orders to look at all."""
_STATISTICS: Final = {"incoherence": "mean_incoherence", "error": "mean_error"}
"""Column of ``coder_measures`` -> the statistic that it is, where it is called otherwise."""


@dataclass(frozen=True, kw_only=True)
class _Resampling:
    """Weights of the tasks of one benchmark: row 0 the tasks as they are, then each left out, then the resamples."""

    task_ids: pl.DataFrame
    weights: Floats

    @classmethod
    def of(cls, task_ids: pl.Series, *, resamples: int, seed: int) -> "_Resampling":
        ids = task_ids.unique().sort()
        return cls(task_ids=ids.to_frame(), weights=_weights(len(ids), resamples, seed))

    def coders(self, estimates: pl.DataFrame) -> dict[str, pl.DataFrame]:
        """Return each model's estimates, one row a task of the benchmark: nulls where it has none."""
        models = estimates.select(pl.col("model").unique().sort())
        each = models.join(self.task_ids, how="cross")
        rows = each.join(estimates, on=["model", "task_id"], how="left", maintain_order="left", validate="1:1")
        n_tasks = self.task_ids.height
        return {model: rows.slice(i * n_tasks, n_tasks) for i, model in enumerate(models["model"])}

    def limits(self, values: Floats) -> Limits:
        """Return the 95 % limits of what ``values`` are the values of."""
        n_tasks = self.task_ids.height
        return bca_limits(float(values[0]), values[1 + n_tasks :], values[1 : 1 + n_tasks], confidence=0.95)


@lru_cache(maxsize=4)
def _weights(n_tasks: int, resamples: int, seed: int) -> Floats:
    drawn = task_weights(n_tasks, resamples=resamples, seed=seed)
    weights = np.concatenate([np.ones((1, n_tasks)), 1 - np.eye(n_tasks), drawn])
    weights.setflags(write=False)
    return weights


def with_intervals(
    table: pl.DataFrame,
    estimates: pl.DataFrame,
    *,
    detection: Detection = Detection.AS_PUBLISHED,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> pl.DataFrame:
    """Return ``table`` with columns <measure>_low and <measure>_high right of each of its MEASURES.

    ``table``: ``coders.table_4`` of ``estimates``, its rows of means included. BCa bootstrap over tasks; null where
    undefined.
    """
    measures = [name for name in table.columns if name in MEASURES]
    parts = []
    numbered = table.with_row_index("_row")
    for part, own, resampling in _resampled(numbered, estimates, resamples=resamples, seed=seed):
        coders = resampling.coders(own)
        for measure in measures:
            statistic = statistic_of(measure, detection=detection)
            values = {model: statistic(frame, resampling.weights) for model, frame in coders.items()}
            of_coders = np.array(list(values.values()))
            n_defined = (~np.isnan(of_coders)).sum(axis=0)
            values[MEAN] = quotients(np.nansum(of_coders, axis=0), n_defined, n_defined > 0)
            ends = [resampling.limits(values[model]) for model in part["model"]]
            part = part.hstack(pl.DataFrame(ends, schema=[f"{measure}{LOW}", f"{measure}{HIGH}"], orient="row"))
        parts.append(part)
    names = [each for name in table.columns for each in (with_ends(name) if name in measures else [name])]
    if not parts:
        return table.with_columns(pl.lit(None, pl.Float64).alias(name) for name in names if name not in table.columns)
    return pl.concat(parts).sort("_row").select(names).fill_nan(None)


def _resampled(
    table: pl.DataFrame, estimates: pl.DataFrame, *, resamples: int, seed: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, _Resampling]]:
    """Yield the rows of each benchmark (and temperature, where there is that column), and the estimates resampled."""
    keys = [name for name in ("benchmark", "temperature") if name in table.columns]
    for part in table.partition_by(keys):
        own = estimates.join(part.select(keys).unique(), on=keys, how="semi")
        yield part, own, _Resampling.of(own["task_id"], resamples=resamples, seed=seed)


def requested_table_4(
    estimates: pl.DataFrame,
    request: TableRequest,
    *,
    measures: Sequence[str] = MEASURES,
) -> pl.DataFrame:
    """Return Table 4 of these estimates by the request's detection, with intervals if they are asked for."""
    rule = request.detection
    table = table_4(estimates, detection=rule, measures=measures)
    if not request.intervals:
        return table
    return with_intervals(table, estimates, detection=rule, resamples=request.resamples, seed=request.seed)


def shares_over_tasks(
    pairs: pl.DataFrame, shares: Mapping[str, tuple[str, str]], tasks: pl.Series, request: TableRequest
) -> dict[str, float]:
    """Return each share, <share>_low and <share>_high: the sum of one column of ``pairs`` over that of another.

    ``pairs``: rows that have a task_id, several a task at will; ``shares``: name -> the two columns; ``tasks``: the ids
    of all tasks, which are resampled whole. NaN where nothing defines a share, and for the ends where it is the same in
    every resample, such as 0 of 7: resampling says nothing of it.
    """
    resampling = _Resampling.of(tasks, resamples=request.resamples, seed=request.seed)
    columns = sorted({column for both in shares.values() for column in both})
    sums = pairs.group_by("task_id").agg(pl.col(columns).cast(pl.Float64).sum())
    of_task = resampling.task_ids.join(sums, on="task_id", how="left", maintain_order="left").fill_null(0.0)
    found: dict[str, float] = {}
    for name, both in shares.items():
        part, whole = (resampling.weights @ of_task[column].to_numpy() for column in both)
        values = quotients(part, whole, whole > 0)
        varies = len(np.unique(values[~np.isnan(values)])) > 1
        low, high = resampling.limits(values) if varies else (math.nan, math.nan)
        found |= {name: float(values[0]), f"{name}{LOW}": low, f"{name}{HIGH}": high}
    return found


def share_table(
    pairs: pl.DataFrame,
    by: Sequence[str],
    measures: Sequence[pl.Expr],
    shares: Mapping[str, tuple[str, str]],
    judged: pl.DataFrame,
    request: TableRequest,
) -> pl.DataFrame:
    """Return a row a value of the columns ``by``, the benchmark first: ``measures`` of its pairs, and their shares.

    ``judged``: rows of all tasks that the shares, as in ``shares_over_tasks``, are resampled over.
    """
    rows = [
        dict(zip(by, key, strict=True))
        | own.select(measures).row(0, named=True)
        | shares_over_tasks(own, shares, judged.filter(benchmark=key[0])["task_id"], request)
        for key, own in pairs.group_by(by)
    ]
    schema = pairs.clear().group_by(by).agg(measures).schema
    return pl.DataFrame(rows, schema={**schema, **dict.fromkeys(with_ends(*shares), pl.Float64)}).fill_nan(None)


def differences(table: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of a table that have a published value, the largest difference first.

    ``table``: ``with_intervals``, published values beside. Columns: those of text and ``value``, measure, ours,
    published, difference, half_width of the interval, and beyond: whether the difference is larger than that.
    """
    names = [name for name in table.columns if {f"published_{name}", f"{name}{LOW}"} <= set(table.columns)]
    keys = [name for name, kind in table.schema.items() if kind == pl.String or name == "value"]
    cells = pl.concat(
        table.select(
            *keys,
            measure=pl.lit(name),
            ours=name,
            published=f"published_{name}",
            difference=pl.col(name) - pl.col(f"published_{name}"),
            half_width=(pl.col(f"{name}{HIGH}") - pl.col(f"{name}{LOW}")) / 2,
        )
        for name in names
    )
    size = pl.col("difference").abs()
    cells = cells.with_columns(beyond=size > pl.col("half_width")).filter(size.is_not_null())
    return cells.sort(size, *keys, descending=[True, *[False] * len(keys)])


def ranking_intervals(
    estimates: pl.DataFrame,
    *,
    detection: Detection = Detection.AS_PUBLISHED,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> pl.DataFrame:
    """Return ``coders.rankings`` with <rho>_low, <rho>_high and <rho>_p for each of its rhos.

    The coders are those there are; the tasks are resampled. Null where rho is. <rho>_p: how likely coders whose two
    rankings have nothing to do with each other come to a rho as far from 0; two-sided, of up to eight coders by all
    orders of their ranks, ties left aside, of more by Student's t.
    """
    found, parts = rankings(estimates, detection=detection), []
    for part, own, resampling in _resampled(found, estimates, resamples=resamples, seed=seed):
        limits = {}
        for name, values in _rhos(own, resampling, detection).items():
            limits[f"{name}{LOW}"], limits[f"{name}{HIGH}"] = resampling.limits(values)
            limits[f"{name}_p"] = _p_value(float(values[0]), int(part["coders"][0]))
        parts.append(part.with_columns(pl.lit(value, pl.Float64).alias(name) for name, value in limits.items()))
    return pl.concat(parts).fill_nan(None)


def _rhos(estimates: pl.DataFrame, resampling: _Resampling, detection: Detection) -> dict[str, Floats]:
    """Return the rank correlations of the coders under each row of weights."""
    frames = resampling.coders(estimates).values()

    def values(column: str) -> Floats:
        if column == "failure":
            return 1 - values("pass_at_1")
        statistic = statistic_of(_STATISTICS.get(column, column), detection=detection)
        return np.column_stack([statistic(frame, resampling.weights) for frame in frames])

    of = {column: values(column) for column in {column for pair in RHOS.values() for column in pair}}
    return {rho: _rank_correlations(of[x], of[y]) for rho, (x, y) in RHOS.items()}


def _p_value(rho: float, n_coders: int) -> float:
    from scipy.special import stdtr

    if math.isnan(rho):
        return math.nan
    if n_coders <= _ALL_ORDERS:
        return float((np.abs(_rhos_by_chance(n_coders)) > abs(rho) - 1e-9).mean())
    freedom = n_coders - 2
    return 0.0 if abs(rho) >= 1 else float(2 * stdtr(freedom, -abs(rho) * math.sqrt(freedom / (1 - rho**2))))


@cache
def _rhos_by_chance(n: int) -> Floats:
    """Return Spearman's rho between n ranks and each order of them."""
    orders = np.array([*permutations(range(n))])
    distances: Floats = ((orders - np.arange(n)) ** 2).sum(axis=1)
    return 1 - 6 * distances / (n * (n**2 - 1))


def _rank_correlations(a: Floats, b: Floats) -> Floats:
    """Return Spearman's rho of each row of a and b over the coders that have both on the tasks as they are."""
    kept = ~np.isnan(a[0]) & ~np.isnan(b[0])
    if kept.sum() < _FEWEST_CODERS:
        return np.full(len(a), math.nan)
    # Means that are equal but for rounding share a rank, as they do before resampling.
    ranks = [_ranks(side[:, kept].round(12)) for side in (a, b)]
    return weighted_correlation(ranks[0], ranks[1], np.ones(ranks[0].shape))


def _ranks(values: Floats) -> Floats:
    """Return the rank of each value in its row, from 1, equal ones the mean of theirs. SciPy would take a second."""
    ours, others = values[:, :, None], values[:, None, :]
    ranks: Floats = (ours > others).sum(axis=2) + ((ours == others).sum(axis=2) + 1) / 2
    return ranks
