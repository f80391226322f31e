"""From a store's outcomes to its compact matrices, and from them to its estimates, one row a coder and task."""

import hashlib
from pathlib import Path

import polars as pl

from difftrust_core.ablation import Pool, ablation
from difftrust_core.exceptions import WrongUsage
from difftrust_core.pipeline.compaction import compact
from difftrust_core.results import EQUALITIES, load_pool, pool_names, pool_of
from difftrust_core.store import PARTITIONS, SCHEMAS, Store

_MADE = "compact 1"
"""Changes when the tables are made another way, so that those made before are made again."""


def compute_estimates(
    store: Store, *, n: int | None = None, m: int | None = None, n_jobs: int = 1
) -> dict[str, pl.DataFrame]:
    """Return the estimates under each equality: each coder's first ``m`` candidates on the first ``n`` inputs.

    None means all there are; with an n, coders whose programs were not executed that far are left out. Nothing is
    written: compact matrices that are missing or out of date are made for the occasion. Raises WrongUsage if no
    program of a task was executed on n inputs, BadStore if an invariant is broken.
    """
    pools = _made_pools(store, n_jobs) if estimates_are_stale(store) else _stored_pools(store)
    return {equality: _estimates(store, pools[equality], equality, m, n) for equality in EQUALITIES}


_Pools = dict[str, list[Pool]]


def _made_pools(store: Store, n_jobs: int) -> _Pools:
    made = {name: compact(store, name, n_jobs=n_jobs) for name in _benchmarks(store)}
    return {e: [pool_of(frames, name, e) for name, frames in made.items()] for e in EQUALITIES}


def _stored_pools(store: Store) -> _Pools:
    return {e: [load_pool(store, name, equality=e) for name in pool_names(store)] for e in EQUALITIES}


def _estimates(store: Store, pools: list[Pool], equality: str, m: int | None, n: int | None) -> pl.DataFrame:
    schema = {**PARTITIONS["estimates"], **SCHEMAS["estimates"]}
    found = [pl.DataFrame(schema=schema)]
    for pool in pools:
        for task in pool.tasks:
            if n is not None and n > len(task.pattern_of_input):
                raise WrongUsage(
                    f"{task.task_id} was executed on {len(task.pattern_of_input)} inputs, not {n}; "
                    f"run `difftrust execute -n {n}`"
                )
        for coder in pool.members:
            rows = ablation(pool, [coder], m=m, n=n, subsets=False)
            where = {"validity": store.settings().validity, "equality": equality}
            rows = rows.with_columns([pl.lit(value).alias(name) for name, value in where.items()])
            found.append(rows.select([pl.col(name).cast(kind) for name, kind in schema.items()]))
    return pl.concat(found).sort("benchmark", "model", "temperature", "task_id")


def _benchmarks(store: Store) -> list[str]:
    return sorted(store.read("candidates")["benchmark"].unique())


def estimates_are_stale(store: Store) -> bool:
    """Tell whether the store's estimates are missing or older than its candidates or executions."""
    if not store.holds("candidates"):
        return False  # a results store: nothing in it can change
    path = _fingerprint_file(store)
    return not path.is_file() or path.read_text() != _fingerprint(store)


def refresh_estimates(store: Store, *, n_jobs: int = 1) -> bool:
    """Write the store's compact matrices and estimates (all candidates, all inputs) unless they are up to date.

    Tell whether it did.
    """
    if not estimates_are_stale(store):
        return False
    validity = store.settings().validity
    _fingerprint_file(store).unlink(missing_ok=True)  # from here on, what is there may be of two makings
    for benchmark in _benchmarks(store):
        _write_compact(store, benchmark, compact(store, benchmark, n_jobs=n_jobs))
    for equality, pools in _stored_pools(store).items():
        frame = _estimates(store, pools, equality, None, None)
        for (benchmark,), part in frame.group_by("benchmark", maintain_order=True):
            where = {"benchmark": benchmark, "validity": validity, "equality": equality}
            store.write("estimates", part, where, "estimates")
    path = _fingerprint_file(store)
    path.parent.mkdir(exist_ok=True)
    path.write_text(_fingerprint(store))
    return True


def _write_compact(store: Store, benchmark: str, frames: dict[str, pl.DataFrame]) -> None:
    where = {"benchmark": benchmark, "validity": store.settings().validity}
    for table in ("patterns", "classes"):
        store.write(table, frames[table], where, table)
    for (equality,), part in frames["disagreements"].group_by("equality", maintain_order=True):
        store.write("disagreements", part, {**where, "equality": equality}, "disagreements")
    for (model, temperature), part in frames["members"].group_by("model", "temperature", maintain_order=True):
        store.write("members", part, {**where, "model": model, "temperature": temperature}, "members")


def _fingerprint_file(store: Store) -> Path:
    return store.root / "estimates" / f"{store.settings().validity}.fingerprint"


def _fingerprint(store: Store) -> str:
    """Return a digest of what estimates depend on: the candidates, and which program shows which behaviour."""
    digest = hashlib.blake2b(_MADE.encode(), digest_size=16)
    for path in (*store.files("candidates"), *store.files("executions")):
        digest.update(str(path.relative_to(store.root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
