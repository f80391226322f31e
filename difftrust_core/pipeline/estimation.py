"""From the outcomes of a store to its estimates, one row a coder and task."""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tqdm import tqdm

from difftrust_core.equality import PAPER, STRICT
from difftrust_core.estimators import estimate
from difftrust_core.exceptions import BadStore, WrongUsage
from difftrust_core.pipeline.workers import in_parallel
from difftrust_core.records import Kind
from difftrust_core.store import PARTITIONS, REFERENCE, SCHEMAS, Store, file_name

EQUALITIES = (PAPER, STRICT)
_KIND_COLUMNS = {
    "n_values": Kind.VALUE,
    "n_exceptions": Kind.EXCEPTION,
    "n_timeouts": Kind.TIMEOUT,
    "n_skipped": Kind.SKIPPED,
    "n_memory": Kind.MEMORY,
    "n_crashes": Kind.CRASH,
    "n_load_errors": Kind.LOAD_ERROR,
    "n_unsupported": Kind.UNSUPPORTED,
    "n_forged": Kind.FORGED,
}


@dataclass(frozen=True, kw_only=True)
class _EstimateJob:
    root: Path
    benchmark: str
    validity: str
    task_id: str
    starts: tuple[int, ...]
    coders: tuple[tuple[str, float, tuple[str, ...]], ...]
    """(model, temperature, tree ids of its candidates in the order of their sample index)."""
    n: int


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A task's behaviours: ``labels[equality]`` and ``kinds`` are (n_behaviours, n); rows are found by tree."""

    labels: dict[str, NDArray[np.uint16]]
    kinds: NDArray[np.uint8]
    row_of: dict[str, int]
    nondeterministic: frozenset[str]


def load_matrix(store: Store, job_partition: dict[str, object], task_id: str, starts: tuple[int, ...]) -> Matrix:
    """Return a task's matrix of outcome classes over the chunks that begin at ``starts``, in order."""
    parts = [_load_chunk(store, {**job_partition, "start": f"{start:06d}"}, task_id) for start in starts]
    trees = sorted(set.intersection(*(set(part.row_of) for part in parts)))
    keys: dict[tuple[int, ...], int] = {}
    row_of = {t: keys.setdefault(tuple(part.row_of[t] for part in parts), len(keys)) for t in trees}
    rows = np.array(list(keys), dtype=np.intp).reshape(len(keys), len(parts))
    return Matrix(
        labels={e: np.concatenate([p.labels[e][rows[:, i]] for i, p in enumerate(parts)], axis=1) for e in EQUALITIES},
        kinds=np.concatenate([p.kinds[rows[:, i]] for i, p in enumerate(parts)], axis=1),
        row_of=row_of,
        nondeterministic=frozenset().union(*(p.nondeterministic for p in parts)),
    )


def _load_chunk(store: Store, partition: dict[str, object], task_id: str) -> Matrix:
    def read(table: str) -> pl.DataFrame:
        path = store.folder(table, partition) / f"{file_name(task_id)}.parquet"
        frame = store.read_file(table, path)
        if frame is None:
            raise BadStore(f"{path} is missing; run `difftrust execute` again")
        return frame

    outcomes = read("outcomes")
    ids = np.array(read("behaviours").sort("behaviour_id")["outcome_ids"].to_list(), dtype=np.uint16)
    executions = read("executions")
    position = (outcomes["input_index"] - outcomes["input_index"].min()).to_numpy()
    shape = (int(position.max()) + 1, int(outcomes["outcome_id"].max()) + 1)  # type: ignore[arg-type]
    across = np.arange(shape[0])

    def lookup(values: NDArray[Any]) -> NDArray[Any]:
        table = np.zeros(shape, dtype=values.dtype)
        table[position, outcomes["outcome_id"].to_numpy()] = values
        return np.asarray(table[across, ids])

    kinds = outcomes["kind"].replace_strict({k.name.lower(): int(k) for k in Kind}, return_dtype=pl.UInt8)
    flagged = executions.filter("nondeterministic")["tree_id"]
    return Matrix(
        labels={e: lookup(outcomes[f"{e}_class"].to_numpy()) for e in EQUALITIES},
        kinds=lookup(kinds.to_numpy()),
        row_of=dict(executions.select("tree_id", "behaviour_id").iter_rows()),
        nondeterministic=frozenset(flagged),
    )


def _estimate_task(job: _EstimateJob) -> list[dict[str, Any]]:
    partition: dict[str, object] = {"benchmark": job.benchmark, "validity": job.validity}
    matrix = load_matrix(Store(job.root), partition, job.task_id, job.starts)
    return [
        {"model": model, "temperature": temperature, "task_id": job.task_id, "equality": equality, **row}
        for model, temperature, trees in job.coders
        for equality, row in _coder_rows(matrix, [t for t in trees if t in matrix.row_of], job.n)
    ]


