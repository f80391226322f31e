"""Many tasks: means, rates and rankings, and nothing else.

``estimates`` is always a table with one row per (benchmark, model, temperature, task_id) and the columns of
``estimators.Estimates``. A coder is a model at a temperature. Every measure is computed from the tasks where
it is defined: NaN and null are left out; what nothing remains for is NaN, never 0.

Detection follows one of two rules (§6.3 of Valentin et al., "Incoherence as Oracle-less Measure of Error in
LLM-Based Code Generation", AAAI 2026):
AS_PUBLISHED  the expected value of the published sampling, one random pair of candidates per input;
ALL_PAIRS     a task is detected if any two of its candidates disagree on any of its inputs.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from difftrust_core.exceptions import WrongUsage

__all__ = [
    "ALL_PAIRS",
    "AS_PUBLISHED",
    "MEAN",
    "MEASURES",
    "Detection",
    "beside_published",
    "coder_measures",
    "detection_rate",
    "mean_absolute_differences",
    "mean_error",
    "mean_incoherence",
    "pass_at_1",
    "rankings",
    "spearman",
    "table_4",
    "undetected_mean_error",
]

Detection = Literal["as-published", "all-pairs"]
AS_PUBLISHED: Final = "as-published"
ALL_PAIRS: Final = "all-pairs"

MEASURES: Final = ("mean_error", "mean_incoherence", "spearman", "detection_rate", "undetected_mean_error")
"""The columns of numbers in Table 4."""
MEAN: Final = "mean"
"""What stands for a model in the rows of means over models."""

Floats = npt.NDArray[np.float64]
_RANKINGS = {
    "rho_found": ("found", "erroneous"),
    "rho_error": ("incoherence", "error"),
    "rho_failure": ("incoherence", "failure"),
}


def mean_error(estimates: pl.DataFrame) -> float:
    """Return the mean of E over tasks, Eq. 9; NaN without a task that has one."""
    (error,) = _columns(estimates, "error")
    return _mean(error)


def mean_incoherence(estimates: pl.DataFrame) -> float:
    """Return the mean of I over tasks, Eq. 8; NaN without a task that has one."""
    (incoherence,) = _columns(estimates, "incoherence")
    return _mean(incoherence)


def pass_at_1(estimates: pl.DataFrame) -> float:
    """Return pass@1 over n inputs: mean over tasks of the share of candidates right on all of them. Eq. 11."""
    (functional_error,) = _columns(estimates, "functional_error")
    return _mean(1 - functional_error)


def spearman(estimates: pl.DataFrame) -> float:
    """Return Spearman's rank correlation of error and incoherence over tasks, in [-1, 1].

    NaN with fewer than three tasks or where one of the two is the same for all tasks. Table 4.
    """
    return _rank_correlation(*_columns(estimates, "error", "incoherence"))


def detection_rate(estimates: pl.DataFrame, *, detection: Detection = AS_PUBLISHED) -> float:
    """Return the share of the erroneous tasks that incoherence detects, in [0, 1]; NaN if none is erroneous.

    as-published: sum_d p_erroneous p_detected / sum_d p_erroneous. all-pairs: over tasks with E > 0, the share
    with I > 0. Raises WrongUsage for another detection. §6.3.
    """
    if _is_sampled(detection):
        erroneous, found = _columns(estimates, "p_erroneous", "p_detected")
        return _weighted_mean(found, erroneous)
    error, incoherence = _columns(estimates, "error", "incoherence")
    return _mean((incoherence > 0)[error > 0].astype(np.float64))


def undetected_mean_error(estimates: pl.DataFrame, *, detection: Detection = AS_PUBLISHED) -> float:
    """Return the mean error of the tasks that go undetected, in [0, 1]; NaN if all are detected.

    as-published: sum_d E (1 - p_detected) / sum_d (1 - p_detected). all-pairs: mean of E over tasks with I = 0.
    Raises WrongUsage for another detection. §6.3.
    """
    if _is_sampled(detection):
        error, found = _columns(estimates, "error", "p_detected")
        return _weighted_mean(error, 1 - found)
    error, incoherence = _columns(estimates, "error", "incoherence")
    return _mean(error[incoherence == 0])


def table_4(
    estimates: pl.DataFrame, *, detection: Detection = AS_PUBLISHED, measures: Sequence[str] = MEASURES
) -> pl.DataFrame:
    """Return Table 4: one row per coder with the ``measures``, then one of their unweighted means per benchmark.

    Columns: benchmark, model, temperature (only where some model has several; the means are then per
    temperature), tasks (that have an error or an incoherence; null for means), the ``measures``. Sorted by
    benchmark, then model, means last. Raises WrongUsage for another detection.
    """
    known: dict[str, Callable[[pl.DataFrame], float]] = {
        "mean_error": mean_error,
        "mean_incoherence": mean_incoherence,
        "spearman": spearman,
        "detection_rate": lambda tasks: detection_rate(tasks, detection=detection),
        "undetected_mean_error": lambda tasks: undetected_mean_error(tasks, detection=detection),
    }
    _ = _is_sampled(detection)
    coders = _per_coder(estimates, {name: known[name] for name in measures})
    keys = [column for column in ("benchmark", "temperature") if column in coders.columns]
    over_models = coders.group_by(keys).agg(
        pl.lit(MEAN).alias("model"),
        pl.lit(None, dtype=pl.Int64).alias("tasks"),
        pl.col(list(measures)).fill_nan(None).mean().fill_null(float("nan")),
    )
    order = ["benchmark", pl.col("model") == MEAN, "model", *keys[1:]]
    return pl.concat([coders, over_models.select(coders.columns)]).sort(order)


def rankings(estimates: pl.DataFrame, *, detection: Detection = AS_PUBLISHED) -> pl.DataFrame:
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


def coder_measures(estimates: pl.DataFrame, *, detection: Detection = AS_PUBLISHED) -> pl.DataFrame:
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
            "found": lambda tasks: _share(tasks, "p_detected", "incoherence", detection),
            "erroneous": lambda tasks: _share(tasks, "p_erroneous", "error", detection),
        },
    )


def beside_published(table: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """Return ``table`` with a column published_<measure> right of each measure that ``published`` has.

    Rows are matched by benchmark and model; null where nothing was published.
    """
    keys = ["benchmark", "model"]
    measures = [column for column in MEASURES if column in table.columns and column in published.columns]
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


def _share(tasks: pl.DataFrame, sampled: str, measure: str, detection: Detection) -> float:
    """Return the share of tasks on which something is seen: expected, one draw an input, or by all candidates."""
    if _is_sampled(detection):
        return _mean(*_columns(tasks, sampled))
    (values,) = _columns(tasks, measure)
    return _mean((values > 0).astype(np.float64))


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
    if detection not in (AS_PUBLISHED, ALL_PAIRS):
        raise WrongUsage(f"detection must be {AS_PUBLISHED!r} or {ALL_PAIRS!r}, got {detection!r}")
    return detection == AS_PUBLISHED


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _weighted_mean(values: Floats, weights: Floats) -> float:
    total = float(weights.sum())
    return float(values @ weights) / total if total > 0 else float("nan")


def _rank_correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3 or a.min() == a.max() or b.min() == b.max():
        return float("nan")
    return float(pl.select(pl.corr(pl.Series(a), pl.Series(b), method="spearman")).item())
