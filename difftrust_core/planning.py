"""Which m and n to choose, from a table of what each choice found and cost; and nothing else.

A ``grid`` has one row per choice: m, n, detection_rate (NaN where undefined) and cost_usd, and any other columns.
"""

from typing import Any, Final

import polars as pl

from difftrust_core.exceptions import WrongUsage

GRID: Final = ("m", "n", "detection_rate", "cost_usd")


def cheapest(grid: pl.DataFrame, *, detection_rate: float) -> dict[str, Any] | None:
    """Return the row of ``grid`` that detects at least that share of the erroneous tasks for the least money.

    Among equally cheap ones the one with fewer inputs, then with fewer programs; None where none detects so many.
    Raises WrongUsage unless 0 < detection_rate <= 1, or if the grid lacks a column.
    """
    if not 0 < detection_rate <= 1:
        raise WrongUsage(f"a detection rate to reach lies in (0, 1], got {detection_rate}")
    missing = [name for name in GRID if name not in grid.columns]
    if missing:
        raise WrongUsage(f"a plan needs the columns {', '.join(GRID)}, missing: {', '.join(missing)}")
    enough = grid.filter(pl.col("detection_rate").is_not_nan() & (pl.col("detection_rate") >= detection_rate))
    return None if enough.is_empty() else enough.sort("cost_usd", "n", "m").row(0, named=True)
