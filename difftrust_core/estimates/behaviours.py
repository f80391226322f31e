"""Compute compact matrices, members and disagreements from a store's outcomes, task by task in parallel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from difftrust_core.base.parallel import Progress, in_parallel
from difftrust_core.base.records import Kind, Validity
from difftrust_core.base.task import Task
from difftrust_core.estimates.pool import MISSING, NO_KIND, CompactTask, compact_frames, compress, member_costs
from difftrust_core.exceptions import BadStore
from difftrust_core.execution.answers import inputs_of_tests
from difftrust_core.execution.validity import PATIENCE
from difftrust_core.languages.language import MAX_ATTEMPTS
from difftrust_core.metrics.equality import EQUALITIES
from difftrust_core.store.store import REFERENCE, SCHEMAS, Store


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A task's behaviours: ``labels[equality]``, ``kinds`` and ``outcome_ids`` are (n_behaviours, n).

    A program need not have met the last chunks: its row is MISSING (NO_KIND) from ``reach[row]`` on.
    """

    labels: dict[str, NDArray[np.uint16]]
    kinds: NDArray[np.uint8]
    outcome_ids: NDArray[np.uint16]
    reach: NDArray[np.int64]
    row_of: dict[str, int]
    """Tree id -> row."""
    nondeterministic: frozenset[str]
    trimmed: frozenset[str]
    """Those that loaded only without what follows their entry point."""


def load_matrix(store: Store, partition: dict[str, object], task_id: str, starts: Sequence[int]) -> Matrix:
    """Return a task's matrix of outcome classes over the chunks that begin at ``starts``. Raises BadStore."""
    try:
        return _load_matrix(store, partition, task_id, starts)
    except (IndexError, ValueError, TypeError, pl.exceptions.PolarsError) as e:
        why = f"expected outcomes, behaviours and executions of {task_id} that fit each other, found {str(e)[:80]}"
        raise BadStore(f"{store.root}: {why}; run `difftrust verify --store {store.root}`") from None


def _load_matrix(store: Store, partition: dict[str, object], task_id: str, starts: Sequence[int]) -> Matrix:
    parts = [_load_chunk(store, {**partition, "start": start}, task_id) for start in starts]
    keys: dict[tuple[int, ...], int] = {}
    row_of = {tree: keys.setdefault(_rows_of(tree, parts), len(keys)) for tree in sorted(parts[0].row_of)}
    widths = [part.kinds.shape[1] for part in parts]
    if list(starts) != [sum(widths[:i]) for i in range(len(parts))]:
        remedy = f"run `difftrust execute --store {store.root}` with the same -n again"
        raise BadStore(f"{store.root}: inputs of {task_id} are missing; {remedy}")
    reach = np.array([sum(widths[: len(key)]) for key in keys], dtype=np.int64)
    rows = np.array([key + (-1,) * (len(parts) - len(key)) for key in keys], dtype=np.intp).reshape(-1, len(parts))

    def joined(matrices: list[NDArray[Any]], absent: int) -> NDArray[Any]:
        padded = [np.vstack([m, np.full((1, m.shape[1]), absent, dtype=m.dtype)]) for m in matrices]
        return np.concatenate([m[rows[:, i]] for i, m in enumerate(padded)], axis=1)  # row -1 is the absent one

    return Matrix(
        labels={e: joined([part.labels[e] for part in parts], MISSING) for e in EQUALITIES},
        kinds=joined([part.kinds for part in parts], NO_KIND),
        outcome_ids=joined([part.outcome_ids for part in parts], MISSING),
        reach=reach,
        row_of=row_of,
        nondeterministic=frozenset().union(*(p.nondeterministic for p in parts)),
        trimmed=frozenset().union(*(p.trimmed for p in parts)),
    )


def _rows_of(tree: str, parts: list[Matrix]) -> tuple[int, ...]:
    """Return a program's row in each chunk, up to the first chunk that it has not met."""
    found = []
    for part in parts:
        if tree not in part.row_of:
            break
        found.append(part.row_of[tree])
    return tuple(found)


def _load_chunk(store: Store, partition: dict[str, object], task_id: str) -> Matrix:
    def read(table: str) -> pl.DataFrame:
        frame = store.read_task(table, partition, task_id)
        if frame is None:
            missing = f"{table} of {task_id} from input {int(str(partition['start']))} on are missing"
            raise BadStore(f"{store.root}: {missing}; run `difftrust verify --store {store.root}`")
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
    return Matrix(
        labels={e: lookup(outcomes[f"{e}_class"].to_numpy()) for e in EQUALITIES},
        kinds=lookup(kinds.to_numpy()),
        outcome_ids=ids,
        reach=np.full(len(ids), shape[0], dtype=np.int64),
        row_of=dict(executions.select("tree_id", "behaviour_id").iter_rows()),
        nondeterministic=frozenset(executions.filter("nondeterministic")["tree_id"]),
        trimmed=frozenset(executions.filter("trimmed")["tree_id"]),
    )


