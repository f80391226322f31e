"""The measures of many coders as tables: Table 4, rankings of the coders, and what was published beside them.

``estimates`` is always a table with one row per (benchmark, model, temperature, task_id) and the columns of
``metrics.estimates.estimates_of``. A measure that no task defines is null, never 0.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import polars as pl

from difftrust_core.base.records import Detection
from difftrust_core.metrics.aggregate import (
    RATIOS,
    mean_error,
    mean_incoherence,
    mean_of,
    pass_at_1,
    rank_correlation,
    ratio,
    spearman,
)
from difftrust_core.metrics.intervals import clopper_pearson

MEASURES: Final = ("mean_error", "mean_incoherence", "spearman", "detection_rate", "undetected_mean_error")
"""The columns of numbers in Table 4."""
MEAN: Final = "mean"
"""The name in the column of models in the rows of means over models."""
STRENGTH: Final = {0.8: "very strong", 0.6: "strong", 0.4: "moderate", 0.2: "weak", 0.0: "very weak"}
"""A correlation's absolute value is at least -> the word for it (Evans 1996), as papers on rankings use it."""
RHOS: Final = {
    "rho_found": ("found", "erroneous"),
    "rho_pass_at_1": ("found", "failure"),
    "rho_error": ("incoherence", "error"),
    "rho_failure": ("incoherence", "failure"),
}
"""Rank correlation -> the two columns of ``coder_measures`` that it is of."""


def table_4(
    estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED, measures: Sequence[str] = MEASURES
) -> pl.DataFrame:
    """Return Table 4: one row per coder with the ``measures``, then one of their unweighted means per benchmark.

    Columns: benchmark, model, temperature (only where some model has several; the means are then per
    temperature), tasks (that have an error or an incoherence; null for means), the ``measures``. Sorted by
    benchmark, then model, means last. Raises WrongUsage for another detection.
    """
    known = {name: partial(ratio, measure=name, detection=detection) for name in RATIOS} | {"spearman": spearman}
    coders = _per_coder(estimates, {name: known[name] for name in measures})
    keys = [column for column in ("benchmark", "temperature") if column in coders.columns]
    over_models = coders.group_by(keys).agg(
        pl.lit(MEAN).alias("model"),
        pl.lit(None, dtype=pl.Int64).alias("tasks"),
        pl.col(list(measures)).mean(),
    )
    order = ["benchmark", pl.col("model") == MEAN, "model", *keys[1:]]
    return pl.concat([coders, over_models.select(coders.columns)]).sort(order)


def rankings(estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED) -> pl.DataFrame:
    """Return how far ranking coders by incoherence agrees with ranking them by error. Figure 1.

    One row per benchmark (and temperature, where some model has several): coders, and Spearman's rho over the coders
    between the share of tasks that incoherence finds erroneous and the share that are (rho_found, the figure's own, by
    ``detection``), of the former and 1 - pass@1, Eq. 11 (rho_pass_at_1), between mean incoherence and mean error
    (rho_error), and mean incoherence and 1 - pass@1 (rho_failure). Null with fewer than three coders or where one of
    the two is the same for all.
    """
    coders = coder_measures(estimates, detection=detection)
    keys = [column for column in ("benchmark", "temperature") if column in coders.columns]
    rows = [
        group.select(keys).row(0, named=True)
        | {"coders": len(group)}
        | {name: rank_correlation(group, *pair) for name, pair in RHOS.items()}
        for group in coders.partition_by(keys, maintain_order=True)
    ]
    schema: dict[str, pl.DataType] = {key: coders.schema[key] for key in keys}
    schema |= {"coders": pl.Int64()} | dict.fromkeys(RHOS, pl.Float64())
    return pl.DataFrame(rows, schema=schema).fill_nan(None)


