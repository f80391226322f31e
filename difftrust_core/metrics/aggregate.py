"""Aggregate the estimates of many tasks: means, rates, Table 4 and rankings.

``estimates`` is always a table with one row per (benchmark, model, temperature, task_id) and the columns of
``tally.estimates_of``. A coder is a model at a temperature. Every measure is computed from the tasks where it is
defined: NaN and null are left out; a measure that no task defines is NaN, never 0.

Equations are those of Valentin et al., "Incoherence as Oracle-less Measure of Error in LLM-Based Code
Generation" (AAAI 2026).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.detection import Detection

MEASURES: Final = ("mean_error", "mean_incoherence", "spearman", "detection_rate", "undetected_mean_error")
"""The columns of numbers in Table 4."""
RATIOS: Final = (
    *("mean_error", "mean_incoherence", "pass_at_1", "found", "erroneous"),
    *("detection_rate", "undetected_mean_error"),
)
"""The measures that are means of a value, each task with a weight."""
MEAN: Final = "mean"
"""The name in the column of models in the rows of means over models."""

Floats = npt.NDArray[np.float64]
_RANKINGS = {
    "rho_found": ("found", "erroneous"),
    "rho_error": ("incoherence", "error"),
    "rho_failure": ("incoherence", "failure"),
}


def ratio_terms(tasks: pl.DataFrame, measure: str, *, detection: Detection) -> tuple[Floats, Floats]:
    """Return what one of RATIOS is made of: each task's value and its weight, NaN where undefined.

    The measure is the sum of value x weight over the sum of the weights. Raises WrongUsage for another measure or
    detection.
    """
    is_sampled = _is_sampled(detection)

    def of(name: str) -> Floats:
        return tasks[name].cast(pl.Float64).to_numpy()

    def seen(sampled: str, exact: str) -> Floats:
        """Return how likely, or whether, a task shows an error or a disagreement."""
        return of(sampled) if is_sampled else np.where(np.isnan(of(exact)), np.nan, of(exact) > 0)

    found, erroneous = partial(seen, "p_detected", "incoherence"), partial(seen, "p_erroneous", "error")
    weighted: dict[str, Callable[[], tuple[Floats, Floats]]] = {
        "detection_rate": lambda: (found(), erroneous()),
        "undetected_mean_error": lambda: (of("error"), 1 - found()),
    }
    plain: dict[str, Callable[[], Floats]] = {
        "mean_error": lambda: of("error"),
        "mean_incoherence": lambda: of("incoherence"),
        "pass_at_1": lambda: 1 - of("functional_error"),
        "found": found,
        "erroneous": erroneous,
    }
    if measure in weighted:
        return weighted[measure]()
    if measure not in plain:
        raise WrongUsage(f"a measure is one of {', '.join(RATIOS)}, got {measure!r}")
    return plain[measure](), np.ones(tasks.height)


def ratio(tasks: pl.DataFrame, measure: str, *, detection: Detection = Detection.AS_PUBLISHED) -> float:
    """Return one of RATIOS over tasks; NaN where no task defines it. Raises as ``ratio_terms``."""
    value, weight = ratio_terms(tasks, measure, detection=detection)
    kept = ~np.isnan(value) & ~np.isnan(weight)
    value, weight = value[kept], weight[kept]
    if _is_sampled(detection) and measure in ("detection_rate", "undetected_mean_error"):
        total = float(weight.sum())
        return float(value @ weight) / total if total > 0 else float("nan")
    return _mean(value[weight > 0])


def mean_error(estimates: pl.DataFrame) -> float:
    """Return the mean of E over tasks, Eq. 9; NaN without a task that has one."""
    return ratio(estimates, "mean_error")


def mean_incoherence(estimates: pl.DataFrame) -> float:
    """Return the mean of I over tasks, Eq. 8; NaN without a task that has one."""
    return ratio(estimates, "mean_incoherence")


def pass_at_1(estimates: pl.DataFrame) -> float:
    """Return pass@1 over n inputs: mean over tasks of the share of candidates right on all of them. Eq. 11."""
    return ratio(estimates, "pass_at_1")


def spearman(estimates: pl.DataFrame) -> float:
    """Return Spearman's rank correlation of error and incoherence over tasks, in [-1, 1].

    NaN with fewer than three tasks or where one of the two is the same for all tasks. Table 4.
    """
    return _rank_correlation(*_columns(estimates, "error", "incoherence"))


def detection_rate(estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED) -> float:
    """Return the share of the erroneous tasks that incoherence detects, in [0, 1]; NaN if none is erroneous.

    as-published: sum_d p_erroneous p_detected / sum_d p_erroneous. all-pairs: over tasks with E > 0, the share
    with I > 0. Raises WrongUsage for another detection. §6.3.
    """
    return ratio(estimates, "detection_rate", detection=detection)


def undetected_mean_error(estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED) -> float:
    """Return the mean error of the tasks that go undetected, in [0, 1]; NaN if all are detected.

    as-published: sum_d E (1 - p_detected) / sum_d (1 - p_detected). all-pairs: mean of E over tasks with I = 0.
    Raises WrongUsage for another detection. §6.3.
    """
    return ratio(estimates, "undetected_mean_error", detection=detection)


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
        pl.col(list(measures)).fill_nan(None).mean().fill_null(float("nan")),
    )
    order = ["benchmark", pl.col("model") == MEAN, "model", *keys[1:]]
    return pl.concat([coders, over_models.select(coders.columns)]).sort(order)


def rankings(estimates: pl.DataFrame, *, detection: Detection = Detection.AS_PUBLISHED) -> pl.DataFrame:
    """Return how far ranking coders by incoherence agrees with ranking them by error. Figure 1.

    One row per benchmark (and temperature, where some model has several): coders, and Spearman's rho over the coders
    between the share of tasks that incoherence finds erroneous and the share that are (rho_found, the figure's own, by
    ``detection``), between mean incoherence and mean error (rho_error), and mean incoherence and 1 - pass@1
    (rho_failure). NaN with fewer than three coders or where one of the two is the same for all.
    """
    coders = coder_measures(estimates, detection=detection)
    keys = [column for column in ("benchmark", "temperature") if column in coders.columns]
    rows = [
        group.select(keys).row(0, named=True)
        | {"coders": len(group)}
        | {name: _rank_correlation(*_columns(group, *pair)) for name, pair in _RANKINGS.items()}
        for group in coders.partition_by(keys, maintain_order=True)
    ]
    schema: dict[str, pl.DataType] = {key: coders.schema[key] for key in keys}
    schema |= {"coders": pl.Int64()} | dict.fromkeys(_RANKINGS, pl.Float64())
    return pl.DataFrame(rows, schema=schema)


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
            "found": partial(ratio, measure="found", detection=detection),
            "erroneous": partial(ratio, measure="erroneous", detection=detection),
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
    columns = [[name, f"published_{name}"] if name in measures else [name] for name in table.columns]
    return joined.select([name for pair in columns for name in pair])


def mean_absolute_differences(joined: pl.DataFrame) -> dict[str, float]:
    """Return, per measure of ``beside_published``, the mean |ours - published| over the coders that have both.

    The rows of means are left out; NaN where no coder has both.
    """
    coders = joined.filter(pl.col("model") != MEAN)
    differences = {}
    for name in MEASURES:
        if f"published_{name}" in coders.columns:
            ours, published = _columns(coders, name, f"published_{name}")
            differences[name] = _mean(np.abs(ours - published))
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
    return pl.DataFrame(rows, schema=schema).sort(keys)


def _n_defined(tasks: pl.DataFrame) -> int:
    """Return how many tasks have an error or an incoherence, and so enter at least one mean."""
    error, incoherence = (tasks[name].cast(pl.Float64).to_numpy() for name in ("error", "incoherence"))
    return int((~np.isnan(error) | ~np.isnan(incoherence)).sum())


def _columns(table: pl.DataFrame, *names: str) -> list[Floats]:
    """Return the columns as floats, of the rows where all of them are defined."""
    floats = [table[name].cast(pl.Float64).to_numpy() for name in names]
    kept = ~np.isnan(floats).any(axis=0)
    return [values[kept] for values in floats]


def _is_sampled(detection: str) -> bool:
    if detection not in tuple(Detection):
        raise WrongUsage(f"detection must be one of {', '.join(Detection)}, got {detection!r}")
    return detection == Detection.AS_PUBLISHED


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _rank_correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3 or a.min() == a.max() or b.min() == b.max():
        return float("nan")
    return float(pl.select(pl.corr(pl.Series(a), pl.Series(b), method="spearman")).item())