SHOWN: Final = 5
"""Inputs a task at most."""
CUT: Final = 200
"""Characters of a value at most."""

Ints = NDArray[np.int64]


def telling_patterns(labels: NDArray[np.uint16], size: Ints, *, limit: int = SHOWN) -> list[int]:
    """Return up to ``limit`` patterns that together tell most behaviours apart, the most telling first.

    ``labels``: (n_rows, n_patterns), ``size``: (n_patterns,). Each pattern is the one that splits what the ones before
    it left together into most clusters, so the first has most clusters of its own; then the one with most of its own,
    then the one of the smallest size, then the first. Patterns that split nothing more are left out.
    """
    together: Ints = np.zeros(len(labels), dtype=np.int64)
    own = _n_clusters(labels.astype(np.int64))
    found: list[int] = []
    while len(found) < limit and labels.size:
        split = _n_clusters(together[:, None] * (MISSING + 1) + labels)
        best = int(np.lexsort((np.arange(len(size)), size, -own, -split))[0])
        if split[best] <= len(np.unique(together)):
            break
        found.append(best)
        together = np.unique(together * (MISSING + 1) + labels[:, best], return_inverse=True)[1].astype(np.int64)
    return found


def _n_clusters(keys: Ints) -> Ints:
    ordered = np.sort(keys, axis=0)
    clusters: Ints = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    return clusters


def disagreement_rows(
    store: Store, partition: dict[str, object], matrix: Matrix, task: CompactTask, votes: Ints
) -> list[dict[str, Any]]:
    """Return the rows of ``disagreements`` for one task, under each equality; inputs of the first chunk only.

    ``matrix`` has the rows of ``task``, ``votes`` (n_rows,) the candidates of each, of all coders together. A cluster
    shows what most of its candidates say.
    """
    inputs = store.read_task("inputs", partition, task.task_id)
    assert inputs is not None
    texts = inputs.sort("input_index")["arguments"].to_list()
    input_of, size = _shortest(task.pattern_of_input[: len(texts)], texts)
    rows = []
    for equality, labels in task.labels.items():
        chosen = telling_patterns(labels[:, : len(size)], size)
        indices = [input_of[pattern] for pattern in chosen]
        outcomes = _outcomes(store, partition, task.task_id, indices)
        for rank, index in enumerate(indices, 1):
            shown = {"equality": equality, "task_id": task.task_id, "rank": rank, "input_index": index}
            shown["arguments"] = cut(texts[index])
            column = labels[:, task.pattern_of_input[index]]
            for label in np.unique(column).tolist():
                members = np.flatnonzero(column == label)
                leader = int(members[votes[members].argmax()])
                kind, text = outcomes[index, int(matrix.outcome_ids[leader, index])]
                rows.append(
                    {
                        **shown,
                        "label": label,
                        "reference": task.reference in members,
                        "n_candidates": int(votes[members].sum()),
                        "kind": kind,
                        "text": cut(text),
                    }
                )
    return rows


