"""A coder at one m and n as one row, or nothing where the store does not hold all of it; and nothing else."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from difftrust_core.ablation.measures import ablation, shares, summary
from difftrust_core.ablation.pool import Coder, Pool

SETTING_SCHEMA: Final = {
    "model": pl.String,
    "temperature": pl.Float64,
    "m": pl.Int64,
    "n": pl.Int64,
    "n_tasks": pl.Int64,
    "mean_error": pl.Float64,
    "mean_incoherence": pl.Float64,
    "detection_rate": pl.Float64,
    "detection_rate_all_pairs": pl.Float64,
    "undetected_mean_error": pl.Float64,
    "undetected_mean_error_all_pairs": pl.Float64,
    "cost_usd": pl.Float64,
}
"""Columns of ``settings_frame``."""


def whole_rows(pool: Pool, coders: Sequence[Coder], *, m: int, n: int) -> pl.DataFrame | None:
    """Return the rows of ``ablation``, one a task, or None where the setting is not recorded whole.

    Whole: every coder has its share of m candidates for some task, and all of these candidates were executed on n
    inputs, on every task that has them. A mean over fewer tasks than other settings have would mislead.
    """
    if m < max(2, len(coders)) or n < 1:
        return None
    wanted: set[str] = set()
    for coder, share in zip(coders, shares(m, len(coders)), strict=True):
        if recorded(pool, coder) < share:
            return None
        wanted.update(pool.tasks_of(coder, m=share))
    rows = ablation(pool, coders, m=m, n=n, subsets=False)
    return rows if rows.height == len(wanted) else None


def recorded(pool: Pool, coder: Coder) -> int:
    """Return how many candidates of a coder are recorded for the task that has most of them; 0 for an unknown one."""
    members = pool.members.get(coder)
    return 0 if members is None else int(members.sample_index.max(initial=-1)) + 1


def settings_frame(pool: Pool, coders: Sequence[Coder], points: Sequence[tuple[int, int]]) -> pl.DataFrame:
    """Return one row for each (m, n) that is recorded whole: the columns of SETTING_SCHEMA, NaN where undefined."""
    made = []
    for m, n in points:
        rows = whole_rows(pool, coders, m=m, n=n)
        if rows is not None:
            made.append({**_coder_columns(coders), "m": m, "n": n, **summary(rows)})
    return pl.DataFrame([{name: row[name] for name in SETTING_SCHEMA} for row in made], schema=SETTING_SCHEMA)


def _coder_columns(coders: Sequence[Coder]) -> dict[str, object]:
    temperatures = {temperature for _, temperature in coders}
    return {
        "model": "+".join(model for model, _ in coders),
        "temperature": temperatures.pop() if len(temperatures) == 1 else None,
    }
