"""The estimates of a store under each equality, computed and not written."""

import polars as pl

from difftrust_core.estimates.refresh import estimates_of_pools, open_pools
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.store.store import Store


def compute_estimates(store: Store, *, n: int | None = None, m: int | None = None) -> dict[str, pl.DataFrame]:
    """Return each coder's estimates for its first ``m`` candidates on the first ``n`` inputs; None: all there are."""
    return {e: estimates_of_pools(store, open_pools(store, equality=e), m=m, n=n) for e in EQUALITIES}
