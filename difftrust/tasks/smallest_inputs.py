"""Find the smallest inputs on which a store's behaviours differ, and write them as the table ``smallest``.

For each task: of each behaviour of the chosen candidates one on which it differs from the reference, and for each coder
one on which its largest cluster differs from each of its others. Texts that the store lacks are taken from what is on
this machine (``tasks.texts``), inputs that it lacks are drawn again by its seed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import polars as pl

from difftrust.tasks.details import DISAGREEING, WRONG, read_arguments, read_programs
from difftrust.tasks.find_texts import find_task
from difftrust.tasks.shrinking import RIGHT, UNTELLING, Pair, Places, Shrinking, Smallest
from difftrust_core.base.parallel import Progress
from difftrust_core.base.records import Coder, Kind
from difftrust_core.base.task import Task
from difftrust_core.datasets.recorded import Selection
from difftrust_core.estimates.behaviours import cut
from difftrust_core.estimates.pool import CompactTask, Pool, load_pool, pool_names
from difftrust_core.exceptions import BadStore, DifftrustError, WrongUsage
from difftrust_core.execution.jobs import ChunkJob
from difftrust_core.execution.resumable import Ended, GrowingFile, run_missing
from difftrust_core.execution.validity import sample_valid_inputs
from difftrust_core.execution.worker import checker_for, sandbox_for
from difftrust_core.languages.registry import language_of
from difftrust_core.metrics.equality import Equality
from difftrust_core.store.store import Store

_STARTS = 3


@dataclass(frozen=True, kw_only=True)
class Request:
    """Whose behaviours are compared, on which inputs."""

    selection: Selection = field(default_factory=Selection)
    """The first m candidates of these coders."""
    tasks: frozenset[str] = frozenset()
    """Only these; empty: all."""
    n: int = 1000
    """The first so many measured inputs decide who differs."""
    equality: Equality = Equality.PAPER
    n_jobs: int = 1
    allow_weak: bool = False


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one ``find_smallest`` did."""

    n_tasks: int = 0
    """Tasks that were looked at now."""
    n_pairs: int = 0
    """Pairs of behaviours, what is right being one, that lacked an input."""
    n_found: int = 0
    n_smallest: int = 0
    """Pairs whose input no step makes smaller."""
    n_at_hand: int = 0
    """Pairs that had one."""
    without_texts: tuple[str, ...] = ()
    """Tasks whose text or programs are not on this machine."""
    failures: tuple[tuple[str, str], ...] = ()
    """(task, why)."""

    def __add__(self, other: "Found") -> "Found":
        """Return both together."""
        return Found(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(Found)})


@dataclass(frozen=True, kw_only=True, eq=False)
class _Job:
    chunk: ChunkJob
    equality: Equality
    behaviours: CompactTask
    codes: Mapping[int, str]
    pairs: tuple[tuple[int, int], ...]
    inputs: tuple[str, ...]
    """The first n; empty: drawn again."""
    known: Mapping[int, str]
    """Some inputs as the results show them, cut: those that are drawn again must be the same."""


def find_smallest(store: Store, request: Request) -> Found:
    """Find the smallest inputs that ``store`` lacks, and write them as they are found.

    Raises WrongUsage for an unknown task, StoreInUse if another process writes, WeakSandbox
    if candidates could reach files or network.
    """
    with store.writing():
        _make_room(store)
        parts: list[Found] = []
        for benchmark in pool_names(store):
            if request.selection.benchmarks is None or benchmark in request.selection.benchmarks:
                _find(store, load_pool(store, benchmark, equality=request.equality), request, parts.append)
        found = sum(parts, Found())
        if request.tasks and not found.n_pairs and not found.n_at_hand and not found.without_texts:
            named = ", ".join(sorted(request.tasks))
            raise WrongUsage(f"no two programs differ in {named}, or it is no task here; leave --task out for all")
    return found


def refuse_failures(failures: Sequence[tuple[str, str]]) -> None:
    """Refuse to go on after failed tasks: (task, why). Raises DifftrustError naming the first, if there is any."""
    for task_id, why in failures[:1]:
        raise DifftrustError(f"{len(failures)} tasks failed, the first {task_id}: {why}; run the command again")


def _make_room(store: Store) -> None:
    """Let a results store hold the table."""
    settings = store.settings()
    if settings.tables is not None and "smallest" not in settings.tables:
        own = Store(store.root).settings()
        store.write_settings(replace(own, tables=(*(own.tables or ()), "smallest")))


