"""Compute a store's estimates from its compact matrices: one row a coder and task."""

import hashlib
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl

from difftrust_core.base.files import FileState, file_state, write_whole
from difftrust_core.base.records import Reading
from difftrust_core.estimates.measures import whole_rows
from difftrust_core.estimates.pool import Pool, load_pool, pool_names, pool_of
from difftrust_core.exceptions import WrongUsage
from difftrust_core.metrics.equality import EQUALITIES, Equality
from difftrust_core.store.checksums import forget
from difftrust_core.store.schemas import KEYS, MEASURED
from difftrust_core.store.store import PARTITIONS, SCHEMAS, Store, partition_of

_MADE = "compact 4"
"""Changes when the tables are made another way, so that those made before are made again."""
_ROWS, _DECIDING = 100_000, ("candidates", "executions")


def open_pools(store: Store, *, equality: str = Equality.PAPER, n_jobs: int = 1) -> dict[str, Pool]:
    """Return the behaviours of each benchmark of a store, made for the occasion where they are not up to date.

    Nothing is written. ``pool.load_pool`` is the same for a store that is up to date. Raises BadStore if a file is
    missing or damaged.
    """
    if not estimates_are_stale(store):
        return {name: load_pool(store, name, equality=equality) for name in pool_names(store)}
    made = _made_once(store.root, str(store.settings().validity), _fingerprint(store), n_jobs)
    return {name: pool_of(own.__getitem__, name, equality, reading=store.reading) for name, own in made.items()}


@lru_cache(maxsize=3)
def _made_once(root: Path, validity: str, fingerprint: str, n_jobs: int) -> dict[str, dict[str, pl.DataFrame]]:
    """Return each benchmark's tables: a table of a store asks several times, for each of the three readings."""
    from difftrust_core.estimates.behaviours import compact

    store = Store(root, Reading(inputs=validity))
    found = {name: compact(store, name, n_jobs=n_jobs) for name in _benchmarks(store)}
    return {name: frames for name, frames in found.items() if not frames["patterns"].is_empty()}


def estimates_of_pools(
    store: Store, pools: Mapping[str, Pool], *, m: int | None, n: int | None, temperature: float | None = None
) -> pl.DataFrame:
    """Return the estimates of every coder, or of those at one temperature; on the first m and n.

    None means all there are; with an n, coders of which a program was not executed that far are left out, for a mean
    over some of their tasks would mislead. Nothing is written. Raises WrongUsage if no program of a task was executed
    on n inputs, BrokenInvariant if one is broken.
    """
    schema = {**PARTITIONS["estimates"], **SCHEMAS["estimates"]}
    found = [pl.DataFrame(schema=schema)]
    for pool in pools.values():
        check_reach(pool, n)
        where = {"validity": store.settings().validity, "equality": pool.equality}
        for coder in pool.members:
            if temperature in (None, coder[1]):
                rows = whole_rows(pool, [coder], m=m, n=n, fewer=True)
                if rows is None:
                    continue
                rows = rows.with_columns([pl.lit(value).alias(name) for name, value in where.items()])
                found.append(rows.select([pl.col(name).cast(kind) for name, kind in schema.items()]))
    return pl.concat(found).sort("benchmark", "model", "temperature", "task_id")


def check_reach(pool: Pool, n: int | None) -> None:
    """Raise WrongUsage if a task was executed on fewer than n inputs."""
    for task in pool.tasks:
        if n is not None and n > len(task.pattern_of_input):
            raise WrongUsage(
                f"{task.task_id} was executed on {len(task.pattern_of_input)} inputs, not {n}; "
                f"run `difftrust execute --store DIR -n {n}`"
            )


def _benchmarks(store: Store) -> list[str]:
    return sorted(store.read("candidates")["benchmark"].unique())


def policies_executed(store: Store) -> set[str]:
    """Return the validity policies that a store was executed with; of a results store, those that it holds."""
    table = "executions" if store.holds("executions") else "classes"
    return {partition_of(path, table)["validity"] for path in store.files(table)}