def _shortest(pattern_of_input: NDArray[np.uint16], texts: list[str]) -> tuple[list[int], Ints]:
    """Return, per pattern, the input with the shortest arguments (the first of them) and how long these are."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    order = np.lexsort((np.arange(len(texts)), lengths, pattern_of_input))
    first = np.unique(pattern_of_input[order], return_index=True)[1]
    return order[first].tolist(), lengths[order[first]]


def _outcomes(
    store: Store, partition: dict[str, object], task_id: str, indices: list[int]
) -> dict[tuple[int, int], tuple[str, str]]:
    frame = store.read_task("outcomes", partition, task_id)
    assert frame is not None
    wanted = frame.filter(pl.col("input_index").is_in(indices)).select("input_index", "outcome_id", "kind", "text")
    return {(index, outcome): (kind, text) for index, outcome, kind, text in wanted.iter_rows()}


def cut(text: str) -> str:
    """Return a text as results show it: its first characters."""
    return text if len(text) <= CUT else f"{text[: CUT - 1]}…"


_BATCH = 16


@dataclass(frozen=True, kw_only=True)
class _Job:
    root: Path
    benchmark: str
    validity: str
    task_id: str
    starts: tuple[int, ...]
    votes: dict[str, int]
    """Tree id -> candidates, of all coders together."""


@dataclass(frozen=True, kw_only=True)
class _Made:
    task: CompactTask
    rows: list[tuple[str, str, int, bool, bool]]
    """(task_id, tree_id, row, nondeterministic, trimmed)."""
    disagreements: list[dict[str, Any]]


def compact(store: Store, benchmark: str, *, n_jobs: int = 1) -> dict[str, pl.DataFrame]:
    """Return the tables ``draws``, ``patterns``, ``classes``, ``members`` and ``disagreements`` of one benchmark.

    ``disagreements`` has its equality too. A coder has its candidates up to the first that was not executed on some
    task: the others would be of fewer tasks than these, or of those alone whose texts another coder has too.
    Raises BadStore if a file is missing or damaged.
    """
    jobs = list(_jobs(store, benchmark))
    batches = [jobs[i : i + _BATCH] for i in range(0, len(jobs), _BATCH)]
    made: list[_Made] = []
    with Progress(total=len(jobs), unit="task", desc=f"compact {benchmark}", delay=2) as bar:
        for batch in in_parallel(_make_batch, batches, n_jobs=min(n_jobs, max(1, len(batches)))):
            made += batch
            bar.update(len(batch))
    made.sort(key=lambda one: one.task.task_id)
    rows = pl.DataFrame(
        [row for one in made for row in one.rows],
        schema={
            **{"task_id": pl.String, "tree_id": pl.String, "row": pl.UInt16},
            **{"nondeterministic": pl.Boolean, "trimmed": pl.Boolean},
        },
        orient="row",
    )
    members = _members(store, benchmark, rows)
    made = made if not members.is_empty() else []  # a benchmark without a coder has nothing to tell
    disagreements = [row for one in made for row in one.disagreements]
    return {
        "draws": count_draws(store, benchmark),
        **compact_frames([one.task for one in made]),
        "members": members,
        "disagreements": pl.DataFrame(disagreements, schema={"equality": pl.String, **SCHEMAS["disagreements"]}),
    }


def candidate_trees(store: Store, benchmark: str) -> pl.DataFrame:
    """Return the candidates of one benchmark with the tree of each, sorted by coder, task and sample."""
    ids = ["task_id", "program_id", "tree_id"]
    trees = store.read("programs", {"benchmark": benchmark}, columns=ids).unique(ids[:2])
    return (
        store.read("candidates", {"benchmark": benchmark})
        .join(trees.select(ids), on=ids[:2])
        .sort("model", "temperature", "task_id", "sample_index")
    )


def _jobs(store: Store, benchmark: str) -> Iterator[_Job]:
    validity = store.settings().validity
    votes = candidate_trees(store, benchmark).group_by("task_id", "tree_id").len()
    by_task = {key[0]: dict(part.select("tree_id", "len").iter_rows()) for key, part in votes.group_by("task_id")}
    # A chunk counts once its executions are written: they come last.
    chunks = store.read("executions", {"benchmark": benchmark, "validity": validity}, columns=["task_id"])
    starts = chunks.select("task_id", "start").unique().sort("task_id", "start").group_by("task_id").agg("start")
    for task_id, of_task in starts.sort("task_id").iter_rows():
        if task_id in by_task:
            yield _Job(
                root=store.root,
                benchmark=benchmark,
                validity=validity,
                task_id=task_id,
                starts=tuple(of_task),
                votes=by_task[task_id],
            )


def _make_batch(jobs: list[_Job]) -> list[_Made]:
    return [_make(job) for job in jobs]


def _make(job: _Job) -> _Made:
    store = Store(job.root)
    partition: dict[str, object] = {"benchmark": job.benchmark, "validity": job.validity}
    matrix, votes = _in_order(load_matrix(store, partition, job.task_id, job.starts), job.votes)
    task = compress(
        job.task_id, matrix.labels, matrix.kinds, reach=matrix.reach, reference=matrix.row_of.get(REFERENCE)
    )
    first: dict[str, object] = {**partition, "start": job.starts[0]}
    rows = [
        (job.task_id, tree, matrix.row_of[tree], tree in matrix.nondeterministic, tree in matrix.trimmed)
        for tree in sorted(job.votes)
        if tree in matrix.row_of
    ]
    return _Made(task=task, rows=rows, disagreements=disagreement_rows(store, first, matrix, task, votes))


def _in_order(matrix: Matrix, votes: dict[str, int]) -> tuple[Matrix, NDArray[np.int64]]:
    """Return the rows that are somebody's, the reference's first, then by their candidates; and these numbers."""
    counts = np.zeros(len(matrix.reach), dtype=np.int64)
    for tree, row in matrix.row_of.items():
        counts[row] += votes.get(tree, 0)
    reference = matrix.row_of.get(REFERENCE, -1)
    order = [row for row in np.argsort(-counts, kind="stable").tolist() if counts[row] and row != reference]
    order = ([reference] if reference >= 0 else []) + order
    place = {row: i for i, row in enumerate(order)}
    return replace(
        matrix,
        labels={equality: matrix.labels[equality][order] for equality in EQUALITIES},
        kinds=matrix.kinds[order],
        outcome_ids=matrix.outcome_ids[order],
        reach=matrix.reach[order],
        row_of={tree: place[row] for tree, row in matrix.row_of.items() if row in place},
    ), counts[order]


def count_draws(store: Store, benchmark: str) -> pl.DataFrame:
    """Return, for each task, how many inputs it has, how many are distinct, and how many draws they took.

    Attempts beyond MAX_ATTEMPTS are unchanged seed inputs, taken after as many draws as there are attempts. A domain is
    exhausted if the last PATIENCE inputs all repeat earlier ones. ``public``: which inputs stand in the description, of
    the benchmark's tests alone; ``groups``: the group of each of the task's tests that were executed, which come over
    and over; null where some of them were not yet.
    """
    validity = store.settings().validity
    inputs = store.read("inputs", {"benchmark": benchmark, "validity": validity}).sort("task_id", "input_index")
    unchanged, is_new = pl.col("attempts") > MAX_ATTEMPTS, pl.col("arguments").is_first_distinct()
    counted = inputs.group_by("task_id", maintain_order=True).agg(
        n=pl.len(),
        n_distinct=is_new.sum(),
        n_draws=pl.col("attempts").cast(pl.UInt32).sum() - unchanged.sum(),
        n_unchanged=unchanged.sum(),
        n_repeats=pl.when(pl.col("repeats").null_count() == 0).then(pl.col("repeats").cast(pl.UInt32).sum()),
        exhausted=~is_new.tail(PATIENCE).any() if validity == Validity.DOMAIN else pl.lit(None, pl.Boolean),
    )
    tasks = store.read_tasks(benchmark) if validity == Validity.TESTS else []
    for frame in (_public(tasks, inputs), _groups(tasks, inputs)):
        counted = counted.join(frame, on="task_id", how="left", maintain_order="left")
    return counted.select(SCHEMAS["draws"].keys())


def _groups(tasks: Sequence[Task], inputs: pl.DataFrame) -> pl.DataFrame:
    """Return (task_id, groups) of the tests that were executed; not of a task of which some are still to be."""
    executed = dict(inputs.group_by("task_id").agg("arguments").iter_rows())
    rows = []
    for task in tasks:
        texts = executed.get(task.task_id, []) if task.tests else []
        there = set(texts)
        groups = [test.group for test, text in zip(task.tests, inputs_of_tests(task), strict=False) if text in there]
        if len(texts) >= len(task.tests) or len(texts) > len(groups):
            rows.append({"task_id": task.task_id, "groups": groups})
    return pl.DataFrame(rows, schema={name: SCHEMAS["draws"][name] for name in ("task_id", "groups")}).filter(
        pl.col("groups").list.len() > 0
    )


def _public(tasks: Sequence[Task], inputs: pl.DataFrame) -> pl.DataFrame:
    """Return (task_id, public): the positions of the tests that everyone may know, each at its first."""
    told = pl.DataFrame(
        [(task.task_id, text) for task in tasks for text in task.public_inputs],
        schema={"task_id": pl.String, "arguments": pl.String},
        orient="row",
    )
    first = inputs.unique(["task_id", "arguments"], keep="first", maintain_order=True)
    return (
        first.join(told, on=["task_id", "arguments"], how="semi", maintain_order="left")
        .group_by("task_id", maintain_order=True)
        .agg(public=pl.col("input_index").sort())
    )


def _members(store: Store, benchmark: str, rows: pl.DataFrame) -> pl.DataFrame:
    candidates, ids = candidate_trees(store, benchmark), ["task_id", "tree_id"]
    executed = candidates.join(rows, on=ids, maintain_order="left")
    missing = first_missing(candidates, rows)
    whole = executed.join(missing, on=["model", "temperature"], how="left", maintain_order="left")
    whole = whole.filter(pl.col("first_missing").is_null() | (pl.col("sample_index") < pl.col("first_missing")))
    return member_costs(store, benchmark, whole.drop("first_missing")).select(SCHEMAS["members"].keys())


def first_missing(candidates: pl.DataFrame, executed: pl.DataFrame) -> pl.DataFrame:
    """Return (model, temperature, first_missing): of each coder the lowest index of a candidate not ``executed``.

    ``executed``: (task_id, tree_id). Tasks of which nobody's candidates were executed do not count: some cannot be.
    """
    missing = candidates.join(executed, on=["task_id", "tree_id"], how="anti").join(executed, on="task_id", how="semi")
    return missing.group_by("model", "temperature").agg(first_missing=pl.col("sample_index").min())
