"""What is known of each coder and task, with a reference and without: error beside every signal; and nothing else."""

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from difftrust_core.ablation import Pool, ablation
from difftrust_core.ablation.counting import count
from difftrust_core.estimators.clusters import cluster_entropy, largest_share, pass_at_k
from difftrust_core.exceptions import NoStore
from difftrust_core.results import load_pool, pool_names
from difftrust_core.store import Store


@dataclass(frozen=True, kw_only=True)
class Signal:
    """Something that may tell where an error is, without a reference."""

    column: str
    title: str
    family: str
    """``behaviour`` (programs executed), ``structure`` (programs parsed), ``text``, or ``length``."""
    sign: int = -1
    """1 where more of it means an error is more likely, -1 where less does."""


SIGNALS: Final = (
    Signal(column="incoherence", title="incoherence", family="behaviour", sign=1),
    Signal(column="n_clusters", title="behaviour clusters", family="behaviour", sign=1),
    Signal(column="cluster_entropy", title="cluster entropy", family="behaviour", sign=1),
    Signal(column="largest_share", title="largest cluster", family="behaviour"),
    Signal(column="jsd_structural", title="JSD (structural)", family="structure"),
    Signal(column="jsd", title="JSD", family="structure"),
    Signal(column="sce_structural", title="SCE (structural)", family="structure"),
    Signal(column="sce", title="SCE", family="structure"),
    Signal(column="gibbs_structural", title="SCE, Gibbs (structural)", family="structure"),
    Signal(column="gibbs", title="SCE, Gibbs", family="structure"),
    Signal(column="tsed", title="TSED", family="structure"),
    Signal(column="bleu", title="BLEU", family="text"),
    Signal(column="exact_match", title="exact match", family="text"),
    Signal(column="mean_length", title="mean program length", family="length", sign=1),
)
"""Every signal, the ones of behaviour first."""
KEY: Final = ("benchmark", "task_id", "model", "temperature")
_BEHAVIOUR: Final[dict[str, Any]] = {
    "m": pl.UInt32,
    "n": pl.UInt32,
    "error": pl.Float64,
    "incoherence": pl.Float64,
    "n_clusters": pl.Float64,
    "cluster_entropy": pl.Float64,
    "largest_share": pl.Float64,
    "pass_at_1": pl.Float64,
    "pass_at_5": pl.Float64,
}
_STABILITY: Final = tuple(s.column for s in SIGNALS if s.family != "behaviour")


def signals(
    store: Store,
    *,
    temperature: float = 0.6,
    m: int | None = 10,
    n: int | None = 1000,
    equality: str = "paper",
    options: str = "default",
) -> pl.DataFrame:
    """Return a row for each (benchmark, task, model, temperature) that was both executed and compared.

    Columns: KEY; m, n; error; the columns of SIGNALS, as measured (similarities and all); pass_at_1, pass_at_5. The
    first ``m`` candidates on the first ``n`` inputs, None: all; ``options``: of `difftrust structure`, as its label.
    Raises NoStore if the store holds no such comparison, saying which command makes it.
    """
    stability = _stability(store, m=m, options=options).filter(pl.col("temperature") == temperature)
    if stability.is_empty():
        first = "" if m is None else f" -m {m}"
        raise NoStore(
            f"{store.root} holds no structural comparison at temperature {temperature} of {m or 'all'} candidates with "
            f"options {options!r}; run `difftrust structure --temperature {temperature}{first} --store DIR`"
        )
    found = [
        behaviour_signals(load_pool(store, name, equality=equality), temperature=temperature, m=m, n=n)
        for name in pool_names(store)
    ]
    joined = pl.concat(found).join(stability, on=list(KEY), how="inner")
    return joined.select(*KEY, *_BEHAVIOUR, *_STABILITY).sort(KEY)


def _stability(store: Store, *, m: int | None, options: str) -> pl.DataFrame:
    where = (pl.col("first") == (m or 0)) & (pl.col("options") == options)
    return store.read("stability").filter(where).select(*KEY, *_STABILITY)


def behaviour_signals(pool: Pool, *, temperature: float, m: int | None, n: int | None) -> pl.DataFrame:
    """Return what executing says of each coder and task at one temperature.

    Columns: KEY, m, n, error, incoherence; of the clusters of equal behaviour their number, entropy in bits and largest
    share; pass_at_1 and pass_at_5, NaN without a reference.
    """
    found = [pl.DataFrame(schema={**_KEY_SCHEMA, **_BEHAVIOUR})]
    for coder in sorted(pool.members):
        if coder[1] == temperature:
            measured = ablation(pool, [coder], m=m, n=n, subsets=False)
            counts = count(pool, [coder], m=[m], n=n)
            sizes = [sorted((c.sizes[0] for c in task.classes), reverse=True) for task in counts.tasks()]
            tallies = counts.tallies
            right = [
                (m, right) if known else None
                for m, right, known in zip(
                    *(a.tolist() for a in (tallies.m, tallies.right, tallies.has_reference)), strict=True
                )
            ]
            columns: dict[str, list[float]] = {
                "n_clusters": [float(len(each)) for each in sizes],
                "cluster_entropy": [cluster_entropy(each) for each in sizes],
                "largest_share": [largest_share(each) for each in sizes],
                **{f"pass_at_{k}": [float("nan") if r is None else pass_at_k(*r, k) for r in right] for k in (1, 5)},
            }
            made = measured.with_columns([pl.Series(name, values) for name, values in columns.items()])
            found.append(made.select([pl.col(c).cast(kind) for c, kind in (_KEY_SCHEMA | _BEHAVIOUR).items()]))
    return pl.concat(found)


_KEY_SCHEMA: Final[dict[str, Any]] = {
    "benchmark": pl.String,
    "task_id": pl.String,
    "model": pl.String,
    "temperature": pl.Float64,
}