def estimates_are_stale(store: Store) -> bool:
    """Tell whether the store's estimates are missing or older than its candidates or executions."""
    if not store.holds("candidates"):
        return False  # a results store: nothing in it can change
    path = _fingerprint_file(store)
    known = path.read_bytes().decode("ascii", "replace") if path.is_file() else ""
    return not known or all(known != _fingerprint(store, own=own) for own in (True, False))  # False: of former versions


def refresh_estimates(store: Store, *, n_jobs: int = 1) -> bool:
    """Write the store's compact matrices and estimates (all candidates, all inputs) unless they are up to date.

    Tell whether it did. Raises StoreInUse if another process writes to the store.
    """
    if not estimates_are_stale(store):
        return False
    with store.writing():
        _refresh(store, n_jobs)
    return True


def _refresh(store: Store, n_jobs: int) -> None:
    from difftrust_core.estimates.behaviours import compact
    from difftrust_core.estimates.pool import write_tokens

    validity, fingerprint = store.settings().validity, _fingerprint(store)
    _fingerprint_file(store).unlink(missing_ok=True)  # from here on, what is there may be of two makings
    for benchmark in _benchmarks(store):
        write_tokens(store, benchmark)
        _write_compact(store, benchmark, compact(store, benchmark, n_jobs=n_jobs))
    names = pool_names(store)
    for equality in EQUALITIES:
        pools = {name: load_pool(store, name, equality=equality) for name in names}
        frame = estimates_of_pools(store, pools, m=None, n=None)
        for (benchmark,), part in frame.group_by("benchmark", maintain_order=True):
            where = {"benchmark": benchmark, "validity": validity, "equality": equality}
            store.write("estimates", part, where, "estimates")
    path = _fingerprint_file(store)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, fingerprint)


def _write_compact(store: Store, benchmark: str, frames: dict[str, pl.DataFrame]) -> None:
    where = {"benchmark": benchmark, "validity": store.settings().validity}
    smallest = store.folder("smallest", where)  # it speaks of rows that get other numbers
    forget(store.root, [path.relative_to(store.root).as_posix() for path in smallest.glob("*.parquet")])
    shutil.rmtree(smallest, ignore_errors=True)
    for table in ("draws", "patterns", "classes", "members"):
        store.write(table, frames[table], where, table)
    for (equality,), part in frames["disagreements"].group_by("equality", maintain_order=True):
        store.write("disagreements", part, {**where, "equality": equality}, "disagreements")


def _fingerprint_file(store: Store) -> Path:
    return store.root / "estimates" / f"{store.settings().validity}.fingerprint"


def _fingerprint(store: Store, *, own: bool = True) -> str:
    """Return a digest of what estimates depend on: the candidates, and which program shows which behaviour.

    It is of the rows, not of the files: merging these, or measuring the same run's time anew, changes no estimate.
    ``own``: executions by the store's own policy alone, for those by others change none either.
    """
    return _digest(store.root, store.settings().validity if own else None, deciding_files(store))


def deciding_files(store: Store) -> tuple[FileState, ...]:
    """Return the states of the files that the estimates of a store rest on."""
    return tuple(file_state(path) for table in _DECIDING for path in store.files(table))


@lru_cache(maxsize=8)
def _digest(root: Path, validity: str | None, written: tuple[FileState, ...]) -> str:
    """Return the digest, once for these files: a table of a store asks for it a dozen times."""
    digest = hashlib.blake2b(" ".join((_MADE, *SCHEMAS["estimates"])).encode(), digest_size=16)
    for table in _DECIDING:
        columns = [name for name in SCHEMAS[table] if name not in MEASURED]
        frame = Store(root).read(table, columns=columns)
        if validity is not None and "validity" in frame.columns:
            frame = frame.filter(validity=validity)
        frame = frame.sort(*PARTITIONS[table], *KEYS[table])
        digest.update(frame.clear().write_csv().encode())
        for rows in frame.iter_slices(_ROWS):  # as text they take ten times the room
            digest.update(rows.write_csv(include_header=False).encode())
    return digest.hexdigest()
