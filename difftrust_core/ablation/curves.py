"""Measures of one coder as m, n or the temperature varies, with their intervals over tasks; and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from difftrust_core.ablation.measures import ablation, summary
from difftrust_core.ablation.pool import Pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.intervals.tasks import bootstrap_tasks, statistic_of

VARIED: Final = ("m", "n", "temperature")
CURVES: Final = ("detection_rate", "mean_error", "mean_incoherence")
"""Measures that have an interval."""


def curves(
    pools: Mapping[str, Pool],
    model: str,
    *,
    vary: str,
    values: Sequence[float],
    fixed: Mapping[str, float],
    tasks: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame,
    resamples: int = 500,
) -> pl.DataFrame:
    """Return one row a benchmark and value of what varies: benchmark, model, m, n, temperature, the measures.

    ``fixed``: m, n and temperature of what does not vary. Measures: those of ``summary``, and <measure>_low and _high
    for CURVES, 95 % over tasks. Values that are not all recorded or executed are left out, as are those with m < 2.
    ``tasks`` takes the rows of ``ablation`` that count. Raises WrongUsage for another name.
    """
    if vary not in VARIED:
        raise WrongUsage(f"what varies is one of {', '.join(VARIED)}, got {vary!r}")
    rows = []
    for name, pool in sorted(pools.items()):
        for value in values:
            at = {**fixed, vary: value}
            m, n, coder = int(at["m"]), int(at["n"]), (model, float(at["temperature"]))
            found = pl.DataFrame() if m < 2 or coder not in pool.members else tasks(ablation(pool, [coder], m=m, n=n))
            if found.is_empty() or found["m"].max() != m or found.height < _wanted(pool, coder, m, tasks):
                continue
            place = {"benchmark": name, "model": model, "m": m, "n": n, "temperature": coder[1]}
            rows.append(place | summary(found) | _ends(found, resamples))
    return pl.DataFrame(rows)


def _wanted(pool: Pool, coder: tuple[str, float], m: int, tasks: Callable[[pl.DataFrame], pl.DataFrame]) -> int:
    return tasks(pl.DataFrame({"benchmark": pool.benchmark, "task_id": pool.tasks_of(coder, m=m)})).height


def _ends(found: pl.DataFrame, resamples: int) -> dict[str, float]:
    ends: dict[str, float] = {}
    for measure in CURVES:
        interval = bootstrap_tasks(found, statistic_of(measure), resamples=resamples)
        ends |= {f"{measure}_low": interval.low, f"{measure}_high": interval.high}
    return ends