def _find(store: Store, pool: Pool, request: Request, tell: Callable[[Found], None]) -> None:
    with GrowingFile(store, "smallest", {"benchmark": pool.benchmark, "validity": store.settings().validity}) as file:

        def keep(ended: Ended[_Job, list[dict[str, Any]]]) -> None:
            rows = ended.result
            if rows is None:
                tell(Found(failures=((ended.job.behaviours.task_id, ended.failure),)))
                return
            file.add(rows)
            n_smallest = sum(row["is_smallest"] for row in rows)
            tell(Found(n_tasks=1, n_pairs=len(ended.job.pairs), n_found=len(rows), n_smallest=n_smallest))

        at_hand = file.rows.filter(equality=request.equality)
        keys = set(at_hand.select("task_id", "first", pl.col("second").fill_null(RIGHT)).iter_rows())
        missing = dict[int, list[tuple[int, int]]]()
        for i, task in enumerate(pool.tasks):
            if not request.tasks or task.task_id in request.tasks:
                pairs = pairs_of(pool, i, request)
                lacking = [pair for pair in pairs if (task.task_id, *pair) not in keys]
                tell(Found(n_at_hand=len(pairs) - len(lacking)))
                missing |= {i: lacking} if lacking else {}
        run_missing(
            run_smallest,
            _jobs(store, pool, missing, request, tell),
            keep,
            bar=Progress(total=len(missing), unit="task", desc=f"smallest {pool.benchmark}"),
            n_jobs=request.n_jobs,
        )


def pairs_of(pool: Pool, index: int, request: Request) -> list[tuple[int, int]]:
    """Return the pairs of rows of a task that differ on the first n inputs: (row, RIGHT), and (smaller, larger row).

    Rows that do not load are left out. Of rows that are equal on these inputs the first stands for all.
    """
    task, leader = pool.tasks[index], _leaders(pool.tasks[index], request)
    own_of = {coder: _rows(pool, index, coder, request) for coder in _coders(pool, request.selection)}
    loads = task.kinds[:, 0] != Kind.LOAD_ERROR
    found: dict[tuple[int, int], None] = {}
    if task.reference is not None:
        rows = sorted({leader[row] for rows in own_of.values() for row in rows if loads[row]})
        found |= dict.fromkeys((row, RIGHT) for row in rows if row != leader[task.reference])
    for rows in own_of.values():
        clusters = Counter(leader[row] for row in rows if loads[row])
        if len(clusters) > 1:
            largest = min(clusters, key=lambda row: (-clusters[row], row))
            found |= dict.fromkeys((min(largest, row), max(largest, row)) for row in sorted(clusters) if row != largest)
    return list(found)


def _read_task(store: Store, benchmark: str, task_id: str) -> Task | None:
    if not store.holds("tasks"):
        return find_task(benchmark, task_id)
    return next(iter(store.read_tasks(benchmark, [task_id])), None)


def _leaders(task: CompactTask, request: Request) -> list[int]:
    """Return for each row the first one that equals it on the first n inputs."""
    width = int(task.pattern_of_input[: request.n].max()) + 1
    first_of: dict[bytes, int] = {}
    return [first_of.setdefault(own.tobytes(), row) for row, own in enumerate(task.labels[request.equality][:, :width])]


def _coders(pool: Pool, selection: Selection) -> list[Coder]:
    return [coder for coder in pool.members if selection.wants(pool.benchmark, *coder)]


def _rows(pool: Pool, index: int, coder: Coder, request: Request) -> list[int]:
    own = pool.of(coder).first(request.selection.m)
    rows = own.row[own.task == index].tolist()
    return [
        row for row in rows if pool.tasks[index].reach[row] >= min(request.n, len(pool.tasks[index].pattern_of_input))
    ]


def _jobs(
    store: Store,
    pool: Pool,
    missing: Mapping[int, Sequence[tuple[int, int]]],
    request: Request,
    tell: Callable[[Found], None],
) -> Iterator[_Job]:
    """Yield the job of each task; those without texts are told."""
    coders = _coders(pool, request.selection)
    for index, pairs in missing.items():
        behaviours = pool.tasks[index]
        task_id = behaviours.task_id
        task = _read_task(store, pool.benchmark, task_id)
        codes = _codes(store, pool, index, coders, leader=_leaders(behaviours, request))
        if task is None or any(row not in codes for pair in pairs for row in pair if row != RIGHT):
            tell(Found(without_texts=(task_id,)))
            continue
        n = min(request.n, len(behaviours.pattern_of_input))
        arguments, is_whole = read_arguments(store, pool.benchmark, task_id), store.holds("inputs")
        yield _Job(
            chunk=ChunkJob(
                root=store.root,
                task=task,
                settings=store.settings(),
                limits=language_of(task).limits,
                allow_weak=request.allow_weak,
                stop=n,
            ),
            equality=request.equality,
            behaviours=behaviours,
            codes={row: codes[row] for pair in pairs for row in pair if row != RIGHT},
            pairs=tuple(pairs),
            inputs=tuple(arguments[i] for i in range(n)) if is_whole else (),
            known={} if is_whole else {index: text for index, text in arguments.items() if index < n},
        )


