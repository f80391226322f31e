"""What happened with each model on each task: a cell each, the tasks in order, the models ranked over some tasks."""

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from difftrust_core.metrics.intervals import bca_limits, task_weights

HAPPENED: Final = ("right", "detected", "undetected", "undefined")
"""All programs right; some wrong, and they disagree; wrong although all agree; no reference, or not executed."""
AGREEMENT: Final = ("agree", "disagree", "undefined")
"""What can be said without a reference: all programs agree; they disagree; not executed."""
DIFFICULTIES: Final = ("easy", "medium", "hard")
"""No model is wrong on the task; at most half of the models are; more than half are."""
RANKED: Final = ("right", "error", "incoherence")
"""The measures by which models are ranked."""
KEY: Final = ("benchmark", "task_id")
_NUMBERS: Final = ("error", "incoherence", "n_classes")

Floats = npt.NDArray[np.float64]


def cells_of(estimates: pl.DataFrame) -> pl.DataFrame:
    """Return a row each (benchmark, task, model), also where a model has no row on a task that another has one on.

    ``estimates``: the columns of ``estimates.estimates_of`` and benchmark, model, task_id, one row each; models of one
    temperature. Columns: benchmark, task_id, model, happened (of HAPPENED), agreement (of AGREEMENT), error,
    incoherence, n_classes (null where unknown). A model that has no row in a benchmark has no cell there.
    """
    tasks = estimates.select(KEY).unique(maintain_order=True)
    models = estimates.select("benchmark", "model").unique(maintain_order=True)
    known = estimates.select(*KEY, "model", "detected", *_NUMBERS)
    cells = tasks.join(models, on="benchmark").join(known, on=[*KEY, "model"], how="left", maintain_order="left")
    error, detected = pl.col("error"), pl.col("detected")
    happened = (
        pl.when(error == 0).then(pl.lit("right"))
        .when((error > 0) & detected).then(pl.lit("detected"))
        .when((error > 0) & ~detected).then(pl.lit("undetected"))
        .otherwise(pl.lit("undefined"))
    )  # fmt: skip
    agreement = pl.when(detected).then(pl.lit("disagree")).when(~detected).then(pl.lit("agree"))
    said = (happened.alias("happened"), agreement.otherwise(pl.lit("undefined")).alias("agreement"))
    return cells.select(*KEY, "model", *said, *_NUMBERS)


def tasks_of_cells(cells: pl.DataFrame) -> pl.DataFrame:
    """Return a row a task, in order of first appearance: what its cells say together.

    Columns: benchmark, task_id, mean_error, mean_incoherence (over models; null where undefined), wrong (share of the
    models with a known error that are wrong), difficulty (of DIFFICULTIES, null where no error is known), n_detected,
    n_undetected, n_disagree (models).
    """
    found = cells.group_by(KEY, maintain_order=True).agg(
        mean_error=pl.col("error").mean(),
        mean_incoherence=pl.col("incoherence").mean(),
        wrong=(pl.col("error").drop_nulls() > 0).mean(),
        n_detected=(pl.col("happened") == "detected").sum(),
        n_undetected=(pl.col("happened") == "undetected").sum(),
        n_disagree=(pl.col("agreement") == "disagree").sum(),
    )
    wrong = pl.col("wrong")
    easy, medium, hard = map(pl.lit, DIFFICULTIES)
    difficulty = pl.when(wrong == 0).then(easy).when(wrong <= 0.5).then(medium).when(wrong > 0.5).then(hard)
    return found.with_columns(difficulty=difficulty)


def count_cells(cells: pl.DataFrame, column: str = "happened") -> dict[str, int]:
    """Return how many cells are of each of HAPPENED, or of AGREEMENT for that column; without those of none."""
    counted = dict(cells.group_by(column).len().iter_rows())
    return {name: counted[name] for name in dict.fromkeys((*HAPPENED, *AGREEMENT)) if name in counted}


def rank_models(cells: pl.DataFrame, *, resamples: int = 1_000, seed: int = 0) -> pl.DataFrame:
    """Return a row a model: tasks, and each of RANKED with its 95 % interval over tasks (``_low``, ``_high``).

    ``right``: share of the tasks on which all its programs are right; ``error``, ``incoherence``: means over tasks.
    Each is over the tasks where it is defined, null without one; ``tasks`` counts those with an incoherence.
    BCa bootstrap, every model on the same resampled tasks; null with fewer than two tasks. Best first.
    """
    models = cells["model"].unique(maintain_order=True).to_list()
    tasks = cells.select(KEY).unique(maintain_order=True).with_row_index("row")
    placed = cells.join(tasks, on=KEY, how="left", maintain_order="left")
    weights = task_weights(tasks.height, resamples=resamples, seed=seed)
    rows = [_ranked(str(model), placed.filter(model=model), weights) for model in models]
    numbers = [f"{name}{end}" for name in RANKED for end in ("", "_low", "_high")]
    schema: dict[str, Any] = {"model": pl.String, "tasks": pl.UInt32, **dict.fromkeys(numbers, pl.Float64)}
    found = pl.DataFrame(rows, schema=schema).fill_nan(None)
    return found.sort(
        ["right", "error", "incoherence", "model"], descending=[True, False, False, False], nulls_last=True
    )


def _ranked(model: str, own: pl.DataFrame, weights: Floats) -> dict[str, Any]:
    error = own["error"].cast(pl.Float64).to_numpy()
    columns = {
        "right": np.where(np.isnan(error), np.nan, error == 0),
        "error": error,
        "incoherence": own["incoherence"].cast(pl.Float64).to_numpy(),
    }
    found: dict[str, Any] = {"model": model, "tasks": own["incoherence"].count()}
    drawn = weights[:, own["row"].to_numpy()] if own.height < weights.shape[1] else weights
    for name, values in columns.items():
        found |= dict(zip((name, f"{name}_low", f"{name}_high"), _mean_with_limits(values, drawn), strict=True))
    return found


def _mean_with_limits(values: Floats, weights: Floats) -> tuple[float, float, float]:
    kept = ~np.isnan(values)
    n, total = int(kept.sum()), float(values[kept].sum())
    if n < 2:
        return (total / n if n else math.nan), math.nan, math.nan
    filled = np.where(kept, values, 0.0)
    below = weights @ kept.astype(np.float64)
    resampled = np.divide(weights @ filled, below, out=np.full(len(weights), math.nan), where=below > 0)
    return total / n, *bca_limits(total / n, resampled, (total - values[kept]) / (n - 1), confidence=0.95)