def with_ends(*names: str) -> list[str]:
    """Return each name, and the columns <name>_low and <name>_high of its interval."""
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def exact_share(name: str, part: int, whole: int) -> dict[str, float | None]:
    """Return a share and its exact (Clopper-Pearson) 95 % interval, by the names of ``with_ends``; None of nothing."""
    values = (part / whole, *clopper_pearson(part, whole, alpha=0.025)) if whole else (None, None, None)
    return dict(zip(with_ends(name), values, strict=True))


def with_exact_share(counts: pl.DataFrame, name: str, part: str, whole: str) -> pl.DataFrame:
    """Return the rows with ``exact_share`` of the counts in two of their columns."""
    shares = [exact_share(name, *pair) for pair in counts.select(part, whole).iter_rows()]
    return counts.hstack(pl.DataFrame(shares, schema=dict.fromkeys(with_ends(name), pl.Float64)))


def strength_of(rho: float) -> str:
    """Return the word of STRENGTH for a correlation, whatever its sign."""
    return next(word for least, word in STRENGTH.items() if abs(rho) >= least)


def coder_measures(estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED) -> pl.DataFrame:
    """Return what ``rankings`` ranks, one row a coder.

    Columns: benchmark, model, temperature (where some model has several), tasks, incoherence and error (means), failure
    (1 - pass@1), found and erroneous (shares of tasks, by ``detection``).
    """
    return _per_coder(
        estimates,
        {
            "incoherence": mean_incoherence,
            "error": mean_error,
            "failure": lambda tasks: 1 - pass_at_1(tasks),
            **{name: partial(ratio, measure=name, detection=detection) for name in ("found", "erroneous")},
        },
    )


def beside_published(
    table: pl.DataFrame, published: pl.DataFrame, *, keys: Sequence[str] = ("benchmark", "model")
) -> pl.DataFrame:
    """Return ``table`` with a column published_<measure> right of each measure that ``published`` has.

    Rows are matched by ``keys``; null where nothing was published.
    """
    measures = [column for column in table.columns if column in published.columns and column not in keys]
    renamed = published.select(*keys, *[pl.col(name).alias(f"published_{name}") for name in measures])
    joined = table.join(renamed, on=keys, how="left", validate="m:1", maintain_order="left")
    beside = [each for name in table.columns for each in (name, f"published_{name}")]
    return joined.select(name for name in beside if name in joined.columns)


def mean_absolute_differences(joined: pl.DataFrame) -> dict[str, float]:
    """Return, per measure of ``beside_published``, the mean |ours - published| over the coders that have both.

    The rows of means are left out; NaN where no coder has both.
    """
    coders = joined.filter(pl.col("model") != MEAN)
    differences = {}
    for name in MEASURES:
        if f"published_{name}" in coders.columns:
            both = coders.select(pl.col(name) - pl.col(f"published_{name}")).to_series()
            differences[name] = mean_of(both.abs().drop_nulls().to_numpy())
    return differences


def _per_coder(estimates: pl.DataFrame, measures: dict[str, Callable[[pl.DataFrame], float]]) -> pl.DataFrame:
    """Return one row per coder: its keys, tasks and measures, sorted by its keys."""
    keys = ["benchmark", "model"]
    if estimates.select(*keys, "temperature").n_unique() > estimates.select(keys).n_unique():
        keys.append("temperature")
    rows = [
        {key: tasks[key][0] for key in keys}
        | {"tasks": _n_defined(tasks)}
        | {name: measure(tasks) for name, measure in measures.items()}
        for tasks in estimates.partition_by(keys)
    ]
    schema: dict[str, pl.DataType] = {key: estimates.schema[key] for key in keys}
    schema |= {"tasks": pl.Int64()} | {name: pl.Float64() for name in measures}
    return pl.DataFrame(rows, schema=schema).fill_nan(None).sort(keys)


def _n_defined(tasks: pl.DataFrame) -> int:
    """Return how many tasks have an error or an incoherence, and so enter at least one mean."""
    either = pl.col("error", "incoherence").cast(pl.Float64).is_not_nan().fill_null(value=False)
    return int(tasks.select(pl.any_horizontal(either).sum()).item())