def _codes(store: Store, pool: Pool, index: int, coders: Sequence[Coder], *, leader: Sequence[int]) -> dict[int, str]:
    """Return the shortest text of each row, of a program that is not known to differ from itself where there is one."""
    texts = read_programs(store, pool.benchmark, pool.tasks[index].task_id, coders)
    found: dict[int, tuple[bool, int, str]] = {}
    for coder in coders:
        own = pool.of(coder)
        own = own.where(own.task == index)
        for row, sample, differs in zip(own.row, own.sample_index, own.nondeterministic, strict=True):
            if (code := texts.code(coder, int(sample))) is not None:
                key = (bool(differs), len(code), code)
                found[leader[row]] = min(found.get(leader[row], key), key)
    return {row: code for row, (_, _, code) in found.items()}


def run_smallest(job: _Job) -> list[dict[str, Any]]:
    """Shrink the inputs of one task's pairs; return the rows of the table."""
    sandbox = sandbox_for(job.chunk)
    inputs = job.inputs or tuple(sample_valid_inputs(job.chunk, sandbox).texts)
    for index, text in job.known.items():
        if cut(inputs[index]) != text:
            raise BadStore(
                f"input {index} of {job.behaviours.task_id} is {text[:60]} in the results, drawn again it is "
                f"{inputs[index][:60]}; the benchmark or its domain has changed"
            )
    task, settings = job.chunk.task, job.chunk.settings
    places, checker = Places(task, sandbox), checker_for(job.chunk)
    shrinking = Shrinking(
        task, job.codes, sandbox, validity=settings.validity, equality=job.equality, checker=checker, places=places
    )
    starts = _starts(job, inputs)
    pairs = [Pair(first=first, second=second, starts=starts[first, second]) for first, second in job.pairs]
    found = list(shrinking.smallest(pairs, inputs))
    where = places.of([one.arguments for one in found])
    return [_row(job, one, place) for one, place in zip(found, where, strict=True)]


def _starts(job: _Job, inputs: Sequence[str]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return, for each pair, inputs on which it differs: of values rather than other outcomes, the shortest first."""
    task = job.behaviours
    labels, kinds = task.labels[job.equality], task.kinds
    shortest: dict[int, int] = {}
    for index in sorted(range(len(inputs)), key=lambda i: (len(inputs[i]), i)):
        shortest.setdefault(int(task.pattern_of_input[index]), index)
    patterns = np.array(sorted(shortest), dtype=np.int64)
    found = {}
    for pair in job.pairs:
        one, other = pair[0], task.reference if pair[1] == RIGHT else pair[1]
        assert other is not None
        telling = [
            (_rank(kinds[one, p], kinds[other, p]), len(inputs[shortest[p]]), shortest[p])
            for p in patterns[labels[one, patterns] != labels[other, patterns]].tolist()
        ]
        found[pair] = tuple(index for *_, index in sorted(telling)[:_STARTS])
    return found


def _rank(one: int, other: int) -> int:
    """Return 0 for two values, 2 where an outcome took all its time, 1 for the rest."""
    if one in UNTELLING or other in UNTELLING:
        return 2
    return int(one != Kind.VALUE or other != Kind.VALUE)


def _row(job: _Job, found: Smallest, place: str | None) -> dict[str, Any]:
    second = found.pair.second
    row = {
        "task_id": job.behaviours.task_id,
        "kind": WRONG if second == RIGHT else DISAGREEING,
        "first": found.pair.first,
        "second": None if second == RIGHT else second,
        "equality": str(job.equality),
        "input_index": found.input_index,
        "arguments": cut(found.arguments),
        "place": place,
        "is_smallest": found.is_smallest,
    }
    for name, outcome in zip(("first", "second"), found.outcomes, strict=True):
        row[f"{name}_kind"] = outcome and outcome[0].name.lower()
        row[f"{name}_text"] = outcome and cut(outcome[1])
    return row