def _coder_rows(matrix: Matrix, trees: list[str], n: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a coder's row under each equality, from the behaviours of its candidates on the first n inputs."""
    if not trees:
        return
    rows, counts = np.unique([matrix.row_of[tree] for tree in trees], return_counts=True)
    reference = matrix.row_of.get(REFERENCE)
    if reference is not None and reference not in rows:
        rows, counts = np.append(rows, reference), np.append(counts, 0)
    at = None if reference is None else int(np.flatnonzero(rows == reference)[0])
    kinds = matrix.kinds[rows, :n]
    kind_columns = {name: int((counts[:, None] * (kinds == kind)).sum()) for name, kind in _KIND_COLUMNS.items()}
    flagged = sum(tree in matrix.nondeterministic for tree in trees)
    for equality in EQUALITIES:
        found = estimate(matrix.labels[equality][rows, :n], counts, at)
        yield equality, {**asdict(found), **kind_columns, "n_nondeterministic": flagged}


def compute_estimates(
    store: Store, *, n: int | None = None, m: int | None = None, n_jobs: int = 1
) -> dict[str, pl.DataFrame]:
    """Return the estimates under each equality: each coder's first ``m`` candidates on the first ``n`` inputs.

    None means all there are. Raises WrongUsage if n exceeds what was executed, BadStore if an invariant is broken.
    """
    jobs = list(_estimate_jobs(store, n, m))
    rows: list[dict[str, Any]] = []
    with tqdm(total=len(jobs), unit="task", desc="estimate", disable=None, file=sys.stderr, delay=2) as bar:
        for task_rows in in_parallel(_estimate_batch, _batches(jobs), n_jobs=n_jobs):
            rows += task_rows[1]
            bar.update(task_rows[0])
    schema = {**PARTITIONS["estimates"], **SCHEMAS["estimates"]}
    frame = pl.DataFrame(rows, schema=schema).sort("benchmark", "model", "temperature", "task_id")
    return {equality: frame.filter(pl.col("equality") == equality) for equality in EQUALITIES}


def _batches(jobs: list[_EstimateJob], size: int = 16) -> list[list[_EstimateJob]]:
    return [jobs[i : i + size] for i in range(0, len(jobs), size)]


def _estimate_batch(jobs: list[_EstimateJob]) -> tuple[int, list[dict[str, Any]]]:
    found = []
    for job in jobs:
        found += [{"benchmark": job.benchmark, "validity": job.validity, **row} for row in _estimate_task(job)]
    return len(jobs), found


def _estimate_jobs(store: Store, n: int | None, m: int | None) -> Iterator[_EstimateJob]:
    validity = store.settings().validity
    candidates = store.read("candidates")
    if m is not None:
        candidates = candidates.filter(pl.col("sample_index") < m)
    for benchmark in sorted(candidates["benchmark"].unique()):
        trees = store.read("programs", {"benchmark": benchmark}).unique(["task_id", "program_id"]).drop("code")
        coders = (
            candidates.filter(pl.col("benchmark") == benchmark)
            .join(trees.drop("benchmark"), on=["task_id", "program_id"])
            .sort("task_id", "model", "temperature", "sample_index")
            .group_by("task_id", "model", "temperature", maintain_order=True)
            .agg("tree_id")
        )
        by_task = {key[0]: part for key, part in coders.group_by("task_id", maintain_order=True)}
        inputs = store.read("inputs", {"benchmark": benchmark, "validity": validity})
        spans = inputs.group_by("task_id", "start").len().sort("task_id", "start")
        for (task_id,), part in spans.group_by("task_id", maintain_order=True):
            reached = int(part["len"].sum())
            if n is not None and n > reached:
                raise WrongUsage(f"{task_id} was executed on {reached} inputs, not {n}; run `difftrust execute -n {n}`")
            if task_id not in by_task:
                continue
            rows = by_task[task_id].select("model", "temperature", "tree_id").iter_rows()
            yield _EstimateJob(
                root=store.root,
                benchmark=benchmark,
                validity=validity,
                task_id=str(task_id),
                starts=tuple(start for start in part["start"] if start < (n or reached)),
                coders=tuple((model, temperature, tuple(ids)) for model, temperature, ids in rows),
                n=n or reached,
            )


def estimates_are_stale(store: Store) -> bool:
    """Tell whether the store's estimates are missing or older than its candidates or executions."""
    path = _fingerprint_file(store)
    return not path.is_file() or path.read_text() != _fingerprint(store)


def refresh_estimates(store: Store, *, n_jobs: int = 1) -> bool:
    """Write the store's estimates (all candidates, all inputs) unless they are up to date; tell whether it did."""
    if not estimates_are_stale(store):
        return False
    validity = store.settings().validity
    for equality, frame in compute_estimates(store, n_jobs=n_jobs).items():
        for (benchmark,), part in frame.group_by("benchmark", maintain_order=True):
            where = {"benchmark": benchmark, "validity": validity, "equality": equality}
            store.write("estimates", part, where, "estimates")
    path = _fingerprint_file(store)
    path.parent.mkdir(exist_ok=True)
    path.write_text(_fingerprint(store))
    return True


def _fingerprint_file(store: Store) -> Path:
    return store.root / "estimates" / f"{store.settings().validity}.fingerprint"


def _fingerprint(store: Store) -> str:
    """Return a digest of what estimates depend on: the candidates, which program shows which behaviour, the columns."""
    digest = hashlib.blake2b(" ".join(SCHEMAS["estimates"]).encode(), digest_size=16)
    for path in (*store.files("candidates"), *store.files("executions")):
        digest.update(str(path.relative_to(store.root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
