"""Programs of several models: with the same number of programs, for the same money, and where all of them agree."""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from difftrust.research.mixtures import mixture_summary, mixtures, same_price
from difftrust.results import Table
from difftrust_core.base.records import Coder
from difftrust_core.estimates.pool import Pool
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import list_price

Tasks = Callable[[pl.DataFrame], pl.DataFrame]
"""Which rows count, by their task."""


def mixture_table(pools: Sequence[Pool], n_models: Sequence[int], *, m: int, temperature: float, tasks: Tasks) -> Table:
    """Return what m programs of so many models find: a row a benchmark and number of models."""
    rows = []
    for pool in pools:
        coders = [coder for coder in pool.members if coder[1] == temperature]
        for k in n_models:
            found = mixture_summary(tasks(mixtures(pool, coders, n_models=k, each=m // k, m=m)))
            rows.append({"benchmark": pool.benchmark, "n_models": k, "programs_of_each": m // k, **found})
    return Table(pl.DataFrame(rows).fill_nan(None).with_columns(pl.col("n_tasks").cast(pl.Int64)))


def same_price_table(
    pools: Sequence[Pool], checked: Coder, listed: Mapping[str, str], *, m: int, tasks: Tasks
) -> Table:
    """Return what other choices of models find for the price of m programs of ``checked``.

    ``listed``: model -> the name of its list price. Raises WrongUsage for a model without a known price.
    """
    prices = {}
    for model, name in listed.items():
        price = list_price(name)
        if price is None:
            raise WrongUsage(f"expected a model with a known list price, got {name!r}; leave {model} out")
        prices[model, checked[1]] = price
    return Table(pl.concat(same_price(pool, checked, prices, m=m, tasks=tasks) for pool in pools))
