"""What a green light is worth: how often a task without a disagreement is wrong all the same; and nothing else."""

from typing import Any, Final

import polars as pl

from difftrust_core.intervals.bounded import clopper_pearson
from difftrust_core.intervals.record import checked_confidence

TRUST_SCHEMA: Final[dict[str, Any]] = {
    "n_tasks": pl.Int64,
    "n_coherent": pl.Int64,
    "n_erroneous": pl.Int64,
    "p_erroneous": pl.Float64,
    "p_erroneous_low": pl.Float64,
    "p_erroneous_high": pl.Float64,
}
"""Further columns of ``false_trust``."""


def false_trust(seen: pl.DataFrame, *, judged: pl.DataFrame | None = None, confidence: float = 0.95) -> pl.DataFrame:
    """Return, per coder and benchmark, P(erroneous | no two of the programs disagree) with its exact interval.

    ``seen``: estimates (one row a task) of the programs and inputs that were looked at; ``judged``: those that say
    which tasks are erroneous (E > 0), on more inputs for example; the same if left out. Columns: benchmark, model,
    temperature and TRUST_SCHEMA: tasks that have both measures, coherent ones (I = 0), erroneous ones among these; the
    share is NaN, from 0 to 1, without a coherent task. Clopper-Pearson, over tasks. Raises WrongUsage for another
    confidence.
    """
    alpha = (1 - checked_confidence(confidence)) / 2
    coder = ["benchmark", "model", "temperature"]
    keys = [*coder, "task_id"]
    truth = (seen if judged is None else judged).select(*keys, truth="error")
    both = seen.select(*keys, "incoherence").join(truth, on=keys)
    both = both.filter(*[pl.col(name).is_not_null() & pl.col(name).is_not_nan() for name in ("incoherence", "truth")])
    coherent = pl.col("incoherence") == 0
    counts = both.group_by(coder).agg(
        n_tasks=pl.len().cast(pl.Int64),
        n_coherent=coherent.sum().cast(pl.Int64),
        n_erroneous=(coherent & (pl.col("truth") > 0)).sum().cast(pl.Int64),
    )
    rows = [
        row | dict(zip(list(TRUST_SCHEMA)[3:], _share(row["n_erroneous"], row["n_coherent"], alpha), strict=True))
        for row in counts.sort(coder).iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema={name: seen.schema[name] for name in coder} | TRUST_SCHEMA)


def _share(part: int, whole: int, alpha: float) -> tuple[float, float, float]:
    if whole == 0:
        return float("nan"), 0.0, 1.0
    return part / whole, *clopper_pearson(part, whole, alpha=alpha)
